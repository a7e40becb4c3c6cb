"""Figure 8: time of DORM and SVMndcg as data grow 1 : 3 : 4.6, split into oracle and quadratic problem.

    python -m experiments.kdd2008.figure8

The three sets are generated with the documents and queries of OHSUMED, TD2003 and TD2004, such that the convex bounds
leave w = 0 (``learnable``). DORM is fitted with the paper's n x n assignment (SciPy's, faster than the paper's) and
with the reduction, and with a decay that is smooth or 0 from rank 30 on. All solve to a gap of 1e-3 by the same
bundle method and ask at the same points, so the assignment need not run the whole fit: it is timed on the first
queries at the scores of the fitted model, where it has to agree with the reduction, and its time multiplied by all
queries and by the number of times that the fit asks. All times are CPU seconds of one thread.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

import argrank as ar
from argrank._blas import single_threaded_blas
from argrank.engines.local import LocalRisk
from argrank.solvers import minimise
from experiments.kdd2008._common import CONVEX, DISCOUNTED, SIZES, learnable, save_figure, write_csv

RATIOS = dict(zip(SIZES, ("1", "3", "4.6"), strict=True))
CUT = [float(value) for value in 1 / np.sqrt(1 + np.arange(30))]
K = 10  # NDCG@10
C = 1e4
TIMED = 5  # queries of which assignments are timed


def most_violated(data: ar.Dataset, decay: np.ndarray, scores: np.ndarray) -> float:
    """Return DORM's risk for binary labels as the paper computes it: a maximal n x n assignment for each query."""
    total = 0.0
    for start, end in itertools.pairwise(data.indptr.tolist()):
        n, good = end - start, data.y[start:end] > 0
        c, discount = decay[:n], 1 / np.log2(np.maximum(np.arange(1, n + 1), 2))
        discount[K:] = 0.0
        gains = good / max(discount[: good.sum()].sum(), 1e-300)
        value = np.outer(c, scores[start:end]) - np.outer(discount, gains)
        best = discount @ np.sort(gains)[::-1]
        total += float(value[linear_sum_assignment(value, maximize=True)].sum() + best)
        total -= float(averaged(good, c) @ scores[start:end])
    return total / data.n_queries


def averaged(good: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the mean of c at a document's rank over all ideal rankings, which exchange ranks of equal discount too.

    These are the first two ranks, and all ranks past the cut-off.
    """
    n, n_good = len(c), int(good.sum())
    above = min(n_good, K)  # good documents before the cut-off
    held = float(c[:2].mean()) if n_good == 1 else float(c[:above].sum())
    if n_good > above:
        held += (n_good - above) * float(c[above:].mean())
    held /= max(n_good, 1)
    return np.where(good, held, (c.sum() - n_good * held) / max(n - n_good, 1))


class CountedRisk(LocalRisk):
    """A risk that counts its CPU seconds and the calls of the oracle."""

    cpu_seconds, calls = 0.0, 0

    def _score(self, weights: Any) -> Any:
        return self._timed(super()._score, weights)

    def _at_weights(self, weights: Any) -> Any:
        self.calls += 1
        return self._timed(super()._at_weights, weights)

    def _at_scores(self, scores: Any) -> Any:
        self.calls += 1
        return self._timed(super()._at_scores, scores)

    def _pull_back(self, u: Any) -> Any:
        return self._timed(super()._pull_back, u)

    def _dots(self, u: Any, v: Any) -> Any:
        return self._timed(super()._dots, u, v)

    def _timed(self, work: Any, *arguments: Any) -> Any:
        begin = time.process_time()
        found = work(*arguments)
        self.cpu_seconds += time.process_time() - begin
        return found


def whole_fit(data: ar.Dataset, objective: Any) -> tuple[dict[str, float], np.ndarray]:
    """Return CPU seconds in oracle and products, in the quadratic problem, calls and objective; and the weights."""
    minimise(CountedRisk(data, objective, n_jobs=1), "bundle", C=C, tol=0.5)  # loads the kernels
    risk = CountedRisk(data, objective, n_jobs=1)
    begin = time.process_time()
    with single_threaded_blas():
        result = minimise(risk, "bundle", C=C, tol=1e-3)
    total = time.process_time() - begin
    facts = {"seconds": total, "oracle": risk.cpu_seconds, "qp": total - risk.cpu_seconds, "calls": risk.calls}
    share = result.objective / risk.at_scores(risk.zero_scores())[0]
    return {**facts, "passes": result.n_passes, "objective/at_zero": share}, result.w


def by_assignment(
    data: ar.Dataset, objective: Any, decay: np.ndarray, ours: dict[str, float], w: np.ndarray
) -> dict[str, float]:
    """Return the same for a fit whose most violated rankings come from the n x n assignment."""
    risk = LocalRisk(data.select(np.arange(TIMED)), objective, n_jobs=1)
    scores = risk.scores(w)
    begin = time.process_time()
    with single_threaded_blas():
        value = most_violated(risk.data, decay, scores)
    oracle = ours["calls"] * data.n_queries / TIMED * (time.process_time() - begin)
    if not np.isclose(value, risk.at_scores(scores)[0], rtol=1e-9):
        raise RuntimeError(f"the two oracles disagree: {value} and {risk.at_scores(scores)[0]}")
    return {**ours, "seconds": oracle + ours["qp"], "oracle": oracle}


def measure() -> list[dict[str, Any]]:
    rows = []
    for size, ratio in RATIOS.items():
        data = learnable(size)
        base = {"documents": ratio, "n_queries": data.n_queries, "n_documents": data.n_documents}
        rows.append({**base, "way": "SVMndcg", **whole_fit(data, ar.objective("svm-ndcg", **DISCOUNTED, **CONVEX))[0]})
        for title, decay in (("smooth decay", "sqrt"), ("decay cut at 30", CUT)):
            objective = ar.objective("dorm", decay=decay, **DISCOUNTED, **CONVEX)
            ours, w = whole_fit(data, objective)
            c = 1 / np.sqrt(1 + np.arange(data.sizes.max()))
            c[len(CUT) if decay is CUT else len(c) :] = 0.0
            paper = by_assignment(data, objective, c, ours, w)
            rows.append({**base, "way": f"DORM, reduction, {title}", **ours})
            rows.append({**base, "way": f"DORM, n x n assignment, {title}", **paper})
        for row in rows[-5:]:
            print(row, flush=True)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    ways, sizes = list(dict.fromkeys(row["way"] for row in rows)), list(RATIOS.values())
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    for number, row in enumerate(sorted(rows, key=lambda row: (ways.index(row["way"]), sizes.index(row["documents"])))):
        at = number + number // len(sizes)
        axes.bar(at, row["oracle"], color="C0", label=None if number else "most violated rankings, products")
        axes.plot([at - 0.4, at + 0.4], [row["qp"]] * 2, color="C1", label=None if number else "quadratic problem")
        seconds = f"{row['seconds']:,.{0 if row['seconds'] > 100 else 2}f}"
        axes.text(at, row["oracle"], seconds, ha="center", va="bottom", fontsize=7)
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
