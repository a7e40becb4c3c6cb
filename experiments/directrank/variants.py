"""What helps DirectRank: coordinates, points, directions beyond coordinates, bagging, a norm constraint.

    python -m experiments.directrank.variants      # variants.csv, variants.md; resumes

All climb NDCG@10 from RankSVM's weights on OHSUMED (LETOR 3.0) and MQ2008. "ball r": no weight vector farther from the
start than r times its length (the measure does not depend on the scale of the weights, so a bound on the length alone
would have no effect). "bag": the mean of the weights of climbs on five bootstrap samples of the queries, each weight
vector of length 1 in features of unit spread. "+ Powell", "+ RankNet gradient", "+ structured gradient": after every
round a line search along what the round moved, along RankNet's or along SVMndcg-nc's gradient of the weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import argrank as ar
from argrank import objective
from argrank.engines.local import LocalRisk
from argrank.linesearch.landscape import Landscape
from argrank.linesearch.search import Placement, search
from argrank.rankers.climbing.climbing_ranker import Columns
from argrank.rankers.climbing.direct_rank import starting_weights
from experiments.directrank._common import HERE, Table, fit, fold_of

FOLDS = (1, 2, 3, 4, 5)
MEASURE, TOLERANCE, ROUNDS, BAGS = "ndcg@10", 1e-5, 30, 5
Extra = Callable[["Climb", np.ndarray], np.ndarray]


class Climb:
    """A climb of the weights along coordinates and, after each round, along one more direction."""

    def __init__(self, data: ar.Dataset, radius: float = math.inf) -> None:
        self.data, self.radius, self.columns = data, radius, Columns(data)
        self.landscape = Landscape(data, MEASURE, "expected", 1)
        (start,) = starting_weights(data, self.columns, 1, np.random.default_rng(0), 1)
        self.start = self.weights = start / np.linalg.norm(start * self.columns.spread)
        self.scores = self.columns.scores(self.weights)
        self.here = self.landscape.value(self.scores)
        self.placement = Placement(point="likelihood", likelihood=self.landscape.wanted(self.scores))

    def move(self, direction: np.ndarray, slopes: np.ndarray) -> None:
        """Go to the best place along a direction of the weights, whose change of the scores is given."""
        low, high = self.window(direction)
        if low < high:
            found, self.here = search(self.landscape, self.scores, slopes, self.here, (low, high), self.placement)
            self.weights, self.scores = self.weights + found.step * direction, self.scores + found.step * slopes

    def window(self, direction: np.ndarray) -> tuple[float, float]:
        """Return the steps that stay in the ball around the start."""
        if math.isinf(self.radius):
            return -math.inf, math.inf
        away, along = (self.weights - self.start) * self.columns.spread, direction * self.columns.spread
        a, b, c = along @ along, away @ along, away @ away - self.radius**2
        root = b * b - a * c
        return (0.0, 0.0) if a == 0 or root <= 0 else ((-b - math.sqrt(root)) / a, (-b + math.sqrt(root)) / a)

    def run(self, extra: Extra | None = None) -> np.ndarray:
        """Climb until a round gains nothing; return the weights, of length 1 in features of unit spread."""
        rng, n = np.random.default_rng(0), self.columns.n_features
        for _ in range(ROUNDS):
            before, value = self.weights, self.here.mean
            for number in rng.permutation(n).tolist():
                self.move(np.eye(1, n, number)[0], self.columns.column(number))
            if extra is not None:
                direction = extra(self, before)
                if direction.any():
                    self.move(direction, self.columns.scores(direction))
            if self.here.mean - value <= TOLERANCE:
                break
        return np.asarray(self.weights / np.linalg.norm(self.weights * self.columns.spread))


def gradient(name: str, **parameters: str) -> Extra:
    """Return the direction down one of our objectives, at weights of length 1, in features of unit spread."""

    def direction(climb: Climb, before: np.ndarray) -> np.ndarray:
        _, found = LocalRisk(climb.data, objective(name, **parameters), 1).value_and_gradient(climb.weights)
        return -climb.columns.scaled(climb.columns.scaled(np.asarray(found)))

    return direction


def bagged(train: ar.Dataset) -> np.ndarray:
    """Return the mean weights of climbs on bootstrap samples of the queries."""
    rng, total = np.random.default_rng(0), np.zeros(train.n_features)
    for _ in range(BAGS):
        counts = np.bincount(rng.integers(0, train.n_queries, train.n_queries), minlength=train.n_queries)
        part = train.select(counts > 0)
        drawn = ar.Dataset(part.X, part.y, group=part.sizes, query_weight=counts[counts > 0].astype(float))
        total += Climb(drawn).run()
    return total


def by(parameters: dict[str, Any], validate: bool = False) -> Callable[[Any], np.ndarray]:
    """Return the ranker with the paper's point, climbing to the end."""

    def weights(fold: Any) -> np.ndarray:
        valid = fold.valid if validate else None
        options = {"n_starts": 1, "measure": MEASURE, "folds": 0, "point": "likelihood", **parameters}
        return np.asarray(fit("direct-rank", fold.train, valid, **options)[0].coef_)

    return weights


