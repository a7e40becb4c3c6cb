"""A feature that alone ranks nearly as well as a model: a leak, or a model that has learned nothing else."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from argrank.data.dataset import Dataset
from argrank.data.doctor.facts import sampled
from argrank.data.doctor.labels import order_of_labels
from argrank.data.summary import feature_label
from argrank.evaluation.evaluate import mean_of

NEARLY = 0.98  # of the model's value
SURE = 0.85  # AUC of the feature alone, below which there is no warning


def single_feature(
    data: Dataset, mean: float, measure: str, convention: str = "default", known: Collection[str] | None = None
) -> str | None:
    """Return a warning if the feature that ranks the labels best nearly reaches ``mean`` alone.

    ``known`` are the features of the model; the data may have more.
    """
    if data.is_sparse or not data.is_judged:
        return None
    shares = np.nan_to_num(order_of_labels(sampled(data)))
    if known is not None and data.feature_names is not None:
        shares *= np.isin(data.feature_names, list(known))
    best = int(np.argmax(shares))
    if shares[best] < SURE:
        return None
    column = data.to_caller(data.X[:, best]).astype(np.float64)
    column = np.where(np.isnan(column), np.nanmean(column), column)
    alone = max(mean_of(sign * column, data, measure, convention=convention) for sign in (1.0, -1.0))
    if alone < NEARLY * mean:
        return None
    return (
        f"{feature_label(data, best)} alone reaches {measure} {alone:.3f}, the model {mean:.3f}: if it is computed "
        f"from judgements it is a leak, leave it out (--drop)"
    )
