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
    with pytest.raises(InputError, match=r"data.txt: expected what fits into 10.0 kB of memory, got 24.0 kB; .*sparse"):
        ar.load(path)


def test_features_numbered_up_to_the_end_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "1GB")
    X = sparse.csr_matrix(([1.0, 2.0], ([0, 1], [0, 2147483645])), shape=(2, 2147483646))
    with pytest.raises(InputError, match=r"X: expected what fits into 1.0 GB of memory, got 171.8 GB; number the"):
        ar.make_ranker("rank-svm").fit(X, [1, 0], qid=[1, 1])


@pytest.mark.parametrize("name", ["a.csv.gz", "a.parquet", "a.arrow", "a.parquet.gz"])
def test_tables_beyond_the_memory_are_refused_while_they_are_read(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ar.dump(ar.make_ranking(40, 10, 6, random_state=0), tmp_path / name)
    monkeypatch.setattr("argrank._files.LOOK_AT_MEMORY", 1000)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "5kB")
    with pytest.raises(InputError, match=r"expected what fits into 5.0 kB of memory, got .*--max-memory"):
        ar.load(tmp_path / name)


def test_texts_without_end_are_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    monkeypatch.setattr("argrank.data.io.text.LOOK", 100)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "10kB")
    path.write_text("q1 Q0 d 1 0.5 tag\n" * 100)
    with pytest.raises(InputError, match=r"a\.run: expected what fits into 10\.0 kB of memory"):
        read_run(path)
    monkeypatch.setattr("argrank.data.io.text.LONGEST_LINE", 300)
    path.write_text("x" * 1000)
    with pytest.raises(InputError, match=r"a\.run:1: expected lines of less than 300 bytes, got a longer one"):
        read_run(path)
