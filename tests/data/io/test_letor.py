from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from argrank import Dataset
from argrank.data.io.letor.format import Options
from argrank.data.io.letor.reader import FEW_BYTES, read_letor, read_text
from argrank.errors import FormatError, InputError, OptionError

TEXT = "2 qid:10 1:0.03 2:0.5 #docid = GX008-86 inc = 1\n0 qid:10 2:NULL #docid = GX1\n1 qid:9 3:-1e-3 #docid = 7\n"


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str | bytes, name: str = "data.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_the_parts_of_a_row(write) -> None:
    data = read_letor(write(TEXT))
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.X, [[0.03, 0.5, 0], [0, np.nan, 0], [0, 0, -0.001]])
    assert data.y.tolist() == [2, 0, 1]
    assert data.query_ids.dtype == np.int64
    assert data.query_ids.tolist() == [10, 9]
    assert data.indptr.tolist() == [0, 2, 3]
    assert data.rows is None
    assert data.comments.tolist() == ["docid = GX008-86 inc = 1", "docid = GX1", "docid = 7"]
    assert data.document_ids.tolist() == ["GX008-86", "GX1", "7"]
    assert data.feature_base == 1
    assert data.X.dtype == np.float64
    assert not data.X.flags.writeable


def test_rows_of_a_query_need_not_be_adjacent(write) -> None:
    data = read_letor(write("0 qid:b 1:1 #x\n1 qid:a 1:2\n2 qid:b 1:3 #z\n"))
    assert data.query_ids.tolist() == ["b", "a"]
    assert data.X[:, 0].tolist() == [1, 3, 2]
    assert data.comments.tolist() == ["x", "z", None]
    assert data.document_ids is None
    assert data.to_caller(data.y).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("qids", "expected"),
    [
        (["1", "-5", "0"], [1, -5, 0]),
        (["1", "05"], ["1", "05"]),
        (["1", "+5"], ["1", "+5"]),
        (["-0"], ["-0"]),
        (["q-7", "é:x"], ["q-7", "é:x"]),
        (["1", str(-(2**63)), str(2**63 - 1)], [1, -(2**63), 2**63 - 1]),
        (["1", str(2**63)], ["1", str(2**63)]),
    ],
)
def test_query_ids_are_integers_where_all_are_written_as_such(write, qids: list[str], expected: list[object]) -> None:
    assert read_letor(write("".join(f"0 qid:{qid} 1:1\n" for qid in qids))).query_ids.tolist() == expected


def test_features_may_count_from_0(write) -> None:
    path = write("0 qid:1 0:7 2:8\n")
    data = read_letor(path)
    assert (data.feature_base, data.X.tolist()) == (0, [[7, 0, 8]])
    with pytest.raises(FormatError, match=r"data.txt:1: expected a feature id from 1 to 2147483646, got '0:7'"):
        read_letor(path, feature_base=1)
    assert read_letor(write("0 qid:1 2:8\n"), feature_base=0).X.tolist() == [[0, 0, 8]]


def test_the_number_of_features_can_be_given(write) -> None:
    assert read_letor(write("0 qid:1 1:5\n"), n_features=3).X.tolist() == [[5, 0, 0]]
    with pytest.raises(FormatError, match=r"data.txt:2: expected a feature id from 1 to 3, got '4:1'"):
        read_letor(write("0 qid:1 1:5\n0 qid:1 4:1\n"), n_features=3)
    with pytest.raises(FormatError, match=r"data.txt:1: expected a feature id from 0 to 2, got '3:1'"):
        read_letor(write("0 qid:1 3:1\n0 qid:1 0:1\n"), n_features=3)


def test_comments_blank_lines_line_ends_and_byte_order_mark(write) -> None:
    plain = read_letor(write(TEXT))
    odd = "\ufeff# a header\r\n\r\n  \t\r\n" + TEXT.replace("\n", "\r\n").replace(" 1:", "\t 1:").rstrip()
    data = read_letor(write(odd))
    assert data.comments.tolist() == plain.comments.tolist()
    np.testing.assert_array_equal(data.X, plain.X)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2", ".zip"])
