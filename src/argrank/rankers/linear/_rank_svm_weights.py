"""RankSVM, as a point from which bounds that are not convex start."""

from __future__ import annotations

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import make_risk
from argrank.objectives.pairwise import PairwiseHinge
from argrank.solvers import minimise

C = 100.0  # RankSVM's default
ENOUGH = 1e-3  # of the first gradient norm, or
MOST_PASSES = 200  # so many passes: the start need not be an optimum


def rank_svm_weights(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the weights of RankSVM with squared hinge, roughly minimised."""
    risk = make_risk(data, PairwiseHinge(loss="squared"), n_jobs)
    return minimise(risk, C=C, tol=ENOUGH, max_iter=MOST_PASSES).w
