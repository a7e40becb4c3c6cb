"""Categories encoded as numbers: the mean gradient step of their documents, estimated on held-out queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.models.symmetric import MOST_CODES
from argrank.rankers.boosted.symmetric.bins import dense

FOLDS = 5
PRIOR = 10.0  # prior: documents of mean curvature with gradient 0 added to every category


class Encoded(NamedTuple):
    """The numbers of categories: of each code as they are served, and of each training row.

    A category's number is Newton's step for its documents, ``-G / (H + prior)``, at the start of the training. A
    training row gets the number computed from other queries, because otherwise rare categories would leak the row's own
    label; if no other query has the category, the number is missing.
    """

    codes: dict[int, Floats]
    numbers: dict[int, Floats]

    @classmethod
    def of(cls, data: Dataset, columns: Sequence[int], gradient: Floats, curvature: Floats) -> Encoded:
        """Learn the numbers of some columns, given gradients and curvatures by the scores at the start."""
        prior = PRIOR * float(curvature.mean())
        fold = np.repeat(np.arange(data.n_queries) % FOLDS, data.sizes)
        codes, numbers = {}, {}
        for column in columns:
            own = _codes_of(column_of(data.X, column))
            size = int(own.max(initial=0)) + 1
            if size > MOST_CODES:
                raise InputError(
                    f"categorical_features: expected codes below {MOST_CODES:,} in column {column}, got {size - 1:,}"
                )
            place = np.where(own < 0, size, own)  # missing ones after the others
            sums = np.zeros((3, FOLDS, size + 1))
            for total, weight in zip(sums, (gradient, curvature, None), strict=True):
                flat = np.bincount(fold * (size + 1) + place, weight, FOLDS * (size + 1))
                total[:] = flat.reshape(FOLDS, size + 1)
            codes[column] = _steps(sums.sum(axis=1)[:, :size], prior)
            others = _steps(sums.sum(axis=1, keepdims=True) - sums, prior)
            others[:, size] = np.nan
            numbers[column] = others[fold, place]
        return cls(codes, numbers)

    def served(self, data: Dataset) -> Mapping[int, Floats]:
        """Return the numbers of rows that are not trained on."""
        found = {}
        for column, codes in self.codes.items():
            own = _codes_of(column_of(data.X, column))
            known = (own >= 0) & (own < len(codes))
            found[column] = np.where(known, codes[np.where(known, own, 0)], np.nan)
        return found


def _steps(sums: Floats, prior: float) -> Floats:
    """Return Newton's steps from sums of gradients, curvatures and rows; NaN where there are no rows."""
    gradient, curvature, count = sums
    return np.where(count > 0, -gradient / np.maximum(curvature + prior, 1e-300), np.nan)


def _codes_of(values: Floats) -> Any:
    """Return whole parts, and -1 for what is missing or below 0."""
    return np.where(values > -1, np.minimum(np.trunc(values), 2.0**62), -1).astype(np.int64)


def column_of(X: Any, column: int) -> Floats:
    """Return one column as an array."""
    return dense(X[:, [column]])[:, 0].astype(np.float64)
