from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, MissingExtraError, OptionError
from argrank.evaluation.ranking_blocks import BLOCK_CELLS, query_blocks
from argrank.measures import NDCG


@pytest.fixture
def data():
    return ar.Dataset(np.zeros((6, 1)), [2, 0, 1, 0, 0, 1], qid=["b", "a", "b", "a", "c", "c"])


SCORES = [0.1, 0.5, 0.2, 0.4, 0.9, 0.8]


def test_means_are_keyed_by_the_names_as_asked_in_that_order(data):
    result = ar.evaluate(SCORES, data, ["mrr@10", "nDCG@10", "MAP", NDCG(k=3)])
    assert list(result.means) == ["mrr@10", "nDCG@10", "MAP", "nDCG@3"]
    assert list(result.values) == list(result.undefined) == list(result.zero_filled) == list(result.means)
    assert list(ar.evaluate(SCORES, data, "ndcg").means) == ["ndcg"]
    assert list(ar.evaluate(SCORES, data, NDCG(k=3)).means) == ["nDCG@3"]


def test_scores_are_in_the_callers_row_order(data):
    result = ar.evaluate(SCORES, data, "mrr")
    assert result.query_ids.tolist() == ["b", "a", "c"]
    np.testing.assert_array_equal(result.values["mrr"], [1, np.nan, 0.5])
    assert result.means == {"mrr": 0.75}
    assert result.undefined == {"mrr": 1}
    assert result.zero_filled == {"mrr": 0.5}


def test_query_weights():
    data = ar.Dataset(np.zeros((6, 1)), [1, 0, 0, 1, 0, 0], group=[2, 2, 2], query_weight=[1, 3, 5])
    result = ar.evaluate([2, 1, 2, 1, 2, 1], data, "mrr")
    assert result.means["mrr"] == pytest.approx((1 * 1 + 3 * 0.5) / 4)
    assert result.zero_filled["mrr"] == pytest.approx((1 * 1 + 3 * 0.5) / 9)
    assert ar.evaluate([2, 1, 2, 1, 2, 1], data, "mrr", undefined=1).means["mrr"] == pytest.approx(7.5 / 9)


def test_all_queries_undefined_is_nan_not_an_error():
    data = ar.Dataset(np.zeros((3, 1)), [0, 0, 0], group=[2, 1])
    result = ar.evaluate([1, 2, 3], data, ["map", "p@1"])
    assert np.isnan(result.means["map"])
    assert result.means["p@1"] == 0
    assert result.zero_filled["map"] == 0
    assert "nan" in repr(result)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1, 2, 3], "one score for each of 6 rows"),
        ([1, 2, 3, 4, 5, np.nan], "got nan .* in row 5"),
        ([1, 2, np.inf, 4, 5, 6], "got inf .* in row 2"),
        (["a"] * 6, "expected numbers"),
        (np.zeros((6, 2)), "shape"),
        (None, "scores: expected"),
    ],
)
def test_bad_scores(data, scores, message):
    with pytest.raises(InputError, match=message):
        ar.evaluate(scores, data, "ndcg")


def test_bad_data_and_measures(data):
    unjudged = ar.Dataset(np.zeros((3, 1)), qid=[1, 1, 1], preferences=[[0, 1]])
    with pytest.raises(InputError, match="expected labels to measure against, got data without judgements"):
        ar.evaluate([1, 2, 3], unjudged, "ndcg")
    with pytest.raises(InputError, match="expected a Dataset"):
        ar.evaluate([1, 2, 3], [1, 2, 3], "ndcg")
    with pytest.raises(OptionError, match="at least one measure"):
        ar.evaluate(SCORES, data, [])
    with pytest.raises(OptionError, match="did you mean"):
        ar.evaluate(SCORES, data, ["ndgc"])
    with pytest.raises(InputError, match="none for query 'c'"):
        ar.evaluate(SCORES, data, "ndcg", judgements={"a": [1], "b": [1]})
    high = ar.Dataset(np.zeros((2, 1)), [7, 0], group=[2])
    with pytest.raises(InputError, match="max_grade=4, got 7"):
        ar.evaluate([1, 2], high, "err")
    assert ar.evaluate([2, 1], high, "err", max_grade=7).means["err"] == (2**7 - 1) / 2**7


