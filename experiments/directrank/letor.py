"""Tables 3, 4, 11 and the rivals' half of 13: every linear learner by LETOR's protocol.

    python -m experiments.directrank.letor              # letor.csv, one row a data set, fold and learner; resumes

DirectRank climbs NDCG@5 from five starts (RankSVM, equal weights, least squares, two random ones; the paper has 50) and
keeps the iterate of the best validation MAP; all others have a small grid from which validation MAP chooses.
``climbed`` is the greatest training NDCG@5 that a climb reached, whatever validation said of it. CPU seconds are of
all fits of a row.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import argrank as ar
from argrank.errors import ArgrankWarning
from argrank.trials.select import search
from experiments.directrank._common import Table, fit, fold_of

RESTARTS = 5
#: data -> folds, convention; the lower-case ones are generated
DATA: dict[str, tuple[tuple[int, ...], str]] = {
    "OHSUMED-LETOR3": ((1, 2, 3, 4, 5), "letor3"),
    "MQ2008": ((1, 2, 3, 4, 5), "letor4"),
    "MSLR-sample": ((1,), "mslr"),
    "MQ2007-agg": ((1,), "letor4"),
    "td2003": ((1,), "letor3"),
    "td2004": ((1,), "letor3"),
}
C = {"C": [1.0, 10.0, 100.0]}
SUM_C = {"C": [1e-4, 1e-3, 1e-2]}
RIVALS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "regression": ("regression", {}, {}),
    "rank-svm": ("rank-svm", {}, {"C": {"values": [0.05, 0.5, 5.0], "divide_by": "pairs"}}),
    "rankboost": ("rankboost", {}, {"n_rounds": [30, 100, 300]}),
    "adarank-map": ("adarank", {"measure": "map"}, {"n_rounds": [3, 30, 100]}),
    "adarank-ndcg": ("adarank", {"measure": "ndcg@5"}, {"n_rounds": [3, 30, 100]}),
    "listnet": ("listnet", {}, {"C": [0.1, 1.0, 10.0]}),
    "lambdarank": ("lambdarank", {"C": 100.0}, {"learning_rate": [0.001, 0.003, 0.01]}),
    "rank-cosine": ("rank-cosine", {}, {"C": [1.0, 10.0, 100.0]}),
    "smooth-grad": ("smooth-grad", {"measure": "ndcg@5"}, C),
    "svm-auc": ("svm-auc", {}, C),
    "svm-map": ("svm-map", {}, C),
    "svm-ndcg-nc": ("svm-ndcg-nc", {}, C),
    "log-mle": ("log-mle", {}, SUM_C),
    "log-convex": ("log-convex", {"measure": "ndcg@10"}, SUM_C),
}
MEASURES = [*(f"ndcg@{k}" for k in range(1, 11)), "map"]


def main(names: list[str]) -> None:
    table = Table("letor.csv", "data", "fold", "learner")
    for name in names or DATA:
        folds, convention = DATA[name]
        for number in folds:
            todo = [learner for learner in ("direct-rank", *RIVALS) if not table.has(name, number, learner)]
            if not todo:
                continue
            fold = fold_of(name, number)
            for learner in todo:
                begin = time.process_time()
                if learner == "direct-rank":
                    fitted, facts = climb(fold)
                else:
                    ranker, parameters, grid = RIVALS[learner]
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", ArgrankWarning)
                        found = search(
                            ar.make_ranker(ranker, n_jobs=1, **parameters), grid, fold.train, fold.valid, "map",
                            convention=convention, n_jobs=1, progress=False,
                        )  # fmt: skip
                    fitted, facts = found.ranker, {"fits": len(found.points), "climbed": "", "rounds": ""}
                seconds = time.process_time() - begin
                train = ar.evaluate(fitted.predict(fold.train), fold.train, ["ndcg@5", "ndcg@10"]).means
                test = ar.evaluate(fitted.predict(fold.test), fold.test, MEASURES, convention=convention).means
                table.add(
                    {"data": name, "fold": number, "learner": learner, **facts, "cpu_seconds": seconds}
                    | {f"train {measure}": value for measure, value in train.items()} | test
                )  # fmt: skip


def climb(fold: Any) -> tuple[Any, dict[str, Any]]:
    """Climb NDCG@5 from several starts and keep the iterate of the best validation MAP."""
    options = {"measure": "ndcg@5", "validation_measure": "map", "restarts": RESTARTS}
    fitted, _ = fit("direct-rank", fold.train, fold.valid, **options)
    reached = float(max(fitted.trace_["measure"]))
    return fitted, {"fits": RESTARTS, "climbed": reached, "rounds": fitted.n_iter_}


if __name__ == "__main__":
    main(sys.argv[1:])
