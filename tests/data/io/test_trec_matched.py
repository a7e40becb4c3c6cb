"""The quick ways from a run and judgements to lists find what joining them finds, or leave it to that."""

from __future__ import annotations

import decimal
import warnings
from typing import Any

import numpy as np
import pytest

from argrank.data.io.trec import matched
from argrank.errors import ArgrankError
from argrank.evaluation import systems
from argrank.evaluation.systems import Lists, lists_of


def outcome(monkeypatch: Any, run: Any, qrels: Any, quick: bool) -> tuple[Lists | None, str, list[str]]:
    """Return lists or the error, and the warnings."""
    if not quick:
        monkeypatch.setattr(systems, "match_dicts", lambda *_: None)
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
