"""The quick ways from a run and judgements to lists find what joining them finds, or leave it to that."""

from __future__ import annotations

import decimal
import gzip
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from argrank.data.io.trec import _kernels, file_words, matched
from argrank.data.io.trec.files import QRELS, RUN
from argrank.errors import ArgrankError
from argrank.evaluation import systems
from argrank.evaluation.systems import Lists, lists_of


def outcome(monkeypatch: Any, run: Any, qrels: Any, quick: bool) -> tuple[Lists | None, str, list[str]]:
    """Return lists or the error, and the warnings."""
    monkeypatch.setattr(file_words, "SMALLEST", 0)
    if not quick:
        monkeypatch.setattr(systems, "_quick_matches", lambda *_: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            lists, error = lists_of({"run": run}, qrels)["run"], ""
        except ArgrankError as refused:
            lists, error = None, f"{type(refused).__name__}: {refused}"
    monkeypatch.undo()
    return lists, error, [str(one.message) for one in caught]


def assert_same(one: Lists, other: Lists) -> None:
    assert one.scores.tolist() == other.scores.tolist()
    for field in ("y", "indptr", "query_ids", "document_ids", "X"):
        first, second = getattr(one.data, field), getattr(other.data, field)
        assert first.tolist() == second.tolist(), field
        assert first.dtype == second.dtype, field
    for field in ("labels", "indptr", "gaps"):
        assert getattr(one.judgements, field).tolist() == getattr(other.judgements, field).tolist(), field
    assert one.missing.tolist() == other.missing.tolist()
    assert one.unknown == other.unknown
    assert one.data.feature_names == other.data.feature_names


def random_dicts(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a run and judgements that share some queries and documents, with negative and unjudged ones."""
    random = np.random.default_rng(seed)
    documents = [f"d{number}é" if number % 7 == 0 else f"d{number}" for number in range(12)]

    def some(most: int) -> list[str]:
        return random.choice(documents, random.integers(0, most), replace=False).tolist()

    qrels = {f"q{number}": {one: int(random.integers(-1, 4)) for one in some(8)} for number in range(1, 9)}
    run = {f"q{number}": {one: round(float(random.normal()), 1) for one in some(8)} for number in range(4, 14)}
    return run, qrels | {"q4": {"d1": 1}}


@pytest.mark.parametrize("seed", range(30))
def test_dicts_by_look_up_are_as_joined(monkeypatch, seed):
    run, qrels = random_dicts(seed)
    assert matched.match_dicts(run | {"q4": {"d1": 0.5}}, qrels) is not None
    quick, slow = (outcome(monkeypatch, run | {"q4": {"d1": 0.5}}, qrels, one) for one in (True, False))
    assert_same(quick[0], slow[0])
    assert quick[1:] == slow[1:] == ("", [])
    again = (defaultdict(dict, one) for one in (run | {"q4": {"d1": 0.5}}, qrels))  # as pytrec_eval reads files
    assert matched.match_dicts(*again) is not None


PLAIN = {"q": {"a": 1, "b": 0}}
UNUSUAL = [
    ({"q": {"a": 1.0, 1: 2.0}}, PLAIN),  # an id that is no text
    ({"q": {"1": 1.0, 1: 2.0}}, PLAIN),  # one that is written alike
    ({"q": {"a b": 1.0, "a": 0.5}}, {"q": {"a%20b": 1, "a": 0}}),  # percent-encoded in a file
    ({"q": {"": 1.0, "a": 0.5}}, {"q": {"%00": 1, "a": 0}}),
    ({"q": {"a\u2003b": 1.0}}, PLAIN),  # another blank
    ({"q": {"a\0": 1.0}}, PLAIN),
    ({"q": {"\ud800": 1.0, "a": 2.0}}, PLAIN),  # half a surrogate pair
    ({"q": {"a": 1.0}, "x": {"\ud800": 1.0}}, PLAIN),  # in a query that is not judged
    ({"q": {"a": 1.0}, "x": {"b": np.nan}}, PLAIN),
    ({"q": {"a": np.nan}}, PLAIN),
    ({"q": {"a": np.inf}}, PLAIN),
    ({"q": {"a": None}}, PLAIN),
    ({"q": {"a": "1.5"}}, PLAIN),  # float() reads it
    ({"q": {"a": "many"}}, PLAIN),
    ({"q": {"a": 1j}}, PLAIN),
    ({"q": {"a": 10**400}}, PLAIN),
    ({"q": {"a": decimal.Decimal("0.1"), "b": np.float32(0.1)}}, PLAIN),
    ({"q": {"a": True, "b": np.int64(0)}}, PLAIN),
    ({"q": {"a": 1.0}}, {"q": {"a": np.nan}}),
    ({"q": {"a": 1.0}}, {"q": {"a": "1", "b": 0}}),
    ({"q": {"x": 1.0}}, PLAIN),  # nothing judged: a warning
    ({"x": {"a": 1.0}}, PLAIN),  # no judged query: an error
    ({"q": {}}, PLAIN),
    ({"q": {}, "r": {"a": 1.0}}, PLAIN | {"r": {"a": 2}, "s": {}}),
    ({"q": {"a": 1.0}}, {"q": {"a": -2, "b": -1}}),  # all pooled
    ({"q": {"a": 1.0}, "r": [1]}, PLAIN),
    ({1: {"a": 1.0}}, {1: {"a": 1}}),  # query ids that are numbers stay numbers
    ({"1": {"a": 1.0}}, {1: {"a": 1}, "2": {"b": 1}}),
    ({np.str_("q"): {np.str_("a"): 1.0}}, PLAIN),
]


@pytest.mark.parametrize(("run", "qrels"), UNUSUAL, ids=repr)
def test_unusual_dicts_end_as_before(monkeypatch, run, qrels):
    quick, slow = (outcome(monkeypatch, run, qrels, one) for one in (True, False))
    assert quick[1:] == slow[1:]
    if slow[0] is None:
        assert quick[0] is None
        assert slow[1]
    else:
        assert_same(quick[0], slow[0])
        assert [type(one) for one in quick[0].data.query_ids] == [type(one) for one in slow[0].data.query_ids]


def written(folder: Path, run: dict[str, Any], qrels: dict[str, Any], seed: int) -> tuple[Path, Path]:
    """Write both as TREC files whose lines are in any order, with blanks and empty lines as people write them."""
    random = np.random.default_rng(seed)
    blank = ["\t", " ", "  \x0b", " \x1c"]
    answers = [(qid, "Q0", name, "1", repr(score), "tag") for qid in run for name, score in run[qid].items()]
    labels = [(qid, "0", name, str(label)) for qid in qrels for name, label in qrels[qid].items()]
    lines = [[blank[random.integers(4)].join(words) for words in some] for some in (answers, labels)]
    for some in lines if seed % 2 else ():
        random.shuffle(some)
    end = ["\n", "\r\n", " \n\n"][seed % 3]
    paths = folder / "a.run.gz", folder / "a.qrels"
    for path, some in zip(paths, lines, strict=True):
        content = ("\ufeff" if seed % 5 == 0 else "") + end.join(some) + ("" if seed % 4 == 0 else end)
        path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return paths


@pytest.mark.parametrize("seed", range(30))
def test_files_by_their_bytes_are_as_joined(monkeypatch, tmp_path, seed):
    run, qrels = random_dicts(seed)
    paths = written(tmp_path, run | {"q4": {"d1": 0.5}}, qrels, seed)
    monkeypatch.setattr(file_words, "CHUNK", 7)
    quick = outcome(monkeypatch, *paths, True)
    monkeypatch.setattr(systems, "join_runs", None)  # nothing but the bytes was needed
    monkeypatch.setattr(file_words, "SMALLEST", 0)
    assert lists_of({"run": paths[0]}, paths[1])["run"].scores.tolist() == quick[0].scores.tolist()
    monkeypatch.undo()
    slow = outcome(monkeypatch, *paths, False)
    assert_same(quick[0], slow[0])
    assert quick[1:] == slow[1:] == ("", [])


GOOD_RUN, GOOD_QRELS = b"q Q0 a 1 0.5 t\nq Q0 b 2 0.25 t\n", b"q 0 a 1\nq 0 c 0\n"
ODD = [
    (b"q Q0 a 1 0.5 t\nq Q0 a 2 0.25 t\n", GOOD_QRELS),  # twice
    (b"q Q0 x 1 0.5 t\nq Q0 x 2 0.25 t\n", GOOD_QRELS),  # twice, not judged
    (GOOD_RUN + b"z Q0 x 1 0.5 t\nz Q0 x 2 0.25 t\n", GOOD_QRELS),  # twice in a query that is not judged
    (GOOD_RUN, GOOD_QRELS + b"q 0 c 1\n"),
    (GOOD_RUN + b"q Q0 d 3 0.1\n", GOOD_QRELS),  # a word too few
    (GOOD_RUN + b"q Q0 d 3 0.1 t u\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 d 3 nan t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 d 3 1e999 t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 d 3 1_0 t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 d 3 0x10 t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 d 3 +1.5 t\n", GOOD_QRELS),  # float() reads it
    (GOOD_RUN + b"q Q0 d 3 .5e1 t\nq Q0 e 4 5. t\nq Q0 f 5 -0 t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 d 3 0." + b"3" * 60 + b" t\n", GOOD_QRELS),  # longer than the kernel takes
    (GOOD_RUN + b"q Q0 d 3 2.2250738585072011e-308 t\nq Q0 e 4 9007199254740993 t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 \0 3 1 t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 \xff 3 1 t\n", GOOD_QRELS),
    (GOOD_RUN + b"q Q0 d 3 1 \xc3", GOOD_QRELS),  # ends within a letter
    (GOOD_RUN + "q Q0 a\u00a0b 3 1\n".encode(), GOOD_QRELS),  # a blank beyond ASCII: six words
    (GOOD_RUN + "q Q0 \u00e9 3 1 t\n".encode(), GOOD_QRELS + "q 0 \u00e9 2\n".encode()),
    (b"z Q0 a 1 0.5 t\n", GOOD_QRELS),  # no judged query
    (b"q Q0 x 1 0.5 t\n", GOOD_QRELS),  # no judged document
    (GOOD_RUN, b"q 0 a -1\nq 0 c 0\nr 0 a 1\n"),
]


@pytest.mark.parametrize(("run", "qrels"), ODD)
def test_odd_files_end_as_they_do_line_by_line(monkeypatch, tmp_path, run, qrels):
    (tmp_path / "a.run").write_bytes(run)
    (tmp_path / "a.qrels").write_bytes(qrels)
    quick, slow = (outcome(monkeypatch, tmp_path / "a.run", tmp_path / "a.qrels", one) for one in (True, False))
    assert quick[1:] == slow[1:]
    assert (slow[0] is None) == bool(slow[1])
    if slow[0] is not None:
        assert_same(quick[0], slow[0])


def test_kernels_over_bytes_do_the_same_without_compiling(monkeypatch, tmp_path):
    run, qrels = written(tmp_path, *random_dicts(3), 3)
    found = []
    for kernels in ((_kernels.split, _kernels.look_up), (_kernels.split.function, _kernels.look_up.function)):
        monkeypatch.setattr(file_words, "split", kernels[0])
        monkeypatch.setattr(file_words, "look_up", kernels[1])
        judged = file_words.read_words(qrels, QRELS)
        words = file_words.read_words(run, RUN, judged.query_ids)
        with np.errstate(over="ignore"):  # the hash wraps
            rows = file_words.rows_in(judged, words).tolist()
        found.append((rows, words.documents.tolist(), words.numbers.tolist(), words.indptr.tolist()))
    assert found[0] == found[1]


def test_an_archive_larger_than_memory_is_refused(monkeypatch, tmp_path):
    (tmp_path / "a.run.gz").write_bytes(gzip.compress(b"q Q0 a 1 0.5 t\n" * 2_000_000))
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "20MB")
    with pytest.raises(ArgrankError, match="expected at most"):
        file_words.read_words(tmp_path / "a.run.gz", RUN)