VARIANTS: dict[str, Callable[[Any], np.ndarray]] = {
    "start (RankSVM)": lambda fold: Climb(fold.train).start,
    "direct-rank": by({}),
    "direct-rank, middle": by({"point": "middle"}),
    "direct-rank, greedy": by({"coordinates": "greedy"}),
    "direct-rank, iterate by validation": by({}, validate=True),
    "ball .1": lambda fold: Climb(fold.train, 0.1).run(),
    "ball .3": lambda fold: Climb(fold.train, 0.3).run(),
    "ball 1": lambda fold: Climb(fold.train, 1.0).run(),
    "bag": lambda fold: bagged(fold.train),
    "+ Powell": lambda fold: Climb(fold.train).run(lambda climb, before: climb.weights - before),
    "+ RankNet gradient": lambda fold: Climb(fold.train).run(gradient("log-mle")),
    "+ structured gradient": lambda fold: Climb(fold.train).run(gradient("svm-ndcg-nc", bound="convex")),
}
PARTS = ("train", "valid", "test")


def main() -> None:
    table = Table("variants.csv", "data", "fold", "variant")
    for number in FOLDS:
        for data in ("OHSUMED-LETOR3", "MQ2008"):
            fold = fold_of(data, number)
            for name, work in VARIANTS.items():
                if not table.has(data, number, name):
                    begin = time.process_time()
                    weights = work(fold)
                    row = {"data": data, "fold": number, "variant": name, "cpu_seconds": time.process_time() - begin}
                    for role in PARTS:
                        part = getattr(fold, role)
                        row[role] = ar.evaluate(part.X @ weights, part, MEASURE).means[MEASURE]
                    table.add(row)
            (HERE / "variants.md").write_text(summary(table.rows))


HEAD = """
## {}, folds {}

| variant | train | valid | test | valid, difference | test, difference | CPU s |
|---|--:|--:|--:|--:|--:|--:|"""


def summary(rows: list[dict[str, str]]) -> str:
    """Return means over folds and paired differences from direct-rank, with the standard error over folds."""
    lines = [
        "# What helps DirectRank",
        "",
        "NDCG@10 (ties averaged); differences from direct-rank are paired over folds, ± their standard error. CPU "
        "seconds are medians over folds, as the first compiles.",
    ]
    for data in dict.fromkeys(row["data"] for row in rows):
        at = {(row["variant"], row["fold"]): row for row in rows if row["data"] == data}
        folds = [fold for name, fold in at if name == list(VARIANTS)[-1]]  # the complete ones
        if not folds:
            continue
        lines.append(HEAD.format(data, ", ".join(folds)))
        for name in VARIANTS:
            columns = {key: np.array([float(at[name, fold][key]) for fold in folds]) for key in (*PARTS, "cpu_seconds")}
            differences = []
            for role in ("valid", "test"):
                found = columns[role] - np.array([float(at["direct-rank", fold][role]) for fold in folds])
                error = found.std(ddof=1) / math.sqrt(len(found)) if len(found) > 1 else math.nan
                differences.append("" if name == "direct-rank" else f"{found.mean():+.4f} ± {error:.4f}")
            means = [f"{columns[role].mean():.4f}" for role in PARTS]
            lines.append(
                f"| {' | '.join([name, *means, *differences, format(np.median(columns['cpu_seconds']), '.1f')])} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
