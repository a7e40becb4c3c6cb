"""Most violated rankings: one risk evaluation against the two products, and each oracle against the textbook one.

Bars, on 2,000 queries of 40 to 160 documents and 136 features: an evaluation at most 2.0 times the products ``X @ w``
and ``X.T @ g`` for AUC, NDCG@10 and MRR, and 2.4 for MAP, in float64; 3.0 and 3.5 in float32. At 10,000 documents the
MAP oracle is at least 50 times as fast as the O(P N) greedy, NDCG@10 at least 100 times as fast as the full table.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from argrank import Dataset, objective
from argrank._jit import query_kernel
from argrank.engines.local import LocalRisk
from argrank.objectives.objective import Prepared, Sorter
from argrank.objectives.structured.pairs import staircase
from argrank.objectives.structured.positions.decay import decay_vector
from benchmarks._interleaved import medians
from benchmarks.risk import generate, list_sizes

RANKERS = {"svm-auc": 2.0, "svm-ndcg": 2.0, "svm-mrr": 2.0, "svm-map": 2.4, "svm-ndcg-nc": None, "dorm": None}


def evaluation(dtype: type, graded: bool, repeats: int = 15) -> dict[str, float]:
    """Return the cost of an evaluation in units of the two products, for every ranker."""
    data = generate(list_sizes("ragged"), dtype)
    if not graded:
        data = Dataset(data.X, (data.y >= 2).astype(float), group=data.sizes)
    rng = np.random.default_rng(2)
    w = 0.3 * rng.standard_normal(data.n_features)
    same, g = w.astype(dtype), rng.standard_normal(data.n_documents).astype(dtype)
    names = ("svm-auc", "svm-ndcg", "dorm") if graded else RANKERS
    risks = {name: LocalRisk(data, objective(name, bound="convex")) for name in names}
    functions: dict[str, Callable[[], object]] = {"products": lambda: (data.X @ same, data.X.T @ g)}
    functions["settle"] = lambda: time.sleep(
        0.05
    )  # the threads of BLAS spin on for a while and disturb what comes next
    functions |= {name: (lambda risk=risk: risk.value_and_gradient(w)) for name, risk in risks.items()}
    seconds = medians(functions, repeats)
    return {name: seconds[name] / seconds["products"] for name in risks}


@query_kernel
def greedy_average_precision(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """The greedy of Yue et al. (2007): every bad document tries every place among the goods, O(P N)."""
    n_good = int(gains.sum())
    n_bad = len(scores) - n_good
    good, bad = np.empty(n_good), np.empty(n_bad)
    g = b = 0
    for row in order:
        if gains[row] > 0.0:
            good[g] = scores[row]
            g += 1
        else:
            bad[b] = scores[row]
            b += 1
    weight = 2.0 / (n_good * n_bad)
    hinge = 0.0
    for b in range(n_bad):
        value, best = 0.0, 0.0
        for g in range(n_good - 1, -1, -1):
            value += (g + 1.0) / ((g + b + 1.0) * (g + b + 2.0) * n_good) + weight * (bad[b] - good[g])
            best = max(best, value)
        hinge += best
    return hinge


@query_kernel
def every_pair(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """The AUC hinge, pair by pair."""
    n_good = int(gains.sum())
    hinge = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if gains[i] > gains[j]:
                hinge += max(0.0, 1.0 - 2.0 * (scores[i] - scores[j]))
    return hinge / (n_good * (len(scores) - n_good))


def one_query(n: int, n_levels: int = 2) -> tuple[Dataset, np.ndarray]:
    rng = np.random.default_rng(n)
    y = np.zeros(n)
    for level in range(1, n_levels):
        y[rng.permutation(n)[: n // (10 * level)]] = level
    return Dataset(np.zeros((n, 1)), y, group=[n]), 0.3 * y + rng.standard_normal(n)


def evaluator(prepared: Prepared, scores: np.ndarray) -> Callable[[], float]:
    """Return the hinge of one query, after the sort, as a function to time."""
    order, u = Sorter(prepared.indptr).descending(scores), np.empty(len(scores))
    return lambda: float(prepared.evaluate(0, 1, scores, order, u)[0])


def by_kernel(kernel: Any, data: Dataset, scores: np.ndarray) -> Callable[[], float]:
    order, u = Sorter(data.indptr).descending(scores), np.empty(len(scores))
    return lambda: float(kernel(scores, order, data.y, np.ones(1), u))


def by_scipy(name: str, parameters: dict[str, Any], data: Dataset, scores: np.ndarray) -> Callable[[], float]:
    """Return the hinge by the n x n assignment, as the paper does it, up to the reference's constant."""
    hinge = objective(name, bound="convex", **parameters)
    c, a, b = decay_vector(hinge, len(scores)), hinge.discounts(len(scores)), hinge.gains(data)

    def assign() -> float:
        value = np.outer(c, scores) - np.outer(a, b)
        return float(value[linear_sum_assignment(value, maximize=True)].sum())

    return assign


