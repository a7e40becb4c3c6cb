"""Tables 6, 7, 8 and 13, and the spread over starting points: linear learners on a generated set of MSLR's shape.

    python -m experiments.directrank.large [number of starts]      # starts.csv, large.csv, truncated.csv; resumes

300 queries x 120 documents x 136 features, of which 90 queries train, 30 validate and 180 test; labels follow a linear
truth with as much noise. DirectRank climbs NDCG@10 from random starts, middle of the best interval, as the paper has it
for large data; of all starts the iterate of the best validation NDCG@10 is taken. Measures by the convention yahoo.
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

STARTS = 10
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
#: Table 8: what is climbed, whole lists and truncated; each is tested on the whole lists.
CLIMBED = {"err": ("err", "err@10"), "map": ("map", "map@10")}


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
    table = Table("starts.csv", "start")
    for number in range(n_starts):
        if not table.has(number):
            ranker, seconds = climb_from(number, fold)
            facts = {"start": number, "rounds": ranker.n_iter_, "cpu_seconds": seconds}
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
    if not table.has("coordinate-ascent"):
        fitted, seconds = fit("coordinate-ascent", fold.train, fold.valid, restarts=1)
        table.add({"learner": "coordinate-ascent", "fits": 1, "cpu_seconds": seconds} | tested(fitted, fold))


def truncated(fold: Fold) -> None:
    """Climb ERR and MAP as they are and cut at 10, from RankSVM and equal weights."""
    table = Table("truncated.csv", "climbed")
    for name, ways in CLIMBED.items():
        for climbed in ways:
            if not table.has(climbed):
                fitted, seconds = fit("direct-rank", fold.train, fold.valid, measure=climbed, validation_measure=name,
                                      restarts=2, point="middle")  # fmt: skip
                found = {part: mean(fitted, getattr(fold, part), name, CONVENTION) for part in ("train", "test")}
                table.add(
                    {"climbed": climbed, "rounds": fitted.n_iter_, "cpu_seconds": seconds, "measure": name} | found
                )


if __name__ == "__main__":
    generated = mslr_shape(300, "linear")
    rivals(generated)
    starts(generated, int(sys.argv[1]) if len(sys.argv) > 1 else STARTS)
    truncated(generated)
