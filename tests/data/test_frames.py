"""Data frames of pandas, polars and pyarrow, with rows in any order, become the same Dataset."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argrank as ar
from argrank.data.io.columns import roles
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
def test_what_is_no_number_and_no_text_is_refused(frame: Any) -> None:
    days = [dt.date(2026, 1, 1), dt.date(2026, 1, 2)]
    with pytest.raises(InputError, match=r"column 'day': expected numbers or texts, got dates such as .*--drop day"):
        ar.Dataset(frame({"day": days, "qid": [1, 1]}))
    spans = [dt.timedelta(1), dt.timedelta(2)]
    with pytest.raises(InputError, match=r"column 'span': expected numbers or texts, got .*; columns with a meaning"):
        ar.Dataset(frame({"span": spans, "qid": [1, 1]}))


@every_library
def test_texts_are_categories(frame: Any) -> None:
    data = ar.Dataset(frame({"brand": ["y", "x", None, "y"], "f": [1.0, 2, 3, 4], "qid": [1, 2, 1, 2]}))
    assert data.categories == {"brand": ("x", "y")}
    assert np.array_equal(data.to_caller(data.X[:, 0]), [1, 0, np.nan, 1], equal_nan=True)
    for made in (data.to_pandas(), data.to_polars()):
        again = ar.Dataset(made)
        assert again.categories == data.categories
        assert np.array_equal(again.X, data.X, equal_nan=True)
        assert again.query_ids.tolist() == data.query_ids.tolist()


def test_pandas_categories_keep_their_order() -> None:
    sizes = pd.Categorical(["L", "S"], categories=["S", "M", "L"], ordered=True)
    data = ar.Dataset(pd.DataFrame({"size": sizes, "qid": [1, 1]}))
    assert data.categories == {"size": ("S", "M", "L")}
    assert data.X[:, 0].tolist() == [2, 0]


@every_library
def test_common_names_are_taken_and_told(frame: Any, caplog: pytest.LogCaptureFixture) -> None:
    roles.tell.cache_clear()
    made = frame({"query_id": [1, 1, 2], "doc_id": ["a", "b", "c"], "relevance": [1, 0, 2], "rating": [4.5, 3, 2]})
    data = ar.Dataset(made)
    assert data.query_ids.tolist() == [1, 2]
    assert data.document_ids.tolist() == ["a", "b", "c"]
    assert data.y.tolist() == [1, 0, 2]
    assert data.feature_names == ("rating",)  # the label has a better name
    told = "qid from column 'query_id', label from column 'relevance', docid from column 'doc_id'"
    assert [record.getMessage() for record in caplog.records] == [told]
    ar.Dataset(made)
    assert len(caplog.records) == 1  # once
    given = ar.Dataset(frame({"query": ["q", "q"], "Grade": [1, 0], "f": [1, 2]}))
    assert (given.query_ids.tolist(), given.y.tolist()) == (["q"], [1, 0])
    explicit = ar.Dataset(frame({"rating": [4.5, 3.0], "f": [1.0, 2.0]}), [1, 0], [7, 7])
    assert explicit.feature_names == ("rating", "f")  # y is given: nothing is taken for it


def test_lazy_frames_are_collected() -> None:
    lazy = pl.LazyFrame({"f": [1.0, 2], "qid": [1, 1], "label": [0, 1]}).with_columns(g=pl.col("f") * 2)
    data = ar.Dataset(lazy)
    assert data.feature_names == ("f", "g")
    ranker = ar.make_ranker("regression").fit(lazy)
    assert ranker.predict(lazy).tolist() == ranker.predict(data).tolist()


def test_two_columns_of_one_name_are_refused() -> None:
    twice = pd.DataFrame(np.ones((2, 3)), columns=["f", "f", "qid"])
    for frame in (twice, pa.table([[1, 2], [1, 2], [1, 2]], names=["f", "f", "qid"])):
        with pytest.raises(InputError, match=r"expected columns of different names.*'f' 2 times"):
            ar.Dataset(frame)


def test_a_single_query_can_be_said() -> None:
    assert ar.Dataset(np.eye(3), [1, 0, 0], "single").n_queries == 1  # without the warning
    with pytest.raises(InputError, match="or 'single', got 'other'"):
        ar.Dataset(np.eye(3), [1, 0, 0], "other")


def test_qid_stands_beside_X_and_y() -> None:
    data = ar.Dataset(np.arange(4.0)[:, None], [0, 1, 2, 3], ["b", "a", "b", "a"])
    assert data.qid.tolist() == ["b", "b", "a", "a"]
    frame = data.to_pandas()
    assert frame["qid"].tolist() == ["b", "a", "b", "a"]  # the caller's order
    assert frame["f1"].tolist() == [0, 1, 2, 3]


def test_parts_with_other_categories_can_be_joined() -> None:
    a = ar.Dataset(pd.DataFrame({"brand": ["y", "z"], "qid": [1, 1]}))
    b = ar.Dataset(pd.DataFrame({"brand": ["x", "z"], "qid": [2, 2]}))
    both = ar.Dataset.concatenate([a, b])
    assert both.to_pandas()["brand"].tolist() == ["y", "z", "x", "z"]
    assert a.select([0]).categories == a.categories


@every_library
def test_a_missing_query_id_is_refused(frame: Any) -> None:
    with pytest.raises(InputError, match="qid: expected an id in every row, got none in row 1"):
        ar.Dataset(frame({"f": [1.0, 2], "qid": ["a", None]}))


class Streaming:
    """A table with nothing but the method of the Arrow stream protocol."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


