"""The words of TREC files as offsets into their bytes: faster than strings, with a fraction of their memory."""

from __future__ import annotations

import codecs
import os
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._files import open_bytes, split_suffixes
from argrank._memory import check_memory
from argrank._types import Floats, Integers
from argrank.data.grouping import objects, offsets
from argrank.data.io.text import LOOK
from argrank.data.io.trec._kernels import REFUSED, WIDEST_NUMBER, look_up, split
from argrank.data.io.trec.files import Layout, PathLike

SMALLEST = 1 << 23  # bytes; below this, plain Python is faster than loading the kernels
UNPACKED = 4  # times the bytes of a compressed file, about
HELD = 4  # bytes of memory per byte of text
CHUNK = 1 << 16  # lines in one call of the kernel
OTHER_BLANK = re.compile(r"[^\S\x00-\x7f]")


class FileWords(NamedTuple):
    """The lines of a file, sorted by query: start and end of every document id, alternating, and the numbers."""

    buffer: NDArray[np.uint8]
    query_ids: list[str]
    indptr: Integers
    documents: Integers
    numbers: Floats

    def document_ids(self, n_rows: int) -> NDArray[Any]:
        """Return the document ids of the first rows as texts."""
        view, places = self.buffer.data, self.documents[: 2 * n_rows].tolist()
        return objects([str(view[a:b], "utf-8") for a, b in zip(places[::2], places[1::2], strict=True)])


def are_large(paths: Sequence[PathLike]) -> bool:
    """Tell whether files are so large that loading the kernels pays."""
    files = [path for path in paths if os.path.isfile(path)]
    return sum(os.path.getsize(one) * (UNPACKED if split_suffixes(one)[1] else 1) for one in files) >= SMALLEST


def read_words(path: PathLike, layout: Layout, known: Sequence[str] = ()) -> FileWords | None:
    """Read a file; known queries come first in their given order, then others by appearance.

    Returns None if something is unusual: ``files`` then reads it, or reports the error.
    """
    content = _content(path)
    if content is None:
        return None
    buffer, n_lines = np.frombuffer(content, np.uint8), content.count(b"\n")
    documents, begins, numbers = np.empty(2 * n_lines, np.int64), np.empty(n_lines, bool), np.empty(n_lines)
    qids, digits = np.empty(2 * CHUNK, np.int64), np.empty(CHUNK * WIDEST_NUMBER, np.uint8)
    ends, state = np.zeros(CHUNK + 1, np.int32), np.zeros(3, np.int64)
    shape = len(layout.fields), layout.fields.index(layout.number)
    row, texts = 0, list[str]()  # for every run of lines with one query
    while state[0] < len(buffer):
        places, new = documents[2 * row : 2 * (row + CHUNK)], begins[row : row + CHUNK]
        found = split(buffer, state[0], *shape, qids, places, new, digits, ends, state)
        values = None if found == REFUSED else _finite(digits, ends[: found + 1])
        if values is None:
            return None
        numbers[row : row + found] = values
        texts += [content[a:b].decode() for a, b in qids[: 2 * found].reshape(-1, 2)[new[:found]].tolist()]
        row += found
    if row == 0:
        return None
    documents, begins, numbers = documents[: 2 * row], begins[:row], numbers[:row]
    number_of = {text: number for number, text in enumerate(dict.fromkeys([*known, *texts]))}
    query = np.array([number_of[text] for text in texts])
    lengths = np.diff(np.append(np.flatnonzero(begins), row))
    if (np.diff(query) < 0).any():
        order = np.argsort(np.repeat(query, lengths), kind="stable")
        documents, numbers = documents.reshape(-1, 2)[order].reshape(-1), numbers[order]
    sizes = np.bincount(query, lengths, minlength=len(number_of)).astype(np.int64)
    return FileWords(buffer, list(number_of), offsets(sizes), documents, numbers)


def rows_in(judged: FileWords, run: FileWords) -> Integers | None:
    """Return for every line of a run the row of its document in the judgements, -1 for none.

    Returns None if a query has a document twice.
    """
    further = len(run.indptr) - len(judged.indptr)
    judged_indptr = np.append(judged.indptr, np.full(further, judged.indptr[-1]))
    most = int((np.diff(judged_indptr) + np.diff(run.indptr)).max())
    table, found = np.empty(4 * max(1, most), np.int64), np.empty(len(run.numbers), np.int64)
    words = judged.buffer, judged.documents, judged_indptr, run.buffer, run.documents, run.indptr
    return found if look_up(*words, table, found) else None


def _content(path: PathLike) -> bytearray | None:
    """Return the bytes of a file, with a line end at its end; None if it is not plain text."""
    content = bytearray()
    with open_bytes(path) as stream:
        while piece := stream.read(LOOK):
            content += piece
            check_memory(os.fspath(path), HELD * len(content), "read it in parts, or convert it to Parquet")
    if content.startswith(BOM_UTF8):
        del content[: len(BOM_UTF8)]
    if not content.endswith(b"\n"):
        content += b"\n"
    return content if b"\0" not in content and (content.isascii() or _is_plain(content)) else None


def _is_plain(content: bytearray) -> bool:
    """Tell whether bytes are UTF-8 without blanks beyond ASCII."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    pieces = (decoder.decode(content[start : start + LOOK]) for start in range(0, len(content), LOOK))
    try:
        return not any(map(OTHER_BLANK.search, pieces)) and not decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False


def _finite(digits: NDArray[np.uint8], ends: NDArray[np.int32]) -> Floats | None:
    """Parse adjacent texts as float() does; None if one is not a finite number."""
    import pyarrow as pa

    texts = pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(digits))
    try:
        values: Floats = texts.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).all() else None
