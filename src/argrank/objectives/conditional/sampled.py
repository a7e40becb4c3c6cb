"""Objectives as sums over sampled rankings, whose exponents are running sums along the walks of the sample.

Half of ``w · dphi`` changes with every move of a walk by the difference of two scores, so that the cost of all
exponents is proportional to the number of moves. An objective defines its value and its slope with respect to the
exponents; sums of the slopes, from the end of a walk to its start, give the gradient by documents. The objectives
themselves are at the end of this file, as functions of the exponents ``-w · dphi(y)`` and the losses of a query's
rankings: each returns the values of the queries and the slopes by the exponents, with logarithms of sums throughout and
no bare exp.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from argrank._jit import LazyKernel, read_only
from argrank._types import Floats, Integers
from argrank.objectives.conditional.sampling import Sample
from argrank.objectives.objective import Prepared


class Segments:
    """Adjacent non-empty segments of an array, one for every query."""

    def __init__(self, borders: Integers) -> None:
        self._starts = borders[:-1] - borders[0]
        self._counts = np.diff(borders)

    def spread(self, values: Floats) -> Floats:
        """Repeat the value of each segment for its elements."""
        return np.repeat(values, self._counts)

    def sum(self, values: Floats) -> Floats:
        """Sum each segment."""
        return np.add.reduceat(values, self._starts)

    def log_sum(self, exponents: Floats) -> tuple[Floats, Floats]:
        """Return the log of the sum of exp of each segment, and exp as shares of that sum; -inf and 0 if all are -inf.

        Shifted by the greatest exponent: nothing overflows.
        """
        top = np.maximum.reduceat(exponents, self._starts)
        shift = np.where(np.isfinite(top), top, 0.0)
        terms = np.exp(exponents - self.spread(shift))
        total = self.sum(terms)
        with np.errstate(divide="ignore"):
            logs = np.log(total) + shift
        return logs, terms / self.spread(np.where(total > 0, total, 1.0))


#: Losses of the queries and slopes of the exponents, from exponents and losses of the rankings.
Form = Callable[[Floats, Floats, Segments], tuple[Floats, Floats]]


def _forward(
    states: Any, cells: Any, samples: Any, origin: Any, borders: Any, flips: Any, indptr: Any, scores: Any, values: Any
) -> None:
    """Fill in half of w · dphi of every ranking."""
    for query in range(len(indptr) - 1):
        n = indptr[query + 1] - indptr[query]
        own = scores[indptr[query] - indptr[0] : indptr[query] - indptr[0] + n]
        value = 0.0
        for sample in range(samples[query], samples[query + 1]):
            if origin[sample] >= 0:
                value = 0.0
                if origin[sample] > 0:
                    state = states[cells[query] + (origin[sample] - 1) * n : cells[query] + origin[sample] * n]
                    for column in range(n):
                        value += state[column] * own[column]
            for move in range(borders[sample], borders[sample + 1]):
                value += own[flips[move, 0]] - own[flips[move, 1]]
            values[sample - samples[0]] = value


def _backward(
    states: Any,
    cells: Any,
    samples: Any,
    origin: Any,
    borders: Any,
    flips: Any,
    indptr: Any,
    slopes: Any,
    gradient: Any,
) -> None:
    """Fill in the sums over the rankings of a slope times the coefficients."""
    for query in range(len(indptr) - 1):
        n = indptr[query + 1] - indptr[query]
        part = gradient[indptr[query] - indptr[0] : indptr[query] - indptr[0] + n]
        part[:] = 0.0
        slope = 0.0
        for sample in range(samples[query + 1] - 1, samples[query] - 1, -1):
            slope += slopes[sample - samples[0]]
            for move in range(borders[sample], borders[sample + 1]):
                part[flips[move, 0]] += slope
                part[flips[move, 1]] -= slope
            if origin[sample] >= 0:
                if origin[sample] > 0:
                    state = states[cells[query] + (origin[sample] - 1) * n : cells[query] + origin[sample] * n]
                    for column in range(n):
                        part[column] += slope * state[column]
                slope = 0.0


def _signature(element: str) -> Callable[[Any], Any]:
    def signature(types: ModuleType) -> Any:
        whole, documents = read_only(types, "int64"), types.Array(getattr(types, element), 2, "C", readonly=True)
        return types.void(
            read_only(types, element), whole, whole, read_only(types, "int32"), whole, documents, whole,
            read_only(types), types.float64[::1],
        )  # fmt: skip

    return signature


FORWARD = {element: LazyKernel(_forward, _signature(element)) for element in ("int16", "int32")}
BACKWARD = {element: LazyKernel(_backward, _signature(element)) for element in ("int16", "int32")}


class Sampled(Prepared):
    """A form of objective over the rankings of a sample."""

    ranks = False

    def __init__(self, indptr: Integers, sample: Sample, form: Form, scaled: bool) -> None:
        self.indptr, self.sample, self._form = indptr, sample, form
        self._scale = np.full(len(indptr) - 1, -2.0)
        if scaled:
            self._scale /= np.maximum(sample.n_pairs, 1.0)

    @property
    def sampled(self) -> tuple[int, Integers] | None:
        """The bytes and the sizes of the samples of all queries."""
        return self.sample.nbytes, np.diff(self.sample.samples)

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Return the losses of a block of queries and fill in the gradients by their scores."""
        sample, element = self.sample, self.sample.flips.dtype.name
        samples = sample.samples[first : last + 1]
        here = slice(int(samples[0]), int(samples[-1]))
        where = (
            sample.states, sample.cells[first : last + 1], samples, sample.origin, sample.borders, sample.flips,
            self.indptr[first : last + 1],
        )  # fmt: skip
        exponents = np.empty(here.stop - here.start)
        FORWARD[element](*where, scores, exponents)
        segments = Segments(samples)
        scale = segments.spread(self._scale[first:last])
        exponents *= scale
        exponents += sample.log_weights[here]
        values, slopes = self._form(exponents, sample.losses[here], segments)
        slopes *= scale
        BACKWARD[element](*where, slopes, gradient)
        return values


