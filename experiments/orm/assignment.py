"""Time of the most violated ranking against the number n of documents, one hinge with its gradient, CPU seconds.

    python -m experiments.orm.assignment

NDCG@10, five grades. The paper solves an n x n linear assignment ("n x n", SciPy's solver here); its other form keeps
the k rows that count (a and c are 0 elsewhere). "reduction" and "table" are the exact routes of the library, "sort" is
c = a. A route is asked for many queries of n documents at once; its value is checked against the n x n optimum.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import argrank as ar
from argrank._blas import single_threaded_blas
from argrank.data.dataset import Dataset
from experiments.orm._common import Floats, save_figure, write_csv

SIZES = (10, 30, 100, 300, 1000, 3000)
LARGEST = {"sort": 3000, "clipped": 1000, "smooth": 1000}  # the n x n assignment beyond takes minutes
DECAYS = {"sort": "measure", "clipped": "linear", "smooth": "sqrt"}
NAMES = {"sort": "sort, c = a", "clipped": "reduction, c = k+1-i", "smooth": "table, c = 1/sqrt(i)"}
REPEATS = 5


def queries(n: int, number: int) -> tuple[Dataset, Floats]:
    """Generate queries of n documents with five grades, and scores that are correlated with them."""
    rng = np.random.default_rng(n)
    y = rng.choice(5, n * number, p=[0.5, 0.27, 0.13, 0.07, 0.03])
    return Dataset(np.zeros((n * number, 1)), y, group=[n] * number), y + 2 * rng.standard_normal(n * number)


def timed(work: Any) -> tuple[float, Any]:
    """Return the least CPU time of a few calls, and the result."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.process_time()
        result = work()
        seconds.append(time.process_time() - begin)
    return min(seconds), result


def rectangular(data: Dataset, scores: Floats) -> float:
    """Return the hinge of c = k+1-i by SciPy on the k rows that are not 0, as a mean over the queries."""
    c, a = np.arange(10.0, 0.0, -1.0), 1 / np.log2(np.arange(10) + 2)
    total = 0.0
    for start, end in itertools.pairwise(data.indptr.tolist()):
        gains = 2.0 ** data.y[start:end] - 1
        k = min(10, end - start)
        gains /= a[:k] @ np.sort(gains)[::-1][:k]
        matrix = np.outer(c[:k], scores[start:end]) - np.outer(a[:k], gains)
        total += matrix[linear_sum_assignment(matrix, maximize=True)].sum()
    return total / data.n_queries


def measure() -> list[dict[str, Any]]:
    """Time every route at every size."""
    rows: list[dict[str, Any]] = []
    for n in SIZES:
        many, scores = queries(n, max(1, 100_000 // n))
        few, few_scores = queries(n, max(1, 300 // n))
        rectangle = timed(lambda many=few, scores=few_scores: rectangular(many, scores))[0] / few.n_queries
        rows.append({"n": n, "route": "k x n, c = k+1-i", "seconds": rectangle})
        for decay, setting in DECAYS.items():
            ours = ar.objective("orm", bound="convex", decay=setting)
            ours(few_scores, few)  # loads the kernels
            seconds = timed(lambda ours=ours, many=many, scores=scores: ours(scores, many))[0]
            rows.append({"n": n, "route": NAMES[decay], "seconds": seconds / many.n_queries})
            if n <= LARGEST[decay] and decay != "sort":
                full = ar.objective("orm", bound="convex", decay=setting, assignment="full")
                begin = time.process_time()
                value = full(few_scores, few)[0]
                seconds = (time.process_time() - begin) / few.n_queries
                if not np.isclose(value, ours(few_scores, few)[0], rtol=1e-9):
                    raise RuntimeError(f"n = {n}, {decay}: the routes disagree")
                rows.append({"n": n, "route": f"n x n, {NAMES[decay].split(', ')[1]}", "seconds": seconds})
        for row in rows[-6:]:
            print(row, flush=True)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw all routes, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.subplots()
    for route in sorted({row["route"] for row in rows}):
        points = [(row["n"], row["seconds"]) for row in rows if row["route"] == route]
        axes.plot(*zip(*points, strict=True), marker=".", linestyle="--" if " x n" in route else "-", label=route)
    axes.set(xscale="log", yscale="log", xlabel="documents", ylabel="CPU seconds a query", title="NDCG@10, five grades")
    axes.legend(fontsize=8)
    save_figure(figure, "assignment.png")


if __name__ == "__main__":
    with single_threaded_blas():
        found = measure()
    write_csv("assignment.csv", found)
    draw(found)
