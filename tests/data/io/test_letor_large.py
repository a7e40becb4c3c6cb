"""The compiled reader and the one in plain Python agree: in what they read, in what they refuse, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from argrank import Dataset
from argrank._progress import Progress
from argrank.data.io.letor.format import Options
from argrank.data.io.letor.reader import read_text
from argrank.errors import ArgrankError, FormatError

DEFAULT = Options.checked("float64", "auto", None, None)

numbers = st.sampled_from(
    [
        "", "0", "1", "2", "0.5", "-3", "+4", "1.", ".5", "1e5", "1E-3", "-0.0", "00012", "NULL", "NaN", "nan",
        "-nan", "null", "+null", ".nan", "nanx", "inf", "-Infinity", "1_0", "0x1p3", "1e", "1e+", ".", "-", "-.", ".e5",
        "1e400", "1e-400", "1e39", "3:4", "abc", "12345678901234567890", "0.1234567890123456789012345",
        "2.47032822920623272e-324",
    ]
)  # fmt: skip
ids = st.sampled_from(
    ["", "0", "1", "2", "3", "00", "01", "7", "300", "-1", "+1", "1.0", "x", "2147483646", "2147483647", "9" * 20]
)
features = st.one_of(
    st.tuples(st.integers(1, 9).map(str), st.sampled_from(["0", "1", "0.25", "1e-7"])),
    st.tuples(ids, numbers),
).map(":".join)
labels = st.one_of(st.sampled_from(["0", "1", "2"]), numbers)
qids = st.sampled_from(["qid:1", "qid:2", "qid:1", "qid:a", "qid:é", "qid:07", "qid:", "qid", "QID:1", "qid:a:b", ""])
comments = st.sampled_from(["", "", "#", "#docid = a", " # docid=b x", "#é\r", "#a#b", "#\0", "#\x85", "# qid:1"])
blanks = st.sampled_from([" ", " ", "  ", "\t", "\r", "\x0b", "\x0c", "\x01", "\xa0", "\0"])


@st.composite
def lines(draw: Any) -> str:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(["", " ", "\r", "# whole line", "  #x", "#\0", "\x0b"]))
    blank = draw(blanks) if kind == 1 else " "
    if kind < 5:
        parts = [draw(labels), draw(qids), *draw(st.lists(features, max_size=5))]
    else:  # in order
        chosen = draw(st.lists(st.integers(1, 400), max_size=6, unique=True))
        parts = ["1", draw(st.sampled_from(["qid:1", "qid:2", "qid:x"])), *(f"{i}:{i / 8}" for i in chosen)]
    return blank.join(parts) + draw(comments)


texts = st.tuples(
    st.lists(lines(), max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["", "\ufeff"])
).map(lambda t: (t[3] + t[1].join(t[0]) + (t[1] if t[2] else "")).encode())


def outcome(text: bytes, options: Options = DEFAULT, **how: Any) -> Any:
    """Everything there is to know about a reading, for comparison."""
    try:
        data = read_text(text, "text", options, **how)
    except ArgrankError as error:
        return type(error), str(error)
    X = (data.X.indptr, data.X.indices, data.X.data) if data.is_sparse else (data.X,)
    others = (data.y, data.indptr, data.rows, data.query_ids, data.comments, data.document_ids)
    shown = [None if array is None else (str(array.dtype), array.tolist()) for array in others]
    return data.X.shape, data.X.dtype, data.feature_base, [array.tobytes() for array in X], shown


@settings(max_examples=400)
@given(
    texts,
    st.sampled_from(["float64", "float32"]),
    st.sampled_from(["auto", True, False]),
    st.sampled_from([None, 3, 400]),
    st.sampled_from([None, None, 0, 1]),
    st.sampled_from([1, 10, 30, 1 << 22]),
)
@example(b"1 qid:1 3:1\n0 qid:1 0:abc\n", "float64", "auto", 3, None, 1)
@example(b"1 qid:1 2000000000:1\n", "float64", False, None, None, 1)
@example(b"1 qid:1 .nan:1 1:.nan\n", "float64", "auto", None, None, 1)
def test_both_readers_agree(text: bytes, dtype: str, how: Any, width: Any, base: Any, chunk: int) -> None:
    options = Options.checked(dtype, how, width, base)
    assert outcome(text, options, small=False, n_jobs=2, chunk=chunk) == outcome(text, options, small=True)


@settings(max_examples=300)
@given(st.binary(max_size=80) | st.text("01q id:.#e-\n\0é", max_size=60).map(str.encode), st.integers(1, 20))
def test_any_bytes_are_read_or_refused(text: bytes, chunk: int) -> None:
    assert outcome(text, small=False, chunk=chunk) == outcome(text, small=True)


def rows(n: int) -> list[str]:
    random = np.random.default_rng(0)
    return [
        f"{i % 3} qid:{i // 10} " + " ".join(f"{j}:{random.random():.4f}" for j in range(1, 6)) + f" #docid = d{i} x"
        for i in range(n)
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("bad", [0, 57, 199])
def test_the_first_bad_line_is_named_whatever_the_threads(n_jobs: int, bad: int) -> None:
    text = rows(200)
    for line in (bad, 199):
        text[line] = "1 qid:3 1:x"
    with pytest.raises(FormatError, match=f"^text:{bad + 1}: expected a number, NULL or NaN as value, got '1:x'$"):
        read_text("\n".join(text).encode(), "text", DEFAULT, small=False, n_jobs=n_jobs, chunk=100)


def test_an_error_that_only_python_can_see_is_found_in_its_line() -> None:
    """The middle above the largest float64 rounds to infinity; the kernel leaves this number undecided."""
    middle = str((2**53 - 1) * 2**971 + 2**970)
    text = rows(50)
    text[20] = f"1 qid:2 1:{int(middle) - 1} 2:{middle}"
    text[30] = "x"
    with pytest.raises(FormatError, match=r"^text:21: expected a finite value, got '2:1797"):
        read_text("\n".join(text).encode(), "text", DEFAULT, small=False)


def test_more_undecided_numbers_than_fit_at_once() -> None:
    middle = "1." + f"{1 + 2**-53:.60f}"[2:].rstrip("0") + "1"
    exact = "9007199254740993"
    text = "".join(f"{exact} qid:1 1:{middle} 3:{exact} 2:{exact}.0 400:{exact}1e-1\n" for _ in range(3000)).encode()
    for how in (True, False):
        options = Options.checked("float64", how, None, None)
        assert outcome(text, options, small=False) == outcome(text, options, small=True)


def test_rows_in_any_order_of_features_and_long_rows() -> None:
    random = np.random.default_rng(5)
    order = random.permutation(5000) + 1
    text = "1 qid:1 " + " ".join(f"{i}:{i}.5" for i in order)
    data = read_text(text.encode(), "text", DEFAULT, small=False)
    assert data.X.tolist() == [[i + 0.5 for i in range(1, 5001)]]
    with pytest.raises(FormatError, match="text:1: expected every feature at most once in a row, got feature 17 twice"):
        read_text(f"{text} 17:0".encode(), "text", DEFAULT, small=False)


def test_the_sparse_form_holds_the_same_without_zeros() -> None:
    text = "\n".join(
        f"{i % 2} qid:{i // 7} " + " ".join(f"{j}:{(i * j) % 5}" for j in range(1 + i % 3, 90, 1 + i % 11))
        for i in range(300)
    ).encode()
    dense, csr = (
        read_text(text, "text", Options.checked("float64", s, None, None), small=False, chunk=500) for s in (0, 1)
    )
    assert sparse.issparse(csr.X)
    assert np.array_equal(csr.X.toarray(), dense.X)
    assert csr.X.has_canonical_format
    assert (csr.X.data != 0).all()
    assert csr.X.indices.dtype == np.int32


def test_a_huge_feature_id_needs_no_memory() -> None:
    for small in (True, False):
        data = read_text(b"1 qid:1 2000000000:1", "text", DEFAULT, small=small)
        assert isinstance(data, Dataset)
        assert data.X.shape == (1, 2_000_000_000)
        assert data.X.nnz == 1


def test_progress_reaches_its_total(monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Progress] = []

    class Recorded(Progress):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            bars.append(self)

    monkeypatch.setattr("argrank.data.io.letor.large.Progress", Recorded)
    read_text("\n".join(rows(100)).encode() + b"\n", "text", DEFAULT, small=False, n_jobs=2, chunk=300)
    assert [bar.done for bar in bars] == [bars[0].total]
