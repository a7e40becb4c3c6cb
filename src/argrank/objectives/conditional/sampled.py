"""Objectives as sums over sampled rankings: two dense products a query, and a little arithmetic between them.

``exponents = -w · dphi`` of all rankings come from the coefficient rows times the scores; an objective says what its
value and its slope by the exponents are; the rows, transposed, carry the slopes back to the documents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from argrank._jit import LazyKernel, read_only
from argrank._types import Floats, Integers
from argrank.objectives.conditional.sampling import Sample
from argrank.objectives.objective import Prepared


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


#: Losses of the queries and slopes of the exponents, from exponents and losses of the rankings.
Form = Callable[[Floats, Floats, Segments], tuple[Floats, Floats]]


def _forward(rows: Any, cells: Any, samples: Any, indptr: Any, scores: Any, values: Any) -> None:
    """Fill in the products of every ranking's row with its query's scores."""
    for query in range(len(indptr) - 1):
        start, n = indptr[query] - indptr[0], indptr[query + 1] - indptr[query]
        cell = cells[query]
        for sample in range(samples[query] - samples[0], samples[query + 1] - samples[0]):
            a, b, c, d = 0.0, 0.0, 0.0, 0.0  # four sums side by side: the processor adds them at once
            for column in range(0, n - 3, 4):
                a += rows[cell + column] * scores[start + column]
                b += rows[cell + column + 1] * scores[start + column + 1]
                c += rows[cell + column + 2] * scores[start + column + 2]
                d += rows[cell + column + 3] * scores[start + column + 3]
            for column in range(n - n % 4, n):
                a += rows[cell + column] * scores[start + column]
            values[sample] = (a + b) + (c + d)
            cell += n


def _backward(rows: Any, cells: Any, samples: Any, indptr: Any, slopes: Any, gradient: Any) -> None:
    """Fill in the sums over the rankings of a slope times the row."""
    for query in range(len(indptr) - 1):
        start, n = indptr[query] - indptr[0], indptr[query + 1] - indptr[query]
        cell = cells[query]
        part = gradient[start : start + n]
        part[:] = 0.0
        for sample in range(samples[query] - samples[0], samples[query + 1] - samples[0]):
            slope = slopes[sample]
            if slope != 0.0:
                row = rows[cell : cell + n]
                for column in range(n):
                    part[column] += slope * row[column]
            cell += n


def _signature(element: str) -> Callable[[Any], Any]:
    def signature(types: Any) -> Any:
        whole = read_only(types, "int64")
        return types.void(read_only(types, element), whole, whole, whole, read_only(types), types.float64[::1])

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

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Return the losses of a block of queries and fill in the gradients by their scores."""
        sample, element = self.sample, self.sample.rows.dtype.name
        samples = sample.samples[first : last + 1]
        here = slice(int(samples[0]), int(samples[-1]))
        where = (sample.rows, sample.cells[first : last + 1], samples, self.indptr[first : last + 1])
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
