"""Runs and judgements of every form, joined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from argrank.data.dataset import Dataset
from argrank.data.io.trec.forms import as_qrels, as_run, is_qrels_file, is_run, run_name
from argrank.data.io.trec.pool import JudgedRuns, join_runs
from argrank.data.unjudged import JUDGED, OUTSIDE, POOLED
from argrank.errors import ArgrankError, ArgrankWarning, InputError

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}, "q3": {"d": 0}}
RUN = {"q2": {"z": 1.5, "a": 1.5}, "q1": {"x": 3.0, "a": 2.0, "c": 2.5}, "other": {"a": 1.0}}


class RanxLike:
    """What ranx's objects have that we use."""

    def __init__(self, held: dict[str, dict[str, float]], name: str = "") -> None:
        self.held, self.name = held, name

    def to_dict(self) -> dict[str, dict[str, float]]:
        return self.held


RanxLike.__module__ = "ranx.data_structures.run"


def lines(held: dict[str, dict[str, float]]) -> list[tuple[str, str, float]]:
    return [(qid, docid, value) for qid, documents in held.items() for docid, value in documents.items()]


def columns(held: dict[str, dict[str, float]], *names: str) -> dict[str, list[Any]]:
    return dict(zip(names, map(list, zip(*lines(held), strict=True)), strict=True))


