"""Chunks of data to be packed: rows in the source's order, with the query id of each.

For normalisation within queries, chunks are cut between queries first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Floats
from argrank.data.grouping import id_array, objects
from argrank.data.prepare.normalise import normaliser, normaliser_names
from argrank.errors import InputError, OptionError, check_choice, shown

NUMBERS = ("sample_weight", "gains", "examinations")  # of every row
BY_ROW = ("document_ids", "sources", *NUMBERS, "query_weight")


class Chunk(NamedTuple):
    """Some rows: features (dense or CSR), labels (None without judgements), query ids, and further fields of rows.

    Ids are int64 or objects that are Python strings; ``extras`` has arrays by the names of BY_ROW. ``rows`` are the
    numbers of the rows in the source, None where they follow those of the chunk before.
    """

    X: Any
    y: Floats | None
    qid: NDArray[Any]
    extras: dict[str, NDArray[Any]]
    rows: NDArray[np.int64] | None = None

    def take(self, rows: Any) -> Chunk:
        """Return some rows, by a slice or by their numbers."""
        extras = {name: values[rows] for name, values in self.extras.items()}
        y = None if self.y is None else self.y[rows]
        return Chunk(self.X[rows], y, self.qid[rows], extras, None if self.rows is None else self.rows[rows])


def plain_ids(values: Any, n_rows: int, what: str) -> NDArray[Any]:
    """Return ids as int64 or as objects that are strings, or raise if a pack cannot hold them."""
    ids = id_array(values, n_rows, what)
    if ids.dtype.kind in "iu":
        if ids.dtype.kind == "u" and len(ids) and ids.max() > np.iinfo(np.int64).max:
            raise InputError(f"{what}: expected integers below 2^63, got {ids.max()}")
        return ids.astype(np.int64, copy=False)
    if ids.dtype.kind == "U":
        ids = ids.astype(object)
    if ids.dtype == object and all(type(one) is int for one in ids.tolist()):
        try:
            return ids.astype(np.int64)
        except OverflowError as error:
            raise InputError(f"{what}: expected integers of 64 bits, got larger ones") from error
    if ids.dtype == object:
        odd = [one for one in ids.tolist() if not isinstance(one, str)] or [one for one in ids.tolist() if "\0" in one]
        if not odd:
            return ids
        raise InputError(f"{what}: expected integers alone or texts (without NUL) alone in a pack, got {shown(odd[0])}")
    raise InputError(f"{what}: expected integers or texts in a pack, got {shown(ids.tolist()[0])}")


def as_texts(ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids as texts: an integer becomes the text that it was read from."""
    return ids if ids.dtype == object else objects(list(map(str, ids.tolist())))


def check_by_query(name: str | None) -> None:
    """Raise unless a normaliser works within queries; rankers apply the others to packs themselves."""
    if name is None:
        return
    check_choice("normalise", name, normaliser_names())
    if not normaliser(name).needs_queries:
        raise OptionError(
            f"normalise: expected a normaliser within queries for a pack, got {name!r}; give it to the ranker, which "
            "applies it without a copy"
        )


def normalised(chunks: Iterator[Chunk], name: str) -> Iterator[Chunk]:
    """Yield chunks of whole queries with normalised features; sparse features have to stay sparse."""
    how = normaliser(name)
    for chunk in _whole_queries(chunks):
        starts = np.flatnonzero(np.concatenate(([True], chunk.qid[1:] != chunk.qid[:-1], [True])))
        X = how.apply(chunk.X, starts)
        if sparse.issparse(chunk.X) and not sparse.issparse(X):
            raise OptionError(f"{name}: expected features whose zeros stay zeros, got a sparse matrix with others")
        yield chunk._replace(X=X)


def _whole_queries(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    held: list[Chunk] = []
    for chunk in chunks:
        starts = np.flatnonzero(chunk.qid[1:] != chunk.qid[:-1]) + 1
        if held and chunk.qid[0] != held[-1].qid[-1]:
            yield _joined(held)
            held = []
        if not len(starts):
            held.append(chunk)
            continue
        last = int(starts[-1])
        yield _joined([*held, chunk.take(slice(0, last))])
        held = [chunk.take(slice(last, None))]
    if held:
        yield _joined(held)


def _joined(parts: list[Chunk]) -> Chunk:
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0].X):
        width = max(part.X.shape[1] for part in parts)
        for part in parts:
            part.X.resize(part.X.shape[0], width)
        X = sparse.vstack([part.X for part in parts], "csr")
    else:
        X = np.concatenate([part.X for part in parts])
    first = parts[0]
    return Chunk(
        X,
        None if first.y is None else np.concatenate([part.y for part in parts if part.y is not None]),
        np.concatenate([part.qid for part in parts]),
        {name: np.concatenate([part.extras[name] for part in parts]) for name in first.extras},
        None if first.rows is None else np.concatenate([part.rows for part in parts if part.rows is not None]),
    )
