from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from argrank import Dataset
from argrank.data.checks import LARGEST_LABEL
from argrank.data.io.letor.reader import read_letor, write_letor
from argrank.errors import InputError, OptionError


def assert_same(read: Dataset, data: Dataset) -> None:
    for name in ("y", "indptr", "query_ids", "rows", "comments", "sample_weight", "query_weight"):
        a, b = getattr(read, name), getattr(data, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert a.tolist() == b.tolist(), name
    assert read.feature_base == data.feature_base
    X, Z = (part.X.toarray() if part.is_sparse else part.X for part in (read, data))
    missing = np.isnan(Z)
    np.testing.assert_array_equal(missing, np.isnan(X))
    assert X.dtype == Z.dtype
    assert X[~missing].tobytes() == Z[~missing].tobytes()


ids = st.integers(-5, 5) | st.just(10**17)
names = st.text(st.characters(codec="utf-8", exclude_characters="#\0", exclude_categories=["Z", "C"]), min_size=1)


@settings(max_examples=100)
@given(st.data())
def test_what_is_written_reads_back_the_same(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("letor") / "data.txt"
    n, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    bits = 32 if dtype == np.float32 else 64
    finite = st.floats(allow_infinity=False, allow_nan=True, width=bits) | st.sampled_from([0.0, -0.0, 1.0, 1e16])
    X = np.array(data.draw(st.lists(finite, min_size=n * width, max_size=n * width)), dtype).reshape(n, width)
    as_csr = data.draw(st.booleans())
    comment = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=9)
    comments = np.empty(n, object)
    comments[:] = data.draw(st.lists(comment, min_size=n, max_size=n))
    kind = data.draw(st.sampled_from([ids, names.map(lambda name: f"q{name}")]))
    weight = data.draw(st.sampled_from([None, np.linspace(0.1, 2, n)]))
    original = Dataset(
        sparse.csr_matrix(np.where(X == 0, 0, X)) if as_csr else X,
        data.draw(st.lists(st.floats(0, LARGEST_LABEL), min_size=n, max_size=n)),
        data.draw(st.lists(kind, min_size=n, max_size=n)),
        sample_weight=weight,
        feature_base=data.draw(st.sampled_from([0, 1])),
    )
    if any(value is not None for value in comments):
        original._freeze(comments=original.from_caller(comments))
    write_letor(original, path)
    assert_same(read_letor(path, dtype=dtype, sparse=as_csr), original)
    assert (
        sorted(part.name for part in path.parent.iterdir())
        == ["data.txt", "data.txt.weight"][: 2 if weight is not None else 1]
    )


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".zip"])
def test_compressed_by_the_suffix(tmp_path: Path, suffix: str) -> None:
    data = Dataset(np.eye(3), [0, 1, 2], [1, 1, 2])
    path = tmp_path / f"data.txt{suffix}"
    write_letor(data, path)
    assert_same(read_letor(path), data)
    assert path.read_bytes().startswith(b"0 qid") == (suffix == "")


def test_the_text_is_short_and_plain(tmp_path: Path) -> None:
    data = Dataset([[1.0, 0.1, -0.0], [np.nan, 1e16, 0.0]], [2, 0.5], ["a.0", "b"], document_ids=["d1", 2])
    write_letor(data, tmp_path / "a")
    assert (tmp_path / "a").read_text() == (
        "2 qid:a.0 1:1 2:0.1 3:-0 #docid = d1\n0.5 qid:b 1:nan 2:1e+16 3:0 #docid = 2\n"
    )
    assert read_letor(tmp_path / "a").document_ids.tolist() == ["d1", "2"]


def test_a_sparse_matrix_keeps_its_width_and_base(tmp_path: Path) -> None:
    X = sparse.csr_matrix(([5.0], ([2], [3])), shape=(3, 9))
    for base in (0, 1):
        data = Dataset(X, [0, 1, 2], ["b", "a", "b"], feature_base=base)
        write_letor(data, tmp_path / "a")
        assert_same(read_letor(tmp_path / "a", sparse=True), data)


def test_weights_of_queries_and_rows(tmp_path: Path) -> None:
    data = Dataset(np.eye(3), [0, 1, 2], [1, 2, 1], query_weight=[0.5, 2])
    write_letor(data, tmp_path / "a")
    assert (tmp_path / "a.weight").read_text() == "0.5\n2\n"
    assert_same(read_letor(tmp_path / "a"), data)
    with pytest.raises(InputError, match=r"expected no file .*a.weight, which would be read as its weights"):
        write_letor(Dataset(np.eye(3), [0, 1, 2], [1, 2, 1]), tmp_path / "a")
    both = Dataset(np.eye(3), [0, 1, 2], [1, 2, 1], query_weight=[0.5, 2], sample_weight=[1, 2, 3])
    with pytest.raises(OptionError, match="expected row weights or query weights, got both"):
        write_letor(both, tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"qid": ["a b", "c"]}, "query id: expected text without blanks, got 'a b'"),
        ({"qid": ["a#", "c"]}, "query id: expected text without blanks, got 'a#'"),
        ({"qid": ["", "c"]}, "query id: expected text without blanks, got ''"),
        ({"qid": [1, "1"]}, "expected query ids that differ as text, got two alike"),
        ({"qid": [1, 2], "comments": ["a\nb", "c"]}, r"expected comments of one line, got 'a\\nb'"),
        ({"qid": [1, 2], "comments": ["a\r", "c"]}, r"expected comments of one line, got 'a\\r'"),
        ({"qid": [1, 2], "comments": ["a\ud800", "c"]}, "expected text that UTF-8 can write"),
        ({"qid": [1, 2], "document_ids": ["a b", "c"]}, "document id: expected text without blanks, got 'a b'"),
        ({"qid": [1, 2], "y": None}, "expected labels, which LETOR text requires"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_and_nothing_is_left(tmp_path: Path, arguments, message: str) -> None:
    data = Dataset(np.eye(2), **{"y": [0, 1], **arguments})
    path = tmp_path / "data.txt"
    path.write_text("as before")
    with pytest.raises(InputError, match=message):
        write_letor(data, path)
    assert [part.read_text() for part in tmp_path.iterdir()] == ["as before"]


def test_what_has_no_place_in_the_format_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = Dataset(np.eye(2), [0, 1], [1, 2], sources=["x", "y"], comments=["a", "b"], document_ids=["c", "d"])
    with caplog.at_level(logging.WARNING):
        write_letor(data, tmp_path / "a")
    assert [record.message.split(": ")[1] for record in caplog.records] == [
        "LETOR text cannot hold sources",
        "the comments are written; the document ids are lost, as the comments do not contain them",
    ]
