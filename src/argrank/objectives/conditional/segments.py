"""Sums, expectations and log-sums over the rankings of each query, for many queries at once."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats, Integers


class Segments:
    """Adjacent stretches of an array, none of them empty, one for every query."""

    def __init__(self, borders: Integers) -> None:
        self._starts = borders[:-1] - borders[0]
        self._counts = np.diff(borders)

    def spread(self, values: Floats) -> Floats:
        """Give every element the value of its stretch."""
        return np.repeat(values, self._counts)

    def sum(self, values: Floats) -> Floats:
        """Add up each stretch."""
        return np.add.reduceat(values, self._starts)

    def log_sum(self, exponents: Floats) -> tuple[Floats, Floats]:
        """Return log of the sum of exp of each stretch, and exp as shares of that sum; -inf and 0 where all are -inf.

        Shifted by the greatest exponent: nothing overflows.
        """
        top = np.maximum.reduceat(exponents, self._starts)
        shift = np.where(np.isfinite(top), top, 0.0)
        terms = np.exp(exponents - self.spread(shift))
        total = self.sum(terms)
        with np.errstate(divide="ignore"):
            logs = np.log(total) + shift
        return logs, terms / self.spread(np.where(total > 0, total, 1.0))
