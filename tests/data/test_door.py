"""What comes in is checked before anything indexes by it, and cannot be changed from outside afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import argrank as ar
from argrank._memory import machine_memory, max_memory, parse_memory
from argrank.data.io.trec.files import read_run
from argrank.errors import InputError, OptionError

Y = [1, 0, 2, 0]
QID = [1, 1, 2, 2]


def matrix() -> Any:
    return sparse.csr_matrix(np.array([[1.0, 0, 2], [0, 3, 0], [4, 5, 6], [0, 0, 7]]))


def damaged(part: str, values: list[int]) -> Any:
    X = matrix()
    setattr(X, part, np.array(values, np.int32))
    return X


def coo(row: list[int], column: list[int]) -> Any:
    X = sparse.coo_matrix(([1.0, 2.0], ([0, 1], [0, 1])), shape=(4, 3))
    X.coords = (np.array(row), np.array(column))
    return X


@pytest.mark.parametrize(
    "X",
    [
        damaged("indices", [0, 2, 1, 0, 1, 99999999, 2]),
        damaged("indices", [0, 2, 1, 0, 1, -5, 2]),
        damaged("indices", [0, 2, 1]),
        damaged("indptr", [0, 2, 3, 6, 70000000]),
        damaged("indptr", [0, 3, 2, 6, 7]),
        damaged("indptr", [0, -2, 3, 6, 7]),
        damaged("indptr", [1, 2, 3, 6, 7]),
        damaged("indices", [0, 2, 1, 0, 1, 3, 2]).T,  # CSC
        coo([0, 1000000], [0, 1]),
        coo([0, 1], [0, -7]),
    ],
)
def test_malformed_sparse_matrices_are_refused(X: Any) -> None:
    with pytest.raises(InputError, match="X: expected a valid sparse matrix"):
        ar.Dataset(X, Y, QID)


@pytest.mark.parametrize(
    "sizes",
    [
        np.array([2**62] * 4 + [4]),  # the sum wraps round to 4
        np.array([2**64 - 1, 5], np.uint64),
        np.array([2**63, 2**63, 4], np.uint64),
        np.full(260, 1, np.uint8),
        np.ma.array([2, 2, 9], mask=[0, 0, 1]),
    ],
)
def test_sizes_are_checked_one_by_one_before_any_sum(sizes: Any) -> None:
    with pytest.raises(InputError, match="group: expected"):
        ar.Dataset(np.zeros((4, 1)), Y, group=sizes)
    model = ar.make_ranker("rank-svm", normalise="query-minmax").fit(matrix().toarray(), Y, qid=QID)
    with pytest.raises(InputError, match="group: expected"):
        model.predict(matrix().toarray(), group=sizes)


def test_sizes_of_small_integers_do_not_wrap() -> None:
    assert ar.Dataset(np.zeros((508, 1)), np.zeros(508), group=np.full(4, 127, np.int8)).sizes.tolist() == [127] * 4


@pytest.mark.filterwarnings("ignore:.*converting a masked element")  # NumPy's own words
def test_masked_values_are_missing_features_and_refused_elsewhere() -> None:
    X = np.ma.array(np.arange(12).reshape(4, 3), mask=np.arange(12).reshape(4, 3) > 9)
    expected = np.where(X.mask, np.nan, X.data)
    for given in (X, list(X), X.astype(np.float32)):
        np.testing.assert_array_equal(ar.Dataset(given, Y, QID).X, expected)
    masked, data = np.ma.array(Y, mask=[0, 0, 1, 0]), ar.Dataset(expected, Y, QID)
    tries: dict[str, Any] = {
        "y": lambda: ar.Dataset(X, masked, QID),
        "qid": lambda: ar.Dataset(X, Y, masked),
        "document_ids": lambda: ar.Dataset(X, Y, QID, document_ids=masked),
        "sample_weight": lambda: ar.Dataset(X, Y, QID, sample_weight=masked),
        "query_weight": lambda: ar.Dataset(X, Y, QID, query_weight=masked[1:3]),
        "scores": lambda: ar.evaluate(masked, data, "ndcg@10"),
    }
    for name, attempt in tries.items():
        with pytest.raises(InputError, match=f"^{name}.*: expected no missing values, got a masked one in row"):
            attempt()
    with pytest.raises(InputError, match="a masked one in row 1"):
        ar.Dataset(X, [1, np.ma.masked, 0, 0], QID)
    assert ar.Dataset(X, np.ma.array(Y), QID).y.tolist() == Y
    model = ar.make_ranker("rank-svm").fit(matrix().toarray(), Y, qid=QID)
    with pytest.raises(InputError, match="expected no missing values, got NaN in row 3"):
        model.predict(X)


def test_ids_stay_different() -> None:
    for ids in (
        [2**63, 2**63 + 1, -1, 0],
        ["a", "a\0", "a\0\0", "b"],
        [b"a", b"a\0", b"", b"\0"],
        [2**70, 2**70 + 1, 1, 2],
    ):
        assert ar.Dataset(np.zeros((4, 1)), Y, ids).query_ids.tolist() == ids
    with pytest.raises(InputError, match=r"qid: expected integers or texts, got floats from 2\^53 up"):
        ar.Dataset(np.zeros((4, 1)), Y, np.array([2**63, 2**63 + 1, -1, 0]))


@pytest.mark.parametrize("kind", ["M8[D]", "M8[ns]", "m8[s]"])
@pytest.mark.parametrize("as_objects", [False, True])
def test_times_are_no_numbers(kind: str, as_objects: bool) -> None:
    times: Any = np.array([1, 2, 3, 4], kind)
    times = np.array(list(times), object) if as_objects else times
    with pytest.raises(InputError, match="y: expected numbers, got times"):
        ar.Dataset(np.zeros((4, 1)), times, QID)
    with pytest.raises(InputError, match="X: expected numbers, got times"):
        ar.Dataset(times[:, None], Y, QID)
    assert ar.Dataset(np.zeros((4, 1)), Y, times).n_queries == 4  # but as good as any other ids
    with pytest.raises(InputError, match="y: expected numbers, got times"):
        ar.Dataset(pd.DataFrame({"label": np.array([1, 2, 3, 4], "M8[ns]"), "qid": QID, "a": Y}))


def test_weights_of_which_no_sum_can_be_taken() -> None:
    with pytest.raises(InputError, match="query_weight: expected weights with a finite sum, got a maximum of 1e"):
        ar.Dataset(np.zeros((4, 1)), Y, QID, query_weight=[1e308, 1e308])


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros((4000, 50)),
        lambda: np.zeros((4000, 50), np.float32, order="F"),
        lambda: np.broadcast_to(0.0, (10**6, 10**6)),
        lambda: np.broadcast_to(0, (10**9, 10**9)),
        lambda: sparse.random_array((400, 5000), density=0.2, rng=0),
    ],
)
def test_a_copy_of_features_is_asked_for(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = make()
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "200kB")
    with pytest.raises(InputError, match=r"X: expected at most 200\.0 kB of memory"):
        ar.Dataset(X, np.zeros(X.shape[0]) if len(X.shape) and X.shape[0] < 10**5 else None, group=[X.shape[0]])


def test_a_gram_matrix_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    data = ar.make_ranking(40, 10, 3, random_state=0)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "1MB")
    with pytest.raises(InputError, match=r"kernel: the Gram matrix of all documents: expected at most 1\.0 MB"):
        ar.make_ranker("orm", kernel="rbf").fit(data)


def test_flags_of_a_sparse_matrix_are_not_trusted() -> None:
    X = matrix()
    X.indices[:] = [2, 0, 1, 2, 1, 0, 2]
    X.has_canonical_format = True
    data = ar.Dataset(X, Y, QID)
    assert data.X.has_sorted_indices
    np.testing.assert_array_equal(data.X.toarray(), [[2, 0, 1], [0, 3, 0], [6, 5, 4], [0, 0, 7]])


@pytest.mark.parametrize("make", [lambda: matrix().toarray(), matrix], ids=["dense", "csr"])
def test_a_dataset_does_not_change_with_the_caller_s_array(make: Any) -> None:
    X = make()
    ids = np.array(["a", "b", "c", "d"], object)
    data = ar.Dataset(X, Y, QID, document_ids=ids)
    before = data.fingerprint
    (X.data if sparse.issparse(X) else X)[:] = 0
    ids[0] = "z"
    assert ar.Dataset(make(), Y, QID).fingerprint == before == data.with_labels(Y).fingerprint
    assert data.document_ids is not None
    assert data.document_ids[0] == "a"


def test_a_read_only_array_is_handed_over_without_a_copy() -> None:
    X = matrix().toarray()
    X.flags.writeable = False
    assert np.shares_memory(ar.Dataset(X, Y, QID).X, X)


def test_labels_whose_squares_overflow_are_refused() -> None:
    with pytest.raises(InputError, match=r"y: expected labels up to 1e\+100, got 1e\+308 in row 2"):
        ar.Dataset(matrix(), [0, 1, 1e308, 2], QID)


def test_names_that_no_file_can_hold_are_refused() -> None:
    with pytest.raises(InputError, match=r"feature_names: expected names that UTF-8 text can hold, got 'a\\ud800'"):
        ar.Dataset(matrix(), Y, QID, feature_names=["a\ud800", "b", "c"])


def test_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame(np.ones((4, 3)), columns=["label", "f", "f"])
    with pytest.raises(InputError, match=r"expected columns of different names.*'f'"):
        ar.Dataset(frame, qid=QID)


@pytest.mark.parametrize(
    "X", [[[1, 2], [3]], [[10**400]], [["a"]], [[1j]], [[{}]], "text", b"x", object(), [None], {1}]
)
def test_what_is_no_matrix(X: Any) -> None:
    with pytest.raises(InputError):
        ar.Dataset(X, [1], qid=[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("2kB", 2000), ("1.5 MB", 1_500_000), ("4GiB", 4 << 30), ("3g", 3 * 10**9), ("1TB", 10**12)],
)
def test_sizes_of_memory(text: str, expected: int) -> None:
    assert parse_memory(text) == expected


def test_shares_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARGRANK_MAX_MEMORY", raising=False)
    assert max_memory() == int(0.8 * machine_memory())
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "25%")
    assert max_memory() == int(0.25 * machine_memory())
    for wrong in ("", "0", "-1GB", "x", "1XB", "1e9"):
        with pytest.raises(OptionError):
            parse_memory(wrong)


@pytest.mark.parametrize("size", [1, 1 << 21], ids=["small", "large"])
def test_data_beyond_the_memory_are_refused_before_they_are_read(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 1:1 99:1\n" * 30 + "#" + "x" * size)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "10kB")
    with pytest.raises(InputError, match=r"data.txt: expected at most 10.0 kB of memory, got 24.0 kB; .*sparse"):
        ar.load(path)


def test_features_numbered_up_to_the_end_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "1GB")
    X = sparse.csr_matrix(([1.0, 2.0], ([0, 1], [0, 2147483645])), shape=(2, 2147483646))
    with pytest.raises(InputError, match=r"X: expected at most 1.0 GB of memory, got 171.8 GB; number the"):
        ar.make_ranker("rank-svm").fit(X, [1, 0], qid=[1, 1])


@pytest.mark.parametrize("name", ["a.csv.gz", "a.parquet", "a.arrow", "a.parquet.gz"])
def test_tables_beyond_the_memory_are_refused_while_they_are_read(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ar.dump(ar.make_ranking(40, 10, 6, random_state=0), tmp_path / name)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "5kB")
    with pytest.raises(InputError, match=r"expected at most 5.0 kB of memory, got .*--max-memory"):
        ar.load(tmp_path / name)


def test_texts_without_end_are_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    monkeypatch.setattr("argrank.data.io.text.LOOK", 100)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "10kB")
    path.write_text("q1 Q0 d 1 0.5 tag\n" * 100)
    with pytest.raises(InputError, match=r"a\.run: expected at most 10\.0 kB of memory"):
        read_run(path)
    monkeypatch.setattr("argrank.data.io.text.LONGEST_LINE", 300)
    path.write_text("x" * 1000)
    with pytest.raises(InputError, match=r"a\.run:1: expected lines of less than 300 bytes, got a longer one"):
        read_run(path)
