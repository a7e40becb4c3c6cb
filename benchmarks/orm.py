"""ORM: the search for the most violated ranking against SciPy's n x n assignment, and one evaluation of the risk.

Bars: at n = 1000, k = 10 and five grades, after the sort of the scores, at least 300 times SciPy with a decay cut at
k, at least 1000 times with a decay over all ranks; an evaluation with NDCG@10 on 2,000 queries of 40 to 160 documents
and 136 features (five grades, decay cut at k) at most 2.6 times the two products ``X @ w`` and ``X.T @ g`` in float64.

The assignments run on one thread and are timed by its CPU time, which other work on the machine does not lengthen; the
search is called for QUERIES queries at once, as in training, since entering compiled code costs more than one search.
Of each query SciPy solves the matrix that the search stands for, and the values are compared before anything is timed.
The evaluation is timed by the clock, on as many threads as there are cores, like the products.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from argrank import Dataset, objective
from argrank.engines.local import LocalRisk
from argrank.objectives.objective import Sorter
from argrank.objectives.structured.positions.decay import decay_vector
from argrank.objectives.structured.positions.oracle import best_assignment
from benchmarks._interleaved import medians
from benchmarks.risk import generate, list_sizes

DECAYS = {"cut at k": ("linear", 300.0), "all ranks": ("sqrt", 1000.0), "c = a": ("measure", None)}


QUERIES = 200


def assignment(n: int = 1000, k: int = 10, n_queries: int = QUERIES) -> dict[str, tuple[float, float]]:
    """Return how many times as fast as SciPy on the full matrix the search is: after the sort, and together with it."""
    rng = np.random.default_rng(0)
    data = Dataset(np.ones((n * n_queries, 1)), rng.integers(0, 5, n * n_queries), group=[n] * n_queries)
    scores, gradient, sorter = rng.standard_normal(n * n_queries), np.empty(n * n_queries), Sorter(data.indptr)
    order, ratios = sorter.descending(scores), {}
    for name, (decay, _) in DECAYS.items():
        hinge = objective("orm", bound="convex", measure=f"ndcg@{k}", decay=decay)
        gains, c, a = hinge.gains(data), decay_vector(hinge, n), hinge.discounts(n)
        best = best_assignment(data, gains, hinge.levels(data), c, a)
        values = best.evaluate(0, n_queries, scores, order, gradient)
        matrices = [np.outer(c, scores[rows]) - np.outer(a, gains[rows]) for rows in _first_queries(n)]
        for matrix, value in zip(matrices, values, strict=False):
            np.testing.assert_allclose(matrix[linear_sum_assignment(matrix, maximize=True)].sum(), value, rtol=1e-9)
        functions: dict[str, Callable[[], object]] = {
            "search": lambda best=best: best.evaluate(0, n_queries, scores, order, gradient),
            "with sort": lambda best=best: best.evaluate(0, n_queries, scores, sorter.descending(scores), gradient),
            "scipy": lambda matrices=matrices: [linear_sum_assignment(matrix, maximize=True) for matrix in matrices],
        }
        seconds = medians(functions, 9, time.thread_time)
        one = seconds["scipy"] / len(matrices)
        ratios[name] = (n_queries * one / seconds["search"], n_queries * one / seconds["with sort"])
    return ratios


def _first_queries(n: int, n_queries: int = 2) -> list[slice]:
    return [slice(n * query, n * (query + 1)) for query in range(n_queries)]


def evaluation(repeats: int = 15) -> dict[str, float]:
    """Return the cost of an evaluation of the risk in units of the two products, in float64."""
    data = generate(list_sizes("ragged"), np.float64)
    rng = np.random.default_rng(2)
    w, g = 0.3 * rng.standard_normal(data.n_features), rng.standard_normal(data.n_documents)
    risks = {
        name: LocalRisk(data, objective("orm", bound="convex", decay=decay)) for name, (decay, _) in DECAYS.items()
    }
    functions: dict[str, Callable[[], object]] = {"products": lambda: (data.X @ w, data.X.T @ g)}
    functions |= {name: (lambda risk=risk: risk.value_and_gradient(w)) for name, risk in risks.items()}
    seconds = medians(functions, repeats)
    return {name: seconds[name] / seconds["products"] for name in risks}


def run() -> dict[str, float]:
    """Print the tables and return their figures."""
    figures: dict[str, float] = {}
    print("assignment of n = 1000 documents, k = 10, five grades: times SciPy's n x n solver")
    print(f"{'decay':12}{'after the sort':>16}{'bar':>8}{'with the sort':>16}")
    for name, (search, with_sort) in assignment().items():
        bar = DECAYS[name][1]
        print(f"{name:12}{search:15.0f}x{'-' if bar is None else f'{bar:.0f}':>8}{with_sort:15.0f}x")
        figures[f"assignment, {name}"] = search
    print(
        "\none evaluation of the risk, in units of X @ w and X.T @ g: 2,000 queries x 40-160 documents x 136, float64"
    )
    for name, ratio in evaluation().items():
        print(f"{name:12}{ratio:15.2f}x{'2.6' if name == 'cut at k' else '-':>8}")
        figures[f"evaluation, {name}"] = ratio
    return figures


if __name__ == "__main__":
    run()