class Interchanging:
    """The same for the older interchange protocol."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._table.__dataframe__(nan_as_null, allow_copy)


ARROW_LIKE: dict[str, Any] = {
    "record batch": lambda batch: batch,
    "reader": lambda batch: pa.RecordBatchReader.from_batches(batch.schema, [batch]),
    "structs": lambda batch: batch.to_struct_array(),
    "stream": Streaming,
    "interchange": lambda batch: Interchanging(pa.table(batch)),
}


@pytest.mark.parametrize("kind", ARROW_LIKE)
def test_any_table_of_the_arrow_protocols_is_a_frame(kind: str) -> None:
    columns = {"label": [0, 1, 2, 0], "qid": ["a", "a", "b", "b"], "f": [1.0, 2.0, 3.0, 0.5]}
    batch, make = pa.record_batch(columns), ARROW_LIKE[kind]
    data = ar.Dataset(make(batch))
    assert (data.feature_names, data.y.tolist(), data.query_ids.tolist()) == (("f",), columns["label"], ["a", "b"])
    ranker = ar.make_ranker("rank-svm").fit(make(batch))
    assert ranker.feature_names_in_.tolist() == ["f"]
    np.testing.assert_array_equal(ranker.predict(make(batch)), ranker.predict(data))


def test_a_table_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputError, match="X: expected a table, got Streaming, which cannot be read"):
        ar.Dataset(Streaming(pa.chunked_array([[1, 2]])), [0, 1], [1, 1])
    with pytest.raises(InputError, match="expected 2 dimensions"):
        ar.Dataset(pa.array([1.0, 2.0]), [0, 1], [1, 1])


@pytest.mark.parametrize("kind", ["boolean", "bool[pyarrow]", "Int64", "Float64"])
def test_missing_values_of_nullable_types_of_pandas(kind: str) -> None:
    frame = pd.DataFrame({"qid": [1, 1, 1], "f": pd.Series([True, None, False], dtype="boolean").astype(kind)})
    np.testing.assert_array_equal(ar.Dataset(frame).X[:, 0], [1, np.nan, 0])


@pytest.mark.parametrize("kind", ["string", "string[pyarrow]", "object"])
def test_a_missing_id_of_pandas_is_refused_with_its_row(kind: str) -> None:
    ids = pd.Series(["a", pd.NA, "b"], dtype=kind)
    for what, columns in {"qid": {"qid": ids}, "document_ids": {"qid": [1, 1, 1], "docid": ids}}.items():
        with pytest.raises(InputError, match=f"^{what}: expected an id in every row, got none in row 1"):
            ar.Dataset(pd.DataFrame({**columns, "f": [1.0, 2.0, 3.0]}))
    with pytest.raises(InputError, match=r"^qid: expected an id in every row, got none in row 1"):
        ar.Dataset(np.ones((3, 1)), qid=ids)
