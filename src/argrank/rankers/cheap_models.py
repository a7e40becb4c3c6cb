"""Cheap models (RankSVM and least squares) from which other rankers start, or near which they stay."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.query_statistics import blocks
from argrank.engines import AnyRisk, make_risk, map_blocks
from argrank.errors import OptionError, shown
from argrank.measures.gains import row_targets
from argrank.objectives.objective import query_weights, total_weight
from argrank.objectives.pairwise import PairwiseHinge
from argrank.solvers import Regulariser, Risk, Squared, least_squares, minimise
from argrank.solvers.least_squares import LeastSquares, Rows

RANK_SVM_C = 30.0  # had the best mean over validation parts
ENOUGH = 1e-3  # of the first gradient norm, or
MOST_PASSES = 200  # passes: the start need not be an optimum
LENGTHS = np.geomspace(1e-6, 1e3, 19)  # their length has to be adapted to another risk
NEAR = 0.03  # C in units of the squared spread of a model's scores over its risk
NOTHING = 1e-9  # with a smaller risk there is nothing to learn
ROUNDING = 1e-6  # a relative deviation up to this may be rounding of a constant


def regression(data: Dataset, gain: Any, ridge: float, by_row: bool, n_jobs: int | None) -> LeastSquares:
    """Return least squares on gains of the labels, with query weights, and row weights if requested."""
    rows_of = functools.partial(_rows, gain, data.n_queries / total_weight(data), by_row)
    if data.is_sparse and data.n_features > least_squares.MOST_COLUMNS:
        return least_squares.solve(*rows_of(data)[:2], ridge, rows_of(data).weight, n_jobs)

    def over(function: Callable[[Rows], Any]) -> list[Any]:
        return map_blocks(data, functools.partial(_on_rows, function, rows_of), n_jobs)

    return least_squares.solve_over(over, (data.n_documents, data.n_features), ridge)


def regression_weights(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the weights of least squares on the labels, with query weights."""
    return regression(data, "linear", 0.0, False, n_jobs).w


def rank_svm_weights(data: Dataset, n_jobs: int | None, rough: bool = True) -> Floats:
    """Return the weights of RankSVM with squared hinge, roughly minimised, or exactly as in ``rank-svm``."""
    risk = make_risk(data, PairwiseHinge(loss="squared"), n_jobs)
    if not rough:
        return minimise(risk, C=RANK_SVM_C).step()
    return minimise(risk, C=RANK_SVM_C, tol=ENOUGH, max_iter=MOST_PASSES).step()


def best_length(models: Sequence[Floats], risk: Risk, penalty: Callable[[Floats], float]) -> Floats:
    """Return the model and length with the least risk plus penalty; 0 only if all are 0."""
    best, best_value = np.zeros(risk.n_features), np.inf
    for w in models:
        scores = risk.scores(w)
        for length in LENGTHS if w.any() else ():
            value = risk.at_scores(length * scores)[0] + penalty(length * w)
            if value < best_value:
                best, best_value = length * w, value
    return best


def weights_of(w0: Any, data: Dataset, n_jobs: int | None) -> Floats:
    """Return the weights of a parameter ``w0``: those given, or least squares for "regression"."""
    if isinstance(w0, str) and w0 != "regression":
        raise OptionError(f"w0: expected weights or 'regression', got {w0!r}")
    if isinstance(w0, str):
        return regression_weights(data, n_jobs)
    try:
        weights: Floats = np.array(w0, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"w0: expected {data.n_features} finite weights, got {shown(w0)}") from error
    if weights.shape != (data.n_features,) or not np.isfinite(weights).all():
        raise OptionError(f"w0: expected {data.n_features} finite weights, got {shown(w0)}")
    return weights


def near(w0: Floats, data: Dataset, risk: AnyRisk, n_jobs: int | None) -> tuple[Regulariser, float]:
    """Return a regulariser around given weights, in units of the features' spreads, and its C.

    How near the model stays depends neither on the scale of the features nor on that of the risk.
    """
    left, units = risk.at_scores(risk.scores(w0))[0], feature_spreads(data, n_jobs)
    spread = spread_within_queries(w0, data, n_jobs)
    C = NEAR * spread**2 / max(left, NOTHING) if spread > 0 else NEAR
    return Squared(centre=w0, units=np.where(units > 0, units, 1.0)), C


def spread_within_queries(w: Floats, data: Dataset, n_jobs: int | None) -> float:
    """Return the standard deviation of the scores of some weights around the mean of their query."""
    sums = map_blocks(data, functools.partial(_squares_and_weight, w), n_jobs)
    return float(np.sqrt(sum(one[0] for one in sums) / sum(one[1] for one in sums)))


def feature_spreads(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the standard deviation of every feature around the mean of its query, exactly 0 if it is constant."""
    sums = map_blocks(data, _feature_squares_and_weight, n_jobs)
    return np.sqrt(sum((one[0] for one in sums), np.zeros(data.n_features)) / sum(one[1] for one in sums))


def _rows(gain: Any, scale: float, by_row: bool, data: Dataset) -> Rows:
    if data.examinations is not None and by_row:
        return Rows(data.X, row_targets(data, gain), data.examinations)
    weight = np.repeat(query_weights(data) * scale, data.sizes)
    if by_row and data.sample_weight is not None:
        weight = weight * data.sample_weight
    return Rows(data.X, row_targets(data, gain), weight)


def _on_rows(function: Callable[[Rows], Any], rows_of: Callable[[Dataset], Rows], data: Dataset) -> Any:
    return function(rows_of(data))


def _squares_and_weight(w: Floats, data: Dataset) -> tuple[float, float]:
    scores, weight = np.asarray(data.X @ w, np.float64), np.repeat(query_weights(data), data.sizes)
    means = np.add.reduceat(scores, data.indptr[:-1]) / data.sizes
    return float((weight * (scores - np.repeat(means, data.sizes)) ** 2).sum()), float(weight.sum())


def _feature_squares_and_weight(data: Dataset) -> tuple[Floats, float]:
    counts, squares = query_weights(data) * data.sizes, np.zeros(data.n_features)
    for block in blocks(data.X, data.indptr):
        mean = block.mean()
        deviation = block.deviation(mean)
        if (deviation <= ROUNDING * np.abs(mean)).any():
            deviation = np.where(block.maximum() > block.minimum(), deviation, 0.0)
        squares += block.per_feature(block.column(counts[block.queries]) * deviation**2, data.n_features)
    return squares, float(counts.sum())
