"""How near to a model that costs little another one stays, whatever the scale of features and risk."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import AnyRisk
from argrank.rankers.linear._regression_weights import feature_spreads, spread_within_queries
from argrank.solvers import Regulariser, Squared

NEAR = 0.03  # C in units of the squared spread of the model's scores over its risk
NOTHING = 1e-9  # a risk so small leaves nothing to learn


def near(w0: Floats, data: Dataset, risk: AnyRisk, n_jobs: int | None) -> tuple[Regulariser, float]:
    """Return the distance from given weights, in units of the features' spreads, and the C that goes with it."""
    left, units = risk.at_scores(risk.scores(w0))[0], feature_spreads(data, n_jobs)
    spread = spread_within_queries(w0, data, n_jobs)
    C = NEAR * spread**2 / max(left, NOTHING) if spread > 0 else NEAR
    return Squared(centre=w0, units=np.where(units > 0, units, 1.0)), C
