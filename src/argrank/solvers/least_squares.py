"""Least squares with an intercept; the solution of minimum norm if it is not unique.

Dense features, and sparse ones with few columns, go through a QR factorisation in blocks of rows: the features are
never copied as a whole, and unlike the normal equations it does not square the condition number, so columns that
are constant or collinear are distinguished from small ones. Sparse features with many columns go through LSMR, which
also ends at the solution of minimum norm.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from argrank._blas import single_threaded_blas
from argrank._threads import map_threads
from argrank._types import Floats
from argrank.errors import InputError, OptionError

MOST_COLUMNS = 2000  # of a sparse matrix that is factorised
ROWS_PER_COLUMN = 32  # rows of a block: the triangles that remain are a small share of the features


class Rows(NamedTuple):
    """Rows to be fitted: features (an array or a CSR matrix, float32 or float64), targets and weights."""

    X: Any
    targets: Floats
    weight: Floats


class LeastSquares(NamedTuple):
    """The minimum of ``sum weight (x @ w + intercept - target)^2 + ridge |w|^2``."""

    w: Floats
    intercept: float
    objective: float
    rank: int | None  # of the centred features; None from LSMR, which does not compute it


#: Applies a function to the blocks of rows, local or remote, and returns the results in block order.
Over = Callable[[Callable[[Rows], Any]], list[Any]]


def solve(
    X: Any,
    targets: Floats,
    ridge: float = 0.0,
    sample_weight: Floats | None = None,
    n_jobs: int | None = None,
) -> LeastSquares:
    """Fit ``X @ w + intercept`` to the targets; X is an array or a CSR matrix, float32 or float64."""
    weight = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    blocks = [Rows(X[rows], targets[rows], weight[rows]) for rows in _blocks(X)]

    def over(function: Callable[[Rows], Any]) -> list[Any]:
        with single_threaded_blas():
            return map_threads(function, blocks, n_jobs)

    if not (sparse.issparse(X) and X.shape[1] > MOST_COLUMNS):
        return solve_over(over, X.shape, ridge)
    _check_ridge(ridge)
    means, target_mean = _means(over)
    residual = (targets - target_mean) * np.sqrt(weight)
    with single_threaded_blas():
        w, objective = _by_iteration(X, means, np.sqrt(weight), residual, ridge)
    return LeastSquares(w, target_mean - float(means @ w), objective, None)


def solve_over(over: Over, shape: tuple[int, int], ridge: float = 0.0) -> LeastSquares:
    """Fit blocks of rows, local or remote, of an array or a sparse matrix with few columns.

    [X, targets] is reduced to a triangle with the same inner products, block by block, and that is solved.
    """
    _check_ridge(ridge)
    means, target_mean = _means(over)
    triangles = over(functools.partial(_block_triangle, means, target_mean))
    if ridge > 0:
        triangles.append(np.sqrt(ridge) * np.eye(shape[1], shape[1] + 1))
    with single_threaded_blas():
        whole = _triangle(np.concatenate(triangles))
        small = np.finfo(np.float64).eps * max(shape)  # singular values below it, relative to the largest, are zeros
        if not np.isfinite(whole).all():
            raise InputError(
                "X: expected features and weights of ordinary size, got some whose products overflow; "
                "scale them (normalise='standard')"
            )
        w, _, rank, _ = np.linalg.lstsq(whole[:, :-1], whole[:, -1], rcond=small)
        missed = whole[:, :-1] @ w - whole[:, -1]
    weights = np.asarray(w, np.float64)
    return LeastSquares(weights, target_mean - float(means @ weights), float(missed @ missed), int(rank))


def _check_ridge(ridge: float) -> None:
    if not ridge >= 0 or not np.isfinite(ridge):
        raise OptionError(f"ridge: expected a number >= 0, got {ridge!r}")


def _means(over: Over) -> tuple[Floats, float]:
    """Return the weighted means of the features and of the targets."""
    sums = over(functools.partial(_block_sums, max(over(_greatest_weight))))
    total = sum(one[0] for one in sums)
    return np.asarray(sum(one[2] for one in sums), np.float64) / total, sum(one[1] for one in sums) / total


def _greatest_weight(rows: Rows) -> float:
    return float(rows.weight.max())


def _block_sums(greatest: float, rows: Rows) -> tuple[float, float, Floats]:
    share = rows.weight / greatest  # scaled first, as the sum of huge weights overflows
    return float(share.sum()), float((share * rows.targets).sum()), np.asarray(rows.X.T @ share, np.float64)


def _block_triangle(means: Floats, target_mean: float, rows: Rows) -> Floats:
    part = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    root = np.sqrt(rows.weight)
    table = np.empty((part.shape[0], part.shape[1] + 1))
    np.subtract(part, means, out=table[:, :-1])
    table[:, :-1] *= root[:, None]
    table[:, -1] = (rows.targets - target_mean) * root
    return _triangle(table)


def _blocks(X: Any) -> list[slice]:
    step = max(4096, ROWS_PER_COLUMN * X.shape[1])
    return [slice(start, start + step) for start in range(0, X.shape[0], step)]


def _triangle(table: Floats) -> Floats:
    return np.asarray(np.linalg.qr(table, mode="r"))


def _by_iteration(X: Any, means: Floats, root: Floats, residual: Floats, ridge: float) -> tuple[Floats, float]:
    from scipy.sparse.linalg import LinearOperator, lsmr

    def forth(w: Floats) -> Floats:
        return np.asarray(root * (X @ w.ravel() - means @ w.ravel()))

    def back(v: Floats) -> Floats:
        weighted = root * v.ravel()
        return np.asarray(X.T @ weighted - means * weighted.sum())

    centred = LinearOperator(X.shape, matvec=forth, rmatvec=back, dtype=np.float64)
    w = lsmr(centred, residual, damp=np.sqrt(ridge), atol=1e-12, btol=1e-12, conlim=1e12, maxiter=10 * X.shape[1])[0]
    missed = forth(w) - residual
    return w, float(missed @ missed + ridge * (w @ w))
