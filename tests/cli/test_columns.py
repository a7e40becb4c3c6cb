"""Tables as they come: other names of columns, texts, and the options that say what a column is."""

from __future__ import annotations

import json

import numpy as np
import pytest

import argrank as ar
from argrank import cli
from argrank.data.io.columns import roles


@pytest.fixture
def run(capsys):
    roles.tell.cache_clear()

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Two tables of one shop; the second has its columns in another order, and one more."""
    monkeypatch.chdir(tmp_path)
    data = ar.make_ranking(20, 8, 3, random_state=1)
    frame = data.to_pandas().rename(columns={"qid": "query_id", "label": "relevance"})
    frame.insert(1, "doc_id", [f"d{row}" for row in range(len(frame))])
    frame.to_csv("shop.csv", index=False)
    frame[["f3", "relevance", "f1", "doc_id", "query_id", "f2"]].assign(more=1).to_csv("other.csv", index=False)
    return data


def test_from_a_table_with_other_names_to_a_model_and_a_report(shop, run):
    told = "argrank: shop.csv: qid from column 'query_id', label from column 'relevance', docid from column 'doc_id'\n"
    code, out, err = run("inspect", "shop.csv")
    assert (code, err) == (0, told)
    assert "20 queries, 160 documents" in out
    assert "3 features" in out
    assert run("train", "shop.csv", "-r", "regression", "--test", "other.csv", "-o", "m.json")[0] == 0
    expected = ar.make_ranker("regression").fit(shop).predict(shop)
    for name in ("shop.csv", "other.csv"):
        code, out, _ = run("predict", "m.json", name)
        assert [float(line) for line in out.splitlines()] == expected.tolist()
    assert run("report", "other.csv", "m.json", "-o", "r.html", "-q")[0] == 0


def test_a_missing_feature_is_named(shop, run):
    run("train", "shop.csv", "-r", "regression", "-o", "m.json", "-q")
    frame = ar.load("shop.csv").to_pandas().drop(columns="f2")
    frame.to_csv("less.csv", index=False)
    code, out, err = run("predict", "m.json", "less.csv")
    assert (code, out) == (2, "")
    assert "less.csv:1: expected a column 'f2'" in err


def test_a_feature_called_like_a_label_stays_a_feature_of_its_model(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rows = [f"{row // 4},{row % 3},{row % 5}.5,{row}" for row in range(40)]
    (tmp_path / "a.csv").write_text("qid,label,rating,f\n" + "\n".join(rows) + "\n")
    new = [",".join(np.array(row.split(","))[[0, 2, 3]]) for row in rows]
    (tmp_path / "new.csv").write_text("qid,rating,f\n" + "\n".join(new) + "\n")
    assert run("train", "a.csv", "-r", "regression", "-o", "m.json", "-q")[0] == 0
    assert run("predict", "m.json", "new.csv")[1] == run("predict", "m.json", "a.csv")[1]
    _, out, _ = run("inspect", "a.csv")
    assert "like a label" not in out  # a rating is a feature like any other


def test_the_options_say_what_a_column_is(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rows = [f"{row // 4},{row % 3},{row},p{row},7" for row in range(40)]
    (tmp_path / "a.csv").write_text("session,clicked,f,sku,old\n" + "\n".join(rows) + "\n")
    names = ("--qid", "session", "--label", "clicked", "--docid", "sku")
    code, out, _ = run("inspect", "a.csv", *names, "--drop", "old", "--json")
    assert code == 0
    assert [one["feature"] for one in json.loads(out)["files"][0]["features"]] == ["f"]
    code, out, _ = run("inspect", "a.csv", *names, "--only", "old,f", "--json")
    assert [one["feature"] for one in json.loads(out)["files"][0]["features"]] == ["old", "f"]
    code, _, err = run("inspect", "a.csv")
    assert code == 2
    assert "expected a column 'qid', got columns session, clicked, f, sku, old; give one with" in err
    code, _, err = run("inspect", "a.csv", *names, "--drop", "odl")
    assert "expected a column 'odl'" in err
    ar.dump(ar.make_ranking(3, 4, 2), "a.txt")
    code, _, err = run("inspect", "a.txt", "--qid", "session")
    assert (code, "options of tables with named columns" in err) == (2, True)


@pytest.mark.parametrize(
    "command",
    ["inspect", "train", "predict", "evaluate", "compare", "cv", "tune", "report", "convert", "pack", "export"],
)
def test_every_command_that_reads_data_has_the_options(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    for option in ("--qid", "--label", "--docid", "--drop", "--only"):
        assert option in out
