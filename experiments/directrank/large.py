"""Tables 6, 7 and 13, and the spread over starting points: linear learners on a generated set of MSLR's shape.

    python -m experiments.directrank.large      # starts.csv, large.csv; resumes

Sets of 300 and 2,000 queries x 120 documents x 136 features, of which three tenths train, one tenth validates and the
rest tests; labels follow a linear truth with as much noise. DirectRank climbs NDCG@10 from 100 and 20 random starts,
middle of the best interval, as the paper has it for large data; of all starts the iterate of the best validation
NDCG@10 is taken. Measures by the convention yahoo.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import ArgrankWarning
from argrank.trials.select import search
from experiments.directrank._common import Table, fit, mean, mslr_shape

STARTS = {300: 100, 2000: 20}  # number of queries -> starts
CONVENTION = "yahoo"
C = {"C": [1.0, 10.0, 100.0]}
RIVALS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "regression": ("regression", {}, {}),
    "rank-svm": ("rank-svm", {}, {"C": {"values": [0.05, 0.5, 5.0], "divide_by": "pairs"}}),
    "listnet": ("listnet", {}, {"C": [0.1, 1.0, 10.0]}),
    "rank-cosine": ("rank-cosine", {}, C),
    "svm-map": ("svm-map", {}, C),
    "svm-ndcg-nc": ("svm-ndcg-nc", {}, C),
    "smooth-grad": ("smooth-grad", {}, C),
    "lambdarank": ("lambdarank", {"C": 100.0}, {"learning_rate": [0.001, 0.003, 0.01]}),
    "adarank-ndcg": ("adarank", {"measure": "ndcg@10"}, {"n_rounds": [10, 100]}),
    "rankboost": ("rankboost", {}, {"n_rounds": [100, 300]}),
}
TESTED = ["ndcg@1", "ndcg@10", "err", "map"]


def tested(fitted: Any, fold: Fold) -> dict[str, float]:
    """Return the training NDCG@10 and the test measures."""
    means = ar.evaluate(fitted.predict(fold.test), fold.test, TESTED, convention=CONVENTION).means
    return {"train ndcg@10": mean(fitted, fold.train, "ndcg@10", CONVENTION)} | {
        f"test {name}": value for name, value in means.items()
    }


def climb_from(number: int, fold: Fold) -> tuple[Any, float]:
    """Climb from one random start; return the learner and its CPU seconds."""
    spread = np.asarray(fold.train.X).std(axis=0)
    start = np.random.default_rng(number).standard_normal(fold.train.n_features) / spread
    ranker = ar.make_ranker("direct-rank", point="middle", random_state=number, n_jobs=1, verbose=-1)
    begin = time.process_time()
    ranker._fit(fold.train, [fold.valid], start)
    return ranker, time.process_time() - begin


def starts(fold: Fold, n_starts: int) -> None:
    """Climb from every start by itself."""
    table = Table("starts.csv", "queries", "start")
    for number in range(n_starts):
        if not table.has(fold.train.n_queries, number):
            ranker, seconds = climb_from(number, fold)
            facts = {"queries": fold.train.n_queries, "start": number, "rounds": ranker.n_iter_, "cpu_seconds": seconds}
            reached = {
                "climbed": float(max(ranker.trace_["measure"])),
                "valid": float(max(ranker.trace_["validation"])),
            }
            table.add(facts | reached | tested(ranker, fold))


def rivals(fold: Fold) -> None:
    """Fit every rival at its grid, chosen by validation NDCG@10; coordinate ascent from one start, being slow."""
    table, queries = Table("large.csv", "queries", "learner"), fold.train.n_queries
    for learner, (ranker, parameters, grid) in RIVALS.items():
        if not table.has(queries, learner):
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ArgrankWarning)
                found = search(
                    ar.make_ranker(ranker, n_jobs=1, **parameters), grid, fold.train, fold.valid, "ndcg@10",
                    convention=CONVENTION, n_jobs=1, progress=False,
                )  # fmt: skip
            facts = {
                "queries": queries,
                "learner": learner,
                "fits": len(found.points),
                "cpu_seconds": time.process_time() - begin,
            }
            table.add(facts | tested(found.ranker, fold))
    warm = "direct-rank, 3 warm starts"
    if not table.has(queries, warm):
        fitted, seconds = fit("direct-rank", fold.train, fold.valid, restarts=3, point="middle")
        table.add({"queries": queries, "learner": warm, "fits": 3, "cpu_seconds": seconds} | tested(fitted, fold))
    if not table.has(queries, "coordinate-ascent"):
        fitted, seconds = fit("coordinate-ascent", fold.train, fold.valid, restarts=1)
        table.add(
            {"queries": queries, "learner": "coordinate-ascent", "fits": 1, "cpu_seconds": seconds}
            | tested(fitted, fold)
        )


if __name__ == "__main__":
    for n_queries, n_starts in STARTS.items():
        generated = mslr_shape(n_queries, "linear")
        rivals(generated)
        starts(generated, n_starts)
