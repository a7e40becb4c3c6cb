"""Coordinate ascent by trial steps (Metzler and Croft 2007), with RankLib's search."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from argrank._declared import Above, AtLeast, AtMost, Count, NotNegative, Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.linesearch.landscape import Landscape, Value
from argrank.rankers.climbing.climbing_ranker import ClimbingRanker, Columns, Iterate, nothing_to_learn
from argrank.rankers.trace import Outcome, Watcher
from argrank.rankers.training_data import notes_of_scales

NEAR = 1e-9  # relative distance from a crossing at which rounding may tie documents


@dataclass(eq=False, repr=False, kw_only=True)
class CoordinateAscent(ClimbingRanker):
    """Linear ranker that maximises the training measure, one weight after the other, by growing trial steps.

    For each weight, in random order, growing steps upwards are tried, each ``step_scale`` times the one before; if none
    is better than the current weight, the same downwards, and then the weight 0. The best is taken, and the weights are
    divided by the sum of their magnitudes. The trials of one weight are read from the measure along its line, so that a
    round costs about as much as a round of ``direct-rank``, which takes the best of all steps. Features that are
    constant within every query keep the weight 0. ``objective_`` is 1 - the training measure; there is no ``gap_``
    (NaN).

    Parameters
    ----------
    n_starts
        Number of starts: equal weights first, then random ones. More raise the training measure, and overfit
        few queries.
    step_base
        First step, relative to the weight's magnitude (absolute for a weight of 0). RankLib's value; there is rarely a
        reason to change it.
    step_scale
        Factor from one step to the next.
    n_steps
        Steps tried to each side. More reach farther from the current weight.
    """

    n_starts: Count = 2
    step_base: Positive = 0.05
    step_scale: Annotated[float, Above(1)] = 2.0
    n_steps: Annotated[int, AtLeast(1), AtMost(10**6)] = 25
    tol: NotNegative = 0.001

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        rng = np.random.default_rng(self.random_state)
        data = self._mixed(data, rng)
        landscape, columns = self._landscape(data), Columns(data)
        if not landscape.is_defined:
            return nothing_to_learn(data.n_features, watcher)
        watcher.notes += notes_of_scales(data, self.n_jobs, penalised=False)
        starts = self._starts(columns, rng) if start is None else iter([start])
        return self._climb(starts, functools.partial(self._rounds, landscape, columns, rng), watcher, rng)

    def _starts(self, columns: Columns, rng: np.random.Generator) -> Iterator[Floats]:
        for number in range(self.n_starts):
            equal = np.ones(columns.n_features)
            yield columns.useful(equal if number == 0 else rng.uniform(-1.0, 1.0, columns.n_features))

    def _rounds(
        self, landscape: Landscape, columns: Columns, rng: np.random.Generator, weights: Floats, left: Floats | None
    ) -> Iterator[Iterate]:
        """Yield the initial weights, from a start or an interrupted climb, and the weights after every round."""
        weights = weights / (np.abs(weights).sum() or 1.0) if left is None else left
        scores = columns.scores(weights)
        here = landscape.value(scores)
        while True:
            yield Iterate(weights, here.mean)
            for number in rng.permutation(columns.moving).tolist():
                step, here = self._best_step(landscape, scores, columns.column(number), here, weights[number])
                if step != 0.0:
                    weights = weights.copy()
                    weights[number] += step
                    weights /= np.abs(weights).sum() or 1.0
                    scores = columns.scores(weights)
            here = landscape.value(scores)  # the division may have swapped documents that were nearly tied

    def _best_step(
        self, landscape: Landscape, scores: Floats, slopes: Floats, here: Value, weight: float
    ) -> tuple[float, Value]:
        """Return the best trial step along a feature and the value there; 0 and the value here if none is better.

        All steps are read from the measure along the line, which costs about as much as four evaluations. Near
        crossings, and for the chosen step, the measure itself is evaluated.
        """
        function = landscape.walk(scores, slopes, -np.inf, np.inf, here.tied)
        for steps in self._steps(weight):
            values = function.values[np.searchsorted(function.breakpoints, steps)]
            for number in np.flatnonzero(_at_a_crossing(function.breakpoints, steps)).tolist():
                values[number] = landscape.value(scores + steps[number] * slopes).mean
            for number in np.argsort(-values, kind="stable").tolist():
                if values[number] <= here.mean:
                    break
                found = landscape.value(scores + steps[number] * slopes)
                if found.mean > here.mean:
                    return float(steps[number]), found
        return 0.0, here

    def _steps(self, weight: float) -> Iterator[Floats]:
        """Yield the trial steps of a weight: upwards, downwards, to 0."""
        first, factor = float(self.step_base) * (abs(weight) or 1.0), float(self.step_scale)
        with np.errstate(over="ignore"):
            growing = np.cumsum(first * factor ** np.arange(self.n_steps))
        yield from (growing, -growing, np.array([-weight]))


def _at_a_crossing(breakpoints: Floats, steps: Floats) -> NDArray[np.bool_]:
    """Tell which steps lie so near to a breakpoint that documents may tie there."""
    if len(breakpoints) == 0:
        return np.zeros(len(steps), bool)
    after = np.minimum(np.searchsorted(breakpoints, steps), len(breakpoints) - 1)
    distance = np.minimum(np.abs(breakpoints[after] - steps), np.abs(breakpoints[np.maximum(after - 1, 0)] - steps))
    return np.asarray(distance <= NEAR * np.abs(steps))
