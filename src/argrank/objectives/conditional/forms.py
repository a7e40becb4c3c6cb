"""LogRank's objectives as functions of the exponents ``-w · dphi(y)`` and the losses of a query's rankings.

Each returns the values of the queries and the slopes by the exponents. Logarithms of sums throughout; no bare exp.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from argrank._types import Floats
from argrank.objectives.conditional.sampled import Form, Segments


def gain(exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
    """Minus the log of the expected gain 1 - loss (ExpGain)."""
    with np.errstate(divide="ignore"):
        log_gains = np.log(1.0 - np.minimum(losses, 1.0))
    gained, shares_of_gain = segments.log_sum(exponents + log_gains)
    total, shares = segments.log_sum(exponents)
    return total - gained, shares - shares_of_gain


def expected(log_f: Callable[[Floats], Floats]) -> Form:
    """The expectation of f(loss); with f the identity LogRank's (4) and L2."""

    def form(exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
        _, shares = segments.log_sum(exponents)
        terms = np.exp(log_f(losses))
        means = segments.sum(shares * terms)
        return means, shares * (terms - segments.spread(means))

    return form


def log_expected(log_f: Callable[[Floats], Floats]) -> Form:
    """The log of the expectation of f(loss), LogRank's (5); 0 for a query that has nothing to lose."""

    def form(exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
        weighted, shares_of_loss = segments.log_sum(exponents + log_f(losses))
        total, shares = segments.log_sum(exponents)
        some = np.isfinite(weighted)
        values = np.where(some, np.where(some, weighted, 0.0) - total, 0.0)
        return values, np.where(segments.spread(some), shares_of_loss - shares, 0.0)

    return form


def combined(rho: float) -> Form:
    """L3 = L1 + rho L2: the log of the normaliser, plus the expected loss."""

    def form(exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
        total, shares = segments.log_sum(exponents)
        means = segments.sum(shares * losses)
        return total + rho * means, shares * (1.0 + rho * (losses - segments.spread(means)))

    return form


def convex(rho: float) -> Form:
    """ConvexLoss: the log of the sum of exp(rho loss - w · dphi)."""

    def form(exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
        return segments.log_sum(exponents + rho * losses)

    return form
