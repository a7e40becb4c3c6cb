"""Seconds to a relative duality gap of 1e-2, 1e-3 and 1e-6: bundle, cutting-plane and frank-wolfe.

The rule behind ``solver="auto"`` comes from this table. Every cell is one fit asked for the smallest gap, with the time
at which it passed each; a fit that takes longer than LIMIT seconds is stopped there ("-").
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import argrank as ar
from argrank._blas import single_threaded_blas
from argrank.engines import make_risk
from argrank.solvers import minimise

SOLVERS = ("bundle", "cutting-plane", "frank-wolfe")

GAPS = (1e-2, 1e-3, 1e-6)
LIMIT = 5.0
SHAPES = {"few": (60, 100, 40), "few long": (30, 2000, 40), "middling": (300, 100, 136), "many short": (3000, 20, 40)}
RANKERS = ("svm-auc", "svm-map", "svm-ndcg", "svm-mrr")
VALUES = (1e-2, 1.0, 1e2, 1e4)


def seconds_to_gaps(data: ar.Dataset, ranker: str, solver: str, C: float) -> dict[float, float]:
    """Return when a solver first proved each gap; NaN where it did not."""
    risk = make_risk(data, ar.objective(ranker, bound="convex"))
    reached = dict.fromkeys(GAPS, float("nan"))
    begin = time.perf_counter()

    def watch(w: np.ndarray, facts: Mapping[str, float]) -> bool:
        now = time.perf_counter() - begin
        for gap in GAPS:
            if np.isnan(reached[gap]) and facts["gap"] <= gap * facts["objective"]:
                reached[gap] = now
        return now > LIMIT

    with single_threaded_blas():  # as in a fit
        minimise(risk, solver, C=C, tol=min(GAPS), max_iter=100_000, callback=watch)
    return reached


def run() -> dict[str, Any]:
    """Print the table and the wins; return the seconds by (shape, ranker, C, solver)."""
    table: dict[Any, dict[float, float]] = {}
    heads = "".join(f"{solver:>24}" for solver in SOLVERS)
    print(
        f"seconds to gap {', '.join(f'{gap:g}' for gap in GAPS)} of the objective, at most {LIMIT:g} s\n{'':33}{heads}"
    )
    for ranker, solver in itertools.product(RANKERS, SOLVERS):  # loads the kernels
        seconds_to_gaps(ar.make_ranking(5, 10, 3, grades=2, relevant=0.2, random_state=1), ranker, solver, 1.0)
    for shape, (n_queries, n, n_features) in SHAPES.items():
        data = ar.make_ranking(n_queries, n, n_features, grades=2, relevant=0.1, noise=0.5, random_state=1)
        for ranker in RANKERS:
            for C in VALUES:
                cells = []
                for solver in SOLVERS:
                    found = table[shape, ranker, C, solver] = seconds_to_gaps(data, ranker, solver, C)
                    shown = ("-" if np.isnan(seconds) else f"{seconds:.2f}" for seconds in found.values())
                    cells.append("".join(f"{cell:>8}" for cell in shown))
                print(f"{shape:12}{ranker:10} C = {C:<7g}{''.join(cells)}", flush=True)
    for gap in GAPS:
        wins = dict.fromkeys(SOLVERS, 0)
        for key in {key[:3] for key in table}:
            times = {solver: table[(*key, solver)][gap] for solver in SOLVERS}
            if not np.isnan(list(times.values())).all():
                wins[min(times, key=lambda solver: np.nan_to_num(times[solver], nan=np.inf))] += 1
        print(f"fastest to {gap:g}: " + ", ".join(f"{solver} {count}" for solver, count in wins.items()))
    return {"seconds": table}


if __name__ == "__main__":
    run()
