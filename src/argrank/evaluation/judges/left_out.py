"""Intervals of coefficients of agreement: queries are what was drawn, so queries are left out in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from argrank._types import Floats
from argrank.evaluation.defaults import LEVEL

MOST_GROUPS = 1_000  # of queries that are left out together; with fewer queries each is its own


class Estimate(NamedTuple):
    """A coefficient with its interval, NaN where there is none."""

    value: float
    low: float
    high: float


def estimate(coefficient: Callable[[Floats], Floats], tables: Floats, level: float = LEVEL) -> Estimate:
    """Return a coefficient of the sum of ``tables``, one for each query or group of queries, with its interval.

    A jackknife: the coefficient without each query in turn says how far it moves, on the scale of log(1 - value), on
    which intervals keep below 1 and cover best (the guide has the simulations), with Student's t. Where one query holds
    all disagreement, some of these logarithms do not exist, and the plain scale is taken. NaN below two queries, and
    where there is no disagreement at all: how far that would hold, these queries cannot tell.
    """
    total, n = tables.sum(axis=0), len(tables)
    value = float(coefficient(total))
    if n < 2 or np.isnan(value) or value == 1:
        return Estimate(value, np.nan, np.nan)
    without = coefficient(total - tables)
    without = without[~np.isnan(without)]
    if len(without) < 2:
        return Estimate(value, np.nan, np.nan)
    on_log_scale = bool((without < 1).all())
    scaled, centre = (np.log(1 - without), np.log(1 - value)) if on_log_scale else (without, value)
    n = len(without)
    error = np.sqrt((n - 1) / n * np.sum((scaled - scaled.mean()) ** 2))
    reach = float(stdtrit(n - 1, 1 - level / 2) * error)
    if not on_log_scale:
        return Estimate(value, value - reach, min(value + reach, 1.0))
    return Estimate(value, float(1 - np.exp(centre + reach)), float(1 - np.exp(centre - reach)))
