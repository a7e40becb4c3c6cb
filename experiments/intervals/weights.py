"""Do the intervals of tuned weights cover? weights.csv and weights.md; five minutes.

Three systems of different quality; the truth is what is tuned on 4,000 queries. Samples of 60 queries are tuned with
intervals from 50 resamples: as argrank did before (each resample tuned on from the weights found, nearby; quantiles
interpolated), and as it does now.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank._types import Floats
from argrank.measures.names import measure
from argrank.trials.fusion.climb import Climb, Limits, Problem
from experiments._common import write_csv

HERE = Path(__file__).parent
N_QUERIES, N_DOCUMENTS, N_SAMPLES, N_RESAMPLES = 60, 20, 300, 50
SYSTEMS = {"bm25": (0.6, 1.2), "embedding": (0.4, 1.0), "popularity": (0.15, 1.0)}  # signal and noise
HEAD = f"""# Intervals of tuned weights

{N_SAMPLES} samples of {N_QUERIES} queries, NDCG@10, {N_RESAMPLES} resamples each: how often the 95 % interval holds the
weight tuned on 4,000 queries (two standard errors of a share of .95 are .025), and its mean width as a share of what it
should be, 3.92 standard deviations of the weights tuned on fresh samples. Before / now.

| system | weight | its deviation | coverage | width |
|---|--:|--:|--:|--:|
"""


def sample(n_queries: int, seed: int) -> tuple[dict[str, Floats], ar.Dataset]:
    """Return scores of the systems, and judged queries."""
    rng = np.random.default_rng(seed)
    labels = np.minimum(rng.geometric(0.5, n_queries * N_DOCUMENTS) - 1, 3)
    scores = {
        name: signal * labels + noise * rng.standard_normal(len(labels)) for name, (signal, noise) in SYSTEMS.items()
    }
    return scores, ar.Dataset(np.ones((len(labels), 1)), labels, np.repeat(np.arange(n_queries), N_DOCUMENTS))


def tuned(n_queries: int, seed: int, bootstrap: int = 0) -> Any:
    """Tune weights on a sample."""
    return ar.tune_weights(*sample(n_queries, seed), "ndcg@10", cv=None, bootstrap=bootstrap)


def before(weights: Floats, seed: int) -> Floats:
    """Return the intervals as they were made before, of shape (2, n_systems)."""
    scores, data = sample(N_QUERIES, seed)
    free, rng = np.full(len(scores), np.nan), np.random.default_rng(seed)
    data = data.with_features(np.stack(list(scores.values()), axis=1))
    limits = Limits(np.full(len(free), -np.inf), np.full(len(free), np.inf), free)
    problem = Problem(data, measure("ndcg@10"), limits)
    found = []
    for _ in range(N_RESAMPLES):
        counts = np.bincount(rng.integers(N_QUERIES, size=N_QUERIES), minlength=N_QUERIES)
        part = data.select(counts > 0)._but(query_weight=counts[counts > 0].astype(np.float64))
        found.append(Climb(problem.on(part), rng).best(weights, near=True)[0])
    return np.quantile(found, [0.025, 0.975], axis=0)


def rows(n_samples: int = N_SAMPLES) -> list[dict[str, Any]]:
    """Return how often the intervals of each system's weight cover it, and how wide they are."""
    truth = np.array(list(tuned(4000, 999).weights.values()))
    deviation = np.std(
        [list(tuned(N_QUERIES, 1000 + one).weights.values()) for one in range(n_samples)], axis=0, ddof=1
    )
    ends: dict[str, list[Floats]] = {"before": [], "now": []}
    for seed in range(n_samples):
        found = tuned(N_QUERIES, seed, N_RESAMPLES)
        ends["now"].append(np.array(list(found.intervals.values())).T)
        ends["before"].append(before(np.array(list(found.weights.values())), seed))
    lows, highs = ({kind: np.array(own)[:, side] for kind, own in ends.items()} for side in (0, 1))
    return [
        {
            "system": name, "weight": truth[i], "deviation": deviation[i],
            **{f"coverage {kind}": float(((lows[kind][:, i] <= truth[i]) & (truth[i] <= highs[kind][:, i])).mean())
               for kind in ends},
            **{f"width {kind}": float((highs[kind] - lows[kind])[:, i].mean() / (3.92 * deviation[i]))
               for kind in ends},
        }
        for i, name in enumerate(SYSTEMS)
    ]  # fmt: skip


def main() -> None:
    """Compute everything and write the tables."""
    found = rows()
    write_csv(HERE / "weights.csv", found)
    lines = [
        f"| {row['system']} | {row['weight']:.3f} | {row['deviation']:.3f} | {row['coverage before']:.2f} / "
        f"{row['coverage now']:.2f} | {row['width before']:.2f} / {row['width now']:.2f} |\n"
        for row in found
    ]
    (HERE / "weights.md").write_text(HEAD + "".join(lines), "utf-8")


if __name__ == "__main__":
    main()
