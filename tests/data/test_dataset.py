"""Dataset: grouping, order, parts, and what it refuses."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from argrank import Dataset
from argrank.errors import ArgrankWarning, InputError, OptionError

X4 = np.arange(8.0).reshape(4, 2)


def sample(n_queries: int = 6, seed: int = 0) -> Dataset:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, n_queries)
    n = int(sizes.sum())
    return Dataset(
        random.normal(size=(n, 3)),
        random.integers(0, 3, n),
        qid=np.repeat([f"q{i}" for i in range(n_queries)], sizes),
        document_ids=[f"d{i}" for i in range(n)],
        comments=[f"c{i}" for i in range(n)],
        sources=random.integers(0, 2, n),
        titles=[f"t{i}" for i in range(n)],
        query_texts=[f"text {i}" for i in range(n_queries)],
        sample_weight=random.uniform(1, 2, n),
        query_weight=random.uniform(1, 2, n_queries),
        feature_names=["a", "b", "c"],
    )


@given(st.lists(st.sampled_from(["a", "b", 3, 3.5, ("t", 1), b"x"]), min_size=1, max_size=30))
def test_any_ids_in_any_order_are_grouped_by_first_appearance(ids):
    values = np.arange(len(ids), dtype=float)
    data = Dataset(values[:, None], values, qid=ids)
    assert data.query_ids.tolist() == list(dict.fromkeys(ids))
    for query, qid in enumerate(data.query_ids):
        rows = data.y[data.indptr[query] : data.indptr[query + 1]]
        assert rows.tolist() == [row for row, value in enumerate(ids) if value == qid]
    np.testing.assert_array_equal(data.to_caller(data.y), values)
    np.testing.assert_array_equal(data.from_caller(values), data.y)
    np.testing.assert_array_equal(data.X[:, 0], data.y)


@settings(max_examples=50)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.sampled_from([np.int32, np.float64, np.str_]))
def test_typed_arrays_group_like_python_lists(ids, dtype):
    array = np.array(ids).astype(dtype)
    y = np.arange(len(ids), dtype=float)
    a, b = Dataset(y[:, None], y, qid=array), Dataset(y[:, None], y, qid=array.tolist())
    assert a.query_ids.tolist() == b.query_ids.tolist()
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.y, b.y)


def test_group_sizes_and_one_query_with_a_warning():
    assert Dataset(X4, [0, 1, 0, 1], group=[3, 1]).sizes.tolist() == [3, 1]
    with pytest.warns(ArgrankWarning, match="one query"):
        assert Dataset(X4, [0, 1, 0, 1]).n_queries == 1


def test_a_read_only_array_is_shared_another_copied_and_nothing_can_be_written():
    X = np.ones((4, 2), np.float32)
    data = Dataset(X, [0, 1, 0, 1], qid=[1, 1, 2, 2])
    assert not np.shares_memory(data.X, X)
    handed_over = X.copy()
    handed_over.flags.writeable = False
    assert np.shares_memory(Dataset(handed_over, [0, 1, 0, 1], qid=[1, 1, 2, 2]).X, handed_over)
    assert data.X.dtype == np.float32
    assert data.rows is None
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 5
    X[0, 0] = 5  # the caller's own array stays writable
    with pytest.raises(AttributeError, match="frozen"):
        data.y = np.zeros(4)


def test_sparse_becomes_canonical_csr_and_moves_with_its_rows():
    matrix = sparse.coo_matrix(([1.0, 2.0, 3.0], ([0, 1, 1], [1, 0, 0])), shape=(3, 2))
    data = Dataset(matrix, [0, 1, 2], qid=["b", "a", "b"])
    assert data.is_sparse
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1], [0, 0], [5, 0]])


def test_parts_keep_everything_together():
    data = sample()
    part = data.select([4, 1])
    assert part.query_ids.tolist() == ["q4", "q1"]
    for query, old in enumerate([4, 1]):
        new_rows = slice(part.indptr[query], part.indptr[query + 1])
        old_rows = slice(data.indptr[old], data.indptr[old + 1])
        for name in ("X", "y", "document_ids", "comments", "sources", "titles", "sample_weight"):
            np.testing.assert_array_equal(getattr(part, name)[new_rows], getattr(data, name)[old_rows])
        assert part.query_weight[query] == data.query_weight[old]
        assert part.query_texts[query] == data.query_texts[old]
    assert part.feature_names == ("a", "b", "c")


def test_adjacent_parts_share_memory():
    data = sample()
    assert all(np.shares_memory(batch.X, data.X) for batch in data.batches(5))
    assert np.shares_memory(data.select([2, 3]).X, data.X)


@settings(max_examples=25)
@given(st.integers(1, 30), st.integers(1, 40))
def test_batches_give_every_query_once_in_order(n_queries, n_documents):
    data = sample(n_queries)
    batches = list(data.batches(n_documents))
    assert [q for batch in batches for q in batch.query_ids] == data.query_ids.tolist()
    assert all(batch.n_documents <= n_documents or batch.n_queries == 1 for batch in batches)


def test_split_then_concatenate_gives_the_same_data():
    data = sample(10)
    parts = data.split(0.5, 0.3, 0.2)
    assert [part.n_queries for part in parts] == [5, 3, 2]
    joined = Dataset.concatenate(parts)
    again = joined.select([joined.query_ids.tolist().index(q) for q in data.query_ids])
    assert again.fingerprint == data.fingerprint
    np.testing.assert_array_equal(again.document_ids, data.document_ids)
    np.testing.assert_array_equal(again.query_weight, data.query_weight)


def test_split_is_reproducible_and_keeps_order_without_a_seed():
    data = sample(10)
    assert [p.fingerprint for p in data.split(0.5, 0.5)] == [p.fingerprint for p in data.split(0.5, 0.5)]
    first, second = data.split(0.5, 0.5, random_state=None)
    assert first.query_ids.tolist() + second.query_ids.tolist() == data.query_ids.tolist()


def test_concatenate_refuses_shared_queries_other_features_and_half_present_columns():
    data = sample(4)
    with pytest.raises(InputError, match="'q0' twice"):
        Dataset.concatenate([data, data])
    with pytest.raises(InputError, match="same 3 features"):
        Dataset.concatenate([data, Dataset(X4, [0, 1, 0, 1], qid=[1, 1, 1, 1])])
    bare = Dataset(data.X, data.y, qid=np.arange(data.n_documents), feature_names=["a", "b", "c"])
    with pytest.raises(InputError, match="in every part or in none"):
        Dataset.concatenate([data, bare])


def test_preferences_follow_their_rows():
    # rows 0 and 2 are query b, rows 1 and 3 query a
    data = Dataset(X4, [0, 0, 0, 0], qid=["b", "a", "b", "a"], preferences=[[2, 0], [1, 3]])
    caller = data.rows
    pairs = [(int(caller[i]), int(caller[j])) for i, j in zip(*data.preferences[:2], strict=True)]
    assert pairs == [(2, 0), (1, 3)]
    only_a = data.select([1])
    assert (only_a.preferences.better.tolist(), only_a.preferences.worse.tolist()) == ([0], [1])
    back = Dataset.concatenate([data.select([0]), only_a])
    assert (back.preferences.better.tolist(), back.preferences.worse.tolist()) == ([1, 2], [0, 3])
    weighted = Dataset(X4, [0, 0, 0, 0], qid=[1, 1, 1, 1], preferences=[[2, 0, 0.5]])
    assert weighted.preferences.weight.tolist() == [0.5]


def test_query_values_may_come_per_row():
    data = Dataset(X4, [0, 1, 0, 1], qid=["b", "a", "b", "a"], query_texts=["two", "one", "two", "one"])
    assert data.query_texts.tolist() == ["two", "one"]
    with pytest.raises(InputError, match="several in query 'b'"):
        Dataset(X4, [0, 1, 0, 1], qid=["b", "a", "b", "a"], query_texts=["two", "one", "three", "one"])


def test_a_row_may_have_no_comment_but_not_no_id():
    data = Dataset(X4, [0, 1, 0, 1], qid=[1, 1, 2, 2], comments=["a", None, "c", None])
    assert data.comments.tolist() == ["a", None, "c", None]
    with pytest.raises(InputError, match="document_ids: expected an id in every row"):
        Dataset(X4, [0, 1, 0, 1], qid=[1, 1, 2, 2], document_ids=["a", None, "c", None])


def test_a_pickled_dataset_is_the_same():
    data = sample()
    again = pickle.loads(pickle.dumps(data))
    assert again.fingerprint == data.fingerprint
    assert repr(again) == repr(data)


def test_the_fingerprint_sees_features_labels_and_borders():
    data = sample()
    assert data.with_features(data.X + 1e-9).fingerprint != data.fingerprint
    assert Dataset(X4, [0, 1, 0, 1], group=[2, 2]).fingerprint != Dataset(X4, [0, 1, 0, 1], group=[3, 1]).fingerprint


def test_words():
    text = repr(sample())
    assert "6 queries" in text
    assert "labels 0:" in text
    assert "query texts" in text
    unjudged = Dataset(X4, qid=[1, 1, 2, 2])
    assert not unjudged.is_judged
    assert "no labels" in repr(unjudged)
    assert "<table>" in unjudged._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.ones(4)}, "expected 2 dimensions"),
        ({"X": np.full((4, 2), np.inf)}, "infinity in row 0, column 0"),
        ({"X": np.ones((4, 2)) * 1j}, "real numbers"),
        ({"X": [["a", "b"]] * 4}, "X: expected numbers"),
        ({"X": np.ones((0, 2)), "y": [], "qid": []}, "at least one row"),
        ({"X": np.ones((4, 0))}, "a minimum of 1 is required"),
        ({"y": [0, 1, 2]}, "one label for each of 4 rows"),
        ({"y": [0, 1, -1, 0]}, "labels >= 0, got -1 in row 2"),
        ({"y": [0, 1, np.nan, 0]}, "finite numbers, got nan"),
        ({"y": ["a", "b", "c", "d"]}, "y: expected numbers"),
        ({"qid": [1, 1, 2]}, "one id for each of 4 rows"),
        ({"qid": [1, 1, None, 2]}, "none in row 2"),
        ({"qid": [1, 1, float("nan"), 2]}, "none in row 2"),
        ({"qid": [[1], [1], [2], [2]]}, "hashable"),
        ({"qid": None, "group": [2, 1]}, "add up to 4 rows, got a sum of 3"),
        ({"qid": None, "group": [4, 0]}, "positive sizes"),
        ({"group": [4]}, "qid or group, got both"),
        ({"sample_weight": [1, 1, -1, 1]}, "weights >= 0"),
        ({"query_weight": [1, 2, 3]}, "one value for each of 2 queries"),
        ({"feature_names": ["a"]}, "2 names, got 1"),
        ({"feature_names": ["a", "a"]}, "'a' twice"),
        ({"preferences": [[0, 2]]}, "two different rows of one query, got 0 and 2"),
        ({"preferences": [[0, 9]]}, "row numbers from 0 to 3"),
        ({"preferences": [0, 1]}, "better, worse"),
        ({"feature_base": 2}, "expected 0 or 1"),
        ({"X": object()}, "an array, a sparse matrix or a data frame"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, message):
    good = {"X": X4, "y": [0, 1, 0, 1], "qid": [1, 1, 2, 2]}
    with pytest.raises((InputError, OptionError), match=message):
        Dataset(**{**good, **arguments})


def test_infinity_in_a_sparse_matrix_is_located():
    matrix = sparse.csr_matrix(([1.0, np.inf], ([0, 2], [0, 1])), shape=(3, 2))
    with pytest.raises(InputError, match="row 2, column 1"):
        Dataset(matrix, [0, 0, 1], qid=[1, 1, 1])


def test_nan_is_missing_not_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = Dataset(np.array([[np.nan, 1.0], [1.0, 2.0]]), [0, 1], qid=[1, 1])
    assert np.isnan(data.X[0, 0])


@pytest.mark.parametrize("queries", [[], [0, 0], [9], [[0]], np.zeros(3, bool), ["q1"]])
def test_select_refuses_what_is_not_a_choice_of_queries(queries):
    with pytest.raises(InputError, match="select"):
        sample().select(queries)


def test_keep_takes_rows_and_drops_queries_that_lose_all():
    data = Dataset(
        np.arange(5.0)[:, None], [0, 1, 2, 0, 1], qid=list("abaab"), document_ids=list("pqrst"),
        query_texts=["first", "second"], preferences=[[2, 0], [4, 1]],
    )  # fmt: skip
    kept = data.keep(data.from_caller(np.array([True, False, True, False, False])))
    assert (kept.query_ids.tolist(), kept.query_texts.tolist()) == (["a"], ["first"])
    assert (kept.document_ids.tolist(), kept.y.tolist(), kept.X.ravel().tolist()) == (["p", "r"], [0, 2], [0, 2])
    assert (kept.preferences.better.tolist(), kept.preferences.worse.tolist()) == ([1], [0])
    with pytest.raises(InputError, match="at least one to keep"):
        data.keep(np.zeros(5, bool))


def test_other_features_and_labels_have_another_fingerprint():
    data = Dataset(np.eye(3), [1, 0, 2], qid=[1, 1, 2], feature_names=["a", "b", "c"])
    known = data.fingerprint
    relabelled, rescaled = data.with_labels([1, 0, 1]), data.with_features(2 * np.eye(3))
    assert relabelled.y.tolist() == [1, 0, 1]
    assert relabelled.feature_names == data.feature_names
    assert len({known, relabelled.fingerprint, rescaled.fingerprint}) == 3
    assert data.with_labels(data.y).fingerprint == known
    with pytest.raises(InputError, match="labels >= 0"):
        data.with_labels([1, 0, -1])
