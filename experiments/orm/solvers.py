"""Section 6.1: training time of the methods of section 4, until they reach one objective; CPU seconds of one thread.

    python -m experiments.orm.solvers

The stand-in of web set 1 (generated): all training queries, and the first 50, small enough for the kernel form. The
objective to reach is the optimum, known to 1e-4 from the bundle method, plus 1 % and 0.1 %. A method is stopped
after LIMIT seconds of CPU time. The kernel form's seconds include its Gram matrix and its factors.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

import argrank as ar
from argrank._blas import single_threaded_blas
from argrank.engines import make_risk
from argrank.models.kernel import Kernel
from argrank.rankers.linear.structured_ranker import KernelFeatures
from argrank.solvers import minimise
from experiments.orm._common import Floats, web_set, write_csv

NAMES = {
    "bundle": "bundle (4.3)",
    "online": "online (4.4)",
    "cutting-plane": "n-slack QP, column generation (4.5)",
    "l-bfgs": "L-BFGS (footnote 5)",
    "frank-wolfe": "block-coordinate Frank-Wolfe",
}
DECAYS = {"k+1-i": ("linear", 0.1), "a": ("measure", 10.0)}  # c -> setting, C
ABOVE = (0.01, 0.001)
LIMIT = 10.0


def reached(train: Any, data: ar.Dataset, objective: Any, C: float, optimum: float) -> dict[str, float]:
    """Return the CPU seconds after which a solver's objective was near the optimum, and its last objective."""
    found = dict.fromkeys(ABOVE, float("nan"))
    begin = time.process_time()
    last = {}

    def watch(w: Floats, facts: Mapping[str, float]) -> bool:
        now = time.process_time() - begin
        last.update(objective=facts["objective"], passes=facts["n_passes"])
        for above in ABOVE:
            if np.isnan(found[above]) and facts["objective"] <= (1 + above) * optimum:
                found[above] = now
        return now > LIMIT or not np.isnan(list(found.values())).any()

    train(data, objective, C, watch)
    seconds = {f"seconds to {above:.1%}": value for above, value in found.items()}
    return {**seconds, "passes": last["passes"], "above_optimum": last["objective"] / optimum - 1}


def linear(solver: str) -> Any:
    """Return a function that trains with a solver on the features as they are."""
    tol = -1.0 if solver == "online" else 1e-7  # online, an epoch without a gain is no reason to stop

    def train(data: ar.Dataset, objective: Any, C: float, watch: Any) -> None:
        minimise(make_risk(data, objective, 1), solver, C=C, tol=tol, max_iter=100_000, callback=watch)

    return train


def kernel(data: ar.Dataset, objective: Any, C: float, watch: Any) -> None:
    """Train the kernel form with the linear kernel."""
    risk = make_risk(KernelFeatures(Kernel("linear"), data).data, objective, 1)
    minimise(risk, "bundle", C=C, tol=1e-7, max_iter=100_000, callback=watch)


def measure() -> list[dict[str, Any]]:
    """Time every method on both sizes."""
    train = web_set("orm-web-1")[0]
    methods = {title: linear(solver) for solver, title in NAMES.items()}
    rows = []
    for size, data in (("50 queries", train.select(np.arange(50))), (f"{train.n_queries} queries", train)):
        for decay, (setting, C) in DECAYS.items():
            objective = ar.objective("orm", bound="convex", decay=setting)
            optimum = minimise(make_risk(data, objective, 1), "bundle", C=C, tol=1e-4).lower_bound
            chosen = methods if data is train else {**methods, "kernel form, linear kernel (4.5)": kernel}
            for title, trained in chosen.items():
                base = {"data": size, "c": decay, "C": C, "method": title}
                rows.append({**base, **reached(trained, data, objective, C, optimum)})
                print(rows[-1], flush=True)
                write_csv("solvers.csv", rows)
    return rows


if __name__ == "__main__":
    with single_threaded_blas():
        measure()
