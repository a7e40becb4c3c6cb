"""How near to RankSVM LogRank's models and SmoothGrad stay by default: near.csv, near.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.near [--sets A B]

The constant ``NEAR`` of ``rankers.linear.cheap_models`` is tried at several values on validation parts, and for
``log-mle``, which is shrunk to 0, its C in units of the features' spread; test parts are not touched. It takes some
minutes.
"""

from __future__ import annotations

import argparse
from unittest import mock

import numpy as np

from argrank.rankers import cheap_models
from argrank.rankers.linear import log_rank
from experiments.defaults._common import HERE, MEASURES, Store, fitted_on, fold_of, judged
from experiments.defaults.choose import FOLDS

RANKERS = ("smooth-grad", "log-gain", "log-loss", "log-combined", "log-convex")
VALUES = (0.003, 0.01, 0.03, 0.1, 0.3)
LIKELIHOOD = (1.0, 3.0, 10.0, 30.0, 100.0)  # C of log-mle, in units of the features' spread
BESIDE = ("regression", "rank-svm")


def compute(store: Store, sets: list[str]) -> None:
    """Fit what is missing."""
    for name in sets:
        for fold in FOLDS[name]:
            settings = [(ranker, value) for ranker in RANKERS for value in VALUES]
            settings += [("log-mle", C) for C in LIKELIHOOD]
            for ranker, value in [(one, cheap_models.NEAR) for one in BESIDE] + settings:
                key = {"data": name, "fold": fold, "ranker": ranker, "near": value}
                if not store.has(key):
                    parts = fold_of(name, fold)
                    home, constant = (log_rank, "LIKELIHOOD_C") if ranker == "log-mle" else (cheap_models, "NEAR")
                    with mock.patch.object(home, constant, value):
                        fitted, seconds = fitted_on(parts.train, ranker, {})
                    values, _ = judged(fitted, parts.valid)
                    means = {measure: float(np.nanmean(values[measure])) for measure in MEASURES}
                    store.add({**key, **means, "seconds": seconds})


def table(store: Store) -> str:
    """Return one row per ranker and value: NDCG@10 on each set, and the mean over sets."""
    names = [name for name in FOLDS if any(row["data"] == name for row in store.rows)]
    lines = [f"| ranker | near | {' | '.join(names)} | mean |", f"|---|--:|{'--:|' * (len(names) + 1)}"]
    for ranker, near in dict.fromkeys((row["ranker"], row["near"]) for row in store.rows):
        rows = [row for row in store.rows if (row["ranker"], row["near"]) == (ranker, near)]
        means = [np.mean([float(row["ndcg@10"]) for row in rows if row["data"] == name]) for name in names]
        shown = " | ".join(f"{value:.4f}" for value in [*means, np.mean(means)])
        lines.append(f"| {ranker} | {'' if ranker in BESIDE else near} | {shown} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compute what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(FOLDS), choices=FOLDS)
    asked = parser.parse_args()
    store = Store(HERE / "near.csv", ("data", "fold", "ranker", "near"))
    compute(store, asked.sets)
    (HERE / "near.md").write_text(table(store), "utf-8")


if __name__ == "__main__":
    main()
