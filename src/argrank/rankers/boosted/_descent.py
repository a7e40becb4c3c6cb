"""Weak learners as steps of descent: grown on an objective's gradient, in units of the step that minimises it."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import make_risk
from argrank.objectives.objective import Objective, query_shares
from argrank.objectives.pointwise import SquaredError
from argrank.rankers.boosted._boosting import row_weights
from argrank.rankers.boosted._weak import Source, Weak

DOUBLINGS, HALVINGS = 40, 12


class Descent:
    """An objective on training data, at any scores.

    For least squares a tree fitted to the residuals already is the best step. For every other objective a tree is
    fitted to minus the gradient and its output is scaled to the minimum of the objective along it (Friedman 2001,
    step 5 of Algorithm 1), so that one range of weights suits all objectives.
    """

    def __init__(self, data: Dataset, objective: Objective, n_jobs: int | None) -> None:
        self._risk = make_risk(data, objective, n_jobs)
        some = int(np.argmax(self._risk.query_shares))
        self._n_queries = float(data.n_queries * query_shares(data)[some] / self._risk.query_shares[some])
        self._hessian = np.ones(data.n_documents)
        self._targets: Floats | None = None
        if isinstance(objective, SquaredError):
            self._hessian = row_weights(data)
            targets = objective.targets(data)
            self._targets = targets - float((self._hessian * targets).sum() / self._hessian.sum())

    def next(self, source: Source, scores: Floats) -> Weak | None:
        """Return a weak learner whose output, with weight 1, minimises the objective along it."""
        if self._targets is not None:
            return source.next(self._hessian * (scores - self._targets), self._hessian)
        weak = source.next(self._gradient(scores), self._hessian)
        return None if weak is None else weak.scaled(self._minimum(scores, weak.output))

    def _gradient(self, scores: Floats) -> Floats:
        """Return the gradient of the sum over queries: the mean's would shrink as data grows."""
        return self._risk.at_scores(scores)[1] * self._n_queries

    def _minimum(self, scores: Floats, direction: Floats) -> float:
        """Return where the objective's slope along the direction changes its sign, found by bisection."""

        def slope(step: float) -> float:
            return float((self._risk.at_scores(scores + step * direction)[1] * direction).sum())

        low, high = 0.0, 1.0
        for _ in range(DOUBLINGS):
            if slope(high) >= 0.0:
                break
            low, high = high, 2.0 * high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
        return 0.5 * (low + high)
