"""How well every feature alone orders the labels: what a leak shows first."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset

PAIRS = 100  # of a query that are looked at


def order_of_labels(data: Dataset) -> Floats:
    """Return the AUC of every feature: the share of pairs of different labels that it orders as they do.

    It is the mean over the queries that have such pairs, ties and missing values count half, and 1 - AUC stands for a
    feature that orders them the other way round. Without such pairs it is NaN.
    """
    generator = np.random.default_rng(0)
    total, n_queries = np.zeros(data.n_features), 0
    for start, end in zip(data.indptr[:-1].tolist(), data.indptr[1:].tolist(), strict=True):
        labels = data.y[start:end]
        better, worse = np.nonzero(labels[:, None] > labels[None, :])
        if not len(better):
            continue
        if len(better) > PAIRS:
            some = generator.choice(len(better), PAIRS, replace=False)
            better, worse = better[some], worse[some]
        X = data.X[start:end]
        X = X.toarray() if data.is_sparse else X
        signs = np.sign(X[better] - X[worse])
        total += np.where(np.isnan(signs), 0.0, signs).mean(axis=0)
        n_queries += 1
    shares = 0.5 + total / (2 * n_queries) if n_queries else np.full(data.n_features, np.nan)
    return np.asarray(np.maximum(shares, 1 - shares), np.float64)
