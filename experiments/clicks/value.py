"""What another ranking would earn, from simulated logs with a known truth: bias, error and coverage of intervals.

    python -m experiments.clicks.value               # writes value.md beside this file; ten minutes of one core
    python -m experiments.clicks.value --logs 20     # a trial run, only printed

Position-based readers with theta = 1 / rank; pages are drawn around a logging ranker's scores with Gumbel noise.
*Uneven* are 60 queries of uneven traffic with 20 documents, ten on a page; *even* are 8 queries that are asked equally
often, with 12 documents, six on a page. The ranking that is valued is another ranker's, whose true value is known.
*Seen* is the true value of the documents that a log has shown, and what intervals are about. The estimated curve is
harvested from the same log.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank._tables import table, to_markdown
from argrank.evaluation.defaults import MIN_CLICKS, MIN_COVERAGE

SIZES = {"uneven": (60, 20, 10), "even": (8, 12, 6)}  # queries, documents of each, length of a page
ESTIMATORS = ("examinations", "ips", "dr", "model")
FEWEST = 20  # examinations of every document on the new page
N_LOGS, N_TABLE, N_WRONG = 1_000, 150, 60
CELLS = (
    ("even", 2.0, 2_000), ("even", 2.0, 400), ("uneven", 0.5, 4_000), ("uneven", 0.5, 500), ("uneven", 0.1, 4_000),
    ("uneven", 0.05, 4_000),
)  # fmt: skip
NO_LIMITS = {"min_coverage": 0, "min_clicks": 0}


class World:
    """Attractions, two rankers, traffic, and what the new ranker earns."""

    def __init__(self, traffic: str) -> None:
        setup = np.random.default_rng(1)
        self.n_queries, self.n, self.k = SIZES[traffic]
        shape = self.n_queries, self.n
        relevant = setup.random(shape) < 0.25
        self.gamma = np.where(relevant, setup.uniform(0.4, 1, shape), 0.05)
        self.logging = self.gamma + setup.normal(0, 0.35, shape)
        new = self.gamma + setup.normal(0, 0.2, shape)
        self.rank = np.argsort(np.argsort(-new, axis=1, kind="stable"), axis=1)
        self.old_rank = np.argsort(np.argsort(-self.logging, axis=1, kind="stable"), axis=1)
        uneven = setup.dirichlet(np.full(self.n_queries, 0.7))
        self.traffic = uneven if traffic == "uneven" else np.full(self.n_queries, 1 / self.n_queries)
        self.theta = 1 / np.arange(1, self.k + 1)
        self.run, self.old = _run(new), _run(self.logging)

    def earns(self, measure: str, rank: Any, shown: Any = True) -> float:
        """Return the true value of a ranking, or of those of its documents that a log has shown."""
        return float((self.traffic[:, None] * self.discounts(measure)[rank] * self.gamma * shown).sum())

    def discounts(self, measure: str) -> np.ndarray:
        """Return the discounts of all ranks; 0 below the cut-off."""
        name, _, k = measure.partition("@")
        rank = np.arange(1, self.n + 1)
        return np.where(rank <= int(k), 1 / rank if name == "clicks" else 1 / np.log2(rank + 1), 0.0)

    def log(self, seed: int, n_sessions: int, noise: float, owed: Any = 0.0) -> ar.Clicks:
        """Draw a log."""
        rng = np.random.default_rng(seed)
        query = rng.choice(self.n_queries, n_sessions, p=self.traffic)
        page = np.argsort(-(self.logging[query] + rng.gumbel(0, noise, (n_sessions, self.n))), axis=1)[:, : self.k]
        click = rng.random((n_sessions, self.k)) < self.theta * self.gamma[query[:, None], page] + owed
        return ar.Clicks.of({
            "session": np.repeat(np.arange(n_sessions), self.k), "qid": np.repeat(query, self.k), "docid": page.ravel(),
            "position": np.tile(np.arange(1, self.k + 1), n_sessions), "click": click.ravel(),
        })  # fmt: skip

    def sums(self, log: ar.Clicks, values: Any) -> np.ndarray:
        """Return sums over the rows of a log, a row for each query and a column for each document."""
        query, document = log.query_ids.astype(int)[log.pair_query], log.document_ids.astype(int)[log.pair_document]
        found = np.zeros((self.n_queries, self.n))
        found[query, document] = np.bincount(log.pair, values, len(query))
        return found


def _run(scores: np.ndarray) -> dict[str, dict[str, float]]:
    return {str(q): {str(d): float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}


def estimators(n_logs: int) -> Iterator[tuple[str, ...]]:
    """Yield bias and error of DCG@10 by all estimators, and by two ways that are wrong; the curve is the true one."""
    world = World("uneven")
    true = world.earns("dcg@10", world.rank)
    for noise in (0.05, 0.5):
        found: dict[str, list[float]] = {}
        covered = []
        for seed in range(n_logs):
            log = world.log(seed, 4_000, noise)
            theta = ar.propensities(log, "given", values=world.theta)
            sessions = np.bincount(log.query_ids.astype(int)[log.query], minlength=world.n_queries)
            share = world.discounts("dcg@10")[world.rank] / log.n_sessions  # clicks over sessions, times their share
            for name, values in (
                ("clicks as labels", log.click),
                ("c / theta over sessions", log.click / theta.of(log)),
            ):
                found.setdefault(name, []).append(float((share * world.sums(log, values))[sessions > 0].sum()))
            for name in ESTIMATORS:
                one = ar.evaluate(world.run, log, "dcg@10", propensities=theta, estimator=name, **NO_LIMITS)
                found.setdefault(name, []).append(one.means["dcg@10"])
            covered.append(one.coverage["dcg@10"])
        for name, values in found.items():
            errors = np.array(values) - true
            figures = (f"{errors.mean():+.3f}", f"{np.sqrt((errors**2).mean()):.3f}", f"{np.mean(covered):.3f}")
            yield f"{noise:g}", name, *figures


def intervals(n_logs: int) -> Iterator[tuple[str, ...]]:
    """Yield how often intervals hold the seen part, by traffic, pages, sessions and measure."""
    for traffic, noise, n_sessions in CELLS:
        world = World(traffic)
        measures = ["dcg@1", "dcg@3", f"dcg@{world.k}", f"clicks@{world.k}"]
        facts: dict[str, list[tuple[float, ...]]] = {name: [] for name in measures}
        fewest, n_unlinked = [], 0
        for seed in range(n_logs):
            log = world.log(seed, n_sessions, noise)
            given = ar.propensities(log, "given", values=world.theta)
            seen = world.sums(log, given.of(log))
            fewest.append(float(seen[world.rank < world.k].min()))
            try:
                own = ar.propensities(log)
            except ar.errors.InputError:  # pages that link no ranks
                n_unlinked += 1
                continue
            known = ar.evaluate(world.run, log, measures, propensities=given, **NO_LIMITS)
            found = ar.evaluate(world.run, log, measures, propensities=own, **NO_LIMITS)
            for name in measures:
                truth = world.earns(name, world.rank, seen > 0)
                facts[name].append((
                    found.means[name] - truth, *(one.low[name] < truth < one.high[name] for one in (known, found)),
                    found.coverage[name] < MIN_COVERAGE
                    or min(found.effective_clicks[name], found.expected_clicks[name]) < MIN_CLICKS,
                ))  # fmt: skip
        enough = np.mean(np.array(fewest) >= FEWEST)
        for name, rows in facts.items():
            errors, by_known, by_own, refused = np.array(rows, float).T
            told = by_own[refused == 0]
            share = (refused.sum() + n_unlinked) / n_logs
            bias = 100 * errors.mean() / world.earns(name, world.rank)
            yield (
                traffic, f"{noise:g}", f"{n_sessions:,}", name, f"{bias:+.2f} %", f"{by_known.mean():.3f}",
                f"{by_own.mean():.3f}", f"{np.median(fewest):.1f}", f"{enough:.2f}", f"{share:.2f}",
                f"{told.mean():.3f}" if len(told) else "-",
            )  # fmt: skip


def wrong(n_logs: int) -> Iterator[tuple[str, ...]]:
    """Yield what wrong curves and readers who trust high ranks do to values and to differences, in per cent."""
    world = World("uneven")
    n_sessions, names = 4_000, ["dcg@1", "dcg@10", "clicks@10"]
    owed = 0.1 * np.linspace(1, 0, world.k)  # clicks that readers who trust give a rank
    curves: dict[str, tuple[Any, Callable[[ar.Clicks], Any]]] = {
        f"given 1 / rank^{power:g}": (0.0, lambda log, p=power: ar.propensities(log, "given", values=world.theta**p))
        for power in (1.0, 0.9, 1.1, 0.8, 1.2, 0.5, 1.5, 0.0)
    }
    curves["harvested"] = (0.0, ar.propensities)
    curves["given, readers trust"] = (owed, lambda log: ar.propensities(log, "given", values=world.theta))
    curves["harvested, readers trust"] = (owed, ar.propensities)
    for title, (rank_alone, curve) in curves.items():
        biases = []
        for seed in range(n_logs):
            log = world.log(seed, n_sessions, 0.5, rank_alone)
            theta = curve(log)
            new, old = (
                ar.evaluate(one, log, names, propensities=theta, **NO_LIMITS).means for one in (world.run, world.old)
            )
            truths = [(world.earns(name, world.rank), world.earns(name, world.old_rank)) for name in names]
            biases.append([
                figure for name, (a, b) in zip(names, truths, strict=True)
                for figure in (new[name] / a - 1, (new[name] - old[name]) / (a - b) - 1)
            ])  # fmt: skip
        yield title, *(f"{100 * one:+.1f} %" for one in np.mean(biases, axis=0))


def main(n_logs: int | None) -> None:
    """Write the three tables, as far as they are done; or print those of a trial run."""
    parts = (
        (("traffic", "noise of pages", "sessions", "measure", "bias of the seen part", "held, true curve",
          "held, estimated curve", "fewest examinations, median", "logs with 20 or more", "refused",
          "held where not refused"), 4, intervals, N_LOGS),
        (("noise of pages", "estimator", "bias", "RMSE", "coverage of the discount"), 2, estimators, N_TABLE),
        (("curve", *(f"{name}{what}" for name in ("dcg@1", "dcg@10", "clicks@10") for what in ("", ", difference"))), 1,
         wrong, N_WRONG),
    )  # fmt: skip
    world = World("uneven")
    note = f"{N_LOGS:,}, {N_TABLE} and {N_WRONG} logs a row; the true DCG@10 of the second table is "
    note += f"{world.earns('dcg@10', world.rank):.3f}."
    tables: list[Any] = []
    for head, n_names, rows_of, usual in parts:
        rows: list[tuple[str, ...]] = []
        for row in rows_of(n_logs or usual):
            rows.append(row)
            print(*row, sep=" | ", flush=True)
            if n_logs is None:
                text = to_markdown([*tables, table(head, rows, n_names)], [note])
                Path(__file__).with_name("value.md").write_text(text + "\n")
        tables.append(table(head, rows, n_names))


if __name__ == "__main__":
    main(int(sys.argv[2]) if sys.argv[1:2] == ["--logs"] else None)
