"""What every feature looks like: range, mean, zeros, missing values, and how it varies within queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.query_statistics import blocks
from argrank.errors import shown


@dataclass(frozen=True)
class FeatureSummary:
    """One number per feature. ``minimum``, ``maximum`` and ``mean`` are NaN for a feature that is always missing.

    ``varying`` counts the queries in which the feature has more than one value; ``scale_spread`` is the standard
    deviation, over these queries, of the decimal logarithm of the feature's range within the query.
    """

    minimum: Floats
    maximum: Floats
    mean: Floats
    zeros: Floats
    missing: Floats
    varying: Floats
    scale_spread: Floats


def summarise(data: Dataset) -> FeatureSummary:
    """Look at every feature in one pass over the data, some queries at a time."""
    n = data.n_features
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    total, nonzero, missing, varying, logs, squares = (np.zeros(n) for _ in range(6))
    stored_in = np.zeros(n)  # documents of the queries in which CSR stores anything of the feature
    for block in blocks(data.X, data.indptr):
        least, most = block.minimum(), block.maximum()
        if isinstance(block.features, slice):
            low, high = np.fmin(low, np.fmin.reduce(least)), np.fmax(high, np.fmax.reduce(most))
        else:
            np.fmin.at(low, block.features, least)
            np.fmax.at(high, block.features, most)
        unknown = block.documents - block.known()
        varies = most > least
        log_range = np.log10(np.where(varies, most - least, 1.0))
        total += block.per_feature(block.total(), n)
        nonzero += block.per_feature(block.total((block.values != 0).astype(np.float64)) - unknown, n)
        missing += block.per_feature(unknown, n)
        varying += block.per_feature(varies, n)
        logs += block.per_feature(log_range, n)
        squares += block.per_feature(log_range**2, n)
        stored_in += block.per_feature(np.broadcast_to(block.documents, varies.shape), n)
    outside = stored_in < data.n_documents  # whole queries of zeros that CSR does not store
    low, high = np.where(outside, np.fmin(low, 0), low), np.where(outside, np.fmax(high, 0), high)
    known = data.n_documents - missing
    mean = np.where(known > 0, total / np.maximum(known, 1), np.nan)
    spread = np.sqrt(np.maximum(squares / np.maximum(varying, 1) - (logs / np.maximum(varying, 1)) ** 2, 0))
    return FeatureSummary(low, high, mean, known - nonzero, missing, varying, spread)


def printable(text: str) -> str:
    """Return a text from outside as it is, or with escapes where it could move a terminal's cursor."""
    return text if text.isprintable() else ascii(text)


def feature_label(data: Dataset, column: int) -> str:
    """Return how messages call a feature: its name, else its number as in the file."""
    name = shown(data.feature_names[column]) if data.feature_names else str(column + data.feature_base)
    return f"feature {name}"
