"""Paired tests of the difference between two systems, and corrections for several tests.

Every function takes ``differences`` of shape (n_queries, n_pairs), the measure of one system minus that of another, one
column for each pair of systems, without undefined values, and returns one result for each column. All pairs share the
resampled queries, which take most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from argrank._blas import single_threaded_blas
from argrank._types import Floats
from argrank.errors import check_name
from argrank.evaluation.defaults import LEVEL, N_RESAMPLES

Array = Floats

EXACT_QUERIES = 16  # up to 2**16 sign patterns are enumerated, which is faster than drawing 10,000
ROUNDING = 1e-12  # relative to the largest value: closer values are equal
ENOUGH = 50  # queries that differ, from which on Student's t covers
IMAGINED = 2  # queries, added to the variance of few
BLOCK_VALUES = 1 << 18  # random values drawn at once, about what the processor's cache holds


def all_equal(values: Array) -> NDArray[np.bool_]:
    """Return for each column whether its values are equal up to rounding."""
    return np.asarray(np.ptp(values, axis=0) <= ROUNDING * np.abs(values).max(axis=0), bool)


def standard_errors(differences: Array, reach: Array | float = np.inf) -> Array:
    """Return the standard errors of the mean differences, with room for what few queries do not show.

    ``reach`` is how far from 0 a difference can be, one for each column or for all. See ``unseen_variance``.
    """
    size, n = np.abs(differences), len(differences)
    differ = np.count_nonzero(size > ROUNDING * size.max(axis=0), axis=0)
    variance = differences.var(axis=0, ddof=1) + unseen_variance(differ, n, reach)
    return np.asarray(np.sqrt(variance / n), np.float64)


def unseen_variance(differ: Array | float, n_queries: int, reach: Array | float) -> Array:
    """Return what is added to the variance of differences, of which so many queries have one other than 0.

    Where most queries tie or hardly differ, a small sample often lacks the few that do, and with them the variance:
    Student's interval of 5 queries covers 81 times of 100 in some real populations. As in intervals of means, two
    imagined queries are added, here a quarter of ``reach`` above and below the mean. Their weight falls from 1 to 0 as
    the number of queries that differ grows to 50. From there on, and where differences have no bounds, nothing is
    added. Size and number were chosen by simulation (``experiments/intervals``).
    """
    imagined = IMAGINED * (np.where(np.isfinite(reach), reach, 0.0) / 4) ** 2
    return np.asarray(imagined / n_queries * np.maximum(0.0, 1 - np.asarray(differ) / ENOUGH), np.float64)


def paired_t(differences: Array, reach: Array | float = np.inf) -> Array:
    """Return two-sided p-values of Student's paired t-test, with these ``standard_errors``.

    From 50 queries that differ they are those of ``scipy.stats.ttest_rel``, below that larger. A single query proves
    nothing: p = 1. Differences that are all the same have no variance to compare with. If the true mean were 0, and no
    difference farther from 0 than ``reach``, the one seen, c, could have at most the probability reach / (reach + c),
    and p is twice that of seeing it n times.
    """
    n = len(differences)
    if n < 2:
        return np.ones(differences.shape[1])
    mean, equal = np.abs(differences.mean(axis=0)), all_equal(differences)
    t = np.divide(mean, standard_errors(differences, reach), out=np.zeros_like(mean), where=~equal)
    always = np.minimum(1.0, 2 * (1 + mean / np.maximum(reach, mean)) ** -n) if equal.any() else 1.0
    return np.asarray(np.where(equal, always, 2 * stdtr(n - 1, -t)), np.float64)


def wilcoxon(differences: Array) -> Array:
    """Return two-sided p-values of Wilcoxon's signed-rank test by ``scipy.stats.wilcoxon``; 1 where all are zero."""
    from scipy import stats  # slow to import, and only needed here

    return np.array([stats.wilcoxon(column).pvalue if column.any() else 1.0 for column in differences.T], np.float64)


def randomisation(differences: Array, n_resamples: int = N_RESAMPLES, random_state: int = 0) -> Array:
    """Return two-sided p-values of the paired randomisation (sign-flip, Fisher-Pitman) test of the mean.

    If the systems were equal, each query's difference could equally have had the other sign. p is the share of sign
    patterns whose mean is at least as far from zero as the one observed: of all patterns for up to 16 queries, of
    ``n_resamples`` random ones and the observed one beyond, so that p is never 0.
    """
    total = differences.sum(axis=0)
    reached = np.abs(total) - ROUNDING * np.abs(differences).sum(axis=0)  # the same sum in another order is rounded
    hits, n_patterns = np.zeros(differences.shape[1]), 0
    for flipped, drawn in _patterns(len(differences), n_resamples, random_state):
        n_patterns += drawn
        hits += np.count_nonzero(np.abs(total - 2 * _product(flipped, differences)) >= reached, axis=0)
    observed = int(len(differences) > EXACT_QUERIES)  # already among all patterns
    return (hits + observed) / (n_patterns + observed)


