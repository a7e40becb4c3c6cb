"""Count the pairs of documents that a ranking orders correctly, in O(n log n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.measures.rankings import Rankings


def balance(rankings: Rankings, levels: Floats) -> Floats:
    """Return for every query the pairs of different level in right order minus those in wrong order, ties as 0.

    ``levels`` has the shape of the rankings' labels, minus infinity in the padding. The levels are numbered and read
    bit by bit from the highest: of the documents that agree in all higher bits, kept in ranked order, those with the
    bit set belong above the others. Every pair is counted at the one bit that decides it.
    """
    there = levels > -np.inf
    query = np.nonzero(there)[0]
    codes: Integers = np.unique(levels[there], return_inverse=True)[1].reshape(-1)
    place = _places(rankings)[there]
    result = np.zeros(rankings.n_queries)
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        # Ranked order within (query, higher bits): the sort is stable and the input is in ranked order.
        order = np.lexsort((codes >> (bit + 1), query))
        ones = (codes[order] >> bit) & 1
        owner, group = query[order], codes[order] >> (bit + 1)
        opens = np.ones(len(order), bool)
        opens[1:] = (owner[1:] != owner[:-1]) | (group[1:] != group[:-1])
        steps = opens.copy()
        steps[1:] |= place[order][1:] != place[order][:-1]
        count = np.concatenate(([0], np.cumsum(ones)))
        before_group, through_group = _bounds(count, opens)
        before_tie, through_tie = _bounds(count, steps)
        above, below = before_tie - before_group, through_group - through_tie
        result += np.bincount(owner, weights=(1 - ones) * (above - below), minlength=rankings.n_queries)
    return result


def n_pairs(levels: Floats) -> Floats:
    """Return the number of pairs of different level in every row; minus infinity is padding."""
    return _unequal(-np.sort(-levels, axis=1), np.count_nonzero(levels > -np.inf, axis=1))


def n_untied(rankings: Rankings) -> Floats:
    """Return the number of pairs of every query that do not count as tied."""
    keys = rankings.keys
    if keys is None:
        keys = np.repeat(rankings.ranks[None, :], rankings.n_queries, axis=0)
    return _unequal(keys, rankings.sizes)


def _unequal(ordered: Floats, sizes: Integers) -> Floats:
    """Return the number of unequal pairs in sorted rows: of all pairs, each cell takes off its equals before it."""
    changes = np.ones(ordered.shape, bool)
    changes[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    columns = np.arange(ordered.shape[1])
    run_start = np.maximum.accumulate(np.where(changes, columns, 0), axis=1)
    equal = np.where(columns < sizes[:, None], columns - run_start, 0).sum(axis=1)
    return np.asarray(sizes * (sizes - 1.0) / 2.0 - equal)


def _places(rankings: Rankings) -> Floats:
    """Return the first rank of every cell's tie group: equal for documents that count as tied."""
    places = np.repeat(rankings.ranks[None, :], rankings.n_queries, axis=0)
    if rankings.ties is not None:
        ties = rankings.ties
        places.reshape(-1)[ties.cells] = ties.spread(ties.first % ties.width) + 1.0
    return places


def _bounds(count: Integers, opens: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return for every cell the running count before its segment and after it; ``opens`` marks segment starts."""
    starts = np.flatnonzero(opens)
    ends = np.append(starts[1:], len(opens))
    return np.repeat(count[starts], ends - starts), np.repeat(count[ends], ends - starts)
