"""LETOR text larger than memory: chunks of whole queries, one after the other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from argrank._files import open_bytes
from argrank.data.dataset import Dataset
from argrank.data.io.letor.format import Options
from argrank.data.io.letor.reader import read_text
from argrank.data.io.letor.side_files import GROUPS, find_side_file
from argrank.errors import FormatError, InputError, OptionError

CHUNK = 32 << 20  # bytes of text to read at a time

_QUERY = re.compile(rb"^[^\S\n]*[^\s#]\S*\s+qid:(\S+)", re.MULTILINE)


def stream_letor(
    path: str | os.PathLike[str],
    *,
    chunk_bytes: int = CHUNK,
    sparse: bool | str = False,
    n_features: int | None = None,
    feature_base: int | None = None,
    n_jobs: int | None = None,
) -> Iterator[Dataset]:
    """Yield the queries of a LETOR/SVMlight file as Datasets of about ``chunk_bytes`` of text, each with whole queries.

    The rows of a query must follow each other: a query id that appears again later is another query. The first chunk
    decides ``n_features`` and ``feature_base`` if they are not given; a higher feature id later is an error. With
    ``sparse`` (True, or "auto", which the first chunk decides) Datasets are as wide as their own highest feature.
    """
    name = os.fspath(path)
    if chunk_bytes < 1:
        raise OptionError(f"chunk_bytes: expected a positive number, got {chunk_bytes!r}")
    for side in (GROUPS, (".weight",)):
        if (found := find_side_file(name, side)) is not None:
            raise InputError(f"{name}: expected a file without side files for streaming, got {found}")
    lines = 0
    for text in _whole_queries(name, chunk_bytes):
        options = Options.checked("float64", sparse, n_features, feature_base)
        try:
            data = read_text(text, name, options, n_jobs=n_jobs)
        except FormatError as error:
            line = None if error.line is None else error.line + lines
            raise FormatError(name, line, error.expected, error.got) from error
        sparse, feature_base = data.is_sparse, data.feature_base
        n_features = n_features if sparse else data.n_features
        lines += text.count(b"\n")
        yield data


def _whole_queries(name: str, chunk_bytes: int) -> Iterator[bytes]:
    held = b""
    with open_bytes(name) as stream:
        while piece := stream.read(chunk_bytes):
            held += piece
            cut = _start_of_last_query(held)
            if cut > 0:
                yield held[:cut]
                held = held[cut:]
    if held.strip():
        yield held


def _start_of_last_query(text: bytes) -> int:
    """Return where the rows of the last complete line's query begin; 0 if all rows are of one query."""
    end = text.rfind(b"\n") + 1
    last, at = None, end
    while at > 0:
        start = text.rfind(b"\n", 0, at - 1) + 1
        row = _QUERY.match(text[start:at])
        if row is not None:
            if last is not None and row[1] != last:
                return at
            last = row[1]
        at = start
    return 0
