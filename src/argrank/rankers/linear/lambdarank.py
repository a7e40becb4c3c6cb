"""LambdaRank with a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._declared import Count, Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import is_distributed, make_risk, map_blocks
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.objectives.conditional.likelihoods import LogLikelihood
from argrank.objectives.lambdas import LambdaForces, has_lambdas
from argrank.objectives.objective import Objective, query_weights
from argrank.rankers.estimator import GainsAndDiscounts, Measured
from argrank.rankers.linear.linear_ranker import CutOff, LinearRanker
from argrank.rankers.trace import Outcome, Watcher
from argrank.rankers.training_data import notes_of_scales
from argrank.solvers import Squared, minimise, usable

FIRST_STEP = 1e-3  # in features of unit spread


@dataclass(eq=False, repr=False, kw_only=True)
class LambdaRank(Measured, GainsAndDiscounts, CutOff, LinearRanker):
    """Linear ranker that follows LambdaRank's forces (Burges et al. 2006), weighted by the change of a measure.

    The forces are not the gradient of a function, so there is no proven optimum: it takes ``max_iter`` steps of fixed
    size with momentum, in features of unit spread. ``objective_`` is |w|² / (2C) plus the mean over queries of the
    weighted logistic losses of the last ranking. ``solver``, ``tol`` and ``random_state`` are not used.

    Parameters
    ----------
    measure : str or Measure
        What the forces are for: any measure of the form a · b, also MAP, MRR and ERR.
    learning_rate
        Size of the steps; with many correlated features large ones oscillate. Lower it if the objective in ``trace_``
        rises.
    max_iter
        Steps, each a pass over the data. Raise it if the objective in ``trace_`` still falls at the end.
    """

    takes_gains: ClassVar[bool] = True

    measure: Any = "ndcg"
    C: Positive = 100.0
    solver: str = "fixed-steps"
    learning_rate: Positive = 0.003
    max_iter: Count = 200

    def _objective(self) -> Objective:
        return LambdaForces(measure=self._optimised, convention=Convention(**self._counting()))

    @property
    def _optimised(self) -> Measure:
        return parse_measure(self.measure).cut(self.k, 10)

    @property
    def _has_default_measure(self) -> bool:
        return super()._has_default_measure and self.k == "auto"

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return has_lambdas(measure)

    def _aim(self, measure: Measure) -> dict[str, Any]:
        return {"k": None} if measure.cutoff is None else {}

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        risk, scales = make_risk(data, self._objective(), self.n_jobs), _spread(data, self.n_jobs)
        begin = self._begin(data, scales) if start is None else start
        watcher.notes += notes_of_scales(data, self.n_jobs, penalised=False)
        steps: dict[str, Any] = {"learning_rate": self.learning_rate, "scales": scales}
        result = minimise(
            risk,
            self.solver,
            C=self.C,
            max_iter=self.max_iter,
            start=begin,
            callback=watcher,
            keeper=watcher.keeper,
            **usable(self.solver, risk, Squared(), steps),
        )
        return Outcome.of(result)

    def _begin(self, data: Dataset, spread: Floats) -> Floats:
        """Return small weights along RankNet's force: at w = 0 all scores tie, and the forces need a ranking.

        For rows with gains it is the covariance of the features with them, within queries.
        """
        if not is_distributed(data) and data.gains is not None:
            means = np.add.reduceat(data.gains, data.indptr[:-1]) / data.sizes
            weight = np.repeat(query_weights(data) / query_weights(data).sum(), data.sizes)
            slope = -np.asarray(data.X.T @ (weight * (data.gains - np.repeat(means, data.sizes))), np.float64)
        else:
            risk = make_risk(data, LogLikelihood(scale=None), self.n_jobs)
            _, slope = risk.value_and_gradient(np.zeros(data.n_features))
        step = -np.divide(slope, spread**2, out=np.zeros_like(slope), where=spread > 0)
        length = float(np.linalg.norm(step * spread))
        return FIRST_STEP / length * step if length > 0 else step


def _spread(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the standard deviation of every feature, with the query weights of the risk."""
    sums = map_blocks(data, _sums, n_jobs)
    weight = sum(one[0] for one in sums)
    mean, square = (np.asarray(sum(one[i] for one in sums)) / weight for i in (1, 2))
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))


def _sums(data: Dataset) -> tuple[float, Floats, Floats]:
    """Return the weight of the rows of a block and the weighted sums of the features and their squares."""
    X, weight = data.X, np.repeat(query_weights(data), data.sizes)
    if isinstance(X, np.ndarray):
        square = np.einsum("ij,ij,i->j", X, X, weight)
    else:
        square = np.asarray(X.multiply(X).T @ weight, np.float64)
    return float(weight.sum()), np.asarray(X.T @ weight, np.float64), square
