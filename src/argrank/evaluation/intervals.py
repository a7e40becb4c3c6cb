"""Confidence intervals of means and of mean differences.

Which kind is used was chosen by simulation (``experiments/intervals``). Means and differences are covered at least 93
times of 100 from 5 queries up on all but the longest tails, where the bootstrap needs hundreds. Where nothing can be
said both ends are NaN, and tables say "too few queries".

Values come as an array of shape (n_queries, n_columns) without undefined ones; every column is a sample of its own and
gets its own interval, so that the result has the shape (n_columns, 2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from argrank._types import Floats
from argrank.evaluation import significance
from argrank.evaluation.defaults import LEVEL, N_RESAMPLES, TEST
from argrank.evaluation.significance import ENOUGH, IMAGINED

TOO_FEW = "too few queries"


class Interval(NamedTuple):
    """The ends of an interval; both NaN if there are too few queries."""

    low: float
    high: float


def mean_interval(
    values: Floats,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    weight: Floats | None = None,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of the mean over queries, as ``mean_intervals``; queries without a value (NaN) are left out.

    ``weight`` has one number for each query, where the mean is a weighted one.
    """
    known = ~np.isnan(values)
    own = None if weight is None else weight[known]
    return Interval(*mean_intervals(values[known][:, None], bounds, weight=own, level=level)[0].tolist())


def mean_intervals(
    values: Floats,
    bounds: tuple[float, float] = (0.0, 1.0),
    *,
    weight: Floats | None = None,
    level: float = LEVEL,
) -> Floats:
    """Return 1 - level intervals of the mean of each column, whose values lie within ``bounds``.

    Wilson's score interval, made for 0/1 values: the mean of n such values with mean m has the variance m(1 - m) / n.
    Other bounded values vary less, by a factor phi, and count as n / phi queries; phi is the variance found over
    m(1 - m), with two imagined queries of phi = 1, since a few queries often underestimate the variance. Student's t
    replaces the normal quantile. The interval is short on the side of a bound and never leaves the bounds. If all
    values are equal it is that of ``unvaried``. Values without bounds get Student's interval, from 50 queries up.
    """
    low, high = bounds
    n, n_columns = values.shape
    share = np.ones(n) if weight is None else weight
    used = share > 0
    values, share = values[used], share[used] / (share.sum() or 1.0)
    n = len(values)
    if n < 2:
        return np.full((n_columns, 2), np.nan)
    mean = share @ values
    variance = share**2 @ (values - mean) ** 2 * (n / (n - 1))  # of the mean
    t = float(stdtrit(n - 1, 1 - level / 2))
    if not np.isfinite(high - low) or values.min() < low or values.max() > high:
        half = np.where(significance.all_equal(values) | (n < ENOUGH), np.nan, t * np.sqrt(variance))
        return np.stack([mean - half, mean + half], axis=1)
    count = 1 / float(share @ share)  # of equally weighted queries: Kish's effective number
    place = np.clip((mean - low) / (high - low), 0.0, 1.0)
    greatest = place * (1 - place)
    ratio = np.divide(count * variance / (high - low) ** 2, greatest, out=np.ones(n_columns), where=greatest > 0)
    spread = t**2 / count * (count * ratio + IMAGINED) / (count + IMAGINED)
    ends = low + (high - low) * score_ends(place, spread)
    equal = np.ptp(values, axis=0) <= significance.ROUNDING * (high - low)
    return np.where(equal[:, None], unvaried(values[0], count, low, high, level), ends)


def score_ends(place: Floats | float, spread: Floats | float) -> Floats:
    """Return the ends of Wilson's interval of means at ``place`` between 0 and 1, in the last axis.

    ``spread`` is the square of the quantile times the variance of the mean over place (1 - place).
    """
    centre = (place + spread / 2) / (1 + spread)
    half = np.sqrt(spread * place * (1 - place) + spread**2 / 4) / (1 + spread)
    return np.stack([centre - half, centre + half], axis=-1)


def difference_intervals(
    differences: Floats,
    test: str = TEST,
    *,
    reach: Floats | float = np.inf,
    level: float = LEVEL,
    n_resamples: int = N_RESAMPLES,
    random_state: int = 0,
) -> Floats:
    """Return intervals of the mean difference: the differences that the test of the same row would not reject.

    So an interval leaves out 0 just where p is at most ``level``. Of "t" it is Student's, with the
    ``significance.standard_errors``; of "randomisation" the ends follow from the means of all subsets (or of the same
    random ones as in the test). Wilcoxon's test is about ranks and has no interval of a mean: NaN. ``reach`` is how far
    from 0 a difference can be, for each column or all: it matters where few queries differ, and where all differences
    are equal, which says nothing without it.
    """
    n, n_pairs = differences.shape
    if n < 2 or test == "wilcoxon":
        return np.full((n_pairs, 2), np.nan)
    far = np.broadcast_to(np.asarray(reach, np.float64), (n_pairs,))
    if test == "randomisation":
        ends = significance.randomisation_intervals(differences, level, n_resamples, random_state)
        clipped = np.clip(ends, -far[:, None], far[:, None])
        return np.where(np.isfinite(clipped).all(axis=1, keepdims=True), clipped, np.nan)
    mean = differences.mean(axis=0)
    half = stdtrit(n - 1, 1 - level / 2) * significance.standard_errors(differences, far)
    ends = np.stack([mean - half, mean + half], axis=1)
    equal = significance.all_equal(differences)
    known = np.where(np.isfinite(far), far, 0.0)
    bounded = unvaried(differences[0], n, -known, known, level)
    bounded[~np.isfinite(far)] = np.nan
    return np.clip(np.where(equal[:, None], bounded, ends), -far[:, None], far[:, None])


def resampled_intervals(found: Floats, level: float = LEVEL) -> Floats:
    """Return percentile intervals, of shape (2, n_columns), of estimates on resampled queries, one per row.

    The quantiles are those of Weibull, i / (n + 1): interpolating between the least and the greatest of n resamples, as
    NumPy does by default, makes intervals a sixth too short for 50 of them.
    """
    return np.asarray(np.quantile(found, [level / 2, 1 - level / 2], axis=0, method="weibull"), np.float64)


def difference_text(low: float, high: float) -> str:
    """Return the interval of a difference as text."""
    return TOO_FEW if np.isnan(low) else f"[{low:+.4f}, {high:+.4f}]"


def unvaried(value: Floats, n: float, low: Floats | float, high: Floats | float, level: float) -> Floats:
    """Return intervals of the means of values that were the same on all of n queries and lie between low and high.

    If the mean were above the upper end, more than a share ``1 - (level / 2) ** (1 / n)`` of the queries would have to
    lie above the observed value, and the probability that none of n does is below ``level / 2``. For 0/1 values this is
    the interval of Clopper and Pearson.
    """
    unseen = 1 - (level / 2) ** (1 / n)
    return np.stack([value - unseen * (value - low), value + unseen * (high - value)], axis=1)
