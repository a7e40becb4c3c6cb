"""The line search against rational arithmetic, with slopes whose scales differ by up to 2^60."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import argrank as ar

WIDE = Fraction(1, 10**9)  # of |t|: in narrower intervals scores in float64 need not be in the order of exact ones
KINDS = ("normal", "integers", "scales", "scales", "both scales")


def ndcg(labels: list[int], k: int | None = None) -> float:
    def dcg(ranked: list[int]) -> float:
        return math.fsum((2**label - 1) / math.log2(rank + 2) for rank, label in enumerate(ranked[:k]))

    return dcg(labels) / dcg(sorted(labels, reverse=True))


def average_precision(labels: list[int]) -> float:
    relevant = [rank for rank, label in enumerate(labels, 1) if label > 0]
    return math.fsum(number / rank for number, rank in enumerate(relevant, 1)) / len(relevant)


def err(labels: list[int]) -> float:
    value, going = 0.0, 1.0
    for rank, label in enumerate(labels, 1):
        value += going * (2**label - 1) / 16 / rank
        going *= 1 - (2**label - 1) / 16
    return value


def auc(labels: list[int]) -> float:
    pairs = [(a > 0) - (b > 0) for a, b in itertools.combinations(labels, 2) if (a > 0) != (b > 0)]
    return sum(one > 0 for one in pairs) / len(pairs)


MEASURES = {
    "ndcg": ndcg,
    "ndcg@2": lambda labels: ndcg(labels, 2),
    "map": average_precision,
    "mrr": lambda labels: 1 / next(rank for rank, label in enumerate(labels, 1) if label > 0),
    "err": err,
    "auc": auc,
    "p@3": lambda labels: sum(label > 0 for label in labels[:3]) / 3,
}


def lines(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and slopes of one kind."""
    kind = KINDS[rng.integers(len(KINDS))]
    if kind == "integers":
        return rng.integers(-3, 4, n).astype(float), rng.integers(-3, 4, n).astype(float)
    scores, slopes = rng.standard_normal((2, n))
    if kind != "normal":
        slopes *= 2.0 ** rng.integers(-30, 31, n)
    if kind == "both scales":
        scores *= 2.0 ** rng.integers(-30, 31, n)
    return scores, slopes


def check(rng: np.random.Generator) -> int:
    """Compare the value of every interval that is wide enough, and of the step; return how many there were."""
    sizes = rng.integers(2, 7, 2)
    labels = [rng.permutation(np.r_[0, rng.integers(1, 5), rng.integers(0, 5, size - 2)]) for size in sizes]
    name = list(MEASURES)[rng.integers(len(MEASURES))]
    scores, slopes = lines(rng, int(sizes.sum()))
    data = ar.Dataset(np.ones((len(scores), 1)), np.concatenate(labels), group=sizes)
    found = ar.line_search(scores, slopes, data, name, point="middle", ties="row", n_jobs=1)
    exact = [(Fraction(s), Fraction(a)) for s, a in zip(scores.tolist(), slopes.tolist(), strict=True)]
    queries = [range(sizes[0]), range(sizes[0], sum(sizes))]
    times = sorted({
        (exact[i][0] - exact[j][0]) / (exact[j][1] - exact[i][1])
        for rows in queries
        for i, j in itertools.combinations(rows, 2)
        if exact[i][1] != exact[j][1]
    })  # fmt: skip
    far = 2 * max([abs(time) for time in times] or [Fraction(1)]) or Fraction(1)
    n_compared, best = 0, -math.inf
    for left, right in itertools.pairwise([-far, *times, far]):
        if right - left <= WIDE * max(abs(left), abs(right)):
            continue
        time = (left + right) / 2
        at = [s + time * a for s, a in exact]
        ranked = [sorted(rows, key=lambda row: (-at[row], row)) for rows in queries]
        value = math.fsum(MEASURES[name]([int(data.y[row]) for row in rows]) for rows in ranked) / 2
        assert found.values[np.searchsorted(found.breakpoints, float(time))] == pytest.approx(value, abs=1e-12), name
        best, n_compared = max(best, value), n_compared + 1
    assert found.value >= best - 1e-12, name
    assert (np.diff(found.values) != 0).all()  # what is no change of the mean is no breakpoint
    assert found.value == ar.evaluate(scores + found.step * slopes, data, name, ties="row").means[name]
    return n_compared


def test_equals_rational_arithmetic():
    rng = np.random.default_rng(34)
    assert sum(check(rng) for _ in range(150)) > 1000


@pytest.mark.slow
def test_equals_rational_arithmetic_on_five_thousand_instances():
    rng = np.random.default_rng(3434)
    assert sum(check(rng) for _ in range(5000)) > 40_000
