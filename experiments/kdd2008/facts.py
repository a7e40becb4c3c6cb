"""Fact 3.4 on random queries: how often the paper's search misses the most violated ranking.

    python -m experiments.kdd2008.facts

Every query has two to eight documents, at least one good and one bad, and normal scores; the optimum is that of the
full table over all placements of good documents, which the tests compare with all n! rankings. "each alone" gives every
good document its own best place and takes the least ranking that has them (Fact 3.4), "one after the other" the best
place that is not above the one before. The discounts are the paper's own (1, 1, 1/log2(1 + rank)) and 1/log2(2 + rank).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.kdd2008._common import write_csv

CASES = 3000
Table = NDArray[np.float64]
DISCOUNTS = {
    "the paper's": lambda n: 1 / np.log2(np.maximum(np.arange(n) + 1, 2)),
    "1/log2(2 + rank)": lambda n: 1 / np.log2(np.arange(n) + 2),
}


def gains(goods: NDArray[np.float64], bads: NDArray[np.float64], discounts: NDArray[np.float64]) -> Table:
    """Return F[g, b]: what the g-th best good document adds to loss plus score when b bad ones stand above it."""
    above = np.concatenate([[0.0], np.cumsum(bads)])
    b = np.arange(len(bads) + 1)
    scale, ideal = 2 / (len(goods) * len(bads)), discounts[: len(goods)].sum()
    return np.array([scale * (above - b * s) - discounts[g + b] / ideal for g, s in enumerate(goods)])


def optimum(table: Table) -> float:
    """Return the best sum over placements in which no good document stands above the one before."""
    best = table[0]
    for row in table[1:]:
        best = np.maximum.accumulate(best) + row
    return float(best.max())


def value(table: Table, places: NDArray[np.int64]) -> float:
    """Return the sum of one placement."""
    return float(table[np.arange(len(table)), places].sum())


def each_alone(table: Table) -> NDArray[np.int64]:
    """Return the least ranking that has every good document at or below its own best place."""
    return np.maximum.accumulate(table.argmax(axis=1))


def one_after_the_other(table: Table) -> NDArray[np.int64]:
    """Return the greedy ranking: every good document at its best place below the one before."""
    places, last = [], 0
    for row in table:
        last += int(row[last:].argmax())
        places.append(last)
    return np.array(places)


def queries(scale: float) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return random queries: the scores of their good and of their bad documents, best first."""
    rng, found = np.random.default_rng(0), []
    for _ in range(CASES):
        n = int(rng.integers(2, 9))
        n_good = int(rng.integers(1, n))
        scores = scale * rng.standard_normal(n)
        found.append((np.sort(scores[:n_good])[::-1], np.sort(scores[n_good:])[::-1]))
    return found


def main() -> None:
    rows = []
    for name, discounts in DISCOUNTS.items():
        for scale in (0.1, 0.3, 1.0, 3.0):
            missed = {"each alone": 0, "one after the other": 0}
            for goods, bads in queries(scale):
                table = gains(goods, bads, discounts(len(goods) + len(bads)))
                best = optimum(table)
                missed["each alone"] += value(table, each_alone(table)) < best - 1e-9
                missed["one after the other"] += value(table, one_after_the_other(table)) < best - 1e-9
            rows.append({"discount": name, "scores' deviation": scale, "queries": CASES, **missed})
    write_csv("facts.csv", rows)


if __name__ == "__main__":
    main()