def rivals(n: int) -> dict[str, tuple[Callable[[], float], Callable[[], float]]]:
    """Return our oracle and the textbook's, by name; both give the same hinge, up to DORM's constant."""
    data, scores = one_query(n)
    graded, graded_scores = one_query(n, 5)
    table = staircase.prepare(objective("svm-ndcg", bound="convex"), data)
    unclipped = staircase.prepare(objective("svm-ndcg-nc", gain="exp2", bound="convex"), data)

    def ours(name: str, **parameters: Any) -> Callable[[], float]:
        return evaluator(objective(name, bound="convex", **parameters).prepare(data), scores)

    pairs = {
        "AUC / every pair": (ours("svm-auc"), by_kernel(every_pair, data, scores)),
        "MAP / greedy": (ours("svm-map"), by_kernel(greedy_average_precision, data, scores)),
        "NDCG@10 / full table": (ours("svm-ndcg"), evaluator(table, scores)),
        "NDCG-nc / full table": (ours("svm-ndcg-nc"), evaluator(unclipped, scores)),
    }
    if n <= 1000:
        for title, parameters in (
            ("smooth", {}),
            ("cut at 10", {"decay": "linear"}),
            ("the measure's", {"decay": "measure"}),
        ):
            prepared = objective("dorm", bound="convex", **parameters).prepare(graded)
            pairs[f"DORM 5 levels, decay {title} / scipy n x n"] = (
                evaluator(prepared, graded_scores),
                by_scipy("dorm", parameters, graded, graded_scores),
            )
    return pairs


def run() -> dict[str, float]:
    """Print the tables and return their figures."""
    figures: dict[str, float] = {}
    print("one risk evaluation, in units of X @ w and X.T @ g (BLAS): 2,000 queries x 40-160 documents x 136")
    print(f"{'labels':8}{'ranker':14}{'float64':>9}{'bar':>6}{'float32':>9}{'bar':>6}")
    for graded in (False, True):
        double, single = (evaluation(dtype, graded) for dtype in (np.float64, np.float32))
        for name in double:
            bars = (RANKERS[name], {2.0: 3.0, 2.4: 3.5}.get(RANKERS[name] or 0.0)) if not graded else (None, None)
            shown = [f"{bar:6.1f}" if bar else "     -" for bar in bars]
            kind = "graded" if graded else "binary"
            print(f"{kind:8}{name:14}{double[name]:8.2f}x{shown[0]}{single[name]:8.2f}x{shown[1]}")
            figures |= {f"{kind}_{name}_float64": double[name], f"{kind}_{name}_float32": single[name]}
    for n in (100, 1000, 10_000):
        print(f"\none query of {n:,} documents, a tenth of them good, after the sort")
        print(f"{'oracle / textbook':46}{'ours':>12}{'textbook':>12}{'ratio':>9}")
        for title, (ours, textbook) in rivals(n).items():
            seconds = medians({"ours": ours, "textbook": textbook}, repeats=5)
            ratio = seconds["textbook"] / seconds["ours"]
            figures[f"{title} {n}"] = ratio
            print(f"{title:46}{1e6 * seconds['ours']:9.1f} us{1e6 * seconds['textbook']:9.0f} us{ratio:8.1f}x")
    return figures


if __name__ == "__main__":
    run()
