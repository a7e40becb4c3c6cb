"""Nine problems that a search engineer had with a table of judgements, tested by public names and commands only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.messy_table import messy_csv, messy_rows

import argrank as ar
from argrank import cli

LEAK = "judge_minutes"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")

    def run(line: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(line.split())
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def table(n_queries: int = 40, **changes: str | None) -> pd.DataFrame:
    """Return the shop's rows without dates, long texts and second ids; `changes` renames columns or leaves them out."""
    frame = pd.DataFrame(messy_rows(n_queries)[:-1]).drop(columns=["listed", "description", "ean", LEAK])
    gone = [name for name, new in changes.items() if new is None]
    return frame.drop(columns=gone).rename(columns={name: new for name, new in changes.items() if new is not None})


def test_1_a_model_with_a_text_column_reaches_the_engine_that_was_asked_for(run) -> None:
    frame = table(120, rating=None, product_id="docid")
    frame["grade"] = [number % 5 for number in frame["brand"].map(len) * 7 + frame["brand"].str[-1].map(ord) * 3]
    frame.to_csv("a.csv", index=False)  # brands alone say what is good, in no order
    code, _, err = run("train a.csv -r lambda-mart -p n_trees=10 --target opensearch -o model.json")
    assert code == 0, err
    for target in ("opensearch", "lightgbm", "python", "onnx"):
        code, _, err = run(f"export model.json --to {target} -o out-{target} --check a.csv --strict")
        assert code == 0, err


def test_2_a_rating_never_becomes_the_label(run) -> None:
    frame = table(grade="judged_grade")
    frame.to_csv("a.csv", index=False)
    code, _, err = run("train a.csv -r regression -o model.json")
    assert code == 2
    assert "--label judged_grade" in err
    assert not Path("model.json").exists()
    new = frame.drop(columns="judged_grade")
    new.to_csv("new.csv", index=False)
    ranker = ar.make_ranker("lambda-mart", n_trees=3).fit(ar.Dataset(new, frame["judged_grade"]))
    names = ar.load("new.csv").feature_names
    assert names is not None
    assert "rating" in names
    assert ranker.shap_values(new).shape[1] == len(names)
    assert [len(order) for order in ranker.rank(new)] == [12] * 40


def test_3_query_texts_with_spaces_are_ids(run) -> None:
    table(rating=None, brand=None, product_id="docid", in_stock=None).to_csv("a.csv", index=False)
    assert run("train a.csv -r regression -o model.json")[0] == 0
    for line in ("predict model.json a.csv --run -o a.run", "evaluate a.csv model.json", "evaluate a.csv a.run"):
        code, _, err = run(line)
        assert code == 0, err
    assert run("predict model.json a.csv -o ranked.csv")[0] == 0
    ranked = pd.read_csv("ranked.csv")
    assert ranked["qid"][0] == "cheap blender 0"
    assert set(ranked["docid"]) == set(table()["product_id"])


def test_4_flags_of_a_file_and_of_a_frame_are_one_kind(run) -> None:
    frame = table(rating=None, brand=None, product_id="docid")
    text = frame.assign(in_stock=frame["in_stock"].map({True: "true", False: "false"}))
    text.to_csv("a.csv", index=False)
    for name in ("regression", "mart"):
        ranker = ar.make_ranker(name).fit(frame)
        np.testing.assert_array_equal(ranker.predict(ar.load("a.csv")), ranker.predict(frame))


def test_5_semicolons_decimal_commas_and_cp1252_are_read(run) -> None:
    frame = table(5)
    Path("a.csv").write_bytes(
        messy_csv([{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")])
    )
    read, given = ar.load("a.csv"), ar.Dataset(frame)
    assert read.feature_names == given.feature_names
    np.testing.assert_array_equal(np.asarray(read.X), np.asarray(given.X))
    code, _, err = run("inspect a.csv")
    assert code == 0, err


def test_6_a_leak_is_named_and_the_innocent_column_is_not(run) -> None:
    frame = table(rating=None)
    frame["rating"] = 5 - frame["discount"] / 20
    frame[LEAK] = [row[LEAK] for row in messy_rows(40)[:-1]]
    frame.to_csv("a.csv", index=False)
    code, _, err = run("inspect a.csv")
    assert code == 0, err
    (told,) = (finding for finding in ar.doctor(ar.load("a.csv")).findings if "like a label" in finding.what)
    assert LEAK in told.what + told.example
    assert "rating" not in told.what + told.example
    code, _, err = run("train a.csv -r lambda-mart -p n_trees=10 -o model.json")
    assert code == 0, err
    assert f"warning: feature '{LEAK}' alone reaches" in " ".join(err.split())


def test_7_a_model_shows_itself_in_a_few_lines(run) -> None:
    ranker = ar.make_ranker("mart", n_trees=50).fit(table(rating=None, brand=None, product_id="docid"))
    ranker.save("model.json")
    model = ar.load_model("model.json")
    assert len(repr(model)) < 1000
    assert "in_stock" in model._repr_html_()


def test_8_missing_values_are_no_error(run) -> None:
    table(brand=None).to_csv("a.csv", index=False)
    code, out, err = run("inspect a.csv")
    assert code == 0
    assert "error" not in out + err
    code, _, err = run("train a.csv -r rank-svm -o model.json")
    assert code == 0, err
    assert np.isfinite(ar.load_model("model.json").predict(ar.load("a.csv"))).all()


@pytest.mark.parametrize("name", ["product_id", "sku", "item_id"])
def test_9_ids_of_products_are_no_features_and_positions_no_silent_ones(name: str, run) -> None:
    frame = table(rating=None, product_id=name)
    frame.to_csv("a.csv", index=False)
    assert name not in (ar.load("a.csv").feature_names or ())
    assert ar.load("a.csv").document_ids[0] == frame[name][0]
    clicked = frame.drop(columns="grade").assign(
        position=np.tile(np.arange(1, 13), 40), clicked=np.tile([1] + [0] * 11, 40)
    )
    clicked.to_csv("clicked.csv", index=False)
    code, _, err = run("train clicked.csv -r regression -o model.json")
    assert code == 2
    assert "position" in err
    assert not Path("model.json").exists()
