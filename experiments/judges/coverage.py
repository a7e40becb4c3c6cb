"""How often 95 % intervals around judges cover: prediction-powered means, and coefficients of agreement.

Writes coverage.csv and coverage.md. Every sample is drawn from a population whose truth is known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argrank._types import Floats
from argrank.evaluation.intervals import mean_interval
from argrank.evaluation.judges import coefficients
from argrank.evaluation.judges.coefficients import estimate
from argrank.evaluation.judges.prediction_powered import powered_mean
from experiments._common import write_csv

HERE = Path(__file__).parent
LEVEL = 0.05
N_DRAWS = 2_000
KINDS = ("ndcg", "useless", "reversed", "mostly equal", "mrr", "p@1")
TITLES = {
    "ndcg": "NDCG, cheap grades too high and noisy",
    "useless": "NDCG, cheap grades that know nothing",
    "reversed": "NDCG, cheap grades reversed",
    "mostly equal": "NDCG, wrong on 5 % of the queries",
    "mrr": "MRR, wrong on 30 % of the queries",
    "p@1": "P@1 = .1, wrong on 5 % of the queries",
}
SAMPLES = ((300, 10), (300, 20), (300, 50), (300, 100), (2_000, 50), (2_000, 200))
QUERIES = (5, 10, 20, 50, 200)


def values_of(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Values of a measure by trusted and by cheap judgements, which are biased in several ways."""
    if kind == "ndcg":
        at = 1.2 * rng.normal(size=shape)
        return _logistic(at + 0.3), _logistic(at + 0.8 + rng.normal(0, 0.7, shape))
    if kind == "useless":
        return rng.beta(2, 2, shape), rng.beta(3, 1, shape)
    if kind == "reversed":
        values = rng.beta(2, 2, shape)
        return values, 1 - values
    if kind == "mostly equal":
        values = rng.beta(2, 2, shape)
        return values, np.where(rng.random(shape) < 0.05, rng.random(shape), values)
    if kind == "mrr":
        rank = rng.geometric(0.35, shape)
        other = np.where(rng.random(shape) < 0.3, rng.geometric(0.5, shape), rank)
        return 1 / np.minimum(rank, 10), 1 / np.minimum(other, 10)
    hit = (rng.random(shape) < 0.1).astype(np.float64)
    return hit, np.where(rng.random(shape) < 0.05, 1 - hit, hit)


def _logistic(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


class Simulated(NamedTuple):
    """What came out: coverage, the mean width over that of the trusted queries alone, bias in standard errors."""

    coverage: float
    width: float
    bias: float


def powered(kind: str, n_queries: int, n_trusted: int, n_draws: int, seed: int = 0) -> Simulated:
    """Draw queries, the first of which are trusted, and correct the cheap mean."""
    rng = np.random.default_rng((seed, n_queries, n_trusted))
    truth = values_of(kind, (40, 20_000), rng)[0].mean()
    where, weight = np.arange(n_trusted), np.ones(n_queries)
    values, cheap = values_of(kind, (n_draws, n_queries), rng)
    found = [
        powered_mean(f, y[:n_trusted], where, weight, None, (0.0, 1.0), LEVEL)
        for y, f in zip(values, cheap, strict=True)
    ]
    alone = [mean_interval(y[:n_trusted]) for y in values]
    means = np.array([one.mean for one in found])
    return Simulated(
        float(np.mean([one.low <= truth <= one.high for one in found])),
        float(np.mean([one.high - one.low for one in found]) / np.mean([one.high - one.low for one in alone])),
        float((means.mean() - truth) / (means.std() / np.sqrt(n_draws))),
    )


def tables_of(rng: np.random.Generator, n_draws: int, n_queries: int) -> Floats:
    """Tables of grades 0 to 2 of two judges, 10 documents a query; queries differ in prevalence and difficulty."""
    at = rng.normal(size=(n_draws, n_queries, 10)) + rng.normal(0, 0.8, (n_draws, n_queries, 1))
    hard = 0.6 * np.exp(rng.normal(0, 0.3, (n_draws, n_queries, 1)))
    first, second = (
        ((at + hard * rng.normal(size=at.shape) + shift)[..., None] > [0.3, 1.0]).sum(-1) for shift in (0.0, 0.2)
    )
    cells = (3 * first + second)[..., None] == np.arange(9)
    return cells.sum(2).reshape(n_draws, n_queries, 3, 3).astype(np.float64)


def kappas(n_queries: int, n_draws: int, seed: int = 0) -> float:
    """Return the coverage of intervals of the quadratic kappa."""
    rng, grades = np.random.default_rng((seed, n_queries)), np.arange(3.0)

    def kappa(tables: Floats) -> Floats:
        return coefficients.kappa(tables, grades, "quadratic")

    truth = float(kappa(tables_of(rng, 1, 60_000).sum(axis=(0, 1))))
    found = [estimate(kappa, tables, LEVEL) for tables in tables_of(rng, n_draws, n_queries)]
    return float(np.mean([one.low <= truth <= one.high for one in found]))


INTRODUCTION = f"""# Judges: do the intervals cover?

{N_DRAWS:,} samples for every figure; two standard errors of a share of .95 are .01.

## Means by cheap judgements, corrected by trusted ones

Coverage of `ar.evaluate(…, trusted=…)`, and in brackets the mean width of the interval over that of the trusted queries
alone.
"""


def main() -> None:
    """Compute everything and write the tables."""
    found: list[dict[str, Any]] = []
    lines = [INTRODUCTION]
    lines += [f"| trusted of all queries | {' | '.join(f'{n} of {total:,}' for total, n in SAMPLES)} |"]
    lines += [f"|---|{'--:|' * len(SAMPLES)}"]
    for kind in KINDS:
        cells = []
        for n_queries, n in SAMPLES:
            one = powered(kind, n_queries, n, N_DRAWS)
            found.append({"what": kind, "queries": n_queries, "trusted": n, **one._asdict()})
            cells.append(f"{_share(one.coverage)} ({one.width:.2f})")
        lines.append(f"| {TITLES[kind]} | {' | '.join(cells)} |")
    lines += ["", "## Quadratic kappa of two judges, queries left out in turn", ""]
    lines += [f"| queries | {' | '.join(map(str, QUERIES))} |", f"|---|{'--:|' * len(QUERIES)}"]
    shares = {n: kappas(n, N_DRAWS) for n in QUERIES}
    found += [{"what": "kappa", "queries": n, "trusted": "", "coverage": one} for n, one in shares.items()]
    lines.append(f"| coverage | {' | '.join(map(_share, shares.values()))} |")
    write_csv(HERE / "coverage.csv", [{"width": "", "bias": "", **row} for row in found])
    (HERE / "coverage.md").write_text("\n".join(lines) + "\n", "utf-8")


def _share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    main()