def test_compressed_files(write, suffix: str) -> None:
    text = TEXT.encode()
    packed = io.BytesIO()
    if suffix == ".zip":
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.txt", text)
    else:
        packed.write({".gz": gzip, ".xz": lzma, ".bz2": bz2}[suffix].compress(text))
    assert read_letor(write(packed.getvalue(), f"data.txt{suffix}")).y.tolist() == [2, 0, 1]
    path = write(packed.getvalue()[:-9], f"cut.txt{suffix}")
    with pytest.raises(FormatError, match=f"cut.txt{suffix}: expected a complete archive"):
        read_letor(path)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TEXT.encode())))
    assert read_letor("-").query_ids.tolist() == [10, 9]


def test_standard_input_of_a_process_may_be_a_pipe_or_a_file(write) -> None:
    script = "from argrank.data.io.letor.reader import read_letor; print(read_letor('-').n_documents)"
    for how in ("pipe", "file"):
        with write(TEXT).open("rb") as file:
            given = {"input": TEXT.encode()} if how == "pipe" else {"stdin": file}
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, **given)
        assert done.stdout.strip() == b"3", done.stderr


def test_float32_is_asked_for(write) -> None:
    data = read_letor(write("0 qid:1 1:0.1 2:1e-50\n"), dtype=np.float32)
    assert data.X.dtype == np.float32
    assert data.X.tolist() == [[float(np.float32(0.1)), 0]]


