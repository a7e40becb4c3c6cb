"""Sort rows by query on disk, in bounded memory, for sources in which the rows of a query are not adjacent.

The first pass counts the rows of every query, which determines the final position of each row. The second writes every
row to a bucket, a file of rows that fits into memory; then each bucket is read, sorted and yielded. Queries come in
order of first appearance, rows of a query in the order of the source, as in a Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Integers
from argrank.data.grouping import group_by_id, objects, offsets
from argrank.data.io.pack.chunks import Chunk, as_texts, plain_ids
from argrank.errors import InputError

CSR = ("data", "indices", "indptr")
CHANGED = "expected a source that does not change while it is read twice, got one that changes"


class Places(NamedTuple):
    """Final positions of rows: the index of every query by its id, and the first row of each query."""

    number: dict[Any, int]
    indptr: Integers
    texts: bool

    def numbers(self, qid: NDArray[Any]) -> Integers:
        """Return the query's number for every row."""
        distinct, sizes, rows = _distinct(qid, self.texts)
        try:
            numbers = np.array([self.number[one] for one in distinct], np.int64)
        except KeyError as error:
            raise InputError(CHANGED) from error
        found = np.empty(len(qid), np.int64)
        found[slice(None) if rows is None else rows] = np.repeat(numbers, sizes)
        return found


def count(ids: Iterator[NDArray[Any]]) -> Places:
    """Count the rows of every query, queries by first appearance."""
    number: dict[Any, int] = {}
    sizes: list[int] = []
    texts = False
    for piece in ids:
        plain = plain_ids(piece, len(piece), "qid")
        if plain.dtype == object and not texts:
            number, texts = {str(one): at for one, at in number.items()}, True
        for one, size in zip(*_distinct(plain, texts)[:2], strict=True):
            at = number.setdefault(one, len(sizes))
            if at == len(sizes):
                sizes.append(0)
            sizes[at] += int(size)
    return Places(number, offsets(np.array(sizes, np.int64)), texts)


