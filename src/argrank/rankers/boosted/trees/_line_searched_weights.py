"""Weights of weak learners by exact line search on the measure, each within a range."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.linesearch.landscape import Landscape, Value
from argrank.linesearch.search import Placement, search
from argrank.measures.function import ties_of
from argrank.measures.names import measure as parse_measure


class Weighing:
    """The measure of the running scores, and the search for weights.

    Documents that fall into the same leaves have the same score, so the measure is averaged over the orders of equal
    scores: training must not depend on the order of the rows.
    """

    def __init__(
        self, data: Dataset, measure: object, weight_range: tuple[float, float], point: str, n_jobs: int | None
    ):
        self._landscape = Landscape(data, measure, ties_of(parse_measure(measure)), n_jobs)
        self._range = weight_range
        self._placement = Placement(point=point)
        self.scores = np.zeros(data.n_documents)
        self.value = self._measure(self.scores)

    def weigh(self, output: Floats) -> float:
        """Return the weight in the range with the greatest measure of scores plus weight times output, and move there.

        The range itself is searched: this is the constrained optimum, while the paper clips the unconstrained one.
        """
        return self._step(output, *self._range)

    def weigh_leaves(self, leaf: Integers, values: Floats) -> tuple[float, Floats]:
        """Return a tree's weight and new values of its leaves, and move there: every leaf has its own weight.

        ``leaf`` is every row's. First the whole tree is weighed; then each leaf is a separate direction, in the order
        of their values. Leaves of one value move together.
        """
        low, high = self._range
        before, output = self.scores, values.take(leaf)
        start = self.weigh(output)
        weights = np.full(len(values), start)
        for value in np.unique(values[values != 0.0]):
            direction = np.where(output == value, value, 0.0)
            weights[values == value] += self._step(direction, low - start, high - start, settle=False)
        new = weights * values
        self.move_to(before + new.take(leaf))  # without the rounding of many steps
        return start, new

    def reweigh(self, outputs: list[Floats], weights: Floats) -> Floats:
        """Return better weights, and move there: every weak learner's in turn, by exact search along its output."""
        low, high = self._range
        weights = weights.copy()
        for i, output in enumerate(outputs):
            weights[i] += self._step(output, low - weights[i], high - weights[i], settle=False)
        return weights

    def move_to(self, scores: Floats) -> None:
        """Set other scores."""
        self.scores, self.value = scores, self._measure(scores)

    def _step(self, direction: Floats, low: float, high: float, settle: bool = True) -> float:
        if not self._landscape.is_defined:
            step = 0.0 if low <= 0.0 <= high else 0.5 * (low + high)
            self.scores = self.scores + step * direction
            return step
        placement = self._placement._replace(settle=settle)
        found, value = search(self._landscape, self.scores, direction, self.value, (low, high), placement)
        if found.step != 0.0:
            self.scores, self.value = self.scores + found.step * direction, value
        return found.step

    def _measure(self, scores: Floats) -> Value:
        if not self._landscape.is_defined:
            return Value(0.0, np.empty(0, np.intp))
        return self._landscape.value(scores)
