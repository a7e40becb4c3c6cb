"""The mean of a measure by cheap judgements of all queries, corrected by trusted judgements of a sample of them.

Prediction-powered inference (Angelopoulos et al., Science 2023) with power tuning (PPI++, 2023), which for means is
survey sampling's difference estimator. With f the measure by cheap and y by trusted judgements, all queries All and
trusted ones T:

    estimate = mean_T(y) + lambda * (mean_All(f) - mean_T(f))

For any lambda and any f, its expected value is that of y, because T is a random sample. The variance has two parts:
that of y - lambda f from sampling T from All, and that of y from sampling All from future queries. The lambda with the
least variance is the slope of y on f, kept between 0 and 1.

All means are over queries where the measure is defined, weighted where queries have weights, and by 1 / probability
where queries were drawn with unequal probabilities (Hájek's form), so that they are ratios: the same formulas with y -
estimate instead of y, divided by the mean of the weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from argrank._types import Floats, Integers
from argrank.evaluation.intervals import mean_interval, score_ends
from argrank.evaluation.significance import ENOUGH, IMAGINED

LEAST = 3  # fewest trusted queries for a slope and its variance


class Powered(NamedTuple):
    """A prediction-powered mean.

    ``tuning`` is lambda, ``alone`` the mean over trusted queries alone, ``cheap`` that over all cheap judgements,
    ``worth`` the number of trusted queries that would be as precise without cheap judgements; NaN if unknown.
    """

    mean: float
    low: float
    high: float
    tuning: float
    alone: float
    cheap: float
    worth: float


class Sums(NamedTuple):
    """The terms of a mean over queries: value times weight, and weight; both 0 if the measure is undefined."""

    top: Floats
    weight: Floats

    @classmethod
    def of(cls, values: Floats, weight: Floats) -> Sums:
        """Return the parts of the weighted mean of values, of which NaN do not count."""
        known = ~np.isnan(values)
        return cls(np.where(known, values, 0.0) * weight * known, weight * known)

    def around(self, mean: float) -> Floats:
        """Return each query's contribution to the difference between the mean and another value."""
        return self.top - mean * self.weight


def powered_mean(
    cheap: Floats,
    trusted: Floats,
    where: Integers,
    weight: Floats,
    probability: Floats | None,
    bounds: tuple[float, float],
    level: float,
) -> Powered:
    """Return the corrected mean of a measure and its interval.

    Parameters
    ----------
    cheap : array of shape (n_queries,)
        The measure by cheap judgements, NaN where it is undefined.
    trusted, where, probability : arrays of shape (n_trusted,)
        The measure by trusted judgements, the places of these queries in ``cheap``, and their chances of being drawn;
        None where all had the same.
    weight : array of shape (n_queries,)
    bounds : tuple
        Between which the measure lies.

    The slope is estimated from the same queries, which makes residuals too small: they are divided by n - 2, as in a
    regression, and Student's t has n - 2 degrees of freedom. For bounded measures the interval is Wilson's with two
    imagined queries of the greatest variance, as for plain means, in addition to the effective number behind the slope:
    a few trusted queries on which both judgements agree do not show that they always do.
    """
    n_queries, n = len(cheap), len(trusted)
    every, predicted = Sums.of(cheap, weight), Sums.of(cheap[where], weight[where])
    seen = Sums.of(trusted, weight[where])
    draw = np.full(n, n_queries / max(n, 1)) if probability is None else 1 / probability
    share = draw / (draw.sum() or 1.0)
    over_all = every.top.sum() / every.weight.sum() if every.weight.any() else np.nan
    if not seen.weight.any():
        return Powered(np.nan, np.nan, np.nan, np.nan, np.nan, float(over_all), np.nan)
    alone = float(share @ seen.top / (share @ seen.weight))
    slope, rests_on = _slope(predicted.around(alone), seen.around(alone), share)
    mean, below = _corrected(every, predicted, seen, share, slope)
    if not below > 0:
        slope, (mean, below) = 0.0, _corrected(every, predicted, seen, share, 0.0)
    both = share * seen.weight
    count = float(both.sum() ** 2 / (both**2).sum())  # of equally weighted trusted queries (Kish)
    spread = seen.around(mean) / below
    if count < LEAST or not spread.any():  # too few for a slope, or all equal: ignore cheap judgements
        low, high = mean_interval(trusted, bounds, weight=share * weight[where], level=level)
        return Powered(alone, low, high, 0.0, alone, float(over_all), count)
    left = spread - slope * predicted.around(mean) / below
    sample, population = _variances(spread, left, draw, n_queries)
    known = min(count, rests_on) if slope > 0 else count
    imagined = _greatest(mean, bounds) * (1 - n / n_queries) / count
    sample = _with_imagined(sample * count / (count - 2) * (1 + 1 / count), known, imagined)
    without = _variances(spread, spread, draw, n_queries)[0] * count / (count - 1)
    worth = count * (_with_imagined(without, count, imagined) + population) / (sample + population)
    low, high = _ends(mean, sample + population, count, bounds, level)
    return Powered(mean, low, high, slope, alone, float(over_all), float(worth))


def _slope(predicted: Floats, seen: Floats, share: Floats) -> tuple[float, float]:
    """Return lambda, and the effective number of queries behind it, which is small if few are far from the mean."""
    centred = predicted - share @ predicted
    squares = share * centred**2
    if not squares.any():
        return 0.0, 0.0
    slope = float(np.clip(share @ (centred * seen) / squares.sum(), 0.0, 1.0))
    return slope, float(squares.sum() ** 2 / (squares**2).sum())


def _corrected(every: Sums, predicted: Sums, seen: Sums, share: Floats, slope: float) -> tuple[float, float]:
    """Return the mean, and the mean weight by which sums are divided."""
    top, weight = (
        float(share @ own + slope * (whole.mean() - share @ part))
        for own, whole, part in zip(seen, every, predicted, strict=True)
    )
    return (top / weight if weight > 0 else np.nan), weight


def _variances(spread: Floats, left: Floats, draw: Floats, n_queries: int) -> tuple[float, float]:
    """Return the variance from drawing the trusted queries, and that from drawing all queries."""
    total = draw.sum()
    sample = float((draw * (draw - 1)) @ (left - draw @ left / total) ** 2 / total**2)
    population = float(draw @ (spread - draw @ spread / total) ** 2 / total / n_queries)
    return sample, population


def _greatest(mean: float, bounds: tuple[float, float]) -> float:
    """Return the greatest variance that values between bounds can have around their mean; 0 without bounds."""
    low, high = bounds
    return max((mean - low) * (high - mean), 0.0) if np.isfinite(high - low) else 0.0


def _with_imagined(variance: float, known: float, imagined: float) -> float:
    return (known * variance + IMAGINED * imagined) / (known + IMAGINED) if imagined else variance


def _ends(mean: float, variance: float, count: float, bounds: tuple[float, float], level: float) -> tuple[float, float]:
    t, (low, high) = float(stdtrit(count - 2, 1 - level / 2)), bounds
    greatest = _greatest(mean, bounds)
    if not np.isfinite(high - low):
        reach = t * np.sqrt(variance) if count >= ENOUGH else np.nan
        return mean - reach, mean + reach
    if greatest == 0:
        return np.nan, np.nan
    first, last = (low + (high - low) * score_ends((mean - low) / (high - low), t**2 * variance / greatest)).tolist()
    return first, last
