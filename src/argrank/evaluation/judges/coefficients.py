"""Coefficients of agreement as functions of tables of counts: every one takes a stack of shape (…, grades, grades).

``counts[a, b]`` is how many documents the first judge gave grade a and the second grade b. ``coincidences`` is
Krippendorff's table of any number of judges: every ordered pair of judgements of one document adds 1 / (judgements of
this document - 1), so that a document counts as often as it was judged. Both kinds add up over queries, which is why
leaving out a query is a subtraction. A coefficient is NaN if chance alone gives full agreement, for instance if all
grades are equal, and if nothing was compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from argrank._types import Floats
from argrank.evaluation.defaults import LEVEL

METRICS = ("nominal", "ordinal", "interval")
WEIGHTS_POWER = {"linear": 1, "quadratic": 2}


def raw_agreement(counts: Floats) -> Floats:
    """Return the share of judgements that are equal; the same for counts and coincidences."""
    return _ratio(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def kappa(counts: Floats, grades: Floats, weights: str | None = None) -> Floats:
    """Return Cohen's kappa (1960), with ``weights`` his weighted kappa (1968).

    One minus the observed disagreement over that expected by chance, where a disagreement of grades a and b counts 1,
    |a - b| ("linear") or (a - b)² ("quadratic"), and chance keeps the frequencies of each judge's grades. Distances are
    those of the grades' values, so that unused grades change nothing.
    """
    distance = np.abs(grades[:, None] - grades[None, :])
    cost = (distance > 0).astype(np.float64) if weights is None else distance ** WEIGHTS_POWER[weights]
    rows, columns = counts.sum(axis=-1), counts.sum(axis=-2)
    observed = (counts * cost).sum(axis=(-2, -1))
    expected = np.einsum("...a,ab,...b->...", rows, cost, columns)
    return 1 - _ratio(observed * rows.sum(axis=-1), expected)


def alpha(coincidences: Floats, grades: Floats, metric: str) -> Floats:
    """Return Krippendorff's alpha: 1 - (n - 1) Σ o(c, k) δ(c, k) / Σ n(c) n(k) δ(c, k).

    δ is 0 or 1 ("nominal"), the squared difference of the grades ("interval"), or that of their mid-ranks among all
    judgements ("ordinal"), which equals Krippendorff's ordinal metric.
    """
    each = coincidences.sum(axis=-1)
    n = each.sum(axis=-1)
    if metric == "nominal":
        observed = n - np.trace(coincidences, axis1=-2, axis2=-1)
        expected = n**2 - (each**2).sum(axis=-1)
    else:
        at = np.broadcast_to(grades, each.shape) if metric == "interval" else np.cumsum(each, axis=-1) - each / 2
        at = at - _ratio((each * at).sum(axis=-1), n)[..., None]  # centred, for precision
        squares = (each * at**2).sum(axis=-1)
        observed = 2 * (squares - np.einsum("...a,...ab,...b->...", at, coincidences, at))
        expected = 2 * n * squares
    return 1 - _ratio((n - 1) * observed, expected)


def grade_agreement(coincidences: Floats) -> Floats:
    """Return for every grade the probability that a second judge gives it if the first one did: specific agreement."""
    return _ratio(np.diagonal(coincidences, axis1=-2, axis2=-1), coincidences.sum(axis=-1))


def grade_alpha(coincidences: Floats) -> Floats:
    """Return for every grade the alpha of the question whether a document has this grade or another."""
    each = coincidences.sum(axis=-1)
    n = each.sum(axis=-1)[..., None]
    observed = each - np.diagonal(coincidences, axis1=-2, axis2=-1)
    return 1 - _ratio((n - 1) * observed, each * (n - each))


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return the quotient; NaN where it is 0 / 0, or below 0 by rounding."""
    found: Floats = np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)
    return found


MOST_GROUPS = 1_000  # groups of queries that are left out together; with fewer queries, each is its own group


class Estimate(NamedTuple):
    """A coefficient with its interval, NaN where there is none."""

    value: float
    low: float
    high: float


def estimate(coefficient: Callable[[Floats], Floats], tables: Floats, level: float = LEVEL) -> Estimate:
    """Return a coefficient of the sum of ``tables``, one for each query or group of queries, with its interval.

    A jackknife over queries on the scale of log(1 - value), on which intervals stay below 1 and cover best (the guide
    has the simulations), with Student's t. If one query has all disagreement, some of these logarithms do not exist,
    and the plain scale is used. NaN for fewer than two queries, and if there is no disagreement at all.
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
