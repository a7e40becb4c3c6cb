"""The examination curve from clicks and non-clicks in cells, used by harvest and the position-based model.

A cell is a rank and a thing that was shown at several ranks: a (query, document), or all documents that were shown at
two ranks. The probability of a click is theta of the rank times r of the thing, and the curve maximises

    sum over cells of c log(theta r) + m log(1 - theta r),    c clicks, m non-clicks,    ("binomial"), or
    sum over cells of c log(theta r) - (c + m) theta r                                   ("poisson").

Both are concave in the logarithms, and only products are bounded: a thing that was shown at one rank carries no
information. With many things of few clicks each, the estimates of r bias the binomial curve. They drop out of the
Poisson likelihood, which is that of a thing's clicks at each rank given its total clicks. Its gradient has mean 0 at
the true curve for any number of clicks, even if clicks are not rare.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from argrank._types import Floats, Integers
from argrank.data.clicks.counts import ClickCounts

MAX_ITER = 200
TOL = 1e-11  # smallest relative gain of a step; smaller ones are lost in rounding
MOST_DENSE = 50_000  # largest number of entries of a dense matrix
FLOOR = 0.01  # non-clicks added per click, so that no product reaches 1


Likelihood = Literal["binomial", "poisson"]


class Cells(NamedTuple):
    """Rank (from 0), thing, clicks and non-clicks of every cell, and the number of ranks."""

    rank: Integers
    thing: Integers
    clicks: Floats
    others: Floats
    n_ranks: int

    def linked(self) -> NDArray[np.bool_]:
        """Return for every rank whether the likelihood has one maximum for its ratio to rank 1.

        Clicks in a cell connect its rank and its thing in both directions; a cell without clicks only bounds the rank
        from above. The ratio is bounded on both sides if there are paths from one rank to the other and back.
        """
        n_things = int(self.thing.max(initial=-1)) + 1
        shown, clicked = self.clicks + self.others > 0, self.clicks > 0
        begin = np.concatenate((self.rank[shown], self.n_ranks + self.thing[clicked]))
        end = np.concatenate((self.n_ranks + self.thing[shown], self.rank[clicked]))
        n = self.n_ranks + n_things
        ways = sparse.csr_matrix((np.ones(len(begin)), (begin, end)), shape=(n, n))
        _, component = connected_components(ways, connection="strong")
        return np.asarray(component[: self.n_ranks] == component[0])

    def curve(self, likelihood: Likelihood, linked: NDArray[np.bool_], start: Floats | None = None) -> Floats:
        """Return the logarithms of the curve, 0 for rank 1, NaN for ranks that are not linked to it."""
        found = np.full(self.n_ranks, np.nan)
        found[0] = 0.0
        ranks = np.flatnonzero(linked)
        if len(ranks) < 2:
            return found
        number = np.zeros(self.n_ranks, np.int64)
        number[ranks] = np.arange(len(ranks))
        n_things = int(self.thing.max()) + 1
        floor = FLOOR if likelihood == "binomial" else 0.0
        clicks, others = self.clicks, np.maximum(self.others, floor * self.clicks)
        kept = linked[self.rank] & (clicks + others > 0)
        useful = np.bincount(self.thing[kept], minlength=n_things) > 1  # shown at several ranks, and clicked
        useful &= np.bincount(self.thing[kept], clicks[kept], n_things) > 0
        kept &= useful[self.thing]
        thing = (np.cumsum(useful) - 1)[self.thing[kept]]
        begin = np.zeros(len(ranks)) if start is None else np.nan_to_num(start[ranks])
        found[ranks] = _newton(number[self.rank[kept]], thing, clicks[kept], others[kept], begin, likelihood)
        return found


def _newton(
    rank: Integers, thing: Integers, clicks: Floats, others: Floats, theta: Floats, likelihood: Likelihood
) -> Floats:
    """Maximise by Newton's steps on the logarithms of theta and r.

    Given theta, every r is independent, so the linear system has only one equation per rank.
    """
    n, n_things, shown = len(theta), int(thing.max()) + 1, clicks + others
    binomial = likelihood == "binomial"
    r = np.log(np.bincount(thing, clicks) / np.bincount(thing, shown * np.exp(theta[rank])))
    if binomial:
        highest = np.full(n_things, -np.inf)
        np.maximum.at(highest, thing, theta[rank])
        r = np.minimum(r, -highest - FLOOR)

    def value(theta: Floats, r: Floats) -> float:
        p = theta[rank] + r[thing]
        if not binomial:
            return float(clicks @ p - shown @ np.exp(p))
        return float(clicks @ p + others @ np.log(-np.expm1(p))) if (p < 0).all() else -np.inf

    best = value(theta, r)
    for _ in range(MAX_ITER):
        p = np.exp(theta[rank] + r[thing])
        if binomial:
            odds = p / (1.0 - p)
            slope, bend = clicks - others * odds, others * odds * (1.0 + odds)
        else:
            slope, bend = clicks - shown * p, shown * p
        of_thing = np.bincount(thing, bend, n_things)
        by_rank, by_thing = np.bincount(rank, slope, n), np.bincount(thing, slope, n_things)
        cross, scaled = (_matrix(one, rank, thing, n, n_things) for one in (bend, bend / of_thing[thing]))
        product = scaled @ cross.T
        system = np.diag(np.bincount(rank, bend, n)) - (product.toarray() if sparse.issparse(product) else product)
        step = np.zeros(n)
        step[1:] = np.linalg.solve(system[1:, 1:], (by_rank - scaled @ by_thing)[1:])
        of_r = (by_thing - cross.T @ step) / of_thing
        gain = float(by_rank @ step + by_thing @ of_r)
        size = 1.0
        while (new := value(theta + size * step, r + size * of_r)) < best and size > 1e-10 and gain > TOL * abs(best):
            size /= 2.0
        if new == -np.inf:
            break
        theta, r, best = theta + size * step, r + size * of_r, new
        if gain <= TOL * abs(best):
            break
    return theta


def _matrix(values: Floats, rank: Integers, thing: Integers, n: int, n_things: int) -> Any:
    """Return values as a matrix of ranks and things; sparse only if it is large, as it takes longer to build."""
    if n * n_things > MOST_DENSE:
        return sparse.csr_matrix((values, (rank, thing)), shape=(n, n_things))
    return np.bincount(rank * n_things + thing, values, n * n_things).reshape(n, n_things)


def cells_of_documents(counts: ClickCounts, share: float = 1.0) -> Iterator[Cells]:
    """Yield every (query, document) at every rank where it was shown: all sessions, then without a share of a group."""
    n = counts.n_positions
    keys, cell = np.unique(counts.pair * n + counts.position - 1, return_inverse=True)
    counted, others = counts.clicks.astype(np.float64), (counts.impressions - counts.clicks).astype(np.float64)
    all_clicks = np.bincount(cell, counted).astype(np.float64)
    all_others = np.bincount(cell, others).astype(np.float64)
    yield Cells(keys % n, keys // n, all_clicks, all_others, n)
    if counts.group is None:
        return
    for group in np.unique(counts.group):
        rows = np.flatnonzero(counts.group == group)
        clicks = all_clicks - share * np.bincount(cell[rows], counted[rows], len(keys))
        rest = all_others - share * np.bincount(cell[rows], others[rows], len(keys))
        yield Cells(keys % n, keys // n, clicks, rest, n)
