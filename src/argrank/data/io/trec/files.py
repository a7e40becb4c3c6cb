"""TREC judgements (qrels: ``qid iteration docno relevance``) and runs (``qid Q0 docno rank score tag``)."""

from __future__ import annotations

import itertools
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from argrank._files import open_bytes, write_bytes
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.io.text import first_repeated, id_texts, is_number, number_text, read_numbers, text_lines
from argrank.errors import ArgrankWarning, FormatError, InputError, shown

PathLike = str | os.PathLike[str]
_SPACE = re.compile(r"\s")
_SAFE = "".join(map(chr, range(33, 127))).replace("%", "")


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judgements as a file gives them; a relevance may be negative (TREC's way to mark spam)."""

    qid: NDArray[Any]
    docno: NDArray[Any]
    rel: Floats

    def __len__(self) -> int:
        return len(self.qid)


@dataclass(frozen=True, eq=False)
class Run:
    """A system's results as given in a file; runs from other sources have no ranks and no tag."""

    qid: NDArray[Any]
    docno: NDArray[Any]
    score: Floats
    rank: NDArray[Any] | None = None
    tag: str = ""

    def __len__(self) -> int:
        return len(self.qid)


def read_qrels(path: PathLike) -> Qrels:
    """Read TREC judgements; every (query, document) at most once."""
    columns = _read(path, QRELS)
    return Qrels(columns["qid"], columns["docno"], columns["relevance"])


def read_run(path: PathLike) -> Run:
    """Read a TREC run; every (query, document) at most once. The order of the lines and the ranks are kept as given."""
    columns = _read(path, RUN)
    return Run(columns["qid"], columns["docno"], columns["score"], columns["rank"], str(columns["tag"][0]))


def write_qrels(data: Dataset, path: PathLike) -> None:
    """Write the labels as TREC judgements, query by query."""
    if not data.is_judged:
        raise InputError(f"{os.fspath(path)}: expected judged data, got a Dataset without labels")
    qid, docno = dataset_names(data)
    with write_bytes(path) as stream:
        for query, first, last in _queries(data):
            lines = [
                f"{qid[query]} 0 {docno[row]} {number_text(label)}\n"
                for row, label in zip(range(first, last), data.y[first:last].tolist(), strict=True)
            ]
            stream.write("".join(lines).encode())


def write_run(scores: Any, data: Dataset, path: PathLike, tag: str = "argrank") -> None:
    """Write scores, given in the caller's row order, as a TREC run: by score, equal scores in row order, ranks from 1.

    Note that trec_eval ignores the ranks and orders equal scores by document id.
    """
    if len(tag.split()) != 1 or tag.strip() != tag:
        raise InputError(f"tag: expected one word without spaces, got {tag!r}")
    values = data.from_caller(checks.numbers(scores, data.n_documents, "scores", "score"))
    qid, docno = dataset_names(data)
    with write_bytes(path) as stream:
        for query, first, last in _queries(data):
            order = np.argsort(-values[first:last], kind="stable") + first
            lines = [
                f"{qid[query]} Q0 {docno[row]} {rank} {score!r} {tag}\n"
                for rank, (row, score) in enumerate(zip(order.tolist(), values[order].tolist(), strict=True), 1)
            ]
            stream.write("".join(lines).encode())


def align_run(run: Run, data: Dataset) -> Floats:
    """Return a run's scores for the rows of the data, in the caller's row order.

    Documents that are not in the run get a score below all others of their query (0 if the run has none of the query),
    and a warning counts them; the usual reason is a run cut at a depth.
    """
    found = _look_up(data, run.qid, run.docno, run.score)
    absent = np.isnan(found)
    for _, first, last in _queries(data):
        gaps = absent[first:last]
        if gaps.any():
            lowest = 1.0 if gaps.all() else float(np.nanmin(found[first:last]))
            found[first:last][gaps] = min(lowest - 1.0, float(np.nextafter(lowest, -np.inf)))
    if absent.any():
        warnings.warn(
            f"{absent.sum()} of {data.n_documents} documents are not in the run: ranked below those that are",
            ArgrankWarning,
            stacklevel=2,
        )
    return data.to_caller(found)


# ---- reading ------------------------------------------------------------------------------------------------------


class Layout(NamedTuple):
    """The words of a line."""

    fields: tuple[str, ...]
    number: str  # the field that is a number


QRELS = Layout(("qid", "iteration", "docno", "relevance"), "relevance")
RUN = Layout(("qid", "Q0", "docno", "rank", "score", "tag"), "score")


def _read(path: PathLike, layout: Layout) -> dict[str, NDArray[Any]]:
    n_fields = len(layout.fields)
    words: list[str] = []  # one list for all lines: the garbage collector would visit a list per line
    lines: list[int] = []
    with open_bytes(path) as stream:
        for line, text in enumerate(text_lines(stream, path), 1):
            row = text.split()
            if not row:
                continue
            if len(row) != n_fields:
                expected = f"{n_fields} fields ({' '.join(layout.fields)})"
                raise FormatError(path, line, expected, f"{len(row)}: {shown(text.strip())}")
            words += row
            lines.append(line)
    if not lines:
        raise FormatError(path, None, f"lines of {' '.join(layout.fields)}", "an empty file")
    cells = {name: words[place::n_fields] for place, name in enumerate(layout.fields)}
    _refuse_repeated(cells["qid"], cells["docno"], lines, path)
    columns: dict[str, NDArray[Any]] = {name: np.array(column, dtype=object) for name, column in cells.items()}
    columns[layout.number] = _finite(cells[layout.number], layout.number, lines, path)
    return columns


def _refuse_repeated(qid: list[str], docno: list[str], lines: list[int], path: PathLike) -> None:
    keys = [f"{query} {document}" for query, document in zip(qid, docno, strict=True)]
    again = first_repeated(keys)
    if again is not None:
        first = keys.index(again)
        second = keys.index(again, first + 1)
        got = f"document {shown(docno[first])} of query {shown(qid[first])} again, first in line {lines[first]}"
        raise FormatError(path, lines[second], "every document of a query once", got)


def _finite(texts: Sequence[str], what: str, lines: list[int], path: PathLike) -> Floats:
    try:
        values = read_numbers(texts)
    except ValueError:
        values = np.array([read_numbers([text])[0] if is_number(text) else np.nan for text in texts])
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise FormatError(path, lines[place], f"a finite number as {what}", shown(texts[place]))
    return values


# ---- names of queries and documents -------------------------------------------------------------------------------


def dataset_names(data: Dataset) -> tuple[list[str], list[str]]:
    """Return the ids of queries and of stored rows as words; raise for ids that a TREC file cannot distinguish."""
    qid, docno = words_of(id_texts(data.query_ids, "qid")), words_of(document_names(data))
    twice = first_repeated(qid)
    if twice is not None:
        raise InputError(f"qid: expected ids with different texts, got {shown(twice)} for two queries")
    for query, first, last in _queries(data):
        twice = first_repeated(docno[first:last])
        if twice is not None:
            raise InputError(
                f"document_ids: expected every id once in a query, got {shown(twice)} twice in query {qid[query]}; "
                "a TREC file holds a document once: leave out the repeated rows, or write a table (.csv, .parquet)"
            )
    return qid, docno


def words_of(texts: Sequence[str]) -> list[str]:
    """Return texts as words that a TREC file can hold: those with spaces percent-encoded, empty ones as %00."""
    if not _SPACE.search("".join(texts)) and all(texts):
        return list(texts)
    return [(quote(text, safe=_SAFE) or "%00") if _SPACE.search(text) or not text else text for text in texts]


def document_names(data: Dataset) -> list[str]:
    """Return the document ids of the stored rows as texts, or the numbers of the caller's rows."""
    if data.document_ids is not None:
        return id_texts(data.document_ids, "document_ids")
    rows = np.arange(data.n_documents) if data.rows is None else data.rows
    return [str(row) for row in rows.tolist()]


def _queries(data: Dataset) -> Iterator[tuple[int, int, int]]:
    yield from ((query, *bounds) for query, bounds in enumerate(itertools.pairwise(data.indptr.tolist())))


def _look_up(data: Dataset, qid: NDArray[Any], docno: NDArray[Any], values: Floats) -> Floats:
    """Return the value of every stored row's (query, document), NaN if there is none."""
    keys = zip(words_of(list(map(str, qid.tolist()))), words_of(list(map(str, docno.tolist()))), strict=True)
    value_of = dict(zip(keys, values.tolist(), strict=True))
    names = words_of(id_texts(data.query_ids, "qid"))
    documents = words_of(document_names(data))
    found = np.empty(data.n_documents)
    for query, first, last in _queries(data):
        name = names[query]
        found[first:last] = [value_of.get((name, word), np.nan) for word in documents[first:last]]
    if np.isnan(found).all():
        raise InputError(
            f"expected queries and documents of the data, such as {shown(names[0])} and {shown(documents[0])}, "
            f"got none of them, but for example {shown(qid[0])} and {shown(docno[0])}"
        )
    return found
