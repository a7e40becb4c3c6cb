"""Coordinate ascent by trial steps (Metzler and Croft 2007): DirectRank's rival, with the search RankLib made known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import check_count
from argrank.linesearch.landscape import Landscape
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import Outcome
from argrank.rankers.climbing._climb import ClimbingRanker, Columns, Iterate


@dataclass(eq=False, repr=False, kw_only=True)
class CoordinateAscent(ClimbingRanker):
    """Linear ranker that maximises the training measure, one weight after the other, by growing trial steps.

    For each weight, in random order, growing steps upwards are tried, each ``step_scale`` times the one before; if none
    is better than what there is, the same downwards, and then the weight 0. The best is taken, and the weights are
    divided by the sum of their magnitudes. Each trial costs an evaluation of all queries, where ``direct-rank`` finds
    the best of all steps for about the price of a few. ``objective_`` is 1 - the training measure; there is no
    ``gap_`` (NaN).

    Parameters
    ----------
    n_starts : int
        Number of starts: equal weights first, then random ones.
    step_base : float
        First step, as a share of the weight's magnitude (as it is, for a weight of 0).
    step_scale : float
        What a step is multiplied by to give the next.
    n_steps : int
        Steps tried to each side.
    measure, scoring, tol, normalise, max_iter, early_stopping, n_jobs, random_state, verbose
        See ``ClimbingRanker``.
    """

    n_starts: int = 2
    step_base: float = 0.05
    step_scale: float = 2.0
    n_steps: int = 25
    tol: float = 0.001

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        for name in ("n_starts", "max_iter", "n_steps"):
            check_count(name, getattr(self, name))
        rng = np.random.default_rng(self.random_state)
        landscape, columns = Landscape(data, self.measure, "expected", self.n_jobs), Columns(data)

        def starts() -> Iterator[Floats]:
            for number in range(self.n_starts):
                equal = np.ones(columns.n_features)
                yield equal if number == 0 else rng.uniform(-1.0, 1.0, columns.n_features)

        def rounds(weights: Floats, left: Floats | None) -> Iterator[Iterate]:
            weights = weights / np.abs(weights).sum() if left is None else left
            scores = columns.scores(weights)
            value = landscape.value(scores).mean
            while True:
                yield Iterate(weights, value)
                for number in rng.permutation(columns.n_features).tolist():
                    slopes = columns.column(number)
                    best = 0.0
                    for steps in self._steps(weights[number]):
                        for step in steps:
                            trial = landscape.value(scores + step * slopes).mean
                            if trial > value:
                                best, value = step, trial
                        if best != 0.0:
                            break
                    if best != 0.0:
                        weights = weights.copy()
                        weights[number] += best
                        weights /= np.abs(weights).sum() or 1.0
                        scores = columns.scores(weights)
                value = landscape.value(scores).mean  # the division may have moved documents that were all but tied

        return self._climb(starts() if start is None else iter([start]), rounds, watcher, rng)

    def _steps(self, weight: float) -> Iterator[Floats]:
        """Yield the trial steps of a weight: upwards, downwards, to 0."""
        growing = np.cumsum(self.step_base * (abs(weight) or 1.0) * self.step_scale ** np.arange(self.n_steps))
        yield from (growing, -growing, np.array([-weight]))
