from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from argrank.data.io.letor.reader import FEW_BYTES, read_letor
from argrank.errors import FormatError

ROWS = "1 1:5\n0 1:6\n2 1:7\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(ROWS)
    return path


def beside(path: Path, suffix: str, text: str) -> None:
    Path(str(path) + suffix).write_text(text)


@pytest.mark.parametrize("suffix", [".query", ".group"])
def test_sizes_of_queries(path: Path, suffix: str) -> None:
    beside(path, suffix, "2\r\n1\n")
    data = read_letor(path)
    assert data.indptr.tolist() == [0, 2, 3]
    assert data.query_ids.tolist() == [0, 1]


def test_sizes_for_a_large_file(path: Path) -> None:
    n = FEW_BYTES // len(ROWS) + 1
    path.write_text(ROWS * n)
    beside(path, ".query", "3\n" * n)
    assert read_letor(path).sizes.tolist() == [3] * n


def test_sizes_are_not_needed_where_rows_have_a_qid(path: Path) -> None:
    path.write_text("1 qid:a 1:5\n0 qid:a 1:6\n")
    beside(path, ".query", "1\n1\n")
    assert read_letor(path).query_ids.tolist() == ["a"]


def test_rows_with_and_without_qid(path: Path) -> None:
    path.write_text("1 qid:a 1:5\n0 1:6\n")
    for _ in range(2):  # without and with sizes
        with pytest.raises(FormatError, match=r"train.txt:2: expected qid:ID after the label, got '1:6'"):
            read_letor(path)
        beside(path, ".query", "2\n")
    path.write_text("1 1:5\n0 qid:a 1:6\n")
    with pytest.raises(FormatError, match=r"train.txt:2: expected a row without qid, as in the first row"):
        read_letor(path)
    Path(f"{path}.query").unlink()
    with pytest.raises(FormatError, match=r"train.txt:1: expected qid:ID after the label, got '1:5'"):
        read_letor(path)


@pytest.mark.parametrize("sizes", ["2\n0\n1\n", "2\n-1\n", "2\nx\n", "2\n1.0\n", "2\n1 1\n"])
def test_bad_sizes(path: Path, sizes: str) -> None:
    beside(path, ".query", sizes)
    with pytest.raises(FormatError, match=r"train.txt.query:2: expected the size of a query"):
        read_letor(path)


def test_sizes_that_do_not_fit(path: Path) -> None:
    beside(path, ".group", "2\n2\n")
    with pytest.raises(FormatError, match=r"train.txt.group: expected sizes that add up to 3 rows, got a sum of 4"):
        read_letor(path)


def test_weights_of_rows_or_queries_by_their_number(path: Path) -> None:
    path.write_text("1 qid:a 1:5\n0 qid:b 1:6\n2 qid:a 1:7\n")
    beside(path, ".weight", "1\n2.5\n0\n")
    data = read_letor(path)
    assert data.sample_weight.tolist() == [1, 0, 2.5]
    assert data.query_weight is None
    beside(path, ".weight", "3\n4\n")
    data = read_letor(path)
    assert data.query_weight.tolist() == [3, 4]
    assert data.sample_weight is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2\n3\n4\n", ": expected a weight for each of 3 rows or 2 queries, got 4"),
        ("1\nx\n3\n", ":2: expected a weight, a finite number from 0 up, got 'x'"),
        ("1\n2\n-3\n", ":3: expected a weight, a finite number from 0 up, got '-3'"),
        ("inf\n2\n3\n", ":1: expected a weight, a finite number from 0 up, got 'inf'"),
        ("0\n0\n0\n", ": expected at least one positive weight, got zeros only"),
        ("", ": expected a weight for each of 3 rows or 2 queries, got 0"),
    ],
)
def test_bad_weights(path: Path, text: str, message: str) -> None:
    path.write_text("1 qid:a 1:5\n0 qid:b 1:6\n2 qid:a 1:7\n")
    beside(path, ".weight", text)
    with pytest.raises(FormatError) as caught:
        read_letor(path)
    assert str(caught.value) == f"{path}.weight{message}"


def test_a_compressed_file_finds_the_side_files_of_the_plain_one(path: Path) -> None:
    import gzip

    packed = path.with_name("train.txt.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    beside(path, ".query", "1\n2\n")
    assert read_letor(packed).sizes.tolist() == [1, 2]
    beside(packed, ".query", "2\n1\n")
    np.testing.assert_array_equal(read_letor(packed).sizes, [2, 1])