def test_sparse_by_the_share_of_written_entries(write) -> None:
    wide = "0 qid:1 1:1 300:2\n"
    assert read_letor(write(wide)).is_sparse
    assert not read_letor(write(wide), sparse=False).is_sparse
    assert not read_letor(write("0 qid:1 256:2\n")).is_sparse
    assert read_letor(write("0 qid:1 256:2\n"), sparse=True).is_sparse
    full = "0 qid:1 " + " ".join(f"{i}:0" for i in range(1, 400))
    assert not read_letor(write(full)).is_sparse
    assert read_letor(write(full), sparse=True).X.nnz == 0


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x qid:1 1:1", "expected a label, a finite number from 0 up, got 'x'"),
        ("-1 qid:1 1:1", "expected a label, a finite number from 0 up, got '-1'"),
        ("nan qid:1 1:1", "expected a label, a finite number from 0 up, got 'nan'"),
        ("inf qid:1 1:1", "expected a label, a finite number from 0 up, got 'inf'"),
        ("1e999 qid:1 1:1", "expected a label, a finite number from 0 up, got '1e999'"),
        ("1_0 qid:1 1:1", "expected a label, a finite number from 0 up, got '1_0'"),
        ("1 1:1", "expected qid:ID after the label, got '1:1'"),
        ("1", "expected qid:ID after the label, got the end of the line"),
        ("1 qid: 1:1", "expected a query id, got nothing after qid:"),
        ("1 qid:1 1:inf", "expected a finite value, got '1:inf'"),
        ("1 qid:1 1:-Infinity", "expected a finite value, got '1:-Infinity'"),
        ("1 qid:1 1:1e999", "expected a finite value, got '1:1e999'"),
        ("1 qid:1 3:", "expected a number, NULL or NaN as value, got '3:'"),
        ("1 qid:1 3: 4:1", "expected a number, NULL or NaN as value, got '3:'"),
        ("1 qid:1 3:1_0", "expected a number, NULL or NaN as value, got '3:1_0'"),
        ("1 qid:1 3:0x10", "expected a number, NULL or NaN as value, got '3:0x10'"),
        ("1 qid:1 3:1:2", "expected a number, NULL or NaN as value, got '3:1:2'"),
        ("1 qid:1 5", "expected a feature as id:value, got '5'"),
        ("1 qid:1 -2:1", "expected a feature id, an integer from 0 up, got '-2:1'"),
        ("1 qid:1 1.5:1", "expected a feature id, an integer from 0 up, got '1.5:1'"),
        ("1 qid:1 :1", "expected a feature id, an integer from 0 up, got ':1'"),
        ("1 qid:1 2147483647:1", "expected a feature id from 1 to 2147483646, got '2147483647:1'"),
        ("1 qid:1 99999999999999999999:1", "expected a feature id from 1 to 2147483646, got '99999999999999999999:1'"),
        ("1 qid:1 1:1 2:2 1:3", "expected every feature at most once in a row, got feature 1 twice"),
        ("1 qid:1 1:1 01:3", "expected every feature at most once in a row, got feature 1 twice"),
        ("1 qid:1 1:1\0", "expected text, got a NUL byte"),
        ("1 qid:1 1:1 # \0", "expected text, got a NUL byte"),
        ("# \0", "expected text, got a NUL byte"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(write, row: str, message: str, size: str) -> None:
    good = "0 qid:1 1:0.5 2:1 #c\n" * (3 if size == "small" else FEW_BYTES // 20)
    path = write(f"# a comment\n{good}{row}\n0 qid:1 -1:x\n")
    with pytest.raises(FormatError) as caught:
        read_letor(path, n_jobs=2)
    assert str(caught.value) == f"{path}:{good.count(chr(10)) + 2}: {message}"


def test_a_whole_file_is_refused(write) -> None:
    for text in ("", "\n\n", "# only\n#comments", "\ufeff"):
        with pytest.raises(FormatError, match=r"data.txt: expected at least one row, got (an empty file|no row)"):
            read_letor(write(text))
    with pytest.raises(
        FormatError, match=r"data.txt: expected qid:ID in every row, or the sizes .*, got rows without qid"
    ):
        read_letor(write("1 1:2\n0 1:3\n"))
    with pytest.raises(FormatError, match=r"data.txt: expected at least one feature, got rows without features"):
        read_letor(write("1 qid:1\n"))
    with pytest.raises(FormatError, match=r"data.txt: expected text in UTF-8, got byte 0xe9 at offset 25"):
        read_letor(write(b"x qid:1 1:2 #ascii\n1 qid:\xe9 1:2\n"))


@pytest.mark.parametrize("small", [True, False])
def test_text_in_utf8_is_checked_in_every_chunk(small: bool) -> None:
    text = "0 qid:ü 1:1 #€ßΩ 𝄞𝄞𝄞𝄞𝄞€€€\n".encode()
    options = Options.checked("float64", "auto", None, None)
    assert read_text(text * 3, "text", options, small=small, chunk=7).comments[2] == "€ßΩ 𝄞𝄞𝄞𝄞𝄞€€€"
    with pytest.raises(FormatError, match=f"got byte 0xe2 at offset {len(text) * 2 - 4}$"):
        read_text((text * 2)[:-2], "text", options, small=small, chunk=7)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError, match="cannot be read"):
            read_letor(path)


def test_a_dense_matrix_beyond_reason_is_refused(write) -> None:
    with pytest.raises(InputError, match=r"sparse=False: expected a matrix that is not nearly empty, .* 16\.0 GB"):
        read_letor(write("1 qid:1 2000000000:1\n"), sparse=False)


@pytest.mark.parametrize(
    "option",
    [{"dtype": "int8"}, {"dtype": "?"}, {"sparse": "yes"}, {"n_features": 0}, {"feature_base": 2}, {"n_jobs": 0}],
)
def test_unknown_options(write, option: dict[str, object]) -> None:
    text = TEXT * (FEW_BYTES // len(TEXT) + 1)
    with pytest.raises(OptionError, match=next(iter(option))):
        read_letor(write(text), **option)


def test_small_files_compile_nothing(write) -> None:
    script = f"import sys; from argrank.data.io.letor.reader import read_letor; read_letor({str(write(TEXT))!r})"
    done = subprocess.run([sys.executable, "-c", f"{script}; print('numba' in sys.modules)"], capture_output=True)
    assert done.stdout.strip() == b"False", done.stderr
