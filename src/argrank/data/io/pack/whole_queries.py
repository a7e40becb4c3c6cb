"""Normalisation within queries on the way into a pack: chunks are cut between queries first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from argrank.data.io.pack.chunks import Chunk
from argrank.data.prepare.normalise import normaliser, normaliser_names
from argrank.errors import OptionError, check_choice


def check_by_query(name: str | None) -> None:
    """Raise unless a normaliser works within queries; the others are applied to packs by the rankers."""
    if name is None:
        return
    check_choice("normalise", name, normaliser_names())
    if not normaliser(name).needs_queries:
        raise OptionError(
            f"normalise: expected a normaliser within queries for a pack, got {name!r}; give it to the ranker, which "
            "applies it without a copy"
        )


def normalised(chunks: Iterator[Chunk], name: str) -> Iterator[Chunk]:
    """Yield chunks of whole queries with normalised features; what is sparse has to stay so."""
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