def sorted_chunks(
    chunks: Iterator[Chunk], places: Places, folder: Path, bucket_bytes: int, step_bytes: int
) -> Iterator[Chunk]:
    """Yield all rows with their queries together; ``folder`` is for the buckets, which are deleted one by one."""
    cursor, done, buckets = places.indptr[:-1].copy(), 0, None
    for chunk in chunks:
        numbers = places.numbers(chunk.qid)
        order = np.argsort(numbers, kind="stable")
        target = np.empty(len(numbers), np.int64)
        by_query = numbers[order]
        starts = np.flatnonzero(np.concatenate(([True], by_query[1:] != by_query[:-1])))
        lengths = np.diff(np.append(starts, len(by_query)))
        target[order] = cursor[by_query] + np.arange(len(by_query)) - np.repeat(starts, lengths)
        cursor[by_query[starts]] += lengths
        if buckets is None:
            buckets = Buckets(folder, max(1, int(bucket_bytes / _row_bytes(chunk))))
        buckets.put(chunk, target, np.arange(done, done + len(numbers)) if chunk.rows is None else chunk.rows)
        done += len(numbers)
    if buckets is None or not np.array_equal(cursor, places.indptr[1:]):
        raise InputError(CHANGED)
    ids = list(places.number)
    for bucket in range(-(-done // buckets.n_rows)):
        yield from _in_steps(buckets.take(bucket, done, lambda at: _ids_at(at, places.indptr, ids)), step_bytes)


class Buckets:
    """Files of rows by final position; a piece of a chunk is a sequence of arrays written by ``np.save``."""

    def __init__(self, folder: Path, n_rows: int) -> None:
        self._folder, self.n_rows = folder, n_rows

    def put(self, chunk: Chunk, target: Integers, rows: Integers) -> None:
        """Write every row to the bucket of its final position."""
        bucket = target // self.n_rows
        order = np.argsort(bucket, kind="stable")
        for own in np.split(order, np.flatnonzero(np.diff(bucket[order])) + 1):
            part = chunk.take(own)
            y = np.zeros(0) if part.y is None else part.y
            arrays = [np.array(list(part.extras), "U"), np.array(part.X.shape), target[own], rows[own], y]
            arrays += [_savable(values) for values in part.extras.values()]
            arrays += [getattr(part.X, name) for name in CSR] if sparse.issparse(part.X) else [part.X]
            with open(self._path(int(bucket[own[0]])), "ab") as file:
                for array in arrays:
                    np.save(file, array, allow_pickle=False)

    def take(self, bucket: int, n_rows: int, qid: Callable[[Integers], NDArray[Any]]) -> Chunk:
        """Return the rows of a bucket in order, and delete its file."""
        start, end = bucket * self.n_rows, min((bucket + 1) * self.n_rows, n_rows)
        rows, y = np.empty(end - start, np.int64), np.empty(end - start)
        extras: dict[str, list[Any]] = {}
        targets, wide, dense, judged, width = [], [], None, False, 0
        for names, shape, target, own_rows, own_y, *rest in self._pieces(bucket):
            width = max(width, int(shape[1]))
            at = target - start
            targets.append(at)
            rows[at] = own_rows
            judged = len(own_y) > 0
            if judged:
                y[at] = own_y
            for name, values in zip(names.tolist(), rest, strict=False):
                extras.setdefault(name, []).append(values)
            features = rest[len(names) :]
            if len(features) == 1:
                dense = np.empty((end - start, features[0].shape[1]), features[0].dtype) if dense is None else dense
                dense[at] = features[0]
            else:
                wide.append(features)
        self._path(bucket).unlink()
        order = np.argsort(np.concatenate(targets))
        parts = [sparse.csr_matrix(tuple(part), shape=(len(part[2]) - 1, width)) for part in wide]
        X = dense if dense is not None else sparse.vstack(parts, "csr")[order]
        joined = {name: _joined(pieces)[order] for name, pieces in extras.items()}
        return Chunk(X, y if judged else None, qid(np.arange(start, end)), joined, rows)

    def _pieces(self, bucket: int) -> Iterator[list[NDArray[Any]]]:
        with open(self._path(bucket), "rb") as file:
            while file.peek(1):
                names = np.load(file)
                fixed = [np.load(file) for _ in range(4 + len(names))]
                first = np.load(file)
                features = [first] if first.ndim == 2 else [first, np.load(file), np.load(file)]
                yield [names, *fixed, *features]

    def _path(self, bucket: int) -> Path:
        return self._folder / f"bucket-{bucket}"


def _distinct(qid: NDArray[Any], texts: bool) -> tuple[list[Any], Integers, Integers | None]:
    """Return the distinct ids by first appearance, their counts, and the rows in that order (None: as they are)."""
    ids = plain_ids(qid, len(qid), "qid")
    grouped = group_by_id(as_texts(ids) if texts else ids, len(ids))
    return grouped.query_ids.tolist(), np.diff(grouped.indptr), grouped.rows


def _ids_at(places: Integers, indptr: Integers, ids: list[Any]) -> NDArray[Any]:
    first = int(np.searchsorted(indptr, places[0], side="right")) - 1
    last = int(np.searchsorted(indptr, places[-1], side="right"))
    return objects(ids[first:last])[np.searchsorted(indptr[first : last + 1], places, side="right") - 1]


def _in_steps(chunk: Chunk, n_bytes: int) -> Iterator[Chunk]:
    step = max(1, int(n_bytes / _row_bytes(chunk)))
    for start in range(0, len(chunk.qid), step):
        yield chunk.take(slice(start, start + step))


def _row_bytes(chunk: Chunk) -> float:
    X = chunk.X
    size = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
    extras = sum(_savable(values).nbytes for values in chunk.extras.values())
    return float((size + extras) / max(1, len(chunk.qid)) + 24)  # label, place and row number


def _savable(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype("U") if values.dtype == object else values


def _joined(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate ids or weights of several pieces; integers become texts if other pieces have texts."""
    if any(piece.dtype.kind == "U" for piece in pieces):
        return np.concatenate(
            [as_texts(piece.astype(object) if piece.dtype.kind == "U" else piece) for piece in pieces]
        )
    return np.concatenate(pieces)
