"""Least squares with an intercept, minimum norm where the data leaves a choice.

Dense features, and sparse ones with few columns, go through a QR factorisation in blocks of rows: the features are
never copied as a whole, and unlike the normal equations it does not square the condition number, so columns that
are constant or collinear are told from small ones. Sparse features with many columns go through LSMR, which also
ends at the solution of minimum norm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from argrank._blas import single_threaded_blas
from argrank._threads import map_threads
from argrank._types import Floats
from argrank.errors import InputError, OptionError

MOST_COLUMNS = 2000  # of a sparse matrix that is factorised
ROWS_PER_COLUMN = 32  # rows of a block: the triangles that remain are a small share of the features


class LeastSquares(NamedTuple):
    """The minimum of ``sum weight (x @ w + intercept - target)^2 + ridge |w|^2``."""

    w: Floats
    intercept: float
    objective: float
    rank: int | None  # of the centred features; None from LSMR, which does not tell


def solve(
    X: Any,
    targets: Floats,
    ridge: float = 0.0,
    sample_weight: Floats | None = None,
    n_jobs: int | None = None,
) -> LeastSquares:
    """Fit ``X @ w + intercept`` to the targets; X is an array or a CSR matrix, float32 or float64."""
    if not ridge >= 0 or not np.isfinite(ridge):
        raise OptionError(f"ridge: expected a number >= 0, got {ridge!r}")
    weight = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    share = weight / weight.max()  # first, as the sum of huge weights overflows
    share /= share.sum()
    target_mean = float((share * targets).sum())
    residual = (targets - target_mean) * np.sqrt(weight)
    with single_threaded_blas():
        blocks = _blocks(X)
        means = sum(map_threads(lambda rows: np.asarray(X[rows].T @ share[rows], np.float64), blocks, n_jobs))
        means = np.asarray(means, np.float64)
        if sparse.issparse(X) and X.shape[1] > MOST_COLUMNS:
            w, objective, rank = _by_iteration(X, means, np.sqrt(weight), residual, ridge)
        else:
            w, objective, rank = _by_factors(X, means, np.sqrt(weight), residual, ridge, n_jobs)
    return LeastSquares(w, target_mean - float(means @ w), objective, rank)


def _blocks(X: Any) -> list[slice]:
    step = max(4096, ROWS_PER_COLUMN * X.shape[1])
    return [slice(start, start + step) for start in range(0, X.shape[0], step)]


def _by_factors(
    X: Any, means: Floats, root: Floats, residual: Floats, ridge: float, n_jobs: int | None
) -> tuple[Floats, float, int]:
    """Reduce [X, targets] to a triangle with the same inner products, block by block, and solve that."""
    n_features = X.shape[1]

    def triangle(rows: slice) -> Floats:
        part = X[rows].toarray() if sparse.issparse(X) else X[rows]
        table = np.empty((part.shape[0], n_features + 1))
        np.subtract(part, means, out=table[:, :-1])
        table[:, :-1] *= root[rows, None]
        table[:, -1] = residual[rows]
        return _triangle(table)

    triangles = map_threads(triangle, _blocks(X), n_jobs)
    if ridge > 0:
        triangles.append(np.sqrt(ridge) * np.eye(n_features, n_features + 1))
    whole = _triangle(np.concatenate(triangles))
    small = np.finfo(np.float64).eps * max(X.shape)  # singular values below it, relative to the largest, are zeros
    if not np.isfinite(whole).all():
        raise InputError(
            "X: expected features and weights of ordinary size, got such that their products overflow; "
            "scale them (normalise='standard')"
        )
    w, _, rank, _ = np.linalg.lstsq(whole[:, :-1], whole[:, -1], rcond=small)
    missed = whole[:, :-1] @ w - whole[:, -1]
    return np.asarray(w, np.float64), float(missed @ missed), int(rank)


def _triangle(table: Floats) -> Floats:
    return np.asarray(np.linalg.qr(table, mode="r"))


def _by_iteration(X: Any, means: Floats, root: Floats, residual: Floats, ridge: float) -> tuple[Floats, float, None]:
    from scipy.sparse.linalg import LinearOperator, lsmr

    def forth(w: Floats) -> Floats:
        return np.asarray(root * (X @ w.ravel() - means @ w.ravel()))

    def back(v: Floats) -> Floats:
        weighted = root * v.ravel()
        return np.asarray(X.T @ weighted - means * weighted.sum())

    centred = LinearOperator(X.shape, matvec=forth, rmatvec=back, dtype=np.float64)
    w = lsmr(centred, residual, damp=np.sqrt(ridge), atol=1e-12, btol=1e-12, conlim=1e12, maxiter=10 * X.shape[1])[0]
    missed = forth(w) - residual
    return w, float(missed @ missed + ridge * (w @ w)), None
