"""A shop's own table, from inspecting it to a report: every command at first try, and problems that were found."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.little_opensearch import responses
from tests.messy_table import as_people_write, messy_csv, messy_rows

import argrank as ar
from argrank import cli
from argrank.data.io.columns import roles
from argrank.errors import InputError

DROP = ("--drop", "listed,judge_minutes")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    roles.tell.cache_clear()
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_from_a_spreadsheet_to_a_report(run, tmp_path: Path) -> None:
    rows = messy_rows()
    Path("judged.csv").write_bytes(messy_csv(rows))
    code, out, err = run("inspect", "judged.csv")
    assert code == 0, err
    assert "dates 'listed' up to 2025-12-28; training asks for --date listed or --drop listed" in err
    told = "separated by semicolons; encoded as cp1252; qid from column 'Query', label from column 'grade', docid from"
    assert told in err
    assert "in €" in err
    assert "flags 'in_stock'" in err
    assert "categories 'brand' (40)" in err
    assert "left out as ids 'ean'" in err
    assert "title from column 'description'" in err
    listed = run("inspect", "judged.csv", "--drop", "listed", "-q")[1]
    assert "1 feature looks like a label: feature 'judge_minutes' (AUC 1.000); the next best" in listed  # no rating
    assert "error" not in out.split("Doctor:")[1]  # missing values are none
    code, _, err = run("train", "judged.csv", "--drop", "listed", "-r", "regression", "--json")
    assert code == 0
    assert "warning: feature 'judge_minutes' alone reaches ndcg@10 1.000, the model 1.000" in err
    code, out, err = run("train", "judged.csv", *DROP, "-r", "lambda-mart", "-p", "n_trees=20", "-o", "model.json")
    assert code == 0, err
    new = [{"new_column": "x", **dict(reversed(row.items()))} for row in messy_rows(20, seed=1)]
    new = [{name: value for name, value in row.items() if name not in ("grade", "judge_minutes")} for row in new]
    Path("new.csv").write_bytes(messy_csv(new, "utf-8-sig"))
    code, _, err = run("predict", "model.json", "new.csv", "-o", "ranked.csv", "--keep")
    assert code == 0, err
    ranked = pd.read_csv("ranked.csv", float_precision="round_trip")  # older pandas round otherwise
    assert list(ranked.columns[:4]) == ["qid", "docid", "rank", "score"]
    assert "new_column" in ranked
    assert len(ranked) == len(new)
    for _, part in ranked.groupby("qid"):
        assert part["rank"].tolist() == list(range(1, len(part) + 1))
        assert (np.diff(part["score"]) <= 0).all()
    for name in ("ranked.parquet", "ranked.jsonl"):
        assert run("predict", "model.json", "new.csv", "-o", name)[0] == 0
    lines = [json.loads(line) for line in Path("ranked.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["docid"] for line in lines] == ranked["docid"].tolist()
    assert pd.read_parquet("ranked.parquet")["score"].tolist() == ranked["score"].tolist()


@pytest.mark.parametrize("ranker", ["auto", "lambda-mart", "rank-svm"])
def test_from_a_spreadsheet_to_the_engine_and_back(ranker: str, run) -> None:
    """With a date as a feature: inspect, train for OpenSearch, report, export strictly, verify its log, predict."""
    rows = messy_rows(60)
    Path("judged.csv").write_bytes(messy_csv(rows))
    code, _, err = run("inspect", "judged.csv")
    assert code == 0, err
    options = {"auto": ["-p", "max_trees=30"], "lambda-mart": ["-r", ranker, "-p", "n_trees=20"]}
    told = ["--date", "listed", "--drop", "judge_minutes"]
    train = ["train", "judged.csv", *told, "--target", "opensearch", *options.get(ranker, ["-r", ranker])]
    code, _, err = run(*train, "-o", "model.json", "--baseline", "price", "--fail-if-worse")
    assert code == 0, err
    assert "dates 'listed' up to 2025-12-28" in err
    code, out, err = run("report", "judged.csv", "model.json", "--system", "bm25_title", "-o", "report.html", "-q")
    assert (code, out, err) == (0, "", "")
    week = messy_rows(30, seed=9)  # values that lie between those of training
    Path("next.csv").write_bytes(messy_csv(week))
    unjudged = [{name: value for name, value in row.items() if name not in ("grade", "judge_minutes")} for row in week]
    Path("unjudged.csv").write_bytes(messy_csv(unjudged))
    for check in ("judged.csv", "next.csv", "unjudged.csv"):
        export = ["export", "model.json", "--to", "opensearch", "-o", "deploy", "--check", check, "--strict"]
        code, out, err = run(*export)
        assert (code, "Mean ndcg@10" in out) == (0, check != "unjudged.csv"), out + err
        assert "0 queries reordered" in out
        assert "listed was a date in training" in out
    products: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for row in unjudged[:60]:
        day, month, year = map(int, row["listed"].split("."))
        fields = {**row, "listed": (dt.date(2025, 12, 28) - dt.date(year, month, day)).days}
        products.setdefault(row["Query"], []).append((row["product_id"], fields))
    logged = responses(Path("deploy"), products)
    scores = [hit["_score"] for one in logged for hit in one["response"]["hits"]["hits"]]
    for name, values in (("right", scores), ("wrong", scores[::-1])):
        by_row = iter(values)
        for hit in (hit for one in logged for hit in one["response"]["hits"]["hits"]):
            hit["_score"] = next(by_row)
        Path(f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in logged))
        table = [{**row, "score": score} for row, score in zip(unjudged, values, strict=False)]
        Path(f"{name}.csv").write_bytes(messy_csv(table, "utf-8-sig"))
        for log in (f"{name}.jsonl", f"{name}.csv"):
            code, out, err = run("verify", "model.json", log, "--to", "opensearch")
            assert (code, err) == (int(name == "wrong"), ""), out
            assert name == "wrong" or "largest difference 0, " in out  # the same bits
            assert "qid cheap blender 0" in out or name == "wrong"
    moved = [{"new_column": "x", **dict(reversed(row.items()))} for row in unjudged]
    Path("week.csv").write_bytes(messy_csv(moved, "utf-8-sig"))
    code, _, err = run("predict", "model.json", "week.csv", "-o", "ranked.csv")
    assert code == 0, err
    ranked = pd.read_csv("ranked.csv").set_index(["qid", "docid"])["score"]
    first = [ranked.loc[(qid, docid)] for qid, listed in products.items() for docid, _ in listed]
    np.testing.assert_allclose(np.array([np.min(one) for one in first]), scores, rtol=0, atol=1e-5)
    assert run("evaluate", "judged.csv", "model.json", "--system", "bm25_title", "-q")[::2] == (0, "")
    assert run("explain", "model.json", "judged.csv", "--query", "cheap blender 0", "-q")[::2] == (0, "")


def test_the_report_warns_of_a_leak(run) -> None:
    Path("judged.csv").write_bytes(messy_csv(messy_rows(40)))
    for name, drop, warned in (("leak", "listed", True), ("sound", "listed,judge_minutes", False)):
        train = ("train", "judged.csv", "--drop", drop, "-r", "regression", "-o", f"{name}.json", "-q")
        assert run(*train)[0] == 0
        report = ("report", "judged.csv", f"{name}.json", "-o", f"{name}.html", "--drop", "listed", "-q")
        assert run(*report)[0] == 0  # of data that has the column, also where the model does not
        text = Path(f"{name}.html").read_text(encoding="utf-8")
        assert ("alone reaches ndcg@10 1.000, the model 1.000" in text) == warned


def test_query_texts_in_every_command(run) -> None:
    rows = messy_rows(40)[:-1]
    Path("judged.csv").write_bytes(messy_csv(rows))
    options = (*DROP, "-q")
    assert run("train", "judged.csv", *options, "-r", "regression", "-o", "model.json")[0] == 0
    for name, how in (("scores.txt", ()), ("ranked.csv", ()), ("model.run", ("--run",))):
        code, _, err = run("predict", "model.json", "judged.csv", "-o", name, *how, "-q")
        assert (code, err) == (0, "")
    assert "cheap%20blender%200 Q0 P-" in Path("model.run").read_text()
    means = [run("evaluate", "judged.csv", name, *options)[1] for name in ("scores.txt", "ranked.csv", "model.run")]
    assert means[0] == means[1] == means[2] != ""
    code, out, err = run("evaluate", "judged.csv", "ranked.csv", "--system", "bm25_title", *options)
    assert code == 0, err
    assert "bm25_title\tndcg@10\t" in out, err
    code, out, err = run("compare", "judged.csv", "ranked.csv", "--system", "bm25_title", *DROP)
    assert code == 0, err
    assert "bm25_title" in out, err
    code, _, err = run("compare", "judged.csv", "ranked.csv", "--system", "bm25_title", *options)
    assert (code, err) == (0, "")
    code, out, err = run(
        "tune", "judged.csv", "--column", "bm25_title,price", "--normalise", "minmax", "--cv", "0", *options
    )
    assert (code, err, [line.split("\t")[0] for line in out.splitlines()]) == (0, "", ["bm25_title", "price"])
    code, _, err = run("report", "judged.csv", "model.json", "--system", "bm25_title", "-o", "report.html", *options)
    assert code == 0, err
    assert Path("report.html").exists(), err


def ways_in(rows: list[dict[str, Any]], folder: Path) -> dict[str, ar.Dataset]:
    """Return one table as every kind of input, and as texts as people write them."""
    frame = pd.DataFrame(rows)
    frame.to_csv(folder / "plain.csv", index=False)
    frame.to_parquet(folder / "plain.parquet")
    (folder / "messy.csv").write_bytes(messy_csv(rows))
    (folder / "wide.csv").write_bytes(messy_csv(rows, "utf-16"))
    texts = pd.DataFrame([{name: as_people_write(name, value) for name, value in row.items()} for row in rows])
    files = ("plain.csv", "plain.parquet", "messy.csv", "wide.csv")
    found = {name: ar.load(folder / name, dates=["listed"]) for name in files}
    frames = {"pandas": frame, "polars": pl.from_pandas(frame), "arrow": pa.Table.from_pandas(frame), "texts": texts}
    return found | {name: ar.Dataset(one, dates=["listed"]) for name, one in frames.items()}


def test_the_same_table_gives_the_same_model_whichever_way_it_came(tmp_path: Path) -> None:
    found = ways_in(messy_rows(60), tmp_path)
    first = found.pop("pandas")
    assert first.feature_names == (
        "bm25_title",
        "price",
        "sold",
        "rating",
        "discount",
        "in_stock",
        "brand",
        "listed",
        "judge_minutes",
    )
    assert "NA" in first.categories["brand"]
    path = tmp_path / "model.json"
    ar.make_ranker("lambda-mart", n_trees=10, random_state=0).fit(first).save(path)
    model = path.read_bytes()
    for name, data in found.items():
        assert data.X.tobytes() == first.X.tobytes(), name
        assert data.fingerprint == first.fingerprint, name
        assert data.categories == first.categories, name
        assert data.dates == first.dates == {"listed": "2025-12-28"}, name
        assert data.query_ids.tolist() == first.query_ids.tolist(), name
        assert data.document_ids.tolist() == first.document_ids.tolist(), name
        assert data.titles.tolist() == first.titles.tolist(), name
        ar.make_ranker("lambda-mart", n_trees=10, random_state=0).fit(data).save(path)
        assert path.read_bytes() == model, name


def test_an_index_of_pandas_is_no_feature(run) -> None:
    """It often reveals the label, where rows were sorted by it; files hold it, frames do not."""
    frame = pd.DataFrame(messy_rows(20)).drop(columns=["listed"])
    frame = frame[frame["price"] > 100].sort_values("grade", kind="stable")
    frame.to_csv("a.csv")
    frame.to_parquet("a.parquet")
    pd.read_csv("a.csv", keep_default_na=False).to_csv("twice.csv")
    text = Path("a.csv").read_text().replace("\n", ",\n")
    Path("ends.csv").write_text(text)  # an empty column at the end, as spreadsheets write it
    data = ar.Dataset(frame)
    for name in ("a.csv", "a.parquet", "twice.csv", "ends.csv"):
        loaded = ar.load(name)
        assert (loaded.feature_names, loaded.fingerprint) == (data.feature_names, data.fingerprint), name
    roles.tell.cache_clear()
    assert "a.parquet: '__index_level_0__' left out as an index" in run("inspect", "a.parquet")[2]
    assert "a.csv: 'Unnamed: 0' left out as an index" in run("inspect", "a.csv")[2]
    assert ar.load("a.parquet", columns={"__index_level_0__": "feature"}).n_features == data.n_features + 1


def test_weak_names_are_never_labels(run) -> None:
    rows = [
        {"judged_grade" if name == "grade" else name: value for name, value in row.items()} for row in messy_rows(9)
    ]
    Path("a.csv").write_bytes(messy_csv(rows))
    code, _, err = run("train", "a.csv", *DROP, "-r", "regression")
    assert code == 2
    assert "--label judged_grade" in err
    assert "bm25_title" in err
    frame = pd.DataFrame(rows).drop(columns=["listed"])
    assert not ar.Dataset(frame).is_judged
    ranker = ar.make_ranker("lambda-mart", n_trees=3).fit(
        ar.Dataset(frame.drop(columns=["judged_grade"]), frame["judged_grade"])
    )
    assert [len(order) for order in ranker.rank(frame)] == [13] + [12] * 8  # without looking for a label
    np.testing.assert_array_equal(ranker.shap_values(frame).shape, (len(frame), ranker.model_.n_features))
    frame.drop(columns=["judged_grade"]).to_csv("new.csv", index=False)
    loaded = ar.load("new.csv")
    assert not loaded.is_judged
    assert "rating" in loaded.feature_names
    clicks = pd.DataFrame({"qid": [1, 1], "position": [1, 2], "clicked": [0, 1], "f": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"--label .*'clicked' beside 'position' is a click log.*argrank clicks"):
        ar.make_ranker("regression").fit(clicks)
    clicks.to_csv("clicks.csv", index=False)
    code, _, err = run("train", "clicks.csv", "-r", "regression")
    assert (code, "'clicked' beside 'position' is a click log" in err) == (2, True)


@pytest.mark.parametrize("name", ["product_id", "sku", "item_id", "asin", "product"])
def test_ids_of_products_are_no_features(name: str, run) -> None:
    rows = [{name if key == "product_id" else key: value for key, value in row.items()} for row in messy_rows(20)]
    Path("a.csv").write_bytes(messy_csv(rows))
    for data in (ar.load("a.csv", dates=["listed"]), ar.Dataset(pd.DataFrame(rows), dates=["listed"])):
        assert name not in data.feature_names
        assert data.document_ids[0].startswith("P-")


def test_flags_are_numbers_in_files_and_frames(run) -> None:
    """A model of one takes the data of the other, and no ranker fails on them."""
    rows = messy_rows(20)[:-1]
    Path("a.csv").write_bytes(messy_csv(rows))
    frame = pd.DataFrame(rows).drop(columns=["listed", "judge_minutes"])
    assert frame["in_stock"].dtype == bool
    file, frame_data = ar.load("a.csv", columns={"listed": None, "judge_minutes": None}), ar.Dataset(frame)
    for name in ("regression", "rank-svm", "mart"):
        scores = [
            [ranker.predict(data).tolist() for data in (file, frame_data, frame)]
            for ranker in (ar.make_ranker(name).fit(file), ar.make_ranker(name).fit(frame))
        ]
        assert scores[0] == scores[1]
        assert scores[0][0] == scores[0][1] == scores[0][2]


def test_a_dialect_can_be_given(run) -> None:
    rows = messy_rows(10)
    Path("a.csv").write_bytes(messy_csv(rows))
    drop = {"listed": None}
    given = ar.load("a.csv", sep=";", decimal=",", thousands=".", encoding="cp1252", columns=drop)
    found = ar.load("a.csv", columns=drop)
    assert given.fingerprint == found.fingerprint
    options = ("--sep", ";", "--decimal", ",", "--thousands", ".", "--encoding", "cp1252", "--drop", "listed", "--json")
    code, out, err = run("inspect", "a.csv", *options)
    assert code == 0, err
    assert (
        json.loads(out)["files"][0]["features"]
        == json.loads(run("inspect", "a.csv", "--drop", "listed", "--json")[1])["files"][0]["features"]
    )
    code, _, err = run("inspect", "a.csv", "--sep", ",", "--drop", "listed")
    assert code == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_a_line_that_tells_excel_the_separator_is_no_header(encoding: str, run) -> None:
    rows, drop = messy_rows(10), {"listed": None}
    text = messy_csv(rows, "utf-8").decode()
    Path("plain.csv").write_bytes(text.encode())
    Path("told.csv").write_bytes(("sep=;\r\n" + text).encode(encoding))
    assert ar.load("told.csv", columns=drop).fingerprint == ar.load("plain.csv", columns=drop).fingerprint
    broken = text.replace("3 %", "many", 1)
    line = broken[: broken.index("many")].count("\n") + 2
    Path("broken.csv").write_bytes(("sep=;\r\n" + broken).encode(encoding))
    with pytest.raises(InputError, match=rf"broken.csv:{line}: expected a finite number with % in column 'discount'"):
        ar.load("broken.csv", columns=drop)


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        (
            "price",
            "on request",
            "a finite number with € in column 'price', got 'on request'; if the column is not numeric",
        ),
        ("price", "$ 12,50", "a finite number with € in column 'price', got '\\$ 12,50'"),
        ("discount", "7", "a finite number with % in column 'discount', got '7'"),  # 7 or .07?
        ("sold", "many", "a finite number in column 'sold', got 'many'"),
    ],
)
def test_a_mistake_makes_no_category_of_numbers(column: str, cell: str, expected: str, tmp_path: Path) -> None:
    rows = [{name: as_people_write(name, value) for name, value in row.items()} for row in messy_rows(10)]
    rows[7][column] = cell
    (tmp_path / "a.csv").write_bytes(messy_csv(rows))
    with pytest.raises(InputError, match=f"a.csv:9: expected {expected}"):
        ar.load(tmp_path / "a.csv", columns={"listed": None})


def test_the_option_to_paste_names_the_likely_column(run) -> None:
    rows = [{"Search Term" if name == "Query" else name: value for name, value in row.items()} for row in messy_rows(9)]
    rows = [{"Seen At" if name == "listed" else name: value for name, value in row.items()} for row in rows]
    Path("a.csv").write_bytes(messy_csv(rows))
    code, _, err = run("inspect", "a.csv")
    assert (code, "give one with --qid 'Search Term'" in err) == (2, True), err
    code, _, err = run("train", "a.csv", "--qid", "Search Term")
    assert (code, "--date 'Seen At' (dates=['Seen At'])" in err) == (2, True), err


def test_evaluate_takes_a_frame() -> None:
    frame = pd.DataFrame(messy_rows(10)[:-1]).drop(columns=["listed", "judge_minutes"])
    data = ar.Dataset(frame)
    ranker = ar.make_ranker("lambda-mart", n_trees=5, random_state=0).fit(data)
    assert ar.evaluate(ranker, frame, "ndcg@10").means == ar.evaluate(ranker, data, "ndcg@10").means
    assert (
        ar.evaluate(frame["bm25_title"], frame, "ndcg@10").means
        == ar.evaluate(frame["bm25_title"], data, "ndcg@10").means
    )


def test_dates_are_refused_by_name_all_at_once(run) -> None:
    rows = [{**row, "seen": "2025-01-31"} for row in messy_rows(5)]
    Path("a.csv").write_bytes(messy_csv(rows))
    code, _, err = run("train", "a.csv", "-r", "regression")
    assert code == 2
    assert "columns 'listed', 'seen': expected numbers or texts, got dates such as" in err
    assert "--date listed,seen (dates=['listed', 'seen'])" in err
    assert "--drop listed,seen" in err
    frame = pd.DataFrame(rows).assign(seen=pd.Timestamp("2025-01-31"))
    with pytest.raises(InputError, match="columns 'listed', 'seen': expected numbers or texts, got dates"):
        ar.Dataset(frame)
    frame.to_parquet("a.parquet")
    newest = "-".join(max(row["listed"].split(".")[::-1] for row in rows))
    code, out, err = run("inspect", "a.parquet")
    assert (code, f"dates 'listed' up to {newest}, 'seen' up to 2025-01-31; training asks" in err) == (0, True), err
    assert "listed" in out
