"""The linear start of boosted trees: a ridge regression, scaled to the labels' differences within queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argrank._types import Floats
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.data.mapped import refuse_copy
from argrank.models.linear import LinearModel
from argrank.models.model import Model
from argrank.models.sum import SumModel
from argrank.models.tree import Tree
from argrank.models.trees import TreesModel
from argrank.solvers import least_squares

RIDGE = 100.0  # on sums over the documents


def linear_start(
    data: Dataset, weight: Floats, signs: Floats, left_out: Sequence[int], n_jobs: int | None
) -> LinearModel | None:
    """Return the model that trees start from, None if values are missing or no feature varies within a query.

    Features of ``left_out`` get no weight. Features whose weights violate ``signs`` are dropped and the rest fitted
    again, until all agree.
    """
    if has_missing(data.X):
        return None
    chosen = np.setdiff1d(np.arange(data.n_features), np.asarray(left_out, np.int64))
    weights = np.zeros(data.n_features)
    while len(chosen):
        if len(chosen) < data.n_features:
            refuse_copy(data.X, "start: some of the features", "start=None")
        X = data.X if len(chosen) == data.n_features else data.X[:, chosen]
        found = least_squares.solve(X, data.targets, RIDGE, weight, n_jobs).w
        wrong = found * signs[chosen] < 0
        if not wrong.any():
            weights[chosen] = found
            break
        chosen = chosen[~wrong]
    scores = centred(LinearModel(weights).scores(data.X), data)
    square = float((weight * scores * scores).sum())
    along = float((weight * scores * centred(data.targets, data)).sum())
    if not 0.0 < square < np.inf or along <= 0.0:
        return None
    return LinearModel(weights * (along / square))


def centred(values: Floats, data: Dataset) -> Floats:
    """Return values minus the weighted mean of their query."""
    given = data.sample_weight if data.examinations is None else data.examinations
    weight = np.ones(data.n_documents) if given is None else given
    totals = np.add.reduceat(weight, data.indptr[:-1])
    means = np.add.reduceat(weight * values, data.indptr[:-1]) / np.where(totals > 0, totals, 1.0)
    return np.asarray(values - np.repeat(means, data.sizes), np.float64)


def joined(start: Model | None, trees: Sequence[Tree], n_features: int) -> Model:
    """Return the sum of a model and trees; the trees of both are one forest."""
    if isinstance(start, TreesModel):
        return TreesModel((*start.trees, *trees), n_features)
    if start is None:
        return TreesModel(tuple(trees), n_features)
    members, weights = ([start], [1.0]) if not isinstance(start, SumModel) else ([*start.members], [*start.weights])
    last = members[-1]
    if isinstance(last, TreesModel) and weights[-1] == 1.0 and last.normaliser is None:
        members[-1] = TreesModel((*last.trees, *trees), n_features)
    else:
        members.append(TreesModel(tuple(trees), n_features))
        weights.append(1.0)
    return SumModel(tuple(members), np.array(weights))
