"""A user's loss: a function of the scores and labels of one query that returns a value and its gradient."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import compiled_own
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import ArgrankError, InputError, OptionError, is_finite, shown
from argrank.objectives.objective import Objective, Prepared, refuse_row_weights, require_labels

#: From scores and labels of one query to the loss and its gradient by the scores.
Loss = Callable[[Floats, Floats], Any]

TRIED_QUERIES, TRIED_DOCUMENTS = 3, 20  # queries whose gradient is compared with finite differences
STEP = 1e-5  # step of those differences, in units of 1 + |score|
CLOSE = 1e-4  # tolerance of gradients, relative to the greatest, or to 1
SAME = 1e-9  # relative difference that compiled code may have from Python


@dataclass(frozen=True, kw_only=True)
class FunctionObjective(Objective):
    """The mean over queries of ``function(scores, labels)``.

    Before it is first used, its gradient is compared with finite differences at random scores of some queries, unless
    ``check`` is False. Machine code is used if numba can compile the function and the results agree.
    """

    name: ClassVar[str] = "custom"

    function: Loss
    check: bool
    convex: bool  # type: ignore[misc]  # as the user declares, like the next
    smooth: bool  # type: ignore[misc]

    def prepare(self, data: Dataset) -> Prepared:
        """Check the function once, and keep the labels."""
        refuse_row_weights(data, self.name)
        labels = np.ascontiguousarray(require_labels(data, self.name), np.float64)
        samples = _samples(data, labels)
        if self.check and self.function not in _checked:
            for scores, own in samples:
                _check_gradient(self.function, scores, own)
            _checked.add(self.function)
        return FunctionCalls(self.function, data.indptr, labels, _trusted(self.function, samples))


class FunctionCalls(Prepared):
    """A function, called for one query after the other."""

    ranks = False

    def __init__(self, function: Loss, indptr: Integers, labels: Floats, code: Loss | None) -> None:
        self.indptr, self._function, self._labels, self._code = indptr, function, labels, code

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Return the values and fill in the gradients."""
        losses = np.empty(last - first)
        start = int(self.indptr[first])
        for query in range(first, last):
            rows = slice(int(self.indptr[query]), int(self.indptr[query + 1]))
            block = slice(rows.start - start, rows.stop - start)
            losses[query - first], gradient[block] = called(
                self._function, self._code, scores[block], self._labels[rows]
            )
        return losses


def called(function: Loss, code: Loss | None, scores: Floats, labels: Floats) -> tuple[float, Floats]:
    """Call a function for one query, by machine code if there is any; its errors are raised as ours."""
    name = _name(function)
    try:
        found = function(scores.copy(), labels.copy()) if code is None else code(scores, labels)
    except ArgrankError:
        raise
    except Exception as error:
        raise InputError(
            f"objective {name}: {type(error).__name__}: {error}; scores {_shown(scores)}, labels {_shown(labels)}"
        ) from error
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise InputError(f"objective {name}: expected a pair of the value and its gradient, got {shown(found)}")
    value, slope = found
    slopes = np.asarray(slope)
    if not is_finite(value) or slopes.shape != scores.shape or not np.isfinite(slopes).all():
        raise InputError(
            f"objective {name}: expected a finite value and a gradient of {len(scores)} finite numbers, got "
            f"{shown(value)} and {shown(slope)}; scores {_shown(scores)}, labels {_shown(labels)}"
        )
    return float(value), slopes


_checked: set[Loss] = set()  # functions whose gradients have been checked


def _samples(data: Dataset, labels: Floats) -> list[tuple[Floats, Floats]]:
    """Return random scores and the labels of some queries, of those whose labels differ if there are any."""
    differ = np.maximum.reduceat(labels, data.indptr[:-1]) > np.minimum.reduceat(labels, data.indptr[:-1])
    queries = np.argsort(~differ, kind="stable")[:TRIED_QUERIES].tolist()
    random = np.random.default_rng(0)
    parts = [labels[data.indptr[query] : data.indptr[query + 1]] for query in queries]
    return [(random.standard_normal(len(part)), part) for part in parts]


def _check_gradient(function: Loss, scores: Floats, labels: Floats) -> None:
    """Raise if a gradient is not the slope of the value; at a kink the slope to either side is accepted."""
    value, gradient = called(function, None, scores, labels)
    greatest = max(1.0, float(np.abs(gradient).max(initial=0.0)))
    for place in range(min(len(scores), TRIED_DOCUMENTS)):
        step = STEP * (1.0 + abs(scores[place]))
        aside = np.zeros(len(scores))
        aside[place] = step
        above, below = (called(function, None, scores + sign * aside, labels)[0] for sign in (1.0, -1.0))
        slopes = [(above - below) / (2.0 * step), (above - value) / step, (value - below) / step]
        if min(abs(slope - gradient[place]) for slope in slopes) > CLOSE * max(greatest, abs(slopes[0])):
            raise OptionError(
                f"objective {_name(function)}: its gradient is not the slope of its value: for document {place + 1} of "
                f"a query the gradient is {gradient[place]:.6g}, and finite differences give {slopes[0]:.6g}; scores "
                f"{_shown(scores)}, labels {_shown(labels)}; check=False trains on it anyway"
            )


def _trusted(function: Loss, samples: list[tuple[Floats, Floats]]) -> Loss | None:
    """Return the machine code of a function if it gives the same as Python for some queries."""
    code = _machine_code(function)
    return code if code is not None and all(_same(function, code, *sample) for sample in samples) else None


@functools.lru_cache(maxsize=256)
def _machine_code(function: Loss) -> Loss | None:
    code = compiled_own(function, 2, returns_number=False)
    if code is None:
        logging.getLogger("argrank").warning(
            "objective %s: numba cannot compile this function, so it runs as Python", _name(function)
        )
    return code


def _same(function: Loss, code: Loss, scores: Floats, labels: Floats) -> bool:
    value, gradient = called(function, None, scores, labels)
    try:
        other, slopes = called(function, code, scores, labels)
    except InputError:
        return False
    close = functools.partial(np.allclose, rtol=SAME, atol=SAME)
    return bool(close(value, other) and close(gradient, slopes))


def _name(function: Loss) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _shown(values: Floats) -> str:
    return shown([float(f"{one:.4g}") for one in values.tolist()], 100)
