"""The position-based model with attractions from a logistic regression on features, instead of one per document.

It needs no documents that were shown at several ranks. Instead it assumes that documents with the same features are
equally attractive at every rank (regression-EM, Wang et al. 2018; here both are maximised jointly).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit, log_expit

from argrank._types import Floats
from argrank.clicks.cells import Cells
from argrank.data.clicks.counts import ClickCounts
from argrank.data.dataset import Dataset
from argrank.errors import InputError

RIDGE = 1.0  # of the weights of standardised features
LEAST = -20.0  # of a logarithm of the curve


def features_of(counts: ClickCounts, data: Any) -> Floats:
    """Return standardised features of every (query, document) of a log, with a column of ones."""
    if not isinstance(data, Dataset) or data.document_ids is None:
        raise InputError("features: expected a Dataset with document ids, one row for each (qid, docid) of the log")
    qid, docid = data.query_ids[data.query_of_row].tolist(), data.document_ids.tolist()
    row_of = {(str(one), str(other)): row for row, (one, other) in enumerate(zip(qid, docid, strict=True))}
    query, document = _texts(counts.query_ids, counts.pair_query), _texts(counts.document_ids, counts.pair_document)
    rows = np.array([row_of.get(one, -1) for one in zip(query, document, strict=True)])
    if (rows < 0).any():
        pair = int(np.argmax(rows < 0))
        raise InputError(
            f"features: expected a row for every (qid, docid) of the log, got none for ({query[pair]}, "
            f"{document[pair]}), and {int((rows < 0).sum())} such pairs in all"
        )
    values = data.X[rows]
    dense = np.asarray(values.toarray() if not isinstance(values, np.ndarray) else values, np.float64)
    if not np.isfinite(dense).all():
        raise InputError("features: expected finite numbers, got missing values; see ar.impute")
    spread = dense.std(axis=0)
    kept = spread > 0
    return np.hstack((np.ones((len(rows), 1)), (dense[:, kept] - dense[:, kept].mean(axis=0)) / spread[kept]))


def curve(cells: Cells, features: Floats, start: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the logarithms of the curve, at most 0 and 0 for rank 1, and the point where the search ended."""
    n = cells.n_ranks
    shown = cells.clicks + cells.others > 0
    rank, clicks, others = cells.rank[shown], cells.clicks[shown], cells.others[shown]
    of_cell = features[cells.thing[shown]]
    total = max(float(clicks.sum() + others.sum()), 1.0)

    def loss(point: Floats) -> tuple[float, Floats]:
        v = of_cell @ point[n:]
        attracts = expit(v)
        none = np.maximum(1.0 - np.exp(point[:n])[rank] * attracts, 1e-12)
        slope = clicks - others * (1.0 - none) / none  # of the logarithm of the product
        weights = np.append(0.0, point[n + 1 :])
        value = clicks @ (point[:n][rank] + log_expit(v)) + others @ np.log(none) - RIDGE / 2 * weights @ weights
        of_features = of_cell.T @ (slope * (1.0 - attracts)) - RIDGE * weights
        return -value / total, np.concatenate((np.bincount(rank, slope, n), of_features)) / -total

    begin = np.zeros(n + features.shape[1]) if start is None else start
    bounds = [(0.0, 0.0), *[(LEAST, 0.0)] * (n - 1), *[(None, None)] * features.shape[1]]
    settings = {"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-8}
    found = optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=settings)
    return np.where(np.bincount(rank, minlength=n) > 0, found.x[:n], np.nan), found.x


def _texts(ids: NDArray[Any], codes: NDArray[Any]) -> list[str]:
    texts = [str(one) for one in ids.tolist()]
    return [texts[code] for code in codes.tolist()]
