from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argrank.data.dataset import Dataset
from argrank.data.io.scores import read_scores, write_scores
from argrank.errors import ArgrankError, ArgrankWarning, FormatError, InputError, OptionError

SCORES = [0.25, -1.5, 3e-7, 12.0]


@pytest.fixture
def data() -> Dataset:
    """Two queries whose rows alternate, so that the caller's order is not the stored one."""
    return Dataset(np.eye(4), [1, 0, 2, 0], qid=["b", "a", "b", "a"], document_ids=["d1", "d2", "d3", "d4"])


@pytest.fixture
def write(tmp_path):
    def _write(name: str, text: str | bytes):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scores.txt", "0.25\n-1.5\n3e-7\n12\n"),
        ("without_extension", "0.25\r\n -1.5 \r\n3e-7\r\n12"),
        ("blank_end.txt", "\ufeff0.25\n-1.5\n3e-7\n12\n\n\n"),
        ("ranklib.txt", "b\t0\t0.25\na\t0\t-1.5\nb\t1\t3e-7\na\t1\t12\n"),
        ("run.txt", "a Q0 d4 1 12 tag\na Q0 d2 2 -1.5 tag\nb Q0 d1 1 0.25 tag\nb Q0 d3 2 3e-7 tag\n"),
        ("only.csv", "anything\n0.25\n-1.5\n3e-7\n12\n"),
        ("default.csv", 'name,score\n"x, y",0.25\nb,-1.5\n"two\nlines",3e-7\nd,12\n\n'),
        ("default.tsv", "score\tname\n0.25\ta\n-1.5\tb\n3e-7\tc\n12\td\n"),
    ],
)
def test_every_text_format_comes_in_the_callers_row_order(data, write, name, text):
    scores = read_scores(write(name, text), data)
    assert scores.dtype == np.float64
    assert scores.tolist() == SCORES


def test_compressed_and_standard_input(data, write, monkeypatch):
    text = b"0.25\n-1.5\n3e-7\n12\n"
    assert read_scores(write("scores.txt.gz", gzip.compress(text)), data).tolist() == SCORES
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert read_scores("-", data).tolist() == SCORES


def test_a_run_on_standard_input(data, write, monkeypatch):
    rows = zip(data.to_caller(data.qid), data.to_caller(data.document_ids), SCORES, strict=True)
    text = "".join(f"{qid} Q0 {docid} 1 {score!r} tag\n" for qid, docid, score in rows).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert read_scores("-", data).tolist() == SCORES


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_column_of_a_table(data, tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    path = tmp_path / f"scores.{suffix}"
    table = pa.table({"score": SCORES, "other": np.arange(4, dtype=np.int32), "text": list("abcd")})
    {"parquet": parquet.write_table, "arrow": feather.write_feather}[suffix](table, path)
    assert read_scores(path, data).tolist() == SCORES
    assert read_scores(path, data, column="other").tolist() == [0, 1, 2, 3]
    with pytest.raises(FormatError, match=r"expected a column 'absent', got .*score, other, text"):
        read_scores(path, data, column="absent")
    with pytest.raises(InputError, match=rf"scores\.{suffix}: column 'text': expected numbers"):
        read_scores(path, data, column="text")


def test_a_column_with_gaps_is_refused(data, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "gaps.parquet"
    parquet.write_table(pa.table({"score": [0.1, None, 0.2, 0.3]}), path)
    with pytest.raises(InputError, match=r"finite numbers, got nan .* in row 1"):
        read_scores(path, data)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.txt", "0.1\n0.2\n0.3\n", r"s\.txt: expected 4 scores, one for each row of the data, got 3"),
        ("s.txt", "1\n2\n3\n4\n5\n", "expected 4 scores, .* got 5"),
        ("s.txt", "", "an empty file"),
        ("s.txt", "\n\n", "an empty file"),
        ("s.txt", "1\n2\nx\n4\n", r"s\.txt:3: expected a finite number as score, got 'x'"),
        ("s.txt", "1\n\n3\n4\n", r"s\.txt:2: .* got nothing"),
        ("s.txt", "1\n2\n3\nnan\n", r"s\.txt:4: .* got 'nan'"),
        ("s.txt", "inf\n2\n3\n4\n", r"s\.txt:1: .* got 'inf'"),
        ("s.txt", "1_0\n2\n3\n4\n", r"s\.txt:1: .* got '1_0'"),
        ("s.txt", "1 2\n", r"s\.txt:1: .* got '1 2'"),
        ("s.txt", b"1\n\xff\n", r"s\.txt:2: expected UTF-8 text"),
        ("s.txt", "b 0 1\na 0 2\nb 1 3\nb 1 4\n", r"s\.txt:4: expected qid a as in the data's row 4, got qid 'b'"),
        ("s.txt", "b 0 1\na 2\n", r"s\.txt:2: expected qid, index and score"),
        ("s.txt", "b 0 1\na 0 x\nb 1 3\na 1 4\n", r"s\.txt:2: expected a finite number as score, got 'x'"),
        ("s.txt", "c Q0 d1 1 0.5 tag\n", "expected queries of the data such as 'a', got 'c'"),
        ("s.txt", "a Q0 e1 1 0.5 tag\n", "expected documents of the data such as 'd1', got 'e1'"),
        ("s.csv", "", "a line with the names"),
        ("s.csv", "x,y\n1,2\n", "expected a column 'score', got 'x, y'; choose one"),
        ("s.csv", "x,score\n1,2\n1\n", r"s\.csv:3: expected 2 cells, as many as there are column names, got 1"),
        ("s.csv", 'x,score\n"two\nlines",1\n1,?\n', r"s\.csv:4: .* got '\?'"),
        ("s.csv", 'score\n"1\n', r"s\.csv:\d: expected delimited text"),
        ("s.parquet", b"PAR1 and nothing", r"s\.parquet: expected a complete parquet file"),
    ],
)
def test_refused_files(data, write, name, text, message):
    with pytest.raises(FormatError, match=message):
        read_scores(write(name, text), data)


def test_missing_file_and_needless_column(data, tmp_path, write):
    with pytest.raises(InputError, match=r"absent\.txt: cannot be read"):
        read_scores(tmp_path / "absent.txt", data)
    with pytest.raises(OptionError, match="is not a table"):
        read_scores(write("s.txt", "1\n"), data, column="score")


def test_documents_that_a_run_leaves_out_come_last(data, write):
    with pytest.warns(ArgrankWarning, match="1 of 4 documents"):
        scores = read_scores(write("run.txt", "a Q0 d4 1 2 t\nb Q0 d1 1 1 t\nb Q0 d3 1 1 t\n"), data)
    assert scores[1] < scores[3]


@settings(max_examples=50)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_written_scores_come_back_bit_for_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("scores") / "scores.txt"
    write_scores(values, path)
    data = Dataset(np.zeros((len(values), 1)), qid=np.zeros(len(values)))
    assert read_scores(path, data).tobytes() == np.array(values, np.float64).tobytes()


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="finite"):
        write_scores([1.0, np.nan], tmp_path / "scores.txt")
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=100)
@given(st.binary(max_size=200), st.sampled_from(["s.txt", "s.csv", "s.tsv", "s.parquet", "s.arrow", "s.gz"]))
def test_arbitrary_bytes_are_read_or_refused(tmp_path_factory, content, name):
    data = Dataset(np.eye(2), [1, 0], qid=[1, 1])
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_bytes(content)
    try:
        scores = read_scores(path, data)
    except ArgrankError:
        return
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()
