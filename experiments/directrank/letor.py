"""Tables 3, 4, 11 and the rivals' half of 13: every ranker by LETOR's protocol.

    python -m experiments.directrank.letor [MQ2008 …]     # letor.csv, one row a data set, fold and ranker; resumes

DirectRank climbs NDCG@5 from many starts (RankSVM, equal weights, least squares, then random ones), takes the point
of an interval by likelihood, as the paper does on small data, and keeps the iterate of the best validation MAP; all
others have a small grid from which validation MAP chooses (_rivals.py). ``climbed`` is the greatest training NDCG@5
that a climb reached, whether or not validation chose it. CPU seconds are of all fits of a row. ``error ndcg@k`` is the
standard error of the difference from DirectRank over the test queries of the fold; its own values are kept in
work/letor_queries.csv.
"""

from __future__ import annotations

import sys
from typing import Any

import argrank as ar
from argrank.data.folds import Fold
from experiments.directrank._common import WORK, Table, fit, fold_of
from experiments.directrank._paired import errors
from experiments.directrank._rivals import linear, trees, tune

EVERY = (1, 2, 3, 4, 5)
#: data -> folds, convention, starts; the lower-case ones are generated
DATA: dict[str, tuple[tuple[int, ...], str, int]] = {
    "OHSUMED-LETOR3": (EVERY, "letor3", 50),
    "MQ2008": (EVERY, "letor4", 20),
    "MSLR-sample": ((1,), "mslr", 20),
    "MQ2007-agg": (EVERY, "letor4", 10),
    "td2003": ((1,), "letor3", 20),
    "td2004": ((1,), "letor3", 20),
}
FEW = "direct-rank, 5 starts"  # the same with fewer starts, to see what more of them gain
RIVALS = linear(5) | trees(5)
MEASURES = [*(f"ndcg@{k}" for k in range(1, 11)), "map"]
PAIRED = ("ndcg@5", "ndcg@10")


def main(names: list[str]) -> None:
    table, queries = Table("letor.csv", "data", "fold", "ranker"), Table(f"{WORK}/letor_queries.csv", "data", "fold")
    for name in names or DATA:
        for number in DATA[name][0]:
            todo = [ranker for ranker in ("direct-rank", FEW, *RIVALS) if not table.has(name, number, ranker)]
            if todo:
                fold = fold_of(name, number)
                for ranker in todo:
                    table.add(row(name, number, ranker, fold, queries))


def row(name: str, number: int, ranker: str, fold: Fold, queries: Table) -> dict[str, Any]:
    """Fit a ranker and test it; what differs from DirectRank, query by query, comes from its values in ``queries``."""
    _, convention, starts = DATA[name]
    if ranker in ("direct-rank", FEW):
        fitted, facts = climb(fold, 5 if ranker == FEW else starts)
    else:
        fitted, facts = tune(RIVALS[ranker], fold, "map", convention)
    train = ar.evaluate(fitted.predict(fold.train), fold.train, ["ndcg@5", "ndcg@10"]).means
    test = ar.evaluate(fitted.predict(fold.test), fold.test, MEASURES, convention=convention)
    place = {"data": name, "fold": str(number)}
    spread = errors(queries, place, {key: test.values[key] for key in PAIRED}, keep=ranker == "direct-rank")
    known = {"ranker": ranker, "climbed": "", "rounds": "", **facts}
    return place | known | {f"train {measure}": value for measure, value in train.items()} | test.means | spread


def climb(fold: Fold, starts: int) -> tuple[Any, dict[str, Any]]:
    """Climb NDCG@5 from several starts and keep the iterate of the best validation MAP."""
    options = {"measure": "ndcg@5", "scoring": "map", "n_starts": starts, "point": "likelihood"}
    fitted, seconds = fit("direct-rank", fold.train, fold.valid, **options)
    reached = float(max(fitted.trace_["measure"]))
    return fitted, {
        "climbed": reached, "rounds": fitted.n_iter_, "fits": starts, "setting": "", "cpu_seconds": seconds,
    }  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
