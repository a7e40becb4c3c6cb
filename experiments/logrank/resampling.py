"""Why the sample is drawn once: what L-BFGS does with one that is drawn anew every time (LogRank, section 4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines.local import LocalRisk
from argrank.objectives.conditional.likelihoods import ConvexLoss
from argrank.rankers import objective as objective_of
from argrank.solvers import minimise


def resampling(
    data: Dataset, measure: Any = "ndcg@10", *, C: float = 1.0, max_iter: int = 60, **parameters: Any
) -> list[dict[str, Any]]:
    """Return what L-BFGS sees of ConvexLoss with one sample, and with a new one at every evaluation, one dict per row.

    ``shown`` is the risk on the current sample, ``true`` the risk on the fixed sample, and ``ended`` why the optimiser
    stopped: "passes" at the limit, "precision" where its line search found no lower value, another word where it
    converged. Values that come from different functions do not let it find a descent.
    """
    objective = objective_of("log-convex", measure=measure, **parameters)
    rows: list[dict[str, Any]] = []
    for name, redrawn in (("fixed", False), ("redrawn", True)):
        risk = _Watched(data, objective, redrawn)
        ended = minimise(risk, "l-bfgs", C=C, tol=1e-6, max_iter=max_iter).reason.value
        rows += [{"sample": name, "evaluation": number, "ended": ended, **row} for number, row in enumerate(risk.rows)]
    return rows


class _Watched(LocalRisk):
    """A risk that records every value it is asked for, and may answer by a new sample every time."""

    def __init__(self, data: Dataset, objective: ConvexLoss, redrawn: bool) -> None:
        super().__init__(data, objective)
        self._model, self._redrawn = objective, redrawn
        self.rows: list[dict[str, float]] = []

    def at_scores(self, scores: Floats) -> tuple[float, Floats]:
        """Answer, and keep the answer beside that of the fixed sample."""
        true, gradient = super().at_scores(scores)
        value = true
        if self._redrawn:
            sampling = self._model.sampling
            seed = sampling.random_state + 1 + len(self.rows)
            model = replace(self._model, sampling=replace(sampling, random_state=seed))
            value, gradient = LocalRisk(self.data, model).at_scores(scores)
        self.rows.append({"shown": value, "true": true})
        return value, gradient
