"""Examination from documents that were shown at several ranks (intervention harvesting).

For ranks k and k', a document shown at both has one attraction, so its click rates differ only by the examination of
the ranks. Summed over documents, with c clicks and m non-clicks at k of those shown at k' too, every pair of ranks {k,
k'} is a thing with one attraction r (Agarwal et al. 2019, AllPairs). A (query, document) weighs n n' / (n + n'), n and
n' its impressions at the two ranks, with its rates there: the least variance for equal attractions. The paper gives
every (query, document) the same weight, its clicks over its impressions; that is ``equal``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from argrank._jit import kernel
from argrank._types import Filled, FilledCube, Floats, Integers
from argrank.clicks.cells import Cells
from argrank.data.clicks.counts import ClickCounts


def cells(counts: ClickCounts, share: float = 1.0, equal: bool = False) -> Iterator[Cells]:
    """Return the cells of all sessions, then those with a share of each group removed; a thing is a pair of ranks."""
    n = counts.n_positions
    first, second = np.triu_indices(n, 1)
    rank, thing = np.concatenate((first, second)), np.tile(np.arange(len(first)), 2)
    other = np.concatenate((second, first))
    for clicks, others in _sums(counts, share, equal):
        yield Cells(rank, thing, clicks[rank, other], others[rank, other], n)


def _sums(counts: ClickCounts, share: float, equal: bool) -> Iterator[tuple[Floats, Floats]]:
    """Yield clicks and non-clicks of all pairs of ranks, then those with a share of each group removed."""
    n = counts.n_positions
    order = np.lexsort((counts.position, counts.pair))
    pair, position = counts.pair[order], counts.position[order] - 1
    n_sets, number = 1, np.zeros(len(pair), np.int64)
    if counts.group is not None:
        groups, number = np.unique(counts.group[order], return_inverse=True)
        n_sets += len(groups)
    clicks, others = np.zeros((n_sets, n, n)), np.zeros((n_sets, n, n))
    indptr = np.flatnonzero(np.concatenate(([True], np.diff(pair) != 0, [True])))
    rows = indptr, position, number, counts.impressions[order], counts.clicks[order]
    _add_pairs(*rows, share, equal, np.zeros((2, n_sets, n)), np.zeros(n, np.int64), clicks, others)
    yield from zip(clicks, others, strict=True)


@kernel()
def _add_pairs(
    indptr: Integers,
    position: Integers,
    group: Integers,
    shown: Integers,
    clicked: Integers,
    share: float,
    equal: bool,
    work: FilledCube[np.float64],
    ranks: Filled[np.int64],
    clicks: FilledCube[np.float64],
    others: FilledCube[np.float64],
) -> None:
    """Add every document's contribution to each two ranks; set 0 has all sessions, set g + 1 fewer of group g."""
    n_sets = work.shape[1]
    for document in range(len(indptr) - 1):
        begin, end = indptr[document], indptr[document + 1]
        if position[begin] == position[end - 1]:
            continue
        n_ranks = 0
        for cell in range(begin, end):
            if cell == begin or position[cell] != position[cell - 1]:
                ranks[n_ranks] = position[cell]
                n_ranks += 1
                for one in range(n_sets):
                    work[0, one, n_ranks - 1] = 0.0
                    work[1, one, n_ranks - 1] = 0.0
            work[0, 0, n_ranks - 1] += shown[cell]
            work[1, 0, n_ranks - 1] += clicked[cell]
            if n_sets > 1:
                work[0, 1 + group[cell], n_ranks - 1] += share * shown[cell]
                work[1, 1 + group[cell], n_ranks - 1] += share * clicked[cell]
        for one in range(n_sets):
            for i in range(n_ranks):
                for j in range(n_ranks):
                    if i == j:
                        continue
                    a, b = work[0, 0, i], work[0, 0, j]
                    c = work[1, 0, i]
                    alone = False  # whether the group alone saw the document at one of the ranks: it takes it along
                    if one > 0:
                        alone = work[0, one, i] == share * a or work[0, one, j] == share * b
                        a, b, c = a - work[0, one, i], b - work[0, one, j], c - work[1, one, i]
                    if a > 0 and b > 0:
                        weight = b / (a + b)  # of an impression: n n' / (n + n') for all of a document, or 1
                        if equal:
                            weight = (1.0 - share if alone else 1.0) / a
                        clicks[one, ranks[i], ranks[j]] += weight * c
                        others[one, ranks[i], ranks[j]] += weight * (a - c)
