"""Is a difference between two systems more than chance? Paired tests, intervals and corrections.

Every function takes ``differences`` of shape (n_queries, n_pairs), the measure of one system minus that of another, one
column for each pair of systems, without undefined values, and returns one result for each column. Taking all pairs at
once lets them share the resampled queries, which is where the time goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from argrank._blas import single_threaded_blas
from argrank._types import Floats
from argrank.errors import unknown_name
from argrank.evaluation.defaults import LEVEL, N_RESAMPLES

Array = Floats

EXACT_QUERIES = 16  # up to 2**16 sign patterns are enumerated, which is faster than drawing 10,000
BLOCK_VALUES = 1 << 18  # random values drawn at once, about what the processor's cache holds


def paired_t(differences: Array) -> Array:
    """Return two-sided p-values of Student's paired t-test, as ``scipy.stats.ttest_rel`` gives them.

    A single query proves nothing: p = 1. Differences that are all the same but not zero have no variance, and the test
    takes them for certain (p = 0), however few they are; the other two tests do not.
    """
    n = len(differences)
    if n < 2:
        return np.ones(differences.shape[1])
    spread = differences.std(axis=0, ddof=1) / np.sqrt(n)
    mean = np.abs(differences.mean(axis=0))
    t = np.divide(mean, spread, out=np.where(mean > 0, np.inf, 0.0), where=spread > 0)
    return np.asarray(2 * stdtr(n - 1, -t), np.float64)


def wilcoxon(differences: Array) -> Array:
    """Return two-sided p-values of Wilcoxon's signed-rank test by ``scipy.stats.wilcoxon``; 1 where all are zero."""
    from scipy import stats  # slow to import, and the other tests do without

    return np.array([stats.wilcoxon(column).pvalue if column.any() else 1.0 for column in differences.T], np.float64)


def randomisation(differences: Array, n_resamples: int = N_RESAMPLES, random_state: int = 0) -> Array:
    """Return two-sided p-values of the paired randomisation (sign-flip, Fisher-Pitman) test of the mean.

    If the systems were the same, each query's difference could as well have had the other sign. p is the share of sign
    patterns whose mean is at least as far from zero as the one observed: of all patterns for up to 16 queries that
    differ at all, of ``n_resamples`` random ones and the observed one beyond, so that p is never 0.
    """
    p_values = np.empty(differences.shape[1])
    few = np.count_nonzero(differences, axis=0) <= EXACT_QUERIES
    for column in np.flatnonzero(few):
        p_values[column] = _all_sign_patterns(differences[differences[:, column] != 0, column])
    if not few.all():
        p_values[~few] = _random_sign_patterns(differences[:, ~few], n_resamples, random_state)
    return p_values


def _all_sign_patterns(differences: Array) -> float:
    sums = np.zeros(1)
    for value in differences:
        sums = np.concatenate((sums + value, sums - value))
    return float(np.mean(np.abs(sums) >= _reached(differences)))


def _random_sign_patterns(differences: Array, n_resamples: int, random_state: int) -> Array:
    rng = np.random.default_rng(random_state)
    n, total, reached = len(differences), differences.sum(axis=0), _reached(differences)
    width = -(-n // 8)
    hits = np.zeros(differences.shape[1])
    for size in _blocks(n_resamples, n):
        bits = np.frombuffer(rng.bytes(size * width), np.uint8).reshape(size, width)
        flipped = np.unpackbits(bits, axis=1, count=n).astype(np.float64)
        with single_threaded_blas():  # threads would wait for each other at every block, long on a busy machine
            sums = total - 2 * (flipped @ differences)
        hits += np.count_nonzero(np.abs(sums) >= reached, axis=0)
    return (hits + 1) / (n_resamples + 1)


def _reached(differences: Array) -> Any:
    """Return the size of sum that counts as reached: the same sum added in another order differs in its last digits."""
    return np.abs(differences.sum(axis=0)) - 1e-12 * np.abs(differences).sum(axis=0)


TESTS = {"randomisation": randomisation, "t": paired_t, "wilcoxon": wilcoxon}


def p_values(differences: Array, test: str, n_resamples: int = N_RESAMPLES, random_state: int = 0) -> Array:
    """Return the p-values of the test of that name."""
    if test not in TESTS:
        raise unknown_name("test", test, TESTS)
    if test == "randomisation":
        return randomisation(differences, n_resamples, random_state)
    return np.asarray(TESTS[test](differences))


def holm(p_values: Array) -> Array:
    """Return p-values corrected for their number by Holm's step-down rule.

    The i-th smallest of m is multiplied by m - i + 1, and none may fall below a smaller one. It holds whatever the
    dependence between the tests and rejects all that Bonferroni's rule rejects.
    """
    order = np.argsort(p_values, kind="stable")
    raised = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def bootstrap_intervals(
    differences: Array, level: float = LEVEL, n_resamples: int = N_RESAMPLES, random_state: int = 0
) -> Array:
    """Return bootstrap intervals of the mean difference, of shape (n_pairs, 2), that cover it with 1 - level.

    Bias-corrected and accelerated (BCa, Efron 1987), as ``scipy.stats.bootstrap`` computes it: the differences of
    measures are skewed, and plain percentiles ignore that. NaN for fewer than two queries.
    """
    n, n_pairs = differences.shape
    if n < 2:
        return np.full((n_pairs, 2), np.nan)
    rng = np.random.default_rng(random_state)
    blocks = []
    for size in _blocks(n_resamples, n):
        drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        with single_threaded_blas():
            blocks.append(counts.astype(np.float64) @ differences / n)
    means = np.concatenate(blocks)
    return np.array([_bca(differences[:, pair], means[:, pair], level) for pair in range(n_pairs)]).reshape(-1, 2)


def _bca(differences: Array, means: Array, level: float) -> Array:
    mean = differences.mean()
    centred = differences - mean
    squares = np.sum(centred**2)
    if squares == 0:
        return np.array([mean, mean])
    acceleration = np.sum(centred**3) / (6 * squares**1.5)
    rounding = 1e-12 * np.abs(differences).max()  # of few queries many resamples have this very mean
    below = (np.mean(means < mean - rounding) + np.mean(means <= mean + rounding)) / 2
    edge = 0.5 / len(means)
    bias = ndtri(np.clip(below, edge, 1 - edge))
    shifted = bias + ndtri([level / 2, 1 - level / 2])
    shares = ndtr(bias + shifted / (1 - acceleration * shifted))
    return np.asarray(np.quantile(means, shares), np.float64)


def effect_sizes(differences: Array) -> Array:
    """Return Cohen's d of the paired differences, mean / standard deviation; 0 where all are zero, NaN for one query.

    Unlike p it does not grow with the number of queries; 0.2 is commonly called small, 0.5 medium, 0.8 large.
    """
    if len(differences) < 2:
        return np.full(differences.shape[1], np.nan)
    mean, deviation = differences.mean(axis=0), differences.std(axis=0, ddof=1)
    without = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    return np.asarray(np.divide(mean, deviation, out=without, where=deviation > 0), np.float64)


def _blocks(n_resamples: int, n_queries: int) -> Iterator[int]:
    """Yield the sizes of blocks of resamples that fit in the cache."""
    size = max(1, BLOCK_VALUES // n_queries)
    for start in range(0, n_resamples, size):
        yield min(size, n_resamples - start)
