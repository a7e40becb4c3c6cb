"""Decay vectors of the positions map: how much the document at rank r counts."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, shown, unknown_name
from argrank.objectives.structured.problem import Problem

DECAYS = ("linear", "log2", "loglog", "measure", "sqrt")


def decay_vector(problem: Problem, n: int) -> Floats:
    """Return the weights of the ranks 0 … n - 1; they never rise.

    A given vector that is shorter than n is extended by zeros, which needs it to be >= 0.
    """
    decay, r = problem.decay, np.arange(float(n))
    if isinstance(decay, str):
        return _named(problem, decay, r)
    if isinstance(decay, int | float) and not isinstance(decay, bool):
        if decay < 0:
            raise OptionError(f"{problem.name}: expected decay (1+r)^-d with d >= 0, got d={decay!r}")
        return np.asarray((1.0 + r) ** -float(decay))
    try:
        given = np.asarray(decay, np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"{problem.name}: expected decay to be a name, number or vector, got {shown(decay)}"
        ) from error
    if given.ndim != 1 or len(given) == 0 or not np.isfinite(given).all() or (np.diff(given) > 0).any():
        raise OptionError(
            f"{problem.name}: expected a decay vector of finite numbers that never rise, got {shown(decay)}"
        )
    if len(given) < n and given[-1] < 0:
        raise OptionError(
            f"{problem.name}: expected a decay vector for all {n} ranks of the longest query, or one >= 0 that zeros "
            f"can extend, got {len(given)} numbers down to {given[-1]:g}"
        )
    return np.concatenate((given[:n], np.zeros(max(n - len(given), 0))))


def _named(problem: Problem, decay: str, r: Floats) -> Floats:
    if decay == "sqrt":
        values = 1.0 / np.sqrt(1.0 + r)
    elif decay == "log2":
        values = 1.0 / np.log2(r + 2.0)
    elif decay == "loglog":
        values = 1.0 / np.log2(np.log2(r + 2.0) + 1.0)
    elif decay == "measure":
        values = problem.worth(len(r))
    elif decay == "linear":
        k = len(r) if problem.k is None else problem.k
        values = np.maximum(k - r, 0.0)
    else:
        raise unknown_name("decay", decay, DECAYS)
    return np.asarray(values)
