"""Are the answers of ``ar.power`` right? Pilots are drawn from known populations: power.csv and power.md.

The chance of a difference to be found is known for a population: the share of samples in which a t-test finds it. For
every pilot, this is looked up at the smallest difference the pilot names; and the number of queries it names is set
beside the true one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

import argrank as ar
from argrank._types import Floats
from argrank.evaluation.power import queries_needed
from argrank.evaluation.significance import all_equal, standard_errors
from experiments._common import write_csv
from experiments.intervals.coverage import samples
from experiments.intervals.populations import RARE, Population, populations

HERE = Path(__file__).parent
PILOTS = (20, 50, 200)
N_PILOTS, N_DRAWS = 200, 4000
DIFFERENCE = 0.02
HEAD = f"""# Power against simulation

For {N_PILOTS} pilots: the true chance to find the smallest difference that a pilot names for as many queries (80 % are
promised; mean, and what 10 to 90 % of the pilots have), and for a difference of {DIFFERENCE:g} the true number of
queries, the median of the numbers named, and the share of pilots whose range holds the truth. Pilots
without an answer have too few queries that differ.

| population | pilot | answered | true chance | 10 % to 90 % | queries needed | named | range holds it |
|---|--:|--:|--:|--:|--:|--:|--:|
"""


def thresholds(differences: Floats, n_queries: int, n_draws: int = N_DRAWS) -> Floats:
    """The difference from which on each sample of n queries is significant, sorted."""
    drawn = samples(differences, n_queries, n_draws, seed=7)
    found = stdtrit(n_queries - 1, 0.975) * standard_errors(drawn, 1.0) - (drawn.mean(axis=0) - differences.mean())
    return np.sort(np.where(all_equal(drawn), np.inf, found))


def rows(given: Mapping[str, Population], n_pilots: int = N_PILOTS) -> Iterator[dict[str, Any]]:
    """Yield for each population and size of pilot how accurate the answers are."""
    for title, (a, b) in given.items():
        differences = a - b
        truth = queries_needed(differences, DIFFERENCE, 1.0, 0.05, 0.8, 1)
        for n_queries in PILOTS:
            pilots = samples(differences, n_queries, n_pilots, seed=3).T
            found = [ar.power(pilot, DIFFERENCE).rows[0] for pilot in pilots]
            named = np.array([row.smallest for row in found])
            sure = np.isfinite(named)
            actual = np.searchsorted(thresholds(differences, n_queries), named[sure]) / N_DRAWS
            numbers = [(row.needed, *row.likely) for row in found if row.needed is not None and row.likely is not None]
            yield {
                "population": title, "pilot": n_queries, "answered": float(sure.mean()),
                "power": float(actual.mean()), "low": float(np.quantile(actual, 0.1)),
                "high": float(np.quantile(actual, 0.9)), "needed": truth,
                "named": float(np.median([number for number, _, _ in numbers])),
                "within": float(np.mean([low <= (truth or 0) <= high for _, low, high in numbers])),
            }  # fmt: skip


def main() -> None:
    """Compute everything and write the tables."""
    wanted = ("NDCG@10", "MAP", "MRR@10", "P@10", RARE)
    found = list(rows({title: one for title, one in populations().items() if title in wanted}))
    write_csv(HERE / "power.csv", found)
    lines = [
        f"| {row['population']} | {row['pilot']} | {row['answered']:.2f} | {row['power']:.2f} | "
        f"{row['low']:.2f} to {row['high']:.2f} | {row['needed']:,} | {row['named']:,.0f} | {row['within']:.2f} |"
        for row in found
    ]
    (HERE / "power.md").write_text(HEAD + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
