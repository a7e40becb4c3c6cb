"""Small random lines with every degeneracy mixed in, and the measure between all crossings by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import argrank as ar

KINDS = ("generic", "integers", "duplicates", "parallel", "zero slopes", "huge and tiny", "small integers")


WINDOWS = [(-np.inf, np.inf), (-np.inf, np.inf), (-0.5, 0.7), (0.1, 0.5), (-2.0, -0.25), (0.0, 1.0)]


def instance(rng: np.random.Generator) -> tuple[ar.Dataset, np.ndarray, np.ndarray, tuple[float, float]]:
    """Return data of one to three short queries in shuffled rows, scores, a direction (caller's rows) and a window."""
    sizes = rng.integers(1, 8, rng.integers(1, 4))
    n = int(sizes.sum())
    scores, slopes = rng.standard_normal(n), rng.standard_normal(n)
    kind = KINDS[rng.integers(len(KINDS))]
    low, high = WINDOWS[rng.integers(len(WINDOWS))]
    if kind == "integers":
        scores, slopes = rng.integers(-4, 5, n).astype(float), rng.integers(-4, 5, n).astype(float)
    elif kind == "duplicates":
        copies = rng.integers(0, n, n)
        scores, slopes = scores[copies], slopes[copies]
    elif kind == "parallel":
        slopes = rng.integers(0, 2, n) * 0.7
    elif kind == "zero slopes":
        slopes *= rng.random(n) < 0.4
    elif kind == "huge and tiny":
        scores, slopes = rng.integers(-3, 4, n) * 2.0**-40, rng.integers(-3, 4, n) * 2.0**50
        low, high = low * 2.0**-90, high * 2.0**-90  # else steps so large that nothing is left of the scores
    elif kind == "small integers":  # many lines through one point
        scores, slopes = rng.integers(0, 2, n).astype(float), rng.integers(-1, 2, n).astype(float)
    labels = rng.integers(0, rng.integers(2, 5), n)
    weight = rng.random(len(sizes)) + 0.1 if rng.random() < 0.3 else None
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    weight = None if weight is None else weight[: len(np.unique(qid))]
    return ar.Dataset(np.ones((n, 1)), labels, qid, query_weight=weight), scores, slopes, (low, high)


def means(
    data: ar.Dataset, scores: np.ndarray, slopes: np.ndarray, steps: np.ndarray, measure: object, ties: str
) -> np.ndarray:
    """Return the mean of a measure at many steps, by one evaluation of as many copies of the data."""
    stored = data.from_caller(scores) + np.outer(steps, data.from_caller(slopes))
    copies = ar.Dataset(np.ones((stored.size, 1)), np.tile(data.y, len(steps)), group=np.tile(data.sizes, len(steps)))
    result = ar.evaluate(stored.reshape(-1), copies, measure, ties=ties, n_jobs=1)
    values = next(iter(result.values.values())).reshape(len(steps), -1)
    weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
    counted = ~np.isnan(values[0])
    return values[:, counted] @ weight[counted] / weight[counted].sum()


def midpoints(data: ar.Dataset, scores: np.ndarray, slopes: np.ndarray, low: float, high: float) -> Iterator[float]:
    """Yield the middle of every interval between all crossings of two documents of one query."""
    scores, slopes = data.from_caller(scores), data.from_caller(slopes)
    times = []
    for first, last in zip(data.indptr[:-1], data.indptr[1:], strict=True):
        s, a = scores[first:last], slopes[first:last]
        one, two = np.triu_indices(len(s), 1)
        cross = a[one] != a[two]
        times.append((s[one] - s[two])[cross] / (a[two] - a[one])[cross])
    ends = np.unique(np.concatenate(times))
    ends = ends[(ends > low) & (ends < high)]
    unit = float(np.abs(scores).max() / (np.abs(slopes).max() or 1.0)) or 1.0
    far = 1.5 * (float(np.abs(ends).max(initial=0.0)) or unit)
    low, high = (end if np.isfinite(end) else sign * far for end, sign in ((low, -1), (high, 1)))
    ends = np.concatenate([[low], ends, [high]])
    for left, right in itertools.pairwise(ends):
        if right - left > 1e-12 * max(abs(left), abs(right)):  # not two roundings of one crossing
            yield 0.5 * (left + right)
