"""Tables 6, 7 and 13, and the spread over starting points: linear learners on a generated set of MSLR's shape.

    python -m experiments.directrank.large [number of starts]      # starts.csv, large.csv; resumes

300 queries x 120 documents x 136 features, of which 90 queries train, 30 validate and 180 test; labels follow a linear
truth with as much noise. DirectRank climbs NDCG@10 from random starts, middle of the best interval, as the paper has it
for large data; of all starts the iterate of the best validation NDCG@10 is taken. Three starts are also climbed on five
times as many queries. Measures by the convention yahoo.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import ArgrankWarning
from argrank.trials.select import search
from experiments.directrank._common import Table, fit, mean, mslr_shape

STARTS, N_QUERIES = 10, 300
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
    table = Table("large.csv", "learner")
    for learner, (ranker, parameters, grid) in RIVALS.items():
        if not table.has(learner):
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ArgrankWarning)
                found = search(
                    ar.make_ranker(ranker, n_jobs=1, **parameters), grid, fold.train, fold.valid, "ndcg@10",
                    convention=CONVENTION, n_jobs=1, progress=False,
                )  # fmt: skip
            facts = {"learner": learner, "fits": len(found.points), "cpu_seconds": time.process_time() - begin}
            table.add(facts | tested(found.ranker, fold))
    warm = "direct-rank, 3 warm starts"
    if not table.has(warm):
        fitted, seconds = fit("direct-rank", fold.train, fold.valid, restarts=3, point="middle")
        table.add({"learner": warm, "fits": 3, "cpu_seconds": seconds} | tested(fitted, fold))
    if not table.has("coordinate-ascent"):
        fitted, seconds = fit("coordinate-ascent", fold.train, fold.valid, restarts=1)
        table.add({"learner": "coordinate-ascent", "fits": 1, "cpu_seconds": seconds} | tested(fitted, fold))


if __name__ == "__main__":
    generated = mslr_shape(N_QUERIES, "linear")
    rivals(generated)
    starts(generated, int(sys.argv[1]) if len(sys.argv) > 1 else STARTS)
    starts(mslr_shape(5 * N_QUERIES, "linear"), 3)
