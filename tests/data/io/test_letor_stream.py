"""LETOR text in chunks of whole queries."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import argrank as ar
from argrank.data.io.letor.stream import stream_letor
from argrank.errors import FormatError, InputError


@pytest.fixture
def data():
    return ar.make_ranking(30, (2, 20), 5, random_state=0)


@pytest.mark.parametrize("chunk_bytes", [1, 100, 5000, 10**9])
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_chunks_are_the_whole_file(data, tmp_path, chunk_bytes, suffix):
    path = tmp_path / f"data{suffix}"
    ar.dump(data, path)
    parts = list(stream_letor(path, chunk_bytes=chunk_bytes))
    assert len(parts) > 2 or chunk_bytes == 10**9
    joined, whole = ar.Dataset.concatenate(parts), ar.load(path)
    np.testing.assert_array_equal(joined.X, whole.X)
    np.testing.assert_array_equal(joined.y, whole.y)
    np.testing.assert_array_equal(joined.indptr, whole.indptr)
    assert joined.query_ids.tolist() == whole.query_ids.tolist()


def test_small_chunks_hold_one_query_each(data, tmp_path):
    ar.dump(data, tmp_path / "data.txt")
    parts = list(stream_letor(tmp_path / "data.txt", chunk_bytes=1))
    assert [part.n_queries for part in parts] == [1] * data.n_queries


def test_comments_and_empty_lines_between_queries(tmp_path):
    text = b"# made by hand\n1 qid:1 1:1\n\n# next\n0 qid:2 1:2\n1 qid:2 1:3\n\n0 qid:3 1:4\n# end\n"
    (tmp_path / "data.txt.gz").write_bytes(gzip.compress(text))
    parts = list(stream_letor(tmp_path / "data.txt.gz", chunk_bytes=8))
    assert [part.sizes.tolist() for part in parts] == [[1], [2], [1]]


def test_errors_name_the_line_of_the_file(tmp_path):
    path = tmp_path / "data.txt"
    path.write_bytes(b"1 qid:1 1:1 2:1\n1 qid:2 1:1\n1 qid:3 1:1\n1 qid:4 1:x\n")
    with pytest.raises(FormatError, match=r"data\.txt:4: "):
        list(stream_letor(path, chunk_bytes=10))
    path.write_bytes(b"1 qid:1 1:1 2:1\n1 qid:2 1:1\n1 qid:3 3:1\n1 qid:4 1:1\n")
    with pytest.raises(FormatError, match=r"data\.txt:3: "):
        list(stream_letor(path, chunk_bytes=10))
    assert [part.n_features for part in stream_letor(path, chunk_bytes=10, n_features=3)] == [3] * 4
    (tmp_path / "data.txt.weight").write_text("1\n")
    with pytest.raises(InputError, match="without side files"):
        list(stream_letor(path))
