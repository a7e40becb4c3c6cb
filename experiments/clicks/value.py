"""What another ranking would earn, from simulated logs with a known truth: bias, error and coverage of intervals.

    python -m experiments.clicks.value [LOGS]        # 150 logs a row by default; writes value.md beside this file

Position-based readers with theta = 1 / rank; 60 queries of 20 documents with uneven traffic, pages of ten drawn around
a logging ranker's scores with Gumbel noise (0.05: pages hardly vary, 0.5: they vary). DCG@10 of another ranker, whose
true value is known. *seen* is the true value of the documents that a log has shown, and what intervals are about.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import argrank as ar
from argrank._tables import table, to_markdown

N_QUERIES, N, K = 60, 20, 10
THETA = 1 / np.arange(1, K + 1)
ESTIMATORS = ("examinations", "ips", "dr", "model")


class World:
    """Attractions, two rankers, traffic, and what the new ranker earns."""

    def __init__(self) -> None:
        setup = np.random.default_rng(1)
        relevant = setup.random((N_QUERIES, N)) < 0.25
        self.gamma = np.where(relevant, setup.uniform(0.4, 1, (N_QUERIES, N)), 0.05)
        self.logging = self.gamma + setup.normal(0, 0.35, (N_QUERIES, N))
        new = self.gamma + setup.normal(0, 0.2, (N_QUERIES, N))
        discount = np.r_[1 / np.log2(np.arange(2, K + 2)), np.zeros(N - K)]
        self.traffic = setup.dirichlet(np.full(N_QUERIES, 0.7))
        self.a = discount[np.argsort(np.argsort(-new, axis=1, kind="stable"), axis=1)]
        self.run = {str(q): {str(d): float(s) for d, s in enumerate(row)} for q, row in enumerate(new)}
        self.true = float((self.traffic[:, None] * self.a * self.gamma).sum())

    def log(self, seed: int, n_sessions: int, noise: float) -> ar.Clicks:
        """Draw a log."""
        rng = np.random.default_rng(seed)
        query = rng.choice(N_QUERIES, n_sessions, p=self.traffic)
        page = np.argsort(-(self.logging[query] + rng.gumbel(0, noise, (n_sessions, N))), axis=1)[:, :K]
        click = rng.random((n_sessions, K)) < THETA * self.gamma[query[:, None], page]
        return ar.Clicks.of({
            "session": np.repeat(np.arange(n_sessions), K), "qid": np.repeat(query, K), "docid": page.ravel(),
            "position": np.tile(np.arange(1, K + 1), n_sessions), "click": click.ravel(),
        })  # fmt: skip

    def seen(self, log: ar.Clicks) -> float:
        """Return the true value of what a log has shown, for every query as much traffic as there is."""
        shown = np.zeros((N_QUERIES, N), bool)
        query = log.query_ids.astype(int)[log.pair_query]
        shown[query, log.document_ids.astype(int)[log.pair_document]] = True
        return float((self.traffic[:, None] * self.a * self.gamma * shown).sum())


def main(n_logs: int) -> None:
    """Write the table."""
    world, rows = World(), []
    for noise in (0.05, 0.5):
        for n_sessions in (500, 4000):
            found: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
            curves, covered = {"true curve": 0, "estimated curve": 0}, []
            n_estimated = 0
            for seed in range(n_logs):
                log, limits = world.log(seed, n_sessions, noise), {"min_coverage": 0, "min_clicks": 0}
                theta = ar.propensities(log, "given", values=THETA)
                for name in ESTIMATORS:
                    one = ar.evaluate(world.run, log, "dcg@10", propensities=theta, estimator=name, **limits)
                    found[name].append(one.means["dcg@10"])
                    if name == "examinations":
                        covered.append(one.coverage["dcg@10"])
                        curves["true curve"] += one.low["dcg@10"] < world.seen(log) < one.high["dcg@10"]
                try:
                    curve = ar.propensities(log)
                except ar.errors.InputError:  # pages that link no ranks
                    continue
                n_estimated += 1
                one = ar.evaluate(world.run, log, "dcg@10", propensities=curve, **limits)
                curves["estimated curve"] += one.low["dcg@10"] < world.seen(log) < one.high["dcg@10"]
            shares = (curves["true curve"] / n_logs, curves["estimated curve"] / max(n_estimated, 1))
            for name, values in found.items():
                errors = np.array(values) - world.true
                extra = (
                    [f"{np.mean(covered):.3f}", *(f"{one:.3f}" for one in shares)]
                    if name == "examinations"
                    else [""] * 3
                )
                rows.append((f"{noise:g}", f"{n_sessions:,}", name, f"{errors.mean():+.3f}",
                             f"{np.sqrt((errors**2).mean()):.3f}", *extra))  # fmt: skip
                print(*rows[-1], flush=True)
    head = ("noise of pages", "sessions", "estimator", "bias", "RMSE", "coverage of the discount",
            "intervals hold the seen part, true curve", "the same, estimated curve")  # fmt: skip
    note = f"True DCG@10 {world.true:.3f}; {n_logs} logs a row."
    Path(__file__).with_name("value.md").write_text(to_markdown([table(head, rows, 3)], [note]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