FORMS: dict[str, Callable[[Path], tuple[Any, Any]]] = {
    "dicts": lambda _: (RUN, QRELS),
    "pyterrier": lambda _: (
        pd.DataFrame(columns(RUN, "qid", "docno", "score")),
        pd.DataFrame(columns(QRELS, "qid", "docno", "label")),
    ),
    "ir_measures frames": lambda _: (
        pd.DataFrame(columns(RUN, "query_id", "doc_id", "score")),
        pd.DataFrame(columns(QRELS, "query_id", "doc_id", "relevance")),
    ),
    "ir_measures records": lambda _: (
        [ir_measures.ScoredDoc(*line) for line in lines(RUN)],
        [ir_measures.Qrel(*line) for line in lines(QRELS)],
    ),
    "polars": lambda _: (
        pl.DataFrame(columns(RUN, "qid", "docno", "score")),
        pl.DataFrame(columns(QRELS, "qid", "docno", "relevance")),
    ),
    "pyarrow": lambda _: (
        pa.table(columns(RUN, "q_id", "doc_id", "score")),
        pa.table(columns(QRELS, "q_id", "doc_id", "rel")),
    ),
    "ranx": lambda _: (RanxLike(RUN), RanxLike(QRELS)),
    "files": lambda folder: (folder / "system.run", folder / "judged.qrels"),
    "files without endings": lambda folder: (folder / "run", folder / "qrels"),
    "tables": lambda folder: (folder / "run.csv", folder / "qrels.parquet"),
    "dataset": lambda _: (
        RUN,
        Dataset(
            np.zeros((5, 1)), [2, 1, 0, 1, 0], ["q1", "q2", "q1", "q1", "q3"], document_ids=["a", "a", "b", "c", "d"]
        ),
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the same run and judgements as TREC files and as tables."""
    run = "".join(f"{qid} Q0 {docid} 1 {score} tag\n" for qid, docid, score in lines(RUN))
    qrels = "".join(f"{qid} 0 {docid} {label}\n" for qid, docid, label in lines(QRELS))
    for name, text in (("system.run", run), ("run", run), ("judged.qrels", qrels), ("qrels", qrels)):
        (tmp_path / name).write_text(text)
    pd.DataFrame(columns(RUN, "query_id", "doc_id", "score")).to_csv(tmp_path / "run.csv", index=False)
    pd.DataFrame(columns(QRELS, "query_id", "doc_id", "rel")).to_parquet(tmp_path / "qrels.parquet")
    return tmp_path


def as_expected(joined: JudgedRuns) -> None:
    data = joined.data
    assert data.query_ids.tolist() == ["q1", "q2", "q3"]
    assert data.document_ids.tolist() == ["a", "b", "c", "x", "a", "z", "d"]
    assert data.y.tolist() == [2, 0, 1, 0, 1, 0, 0]
    assert joined.gaps.tolist() == [JUDGED, JUDGED, JUDGED, OUTSIDE, JUDGED, OUTSIDE, JUDGED]
    np.testing.assert_array_equal(data.X[:, 0], [2.0, np.nan, 2.5, 3.0, 1.5, 1.5, np.nan])
    returned = joined.returned("run")
    assert returned.sizes.tolist() == [3, 2, 0]  # the third query stays, without documents
    assert returned.document_ids.tolist() == ["x", "a", "c", "z", "a"]  # in the run's own order
    assert joined.scores["run"].tolist() == [3.0, 2.0, 2.5, 1.5, 1.5]
    assert joined.strangers == {"run": 1}
    assert joined.filled("run").tolist() == [2.0, 1.0, 2.5, 3.0, 1.5, 1.5, 0.0]


@pytest.mark.parametrize("form", FORMS)
def test_runs_and_judgements_of_every_form_are_the_same(form: str, folder: Path) -> None:
    run, qrels = FORMS[form](folder)
    as_expected(join_runs({"run": run}, qrels))
    assert is_run(run)


def test_several_runs_share_documents_and_a_relevance_below_0_is_no_judgement() -> None:
    joined = join_runs({"a": {"1": {"x": 1.0}}, "b": {"1": {"x": 2.0, "y": 1.0}}}, {1: {"x": -2, "z": 3}})
    assert joined.data.query_ids.tolist() == [1]  # as the judgements have it
    assert joined.data.feature_names == ("a", "b")
    assert joined.data.document_ids.tolist() == ["x", "z", "y"]
    assert joined.data.y.tolist() == [0, 3, 0]
    assert joined.gaps.tolist() == [POOLED, JUDGED, OUTSIDE]
    assert joined.rows["b"].tolist() == [0, 2]


def test_weights_of_queries_stay_with_a_dataset() -> None:
    data = Dataset(np.zeros((2, 1)), [1, 0], ["a", "b"], document_ids=["x", "y"], query_weight=[2, 3])
    joined = join_runs({"run": {"b": {"y": 1.0}}}, data)
    assert joined.data.query_weight.tolist() == joined.returned("run").query_weight.tolist() == [2, 3]


def test_what_is_a_run_and_what_it_is_called(folder: Path) -> None:
    assert not is_run([0.1, 0.2])
    assert not is_run(np.zeros(3))
    assert not is_run({"a": RUN, "b": RUN})
    assert not is_run({"a": [0.1], "b": [0.2]})
    assert not is_run(pd.DataFrame({"score": [1.0]}))
    (folder / "letor.txt").write_text("2 qid:1 1:0.5 2:3\n")
    (folder / "scores.txt").write_text("0.5\n")
    assert not is_qrels_file(folder / "letor.txt")
    assert not is_run(folder / "scores.txt")
    assert [run_name(one, 2) for one in (folder / "system.run", RanxLike(RUN, "bm25"), RUN)] == [
        "system", "bm25", "run2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ({"nobody": {"a": 1.0}}, "expected queries of the judgements, such as 'q1', got only others in run 'run'"),
        ({}, "at least one query"),
        ({"q1": [1, 2]}, "expected {qid: {docid: number}}"),
        ({"q1": {"a": "high"}}, "expected numbers as score"),
        ({"q1": {"a": float("nan")}}, "finite"),
        (pd.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "a"], "score": [1, 2]}), "document 'a' of query 'q1' twice"),
        (pd.DataFrame({"qid": ["q1"], "docno": [None], "score": [1]}), "an id in column 'docno'"),
        (pd.DataFrame({"qid": ["q1"], "score": [1]}), "a column docno or doc_id"),
        (3, "got int"),
        ([1, 2], "records with query_id"),
    ],
)
def test_bad_runs(run: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        join_runs({"run": run}, QRELS)


def test_bad_judgements(folder: Path) -> None:
    with pytest.raises(ArgrankError, match="without labels"):
        as_qrels(Dataset(np.zeros((1, 1)), qid=[1]))
    with pytest.raises(ArgrankError, match="two with the same text"):
        join_runs({"run": RUN}, {1: {"a": 1}, "1": {"b": 1}})
    (folder / "ragged.csv").write_text("qid,docid,score\n1,2\n")
    with pytest.raises(ArgrankError, match=r"ragged.csv:2: expected 3 cells"):
        as_run(folder / "ragged.csv")


def test_documents_of_other_names_are_warned_about() -> None:
    with pytest.warns(
        ArgrankWarning, match="none of its documents is judged, for example 'A'; judged documents have ids"
    ):
        join_runs({"run": {"q1": {"A": 1.0}}}, QRELS)
