"""Figure 8: time of DORM and SVMndcg as data grow 1 : 3 : 4.6, split into oracle and quadratic problem.

    python -m experiments.kdd2008.figure8

The three sets are generated with the documents and queries of OHSUMED, TD2003 and TD2004. DORM is fitted with the
paper's n x n assignment (SciPy's, which is faster than the paper's) and with the reduction, and with a decay that is
smooth or 0 from rank 30 on. All solve to a gap of 1e-3 by the same bundle method and ask at the same points, so the
assignment need not run the whole fit: it is timed at the scores of SVMndcg's solution, where it has to agree with the
reduction, and its time multiplied by the number of times that the fit asks. (The optimum of DORM's convex bound is
w = 0 on these data, as on all others here; the equal scores there would flatter the assignment.) All times are CPU
seconds of one thread.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import argrank as ar
from argrank._blas import single_threaded_blas
from argrank.engines.local import LocalRisk
from argrank.objectives._base import Prepared
from argrank.objectives.structured.decay import decay_vector
from argrank.solvers import bundle
from experiments.kdd2008._common import DISCOUNTED, save_figure, write_csv

#: documents relative to OHSUMED -> queries, documents each, share of good ones
SETS = {"1": (106, 152, 0.05), "3": (50, 983, 0.0105), "4.6": (75, 989, 0.006)}
CUT = [float(value) for value in 1 / np.sqrt(1 + np.arange(30))]
C = 10.0


class ByAssignment(Prepared):
    """DORM's hinge as the paper computes it: a maximal n x n assignment for each query."""

    ranks = False

    def __init__(self, data: ar.Dataset, decay: Any) -> None:
        problem = ar.objective("dorm", decay=decay, **DISCOUNTED).problem
        self.indptr, self._gains, self._labels = data.indptr, problem.gains(data), data.y
        longest = int(data.sizes.max())
        self._decay, self._worth = decay_vector(problem, longest), problem.worth(longest)

    def evaluate(self, first: int, last: int, scores: Any, order: Any, gradient: Any) -> Any:
        """Return the hinge of every query and fill in its gradient."""
        losses = np.empty(last - first)
        begin = self.indptr[first]
        for number, query in enumerate(range(first, last)):
            rows = slice(self.indptr[query], self.indptr[query + 1])
            here = slice(rows.start - begin, rows.stop - begin)
            gains, labels, n = self._gains[rows], self._labels[rows], rows.stop - rows.start
            decay, worth = self._decay[:n], self._worth[:n]
            value = np.outer(decay, scores[here]) - np.outer(worth, gains)
            rank, document = linear_sum_assignment(value, maximize=True)
            reference = np.empty(n)
            good = int((labels > 0).sum())
            reference[labels > 0], reference[labels == 0] = decay[:good].mean(), decay[good:].mean()
            gradient[here] = -reference
            gradient[here][document] += decay[rank]
            best = float(worth @ np.sort(gains)[::-1])
            losses[number] = value[rank, document].sum() - float(reference @ scores[here]) + best
        return losses


class CountedRisk(LocalRisk):
    """A risk that knows the CPU seconds of its own work and how often the oracle was asked."""

    cpu_seconds, calls = 0.0, 0

    def at_scores(self, scores: Any) -> Any:
        """Ask the oracle."""
        self.calls += 1
        return super().at_scores(scores)

    def _run(self, work: Any, products: int) -> Any:
        begin = time.process_time()
        results = super()._run(work, products)
        self.cpu_seconds += time.process_time() - begin
        return results


def whole_fit(data: ar.Dataset, objective: Any) -> tuple[dict[str, float], np.ndarray]:
    """Return CPU seconds in oracle and products, in the quadratic problem, calls and objective; and the weights."""
    bundle.minimise(CountedRisk(data, objective, n_jobs=1), C, 0.5)  # loads the kernels
    risk = CountedRisk(data, objective, n_jobs=1)
    begin = time.process_time()
    with single_threaded_blas():
        result = bundle.minimise(risk, C, 1e-3)
    total = time.process_time() - begin
    facts = {"seconds": total, "oracle": risk.cpu_seconds, "qp": total - risk.cpu_seconds}
    return {**facts, "calls": risk.calls, "passes": result.n_passes, "objective": result.objective}, result.w


def by_assignment(
    data: ar.Dataset, objective: Any, decay: Any, ours: dict[str, float], w: np.ndarray
) -> dict[str, float]:
    """Return the same for a fit whose most violated rankings come from the n x n assignment."""
    risk = LocalRisk(data, objective, n_jobs=1)
    scores, u = risk.scores(w), np.empty(data.n_documents)
    assigned = ByAssignment(data, decay)
    begin = time.process_time()
    losses = assigned.evaluate(0, data.n_queries, scores, None, u)
    one = time.process_time() - begin
    value = risk.at_scores(scores)[0]
    if not np.isclose(losses.mean(), value, rtol=1e-9):
        raise RuntimeError(f"the two oracles disagree: {losses.mean()} and {value}")
    oracle = ours["calls"] * one
    return {**ours, "seconds": oracle + ours["qp"], "oracle": oracle}


def measure() -> list[dict[str, Any]]:
    rows = []
    for size, (n_queries, n, relevant) in SETS.items():
        data = ar.make_ranking(n_queries, n, 44, grades=2, relevant=relevant, noise=0.5, random_state=1)
        base = {"documents": size, "n_queries": n_queries, "n_documents": data.n_documents}
        facts, w = whole_fit(data, ar.objective("svm-ndcg", **DISCOUNTED))
        rows.append({**base, "way": "SVMndcg", **facts})
        for title, decay in (("smooth decay", "sqrt"), ("decay cut at 30", CUT)):
            objective = ar.objective("dorm", decay=decay, **DISCOUNTED)
            ours, _ = whole_fit(data, objective)
            paper = by_assignment(data, objective, decay, ours, w)
            rows.append({**base, "way": f"DORM, reduction, {title}", **ours})
            rows.append({**base, "way": f"DORM, n x n assignment, {title}", **paper})
        for row in rows[-5:]:
            print(row, flush=True)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    ways, sizes = list(dict.fromkeys(row["way"] for row in rows)), list(SETS)
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    for number, row in enumerate(sorted(rows, key=lambda row: (ways.index(row["way"]), sizes.index(row["documents"])))):
        at = number + number // len(sizes)
        axes.bar(at, row["oracle"], color="C0", label=None if number else "most violated rankings, products")
        axes.plot([at - 0.4, at + 0.4], [row["qp"]] * 2, color="C1", label=None if number else "quadratic problem")
        axes.text(at, row["oracle"], f"{row['seconds']:.3g}", ha="center", va="bottom", fontsize=7)
    axes.set_xticks(
        [4 * number + 1 for number in range(len(ways))], [way.replace(", ", "\n") for way in ways], fontsize=8
    )
    axes.set(yscale="log", ylabel="CPU seconds", title=f"One fit at C = {C:g}, documents 1 : 3 : 4.6, generated data")
    axes.legend()
    save_figure(figure, "figure8.png")


if __name__ == "__main__":
    found = measure()
    write_csv("figure8.csv", found)
    draw(found)
