"""Clicks over impressions by rank, with intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from argrank._tables import Table, table
from argrank._types import Floats, Integers
from argrank.data.clicks.counts import ClickCounts

LEVEL = 0.95


class RankRates(NamedTuple):
    """Impressions, clicks and their rate at every rank that was shown, with the ends of its 95 % interval."""

    position: Integers
    impressions: Integers
    clicks: Integers
    rate: Floats
    low: Floats
    high: Floats

    def table(self) -> Table:
        """Return the rows as a table."""
        header = ("rank", "impressions", "clicks", "clicks / impressions", "low", "high")
        columns = zip(*(one.tolist() for one in self), strict=True)
        return table(header, [(*row[:3], *(f"{one:.4f}" for one in row[3:])) for row in columns])


def rates_by_rank(counts: ClickCounts) -> RankRates:
    """Return the rates with Wilson's intervals, with the number of impressions reduced for correlated clicks.

    If sessions are known, the variance of a rate is the jackknife's, over groups of sessions; for sums without sessions
    it is binomial, which ignores that clicks of one user are correlated.
    """
    shown, clicks = counts.by_position()
    position = np.flatnonzero(shown)
    n, c = shown[position].astype(np.float64), clicks[position].astype(np.float64)
    rate, size = c / n, n
    if counts.group is not None:
        left_n, left_c = (total - one[:, position] for total, one in zip((n, c), counts.by_group(), strict=True))
        without = left_c / np.maximum(left_n, 1.0)
        spread = (len(without) - 1) / len(without) * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
        plain = rate * (1.0 - rate) / n
        size = n / np.maximum(np.divide(spread, plain, out=np.ones(len(n)), where=plain > 0), 1.0)
    z = stats.norm.ppf(0.5 + LEVEL / 2)
    middle = (rate + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z / (1 + z**2 / size) * np.sqrt(rate * (1 - rate) / size + z**2 / (4 * size**2))
    low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    return RankRates(position, shown[position], clicks[position], rate, np.minimum(low, rate), np.maximum(high, rate))
