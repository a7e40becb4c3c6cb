"""LambdaRank with a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import make_risk
from argrank.errors import check_positive
from argrank.objectives import objective
from argrank.objectives.objective import query_shares
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import Outcome
from argrank.rankers.linear._linear import LinearRanker
from argrank.solvers import minimise

FIRST_STEP = 1e-3  # in features of unit spread


@dataclass(eq=False, repr=False, kw_only=True)
class LambdaRank(LinearRanker):
    """Linear ranker that follows LambdaRank's forces (Burges et al. 2006), each pair's weighed by its change of NDCG@k.

    The forces are the gradient of no function, so there is no optimum to prove: it takes ``max_iter`` steps of fixed
    size with momentum, measured in features of unit spread. ``objective_`` is |w|² / (2C) plus the mean over queries of
    the weighted logistic losses of the last ranking.

    Parameters
    ----------
    k : int or None
        Cut-off of NDCG.
    gain, discount
        Those of NDCG.
    learning_rate : float
        Size of the steps; with many correlated features large ones swing.
    max_iter : int
        Steps, each a pass over the data.
    C, scoring, normalise, n_jobs, verbose
        See ``LinearRanker``; ``solver``, ``tol`` and ``random_state`` have no meaning here.
    """

    ranker: ClassVar[str] = "lambdarank"

    k: int | None = 10
    gain: Any = "exp2"
    discount: Any = "log2"
    C: float = 100.0
    solver: str = "fixed-steps"
    learning_rate: float = 0.003
    max_iter: int = 200

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        check_positive("learning_rate", self.learning_rate)
        risk, scales = make_risk(data, self._objective(), self.n_jobs), _spread(data)
        begin = self._begin(data, scales) if start is None else start
        steps: dict[str, Any] = {"learning_rate": self.learning_rate, "scales": scales}
        result = minimise(risk, self.solver, C=self.C, max_iter=self.max_iter, start=begin, callback=watcher, **steps)
        return Outcome.of(result)

    def _begin(self, data: Dataset, spread: Floats) -> Floats:
        """Return weights a little along RankNet's force: at w = 0 all scores tie, and the forces follow a ranking."""
        _, slope = make_risk(data, objective("log-mle"), self.n_jobs).value_and_gradient(np.zeros(data.n_features))
        step = -np.divide(slope, spread**2, out=np.zeros_like(slope), where=spread > 0)
        length = float(np.linalg.norm(step * spread))
        return FIRST_STEP / length * step if length > 0 else step


def _spread(data: Dataset) -> Floats:
    """Return the standard deviation of every feature, queries weighted as they count in the risk."""
    share = np.repeat(query_shares(data), data.sizes)
    share /= share.sum()
    mean = np.asarray(data.X.T @ share, np.float64)
    if isinstance(data.X, np.ndarray):
        square = np.einsum("ij,ij,i->j", data.X, data.X, share)
    else:
        square = np.asarray(data.X.multiply(data.X).T @ share, np.float64)
    spread: Floats = np.sqrt(np.maximum(square - mean**2, 0.0))
    return spread
