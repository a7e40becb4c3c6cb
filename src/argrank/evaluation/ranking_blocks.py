"""Rankings of all queries, in blocks: queries of similar length together, padded, sorted by one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.unjudged import JUDGED, Gaps
from argrank.measures.conventions import Convention
from argrank.measures.rankings import Rankings, rank

BLOCK_CELLS = 1 << 16  # cells of one block: its arrays stay in the cache


@dataclass(frozen=True)
class Block:
    """Ranked queries: their numbers, the rankings, and the numbers of those with ties that matter."""

    queries: NDArray[np.intp]
    rankings: Rankings
    tied: NDArray[np.intp]
    cells: NDArray[np.intp]
    stored: Callable[[NDArray[np.intp]], NDArray[np.intp]]

    def rows(self) -> NDArray[np.intp]:
        """Return the stored rows in ranked order; values in the padding are meaningless."""
        return self.stored(self.cells)


@dataclass(frozen=True, eq=False)
class Judgements:
    """All judged labels, query by query, where lists hold only some of the judged documents or unjudged ones.

    ``gaps`` says for every stored row of the lists why it has no judgement; None if all of them have one.
    """

    labels: Floats
    indptr: Integers
    gaps: Gaps | None = None

    def padded(self, queries: NDArray[np.intp]) -> Floats:
        """Return the labels of some queries, one query a row, padded with minus infinity."""
        starts, sizes = self.indptr[queries], np.diff(self.indptr)[queries]
        there = np.arange(max(1, int(sizes.max()))) < sizes[:, None]
        rows = np.where(there, starts[:, None] + np.arange(there.shape[1]), 0)
        return np.where(there, self.labels[rows], -np.inf)


def query_blocks(sizes: Integers) -> Iterator[NDArray[np.intp]]:
    """Yield the numbers of queries that are ranked together; the borders depend on the data alone."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    first = 0
    while first < len(order):
        # No row is padded to more than about twice its length, no block has many more cells than it should.
        widest = int(np.searchsorted(ordered, 2 * ordered[first] + 16, side="right"))
        full = first + max(1, BLOCK_CELLS // max(1, int(ordered[first])))
        last = min(widest, full)
        while last > first + 1 and int(ordered[last - 1]) * (last - first) > 2 * BLOCK_CELLS:
            last = first + (last - first + 1) // 2
        yield order[first:last]
        first = last


def rank_queries(
    scores: Floats,
    data: Dataset,
    queries: NDArray[np.intp],
    convention: Convention,
    judged: Judgements | None = None,
) -> Block:
    """Rank the documents of some queries by scores given in stored row order."""
    starts, sizes = data.indptr[queries], data.sizes[queries]
    width, first = max(1, int(sizes.max())), int(starts[0])
    held, gaps = None if judged is None else judged.gaps, None
    if held is None and int(sizes.min()) == width and int(starts[-1]) - first == (len(queries) - 1) * width:
        # Adjacent queries of one length need no copy.
        block_scores, labels = (
            values[first : first + len(queries) * width].reshape(-1, width) for values in (scores, data.targets)
        )

        def stored(cells: NDArray[np.intp]) -> NDArray[np.intp]:
            return first + cells

    else:
        there = np.arange(width) < sizes[:, None]
        rows = np.where(there, starts[:, None] + np.arange(width), 0)
        block_scores, labels = (np.where(there, values[rows], -np.inf) for values in (scores, data.targets))

        if held is not None:
            gaps = np.where(there, held[rows], JUDGED)

        def stored(cells: NDArray[np.intp]) -> NDArray[np.intp]:
            return rows.reshape(-1)[cells]

    ranked = rank(block_scores, labels, _tie_key(convention.ties, data, stored), gaps)
    known = None if judged is None else judged.padded(queries)
    keys = ranked.keys if convention.ties == "expected" else None
    by_rank = None if gaps is None else gaps.reshape(-1)[ranked.cells]
    rankings = Rankings(ranked.labels, sizes, ranked.ties, keys, known, by_rank, ranked.keys, data.gains is not None)
    return Block(queries, rankings, queries[ranked.tied], ranked.cells, stored)


def _tie_key(
    ties: str, data: Dataset, stored: Callable[[NDArray[np.intp]], NDArray[np.intp]]
) -> Callable[[NDArray[np.intp]], NDArray[Any]] | None:
    """Return the second key of the sort as a function of cells; ``stored`` gives the stored rows of cells."""
    if ties == "expected":
        return None
    if ties == "row":
        return stored
    if ties == "best":
        return lambda cells: -data.targets[stored(cells)]
    if ties == "worst":
        return lambda cells: data.targets[stored(cells)]
    sign = -1 if ties == "docid-descending" else 1

    def by_id(cells: NDArray[np.intp]) -> NDArray[Any]:
        rows = stored(cells)
        if data.document_ids is None:  # only used if scores are tied: the texts may not have been computed yet
            return sign * rows
        # Tools compare document ids as text; the order of code points is the order of UTF-8 bytes.
        texts = np.array([str(one) for one in data.document_ids[rows].tolist()])
        return sign * np.unique(texts, return_inverse=True)[1].reshape(-1)

    return by_id
