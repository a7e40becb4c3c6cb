"""Why the sample is drawn once: what L-BFGS makes of one that is drawn anew every time (LogRank, section 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import argrank as ar
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines.local import LocalRisk
from argrank.objectives.conditional.likelihoods import ConvexLoss
from argrank.solvers import quasi_newton


def resampling(
    data: Dataset, measure: Any = "ndcg@10", *, C: float = 1.0, max_iter: int = 60, **parameters: Any
) -> list[dict[str, Any]]:
    """Return what L-BFGS sees of ConvexLoss with one sample, and with a new one at every evaluation, one dict a row.

    ``shown`` is the objective by the sample of the moment, ``true`` that by the fixed sample, ``ended`` why the
    optimiser stopped: "gradient" where it converged, "precision" where its line search found no lower value, "passes"
    at the limit. Values that come from different functions leave it no descent to find.
    """
    objective = ar.objective("log-convex", measure=measure, **parameters)
    rows: list[dict[str, Any]] = []
    for name, redrawn in (("fixed", False), ("redrawn", True)):
        risk = _Watched(data, objective, C, redrawn)
        ended = quasi_newton.minimise(risk, C, 1e-6, max_iter).reason
        rows += [{"sample": name, "evaluation": number, "ended": ended, **row} for number, row in enumerate(risk.rows)]
    return rows


class _Watched(LocalRisk):
    """A risk that writes down the objectives it is asked for, and may answer by a new sample every time."""

    def __init__(self, data: Dataset, objective: ConvexLoss, C: float, redrawn: bool) -> None:
        super().__init__(data, objective)
        self._data, self._model, self._C, self._redrawn = data, objective, C, redrawn
        self.rows: list[dict[str, float]] = []

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Answer, and keep the answer beside the fixed sample's."""
        true, gradient = super().value_and_gradient(w)
        value, penalty = true, float(w @ w) / self._C
        if self._redrawn:
            sampling = self._model.sampling
            sampling = replace(sampling, random_state=sampling.random_state + 1 + len(self.rows))
            model = replace(self._model, sampling=sampling)
            value, gradient = LocalRisk(self._data, model).value_and_gradient(w)
        self.rows.append({"shown": penalty + self.n_queries * value, "true": penalty + self.n_queries * true})
        return value, gradient
