"""How often 95 % intervals cover the true mean: coverage.csv and coverage.md.

Samples of 5 to 200 queries are drawn from populations whose mean is known, 2,000 for every cell, all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.evaluation.intervals import difference_intervals, mean_intervals
from argrank.evaluation.significance import paired_t
from experiments._common import write_csv
from experiments.intervals.others import OTHERS, bca, imagined, studentised
from experiments.intervals.populations import Population, hard_cases, populations, real_queries

HERE = Path(__file__).parent
SIZES = (5, 10, 20, 50, 200)
N_DRAWS = 2000
NOW, BEFORE, STUDENTISED, STUDENT = "now", "BCa bootstrap", "studentised bootstrap", "Student's t"
Intervals = Callable[[Floats], Floats]
Rows = list[dict[str, Any]]


def of_differences(differences: Floats) -> Floats:
    """What ``ar.compare`` shows of measures between 0 and 1."""
    return difference_intervals(differences, reach=1.0)


def apart(a: Floats, b: Floats) -> Floats:
    """The differences of two systems, 0 where they are rounding alone, as in ``ar.compare``."""
    return np.round(a - b, 12)


def samples(population: Floats, n_queries: int, n_draws: int, seed: int = 0) -> Floats:
    """Queries drawn with replacement, one column for each draw."""
    return population[np.random.default_rng((seed, n_queries)).integers(len(population), size=(n_queries, n_draws))]


def covered(ends: Floats, truth: float) -> float:
    """The share of intervals that hold the truth; an interval of zero width at the truth holds it too."""
    near = 1e-9
    return float(((ends[:, 0] <= truth + near) & (truth - near <= ends[:, 1])).mean())


def rows(
    given: Mapping[str, Population], kinds: Mapping[str, Intervals], figure: str, n_draws: int = N_DRAWS
) -> Iterator[dict[str, Any]]:
    """Yield the coverage and the mean width of each kind of interval, for every population and size."""
    for title, (a, b) in given.items():
        values = a if figure == "mean" else apart(a, b)
        for n_queries in SIZES:
            drawn = samples(values, n_queries, n_draws)
            for kind, make in kinds.items():
                ends = np.clip(make(drawn), 0, 1) if figure == "mean" else make(drawn)
                yield {
                    "figure": figure, "population": title, "queries": n_queries, "interval": kind,
                    "coverage": covered(ends, float(values.mean())), "width": float((ends[:, 1] - ends[:, 0]).mean()),
                }  # fmt: skip


def null(n_draws: int = N_DRAWS) -> Rows:
    """How often an interval leaves out 0, and t rejects, where signs are random: differences of NDCG@10."""
    a, b = populations()["NDCG@10"]
    found: Rows = []
    for n_queries in SIZES:
        drawn = samples(a - b, n_queries, n_draws)
        drawn = drawn * np.random.default_rng(n_queries).choice([-1.0, 1.0], drawn.shape)
        rejected = paired_t(drawn, 1.0) <= 0.05
        for kind, make in ((BEFORE, bca), (NOW, of_differences)):
            low, high = make(drawn).T
            without = (low > 0) | (high < 0)
            shares = {"without 0": without, "rejected": rejected, "contradict": without != rejected}
            means = {name: float(one.mean()) for name, one in shares.items()}
            found.append({"queries": n_queries, "interval": kind, **means})
    return found


HEAD = (f"| | queries: {' | '.join(map(str, SIZES))} |", f"|---|{'--:|' * len(SIZES)}")
INTRODUCTION = """# Coverage of 95 % intervals

Share of 2,000 samples whose interval holds the true mean: of the BCa bootstrap, which argrank used before / of what it
shows now. Shares below .93 are in bold; two standard errors of a share of .95 are .01.
"""
REAL = "Real queries, which had no part in the choice"
TRIED = """
## Means: what else was tried

The least coverage on the five populations of all queries, and in brackets the mean width there.
"""
TRIED_FOR_DIFFERENCES = """
## Differences: what else was tried

The least coverage on the five populations of all queries / on those of real queries. Ties undo the studentised
bootstrap: a resample of few queries that differ often has no variance. What came of hundreds of pairs of real rankings,
some of which chose the interval, is in ``pairs.md``.
"""
TESTED = """
## Tests and intervals

Differences of NDCG@10 with signs drawn at random, so that the true mean is 0: how often the interval leaves out 0, how
often the t-test is significant, how often the two contradict each other.

| queries | interval | leaves out 0 | t significant | contradict |
|--:|---|--:|--:|--:|"""


def page(found: Rows, real: Rows, hard: Rows, nulls: Rows) -> str:
    """Return the tables as Markdown."""
    lines = [INTRODUCTION]
    for title, some in (("Means and differences", found), (REAL, real), ("Harder than usual", hard)):
        lines += [f"## {title}", "", *HEAD]
        coverage = {(r["figure"], r["population"], r["queries"], r["interval"]): r["coverage"] for r in some}
        for row in dict.fromkeys(key[:2] for key in coverage):
            cells = [f"{_share(coverage[(*row, n, BEFORE)])} / {_share(coverage[(*row, n, NOW)])}" for n in SIZES]
            lines.append(f"| {', '.join(row)} | {' | '.join(cells)} |")
        lines.append("")
    lines += [TRIED.lstrip(), *HEAD]
    for kind in (NOW, *OTHERS):
        cells = []
        for n in SIZES:
            own = [row for row in found if _is(row, "mean", n, kind)]
            width = np.mean([row["width"] for row in own])
            cells.append(f"{_share(min(row['coverage'] for row in own))} ({width:.2f})")
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    lines += [TRIED_FOR_DIFFERENCES, *HEAD]
    for kind in (NOW, BEFORE, STUDENTISED, STUDENT):
        least = [
            [_share(min(row["coverage"] for row in some if _is(row, "difference", n, kind))) for some in (found, real)]
            for n in SIZES
        ]
        lines.append(f"| {kind} | {' | '.join(' / '.join(both) for both in least)} |")
    lines.append(TESTED)
    for row in nulls:
        shares = " | ".join(f"{row[name]:.3f}" for name in ("without 0", "rejected", "contradict"))
        lines.append(f"| {row['queries']} | {row['interval']} | {shares} |")
    return "\n".join(lines) + "\n"


def _is(row: Mapping[str, Any], figure: str, n_queries: int, kind: str) -> bool:
    """Tell whether a row is of this figure, size and kind of interval, on a population of all queries."""
    return (row["figure"], row["queries"], row["interval"]) == (figure, n_queries, kind) and "hard" not in row[
        "population"
    ]


def _share(value: float) -> str:
    text = f"{value:.3f}".replace("0.", ".", 1)
    return text if value >= 0.93 else f"**{text}**"


def main() -> None:
    """Compute everything and write the tables."""
    of_means: dict[str, Intervals] = {BEFORE: bca, NOW: mean_intervals}
    others: dict[str, Intervals] = {BEFORE: bca, NOW: of_differences, STUDENTISED: studentised}
    others[STUDENT] = partial(imagined, size=0)
    given, harder, known = populations(), hard_cases(), real_queries()
    found = [*rows(given, {NOW: mean_intervals, **OTHERS}, "mean"), *rows(given, others, "difference")]
    hard, real = ([*rows(some, of_means, "mean"), *rows(some, others, "difference")] for some in (harder, known))
    write_csv(HERE / "coverage.csv", [*found, *real, *hard])
    (HERE / "coverage.md").write_text(page(found, real, hard, null()), "utf-8")


if __name__ == "__main__":
    main()