def minus_log_gain(exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
    """Minus the log of the expected gain 1 - loss (ExpGain)."""
    with np.errstate(divide="ignore"):
        log_gains = np.log(1.0 - np.minimum(losses, 1.0))
    gained, shares_of_gain = segments.log_sum(exponents + log_gains)
    total, shares = segments.log_sum(exponents)
    return total - gained, shares - shares_of_gain


def expected_loss(
    log_f: Callable[[Floats], Floats], exponents: Floats, losses: Floats, segments: Segments
) -> tuple[Floats, Floats]:
    """The expectation of f(loss); with f the identity LogRank's (4) and L2."""
    _, shares = segments.log_sum(exponents)
    terms = np.exp(log_f(losses))
    means = segments.sum(shares * terms)
    return means, shares * (terms - segments.spread(means))


def log_expected_loss(
    log_f: Callable[[Floats], Floats], exponents: Floats, losses: Floats, segments: Segments
) -> tuple[Floats, Floats]:
    """The log of the expectation of f(loss), LogRank's (5); 0 for a query in which no ranking loses anything."""
    weighted, shares_of_loss = segments.log_sum(exponents + log_f(losses))
    total, shares = segments.log_sum(exponents)
    some = np.isfinite(weighted)
    values = np.where(some, np.where(some, weighted, 0.0) - total, 0.0)
    return values, np.where(segments.spread(some), shares_of_loss - shares, 0.0)


def likelihood_and_loss(rho: float, exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
    """L3 = L1 + rho L2: the log of the normaliser, plus the expected loss."""
    total, shares = segments.log_sum(exponents)
    means = segments.sum(shares * losses)
    return total + rho * means, shares * (1.0 + rho * (losses - segments.spread(means)))


def convex_loss(rho: float, exponents: Floats, losses: Floats, segments: Segments) -> tuple[Floats, Floats]:
    """ConvexLoss: the log of the sum of exp(rho loss - w · dphi)."""
    return segments.log_sum(exponents + rho * losses)