def test_huge_scores_of_a_float32_convention_tie_and_stay_in_the_list():
    data = ar.Dataset(np.zeros((4, 1)), [1, 0, 0, 1], group=[3, 1])
    result = ar.evaluate([-1e300, -1e299, 1e300, 0], data, "mrr", convention="trec")
    np.testing.assert_array_equal(result.values["mrr"], [1 / 3, 1])


def test_data_frame(data, monkeypatch):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    result = ar.evaluate(SCORES, data, ["mrr", "P@1"])
    frame = result.per_query
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["qid", "mrr", "P@1"]
    assert frame["qid"].tolist() == ["b", "a", "c"]
    for absent, kind in (("pandas", pl.DataFrame), ("polars", pa.Table)):
        monkeypatch.setitem(sys.modules, absent, None)
        assert isinstance(result.per_query, kind)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"argrank\[frames\]"):
        _ = result.per_query


def test_words(data):
    result = ar.evaluate(SCORES, data, ["mrr", "P@1"])
    lines = repr(result).splitlines()
    assert lines[0].split() == ["measure", "mean", "undefined", "undefined", "as", "0"]
    assert lines[1].split() == ["mrr", "0.7500", "1", "0.5000"]
    assert lines[-1] == "3 queries; convention default"
    complete = ar.evaluate(SCORES, data, "P@1", convention="letor3")
    assert repr(complete).splitlines()[1].split() == ["P@1", "0.333333333333333"]
    assert json.loads(json.dumps(result.to_dict()))["per_query"] == {
        "qid": ["b", "a", "c"], "mrr": [1.0, None, 0.5], "P@1": [1.0, 0.0, 0.0],
    }  # fmt: skip


def test_html_escapes_what_came_from_outside():
    data = ar.Dataset(np.zeros((2, 1)), [1, 0], qid=["<b>", "<b>"], document_ids=["<i>", "&"])
    text = ar.evaluate([1, 2], data, "mrr", explain="<b>")._repr_html_()
    assert "<i>" not in text
    assert "<b>" not in text
    assert "&lt;i&gt;" in text


def test_blocks_hold_every_query_once_and_waste_little():
    random = np.random.default_rng(0)
    for sizes in (
        np.full(3000, 100),
        random.integers(1, 2000, 500),
        np.array([1] * 5000 + [300_000] + [7] * 10),
        np.array([3]),
    ):
        blocks = list(query_blocks(sizes))
        np.testing.assert_array_equal(np.sort(np.concatenate(blocks)), np.arange(len(sizes)))
        for queries in blocks:
            widest = sizes[queries].max()
            assert len(queries) == 1 or widest * len(queries) <= 2 * BLOCK_CELLS
            assert widest <= 2 * sizes[queries].min() + 16


def test_ragged_lists_equal_lists_alone():
    random = np.random.default_rng(4)
    sizes = np.concatenate([random.integers(1, 400, 60), [5000]])
    labels = random.integers(0, 5, sizes.sum()).astype(float)
    scores = np.round(random.normal(size=len(labels)), 2)
    data = ar.Dataset(np.zeros((len(labels), 1)), labels, group=sizes)
    names = ["ndcg@10", "map", "mrr", "err@20", "auc", "tau"]
    together = ar.evaluate(scores, data, names)
    for query in (0, 17, 60):
        rows = slice(int(data.indptr[query]), int(data.indptr[query + 1]))
        alone = ar.evaluate(scores[rows], data.select([query]), names)
        assert [alone.means[name] for name in names] == [together.values[name][query] for name in names]
