"""Data frames of pandas, polars and pyarrow, with rows in any order, become the same Dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argrank as ar
from argrank.errors import InputError

LIBRARIES: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_library = pytest.mark.parametrize("frame", LIBRARIES.values(), ids=LIBRARIES.keys())

COLUMNS = {
    "price": [0.5, 1.5, 2.5, 3.5],
    "label": [2, 0, 1, 0],
    "clicks": [1, 2, 3, 4],
    "qid": ["b", "a", "b", "a"],
    "docid": [10, 20, 30, 40],
    "query": ["shoes", "hats", "shoes", "hats"],
    "title": ["t1", "t2", "t3", "t4"],
    "source": ["x", "y", "x", "z"],
    "comment": ["c1", "c2", "c3", "c4"],
    "sample_weight": [1.0, 2.0, 3.0, 4.0],
    "query_weight": [0.5, 0.25, 0.5, 0.25],
}


@every_library
def test_named_columns_and_features(frame: Any) -> None:
    data = ar.Dataset(frame(COLUMNS))
    assert data.feature_names == ("price", "clicks")
    assert data.X.tolist() == [[0.5, 1], [2.5, 3], [1.5, 2], [3.5, 4]]
    assert data.y.tolist() == [2, 1, 0, 0]
    assert data.query_ids.tolist() == ["b", "a"]
    assert data.query_texts.tolist() == ["shoes", "hats"]
    assert data.query_weight.tolist() == [0.5, 0.25]
    assert data.document_ids.tolist() == [10, 30, 20, 40]
    assert data.titles.tolist() == ["t1", "t3", "t2", "t4"]
    assert data.sources.tolist() == ["x", "x", "y", "z"]
    assert data.comments.tolist() == ["c1", "c3", "c2", "c4"]
    assert data.sample_weight.tolist() == [1, 3, 2, 4]
    assert data.to_caller(data.y).tolist() == COLUMNS["label"]


@every_library
@given(st.permutations(range(8)))
@settings(max_examples=15)
def test_any_order_of_rows(frame: Any, order: list[int]) -> None:
    qid = np.array([0, 0, 1, 2, 2, 2, 1, 0])
    X = np.arange(16.0).reshape(8, 2)
    data = ar.Dataset(frame({"a": X[order, 0], "b": X[order, 1], "label": qid[order], "qid": qid[order]}))
    assert data.to_caller(data.X).tolist() == X[order].tolist()
    for query in range(data.n_queries):
        rows = slice(data.indptr[query], data.indptr[query + 1])
        assert set(data.y[rows]) == {data.query_ids[query]}


@every_library
def test_arguments_stand_above_columns(frame: Any) -> None:
    columns = {name: COLUMNS[name] for name in ("price", "label", "qid", "docid")}
    data = ar.Dataset(frame(columns), y=[4, 4, 4, 4], qid=[1, 1, 1, 2])
    assert data.y.tolist() == [4, 4, 4, 4]
    assert data.query_ids.tolist() == [1, 2]
    grouped = ar.Dataset(frame({"f": [1.0, 2, 3], "qid": [1, 2, 1]}), group=[1, 2])
    assert grouped.sizes.tolist() == [1, 2]


@every_library
def test_missing_values_are_nan(frame: Any) -> None:
    data = ar.Dataset(frame({"qid": [1, 1, 1], "whole": [1, None, 3], "half": [None, 0.5, float("nan")]}))
    assert np.array_equal(data.X, [[1, np.nan], [np.nan, 0.5], [3, np.nan]], equal_nan=True)
    assert not data.is_judged


def test_missing_truth_values_are_nan() -> None:
    for table in (pl.DataFrame({"qid": [1, 1], "f": [True, None]}), pa.table({"qid": [1, 1], "f": [True, None]})):
        assert np.array_equal(ar.Dataset(table).X, [[1], [np.nan]], equal_nan=True)


def test_float32_is_kept() -> None:
    columns = {"a": np.array([1, 2], np.float32), "b": np.array([3, 4], np.float32), "qid": [1, 2]}
    for frame in LIBRARIES.values():
        assert ar.Dataset(frame(columns)).X.dtype == np.float32


def test_categories_as_ids() -> None:
    frames = (
        pd.DataFrame({"f": [1.0, 2, 3], "qid": pd.Categorical(["b", "a", "b"])}),
        pl.DataFrame({"f": [1.0, 2, 3], "qid": pl.Series(["b", "a", "b"], dtype=pl.Categorical)}),
        pa.table({"f": [1.0, 2, 3], "qid": pa.array(["b", "a", "b"]).dictionary_encode()}),
    )
    for frame in frames:
        data = ar.Dataset(frame)
        assert data.query_ids.tolist() == ["b", "a"]
        assert data.sizes.tolist() == [2, 1]


def test_a_pandas_index_does_not_matter() -> None:
    frame = pd.DataFrame({"f": [1.0, 2, 3], "qid": [1, 2, 1], "label": [0, 1, 2]}, index=[5, 5, 0])
    assert ar.Dataset(frame).to_caller(ar.Dataset(frame).y).tolist() == [0, 1, 2]


@every_library
def test_text_among_the_features_is_refused(frame: Any) -> None:
    with pytest.raises(InputError, match="column 'brand': expected numbers, got 'x'; columns with a meaning are label"):
        ar.Dataset(frame({"brand": ["x", "y"], "qid": [1, 1]}))


@every_library
def test_a_missing_query_id_is_refused(frame: Any) -> None:
    with pytest.raises(InputError, match="qid: expected an id in every row, got none in row 1"):
        ar.Dataset(frame({"f": [1.0, 2], "qid": ["a", None]}))
