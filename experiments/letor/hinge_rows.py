"""RankSVM with the plain hinge on OHSUMED (LETOR 3.0) at every C, beside the published row.

    ARGRANK_DATA=/folder/with/OHSUMED-LETOR3 python -m experiments.letor.hinge_rows

Writes test NDCG@10 and MAP, means of five folds, solved to a gap of 1e-3 and, as a careless solver might, of 1e-1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from experiments._common import fit, write_csv

import argrank as ar

HERE = Path(__file__).parent
VALUES = [10.0**power for power in range(-2, 8)]
MEASURES = ["map", "ndcg@10"]


def fold_figures(number: int, tol: float) -> list[list[float]]:
    """Return validation MAP and NDCG@10, then those of the test part, for every C."""
    fold = ar.load_collection("OHSUMED-LETOR3", fold=number)
    rows = []
    for C in VALUES:
        ranker = fit("rank-svm", fold.train, loss="hinge", C=C, tol=tol, n_jobs=1)
        parts = [ar.evaluate(ranker.predict(part), part, MEASURES, convention="letor3").means for part in fold[1:]]
        rows.append([means[name] for means in parts for name in MEASURES])
    return rows


def run() -> None:
    """Fit all values of C on all folds; write their figures, and those of the C that validation chooses."""
    rows = []
    for tol in (1e-3, 1e-1):
        table = np.array([fold_figures(number, tol) for number in range(1, 6)])  # fold, C, figure
        found = {f"{C:g}": table[:, place, 2:].mean(axis=0) for place, C in enumerate(VALUES)}
        for column, name in enumerate(MEASURES):
            best = table[:, :, column].argmax(axis=1)
            found[f"chosen by validation {name}"] = table[np.arange(5), best, 2:].mean(axis=0)
        rows += [{"tol": tol, "C": C, "map": f"{a:.4f}", "ndcg@10": f"{b:.4f}"} for C, (a, b) in found.items()]
    write_csv(HERE / "hinge_rows.csv", rows)


if __name__ == "__main__":
    run()
