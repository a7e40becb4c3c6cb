"""A derivative-free search for weights, for scores that are not sums: means that leave out missing documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError
from argrank.linesearch.step_function import BETTER

STEPS = (0.2, 0.1, 0.05, 0.02, 0.01)  # shares that move from one system to another
N_RANDOM = 8
N_CLIMBS = 3


class Shares(Protocol):
    """Constraints on weights."""

    def nearest(self, weights: Floats) -> Floats:
        """Return weights within the bounds."""
        ...

    @property
    def low(self) -> Floats:
        """The least weight of each system."""
        ...


def pattern_search(
    value: Callable[[Floats], float], limits: Shares, first: Sequence[Floats], rng: np.random.Generator
) -> list[Floats]:
    """Return the weights found by several climbs, best first.

    From the best of ``first``, or else of equal weights, single systems and random weights, shares are moved between
    systems in decreasing steps while that helps.
    """
    n_systems = len(limits.low)
    random = rng.dirichlet(np.ones(n_systems), N_RANDOM)
    tried = list(first) or [np.full(n_systems, 1 / n_systems), *np.eye(n_systems), *random]
    starts = sorted(((value(one), one) for one in map(limits.nearest, tried)), key=lambda one: -one[0])
    steps = STEPS[2:] if first else STEPS
    found = [_climb(value, limits, *start, steps) for start in starts[:N_CLIMBS]]
    return [weights for _, weights in sorted(found, key=lambda one: -one[0])]


def _climb(
    value: Callable[[Floats], float], limits: Shares, best: float, weights: Floats, steps: Sequence[float]
) -> tuple[float, Floats]:
    """Return the value and the weights that no move of a share improves."""
    pairs = [(i, j) for i in range(len(weights)) for j in range(len(weights)) if i != j]
    for step in steps:
        moved = True
        while moved:
            moved = False
            for to, source in pairs:
                share = min(step, float(weights[source]))
                if share <= 0:
                    continue
                other = weights.copy()
                other[to] += share
                other[source] -= share
                try:
                    other = limits.nearest(other)
                except OptionError:
                    continue
                there = value(other)
                if there > best + BETTER:
                    best, weights, moved = there, other, True
    return best, weights
