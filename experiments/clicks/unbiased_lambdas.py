"""The gradient of XGBoost's ``lambdarank_unbiased`` (rank:ndcg, pairs of the top 10) on lists that stand for several.

XGBoost weighs the gradients of a list, but not its part in the estimate of the positions' biases, so lists that occur
often have to be repeated there. Here both are weighed: a list of weight m counts as m equal lists.
On logs of 10,000 and 30,000 clicks the scores equal those of XGBoost's own on repeated lists to 5e-7 for the first 30
trees; later, rounding decides between cuts of equal gain. ``python -m experiments.clicks.unbiased_lambdas`` compares
both tools' NDCG@10 on distinct and on repeated lists and writes unbiased_lambdas.md.
"""

from __future__ import annotations

import itertools
import warnings
from math import exp, log, log2
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import argrank as ar
from argrank._tables import table, to_markdown
from experiments.clicks._logs import K
from experiments.clicks.learning_tables import PEERS, over, read

HERE = Path(__file__)
SETS, N_CLICKS, N_SEEDS = ("shop", "OHSUMED", "MSLR"), 100_000, 6
TINY = 1e-16
DISCOUNTS = 1.0 / np.log2(np.arange(K) + 2.0)


@numba.njit(cache=True)
def lambdas(
    scores: Any, clicks: Any, indptr: Any, weights: Any, clicked: Any, passed: Any, discounts: Any, out: Any, sums: Any
) -> None:
    """Fill gradients and Hessians of all lists, and the sums from which the biases follow.

    ``clicked`` and ``passed`` are the biases of the positions of clicked documents and of others (t+ and t- of Hu et
    al., 2019); lists have at most ten documents, in the order in which they were shown.
    """
    sums[:] = 0.0
    for number in range(len(weights)):
        begin, end = indptr[number], indptr[number + 1]
        own, label, found = scores[begin:end], clicks[begin:end], out[begin:end]
        found[:] = 0.0
        order = np.argsort(-own, kind="mergesort")
        ideal = 0.0
        for place in range(label.sum()):
            ideal += discounts[place]
        flat = own[order[0]] == own[order[-1]]
        total = 0.0
        for i in range(len(own)):
            for j in range(i + 1, len(own)):
                high, low = order[i], order[j]
                if label[high] == label[low]:
                    continue
                if label[high] < label[low]:
                    high, low = low, high
                apart = np.float64(own[high] - own[low])
                sigmoid = 1.0 / (1.0 + exp(-apart))
                change = (discounts[i] - discounts[j]) / ideal
                if not flat:
                    change /= abs(apart) + 0.01
                cost = -log(1.0 - sigmoid) * change
                bias = clicked[high] * passed[low]
                pull, bend = (1.0 - sigmoid) * change, 2.0 * max(sigmoid * (1.0 - sigmoid), TINY) * change
                if clicked[high] >= TINY and passed[low] >= TINY:
                    pull, bend = pull / bias, bend / bias
                found[high, 0] -= pull
                found[low, 0] += pull
                found[high, 1] += bend
                found[low, 1] += bend
                total += 2.0 * pull
                if passed[low] >= TINY:
                    sums[0, high] += weights[number] * cost / passed[low]
                if clicked[high] >= TINY:
                    sums[1, low] += weights[number] * cost / clicked[high]
        if total > 0.0:
            found *= weights[number] * log2(1.0 + total) / total


class Unbiased:
    """An objective for ``xgboost.train``; it remembers the biases from one tree to the next."""

    def __init__(self, clicks: NDArray[Any], sizes: NDArray[Any], weights: NDArray[Any]) -> None:
        self.clicks, self.weights = clicks, weights.astype(np.float64)
        self.indptr = np.concatenate(([0], np.cumsum(sizes)))
        self.biases = np.ones((2, K))

    def __call__(self, scores: NDArray[Any], _: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return gradients and Hessians, and estimate the biases for the next tree."""
        out, sums = np.empty((len(scores), 2)), np.empty((2, K))
        lambdas(scores, self.clicks, self.indptr, self.weights, *self.biases, DISCOUNTS, out, sums)
        self.biases = np.sqrt(sums / sums[:, :1])
        return out[:, 0].copy(), out[:, 1].copy()


def main() -> None:
    """Compare both tools on distinct lists with the rows of learning.csv, which are of repeated ones."""
    from experiments.clicks.learning import draw_log, lightgbm_scores, parts_of, xgboost_scores

    cells, rows = read(HERE.with_name("learning.csv")), []
    for name, (peer, learn) in itertools.product(SETS, zip(PEERS, (lightgbm_scores, xgboost_scores), strict=True)):
        repeated = cells[name, "1", "0.1", N_CLICKS, "lambda-mart", peer]
        distinct = {}
        for seed in range(N_SEEDS):
            train, test = parts_of(name, seed)
            scores = learn(draw_log(train, N_CLICKS, seed)[1], train, test, distinct=True)
            distinct[str(seed)] = float(ar.evaluate(test.to_caller(scores), test, "ndcg@10").means["ndcg@10"])
        difference, wide = over(distinct, repeated) or (np.nan, np.nan)
        means = [f"{np.mean([one[seed] for seed in distinct]):.4f}" for one in (repeated, distinct)]
        rows.append((name, peer, *means, f"{difference:+.4f} ± {wide:.4f}", str(N_SEEDS)))
        print(*rows[-1], flush=True)
    head = ("data", "learned by", "repeated lists", "distinct lists", "difference, 95 %", "seeds")
    HERE.with_suffix(".md").write_text(to_markdown([table(head, rows, 2)]) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
