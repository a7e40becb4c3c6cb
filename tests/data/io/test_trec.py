"""TREC qrels and runs: round trips, alignment with a Dataset, and bad lines with their numbers."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import argrank as ar
from argrank.data.dataset import Dataset
from argrank.data.io.trec.files import align_run, read_qrels, read_run, write_qrels, write_run
from argrank.errors import ArgrankError, ArgrankWarning, FormatError, InputError


@pytest.fixture
def data() -> Dataset:
    """Two queries whose rows are interleaved."""
    return Dataset(np.eye(5), [2, 0, 1, 0.5, 0], qid=["b", "a", "b", "a", "b"], document_ids=["x", "y", "z", "x", "w"])


def test_qrels_hold_the_labels(data: Dataset, tmp_path: Path) -> None:
    write_qrels(data, tmp_path / "a.qrels")
    assert (tmp_path / "a.qrels").read_text() == "b 0 x 2\nb 0 z 1\nb 0 w 0\na 0 y 0\na 0 x 0.5\n"
    qrels = read_qrels(tmp_path / "a.qrels")
    assert len(qrels) == 5
    assert qrels.docno.tolist() == ["x", "z", "w", "y", "x"]
    assert qrels.rel.tolist() == [2, 1, 0, 0, 0.5]


def test_a_run_is_ranked_by_score_and_ties_keep_the_rows_order(data: Dataset, tmp_path: Path) -> None:
    write_run([0.1, 7, 0.1, 8, 3], data, tmp_path / "a.run.gz", tag="mine")
    text = gzip.decompress((tmp_path / "a.run.gz").read_bytes()).decode()
    assert text.splitlines() == [
        "b Q0 w 1 3.0 mine",
        "b Q0 x 2 0.1 mine",
        "b Q0 z 3 0.1 mine",
        "a Q0 x 1 8.0 mine",
        "a Q0 y 2 7.0 mine",
    ]
    run = read_run(tmp_path / "a.run.gz")
    assert run.tag == "mine"
    assert run.rank.tolist() == ["1", "2", "3", "1", "2"]
    assert align_run(run, data).tolist() == [0.1, 7, 0.1, 8, 3]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20), st.data())
def test_scores_survive_a_run_bit_for_bit(tmp_path_factory: pytest.TempPathFactory, scores: list[float], draw) -> None:
    qid = draw.draw(st.lists(st.sampled_from(["1", "q", "é"]), min_size=len(scores), max_size=len(scores)))
    data = Dataset(np.ones((len(scores), 1)), qid=qid)
    path = tmp_path_factory.mktemp("runs") / "a.run"
    write_run(scores, data, path)
    assert align_run(read_run(path), data).tobytes() == np.array(scores).tobytes()


def test_documents_absent_from_a_run_come_last(data: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("b Q0 z 1 -1e300 t\nb Q0 elsewhere 2 -2e300 t\n")
    with pytest.warns(ArgrankWarning, match="4 of 5 documents are not in the run"):
        scores = align_run(read_run(path), data)
    assert scores[2] == -1e300
    assert (scores[[0, 4]] < -1e300).all()
    assert scores[1] == scores[3] == 0  # nothing known of query a


def test_a_run_of_other_documents_is_refused(data: Dataset, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("b Q0 doc1 1 3 t\n")
    expected = "such as 'b' and 'x', got none of them, but for example 'b' and 'doc1'"
    with pytest.raises(InputError, match=expected):
        align_run(read_run(tmp_path / "a.run"), data)


def test_negative_judgements_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("b 0 x -2\nb 0 z 3\n\na 0 y 1\na 0 x 1\n")
    assert read_qrels(path).rel.tolist() == [-2, 3, 1, 1]


def test_rows_are_the_names_of_documents_without_ids(tmp_path: Path) -> None:
    data = Dataset(np.eye(3), [1, 0, 1], qid=[2, 1, 2])
    write_qrels(data, tmp_path / "a.qrels")
    assert read_qrels(tmp_path / "a.qrels").docno.tolist() == ["0", "2", "1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"document_ids": ["c", "c"]}, "document_ids: expected every id once in a query, got 'c' twice in query q"),
        ({"document_ids": ["\ud800", "c"]}, "document_ids: expected ids that UTF-8 text can hold"),
    ],
)
def test_ids_that_a_file_cannot_hold_are_refused(arguments: dict, message: str, tmp_path: Path) -> None:
    data = Dataset(np.eye(2), [1, 0], qid=["q", "q"], **arguments)
    with pytest.raises(InputError, match=message):
        write_qrels(data, tmp_path / "a.qrels")
    assert list(tmp_path.iterdir()) == []


def test_ids_with_spaces_are_percent_encoded_and_found_again(tmp_path: Path) -> None:
    ids = ["a b", "", "100%", "5% off\u00a0x", "a%20c"]
    data = Dataset(np.eye(5), [1, 0, 2, 0, 1], qid=["red shoes"] * 5, document_ids=ids)
    write_run([5.0, 4.0, 3.0, 2.0, 1.0], data, tmp_path / "a.run")
    write_qrels(data, tmp_path / "a.qrels")
    run = read_run(tmp_path / "a.run")
    assert run.docno.tolist() == ["a%20b", "%00", "100%", "5%25%20off%C2%A0x", "a%20c"]
    assert set(run.qid) == {"red%20shoes"}
    assert align_run(run, data).tolist() == [5, 4, 3, 2, 1]
    raw = {"red shoes": dict(zip(ids, (5.0, 4.0, 3.0, 2.0, 1.0), strict=True))}
    means = [ar.evaluate(one, known, "ndcg").means["ndcg"]
             for one in (raw, tmp_path / "a.run") for known in (data, tmp_path / "a.qrels")]  # fmt: skip
    assert len(set(means)) == 1


def test_queries_that_a_file_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    data = Dataset(np.eye(2), [1, 0], qid=[7, "7"])
    with pytest.raises(InputError, match="qid: expected ids with different texts, got '7' for two queries"):
        write_run([1, 2], data, tmp_path / "a.run")


def test_what_cannot_be_written_is_refused(data: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tag: expected one word"):
        write_run(np.zeros(5), data, tmp_path / "a.run", tag="two words")
    with pytest.raises(InputError, match="scores: expected one score for each of 5 rows"):
        write_run(np.zeros(4), data, tmp_path / "a.run")
    with pytest.raises(InputError, match="scores: expected finite numbers"):
        write_run([1, 2, 3, 4, np.nan], data, tmp_path / "a.run")
    with pytest.raises(InputError, match="expected judged data"):
        write_qrels(Dataset(np.eye(2), qid=[1, 1]), tmp_path / "a.qrels")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"q 0 d 1\nq 0 d2\n", r":2: expected 4 fields \(qid iteration docno relevance\), got 3: 'q 0 d2'"),
        (b"q 0 d 1\nq 0 e x\n", ":2: expected a finite number as relevance, got 'x'"),
        (b"q 0 d inf\n", ":1: expected a finite number as relevance, got 'inf'"),
        (b"q 0 d nan\n", ":1: expected a finite number as relevance, got 'nan'"),
        (b"q 0 d 1_0\n", ":1: expected a finite number as relevance, got '1_0'"),
        (b"q 0 d 1\n\nq 0 d 2\n", ":3: expected every document of a query once, got document 'd' of query 'q' again"),
        (b"q 0 d 1\nq 0 \0 1\n", ":2: expected text, got a NUL byte"),
        (b"q 0 d 1\nq 0 \xff 1\n", ":2: expected UTF-8 text, got byte 0xff"),
        (b"", ": expected lines of qid iteration docno relevance, got an empty file"),
        (b"\n \n", ": expected lines of qid iteration docno relevance, got an empty file"),
    ],
)
def test_bad_qrels_are_refused_with_the_line(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(FormatError, match=f"bad{message}"):
        read_qrels(tmp_path / "bad")


def test_a_run_with_a_bad_score_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "bad.run").write_text("\ufeffq Q0 d 1 0.5 t\r\nq Q0 e 2 1e999 t\r\n")
    with pytest.raises(FormatError, match=r"bad.run:2: expected a finite number as score, got '1e999'"):
        read_run(tmp_path / "bad.run")


def complaint(reader: Callable[[Path], object], path: Path) -> str | None:
    try:
        reader(path)
    except ArgrankError as error:
        return str(error)
    return None


@given(st.one_of(st.binary(max_size=60), st.text("q1 0d.-\n\tQ\r", max_size=60).map(str.encode)))
def test_arbitrary_bytes_give_a_result_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a"
    path.write_bytes(content)
    for said in (complaint(read_qrels, path), complaint(read_run, path)):
        assert said is None or str(path) in said


def test_a_real_qrels_file(real_data: Path) -> None:
    qrels = read_qrels(real_data / "trec-news-2018" / "newsir18-entity.qrel")
    lines = (real_data / "trec-news-2018" / "newsir18-entity.qrel").read_text().split("\n")
    assert len(qrels) == sum(1 for line in lines if line)
    assert (qrels.qid[0], qrels.docno[0], qrels.rel[0]) == ("321", "321.1", 1.0)
    assert set(np.unique(qrels.rel)) == {0.0, 1.0, 2.0, 3.0, 4.0}
