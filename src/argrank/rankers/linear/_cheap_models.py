"""Models that cost little, as points from which rankers start or near which they stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import make_risk
from argrank.objectives.pairwise import PairwiseHinge
from argrank.rankers.linear._regression_weights import regression_weights
from argrank.solvers import Risk, minimise

C = 30.0  # RankSVM's default
ENOUGH = 1e-3  # of the first gradient norm, or
MOST_PASSES = 200  # passes: the start need not be an optimum
LENGTHS = np.geomspace(1e-6, 1e3, 19)  # their own length means nothing to another risk


def rank_svm_weights(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the weights of RankSVM with squared hinge, roughly minimised."""
    risk = make_risk(data, PairwiseHinge(loss="squared"), n_jobs)
    return minimise(risk, C=C, tol=ENOUGH, max_iter=MOST_PASSES).step()


def cheap_models(data: Dataset, n_jobs: int | None) -> list[Floats]:
    """Return the weights of RankSVM and of least squares on the labels."""
    return [rank_svm_weights(data, n_jobs), regression_weights(data, n_jobs)]


def best_length(models: Sequence[Floats], risk: Risk, penalty: Callable[[Floats], float] | None = None) -> Floats:
    """Return the model, at the length, of least risk (and penalty); 0 only where all are 0."""
    best, best_value = np.zeros(risk.n_features), np.inf
    for w in models:
        scores = risk.scores(w)
        for length in LENGTHS if w.any() else ():
            value = risk.at_scores(length * scores)[0] + (0.0 if penalty is None else penalty(length * w))
            if value < best_value:
                best, best_value = length * w, value
    return best