def randomisation_intervals(
    differences: Array, level: float = LEVEL, n_resamples: int = N_RESAMPLES, random_state: int = 0
) -> Array:
    """Return, for each column, the least and the greatest mean that ``randomisation`` would not reject at ``level``.

    A pattern that flips the queries F counts against a mean above the observed one if and only if that mean is at most
    the larger of the mean over F and the mean over the others (Hartigan 1969 on the means of subsets); so the ends are
    order statistics of these. They are infinite where even the observed pattern alone has a p above ``level``.
    """
    n, total = len(differences), differences.sum(axis=0)
    smaller, larger = [], []
    for flipped, _ in _patterns(n, n_resamples, random_state):
        counts, sums = flipped.sum(axis=1)[:, None], _product(flipped, differences)
        whole = (counts == 0) | (counts == n)  # is the observed pattern, which always counts
        one, other = sums / np.where(whole, 1, counts), (total - sums) / np.where(whole, 1, n - counts)
        smaller.append(np.where(whole, -np.inf, np.minimum(one, other)))
        larger.append(np.where(whole, np.inf, np.maximum(one, other)))
    low, high = np.concatenate(smaller), np.concatenate(larger)
    if n <= EXACT_QUERIES:
        wanted = int(np.floor(level * len(low) + ROUNDING)) + 1  # patterns that must count for p to be above the level
    else:
        wanted = int(np.floor(level * (len(low) + 1) + ROUNDING))  # beside the observed one
    if wanted == 0:
        return np.tile([-np.inf, np.inf], (differences.shape[1], 1))
    ends = np.stack([np.partition(low, wanted - 1, axis=0)[wanted - 1],
                     -np.partition(-high, wanted - 1, axis=0)[wanted - 1]], axis=1)  # fmt: skip
    ends[np.abs(ends) <= ROUNDING * np.abs(differences).max(axis=0)[:, None]] = 0.0
    return ends


def _patterns(n_queries: int, n_resamples: int, random_state: int) -> Iterator[tuple[Array, int]]:
    """Yield blocks of sign patterns, 1 where a sign is flipped, with their number: all, or random ones."""
    rng = np.random.default_rng(random_state)
    width = -(-n_queries // 8)
    exact = n_queries <= EXACT_QUERIES
    size = max(1, BLOCK_VALUES // max(n_queries, 1))
    n_patterns = 2**n_queries if exact else n_resamples
    for start in range(0, n_patterns, size):
        count = min(size, n_patterns - start)
        if exact:
            flipped: NDArray[Any] = np.arange(start, start + count)[:, None] >> np.arange(n_queries) & 1
        else:
            bits = np.frombuffer(rng.bytes(count * width), np.uint8).reshape(count, width)
            flipped = np.unpackbits(bits, axis=1, count=n_queries)
        yield flipped.astype(np.float64), count


def _product(flipped: Array, differences: Array) -> Array:
    with single_threaded_blas():  # more BLAS threads would wait for each other at every block
        return np.asarray(flipped @ differences)


TESTS = {"randomisation": randomisation, "t": paired_t, "wilcoxon": wilcoxon}


def p_values(
    differences: Array, test: str, n_resamples: int = N_RESAMPLES, random_state: int = 0, reach: Array | float = np.inf
) -> Array:
    """Return the p-values of the test of that name; ``reach`` as in ``paired_t``."""
    check_name("test", test, TESTS)
    if test == "randomisation":
        return randomisation(differences, n_resamples, random_state)
    return paired_t(differences, reach) if test == "t" else wilcoxon(differences)


def holm(p_values: Array) -> Array:
    """Return p-values corrected for their number by Holm's step-down rule.

    The i-th smallest of m is multiplied by m - i + 1, and none may fall below a smaller one. It is valid for any
    dependence between the tests and rejects everything that Bonferroni's rule rejects.
    """
    order = np.argsort(p_values, kind="stable")
    raised = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def effect_sizes(differences: Array) -> Array:
    """Return Cohen's d of the paired differences, mean / standard deviation; 0 where all are zero, NaN for one query.

    Unlike p it does not grow with the number of queries; 0.2 is commonly called small, 0.5 medium, 0.8 large.
    """
    if len(differences) < 2:
        return np.full(differences.shape[1], np.nan)
    mean, deviation = differences.mean(axis=0), differences.std(axis=0, ddof=1)
    without = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    return np.asarray(np.divide(mean, deviation, out=without, where=deviation > 0), np.float64)
