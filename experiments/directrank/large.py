"""Tables 6, 7 and 13, and the spread over starting points: linear rankers on a generated set of MSLR's shape.

    python -m experiments.directrank.large      # starts.csv, large.csv; resumes

Sets of 300 and 2,000 queries x 120 documents x 136 features, of which three tenths train, one tenth validates and the
rest tests; labels follow a linear truth with as much noise. DirectRank climbs NDCG@10 from 100 and 20 random starts,
middle of the best interval, as the paper has it for large data; of all starts the iterate of the best validation
NDCG@10 is taken. Measures by the convention yahoo.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from experiments.directrank._common import Table, fit, mean, mslr_shape
from experiments.directrank._rivals import COMBINED, FURTHER, PAIRS, linear, tune

STARTS = {300: 100, 2000: 20}  # number of queries -> starts
CONVENTION = "yahoo"
#: Where fits are slow, a smaller grid to begin with: of two rankers always, of structured ones on the larger set.
SLOW = {"smooth-grad": {"C": [1.0, 10.0, 100.0]}, "lambdarank": {"learning_rate": [0.001, 0.003, 0.01]}}
LARGE = 100  # training queries
TESTED = ["ndcg@1", "ndcg@10", "err", "map"]


def tested(fitted: Any, fold: Fold) -> dict[str, float]:
    """Return the training NDCG@10 and the test measures."""
    means = ar.evaluate(fitted.predict(fold.test), fold.test, TESTED, convention=CONVENTION).means
    return {"train ndcg@10": mean(fitted, fold.train, "ndcg@10", CONVENTION)} | {
        f"test {name}": value for name, value in means.items()
    }


def climb_from(number: int, fold: Fold) -> tuple[Any, float]:
    """Climb from one random start; return the ranker and its CPU seconds."""
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
    """Fit every rival at its grid, chosen by validation NDCG@10, and DirectRank from warm starts."""
    table, queries = Table("large.csv", "queries", "ranker"), fold.train.n_queries
    for ranker, rival in linear(10).items():
        if not table.has(queries, ranker):
            smaller = COMBINED if queries > LARGE and rival.grid is PAIRS else rival.grid
            rival = rival._replace(grid=SLOW.get(ranker, smaller))
            further = 0 if ranker == "frank" and queries > LARGE else FURTHER  # 40 s for a hundred of its rounds
            fitted, facts = tune(rival, fold, "ndcg@10", CONVENTION, further)
            table.add({"queries": queries, "ranker": ranker, **facts} | tested(fitted, fold))
    warm = "direct-rank, 3 warm starts"
    if not table.has(queries, warm):
        fitted, seconds = fit("direct-rank", fold.train, fold.valid, n_starts=3, point="middle")
        facts = {"queries": queries, "ranker": warm, "fits": 3, "setting": "", "cpu_seconds": seconds}
        table.add(facts | tested(fitted, fold))


if __name__ == "__main__":
    for n_queries, n_starts in STARTS.items():
        generated = mslr_shape(n_queries, "linear")
        rivals(generated)
        starts(generated, n_starts)
