"""Missing values: fill them in, or raise a clear error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._declared import checked
from argrank._types import Floats
from argrank.data import checks
from argrank.data.categories import places
from argrank.data.dataset import Dataset
from argrank.data.prepare.query_statistics import blocks
from argrank.data.summary import feature_label
from argrank.errors import InputError, OptionError, check_name, shown

Filling = Literal["mean", "query-max", "query-mean", "query-min", "zero"]
FILLINGS = get_args(Filling)


@checked
def impute(data: Dataset, with_: Filling | float = "zero", *, features: Sequence[int | str] | None = None) -> Dataset:
    """Return the data with its missing values (NaN) filled in.

    Parameters
    ----------
    data : Dataset
    with_ : "zero", "mean", "query-mean", "query-min", "query-max" or a number
        What replaces NaN: the feature's mean over all data, or its mean, minimum or maximum within the query
        (the maximum suits ranks). A feature that is missing in a whole query gets the mean over all data; one that is
        missing everywhere becomes 0.
    features : sequence of column numbers or feature names, optional
        Fill only these; by default all but categories, where missing is one of the values.

    Notes
    -----
    The QueryLevelNorm files of LETOR 3.0 can be computed from the files with NULL in three steps, which reproduce the
    printed digits on OHSUMED: NULL in BM25 and log BM25 (ids 11, 12, 26, 27, 41, 42) is 0, NULL in the language models
    is the query's minimum, then min-max within the query::

        data = ar.impute(data, "zero", features=[10, 11, 25, 26, 40, 41])
        data = ar.normalise(ar.impute(data, "query-min"), "query-minmax")

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[1.0], [float("nan")], [5.0]], [0, 1, 0], qid=[1, 1, 2])
    >>> ar.impute(data, "query-min").X.ravel().tolist(), ar.impute(data, "mean").X.ravel().tolist()
    ([1.0, 1.0, 5.0], [1.0, 3.0, 5.0])
    """
    chosen = _chosen(data, features)
    X = data.X.copy()
    values = X.data if sparse.issparse(X) else X
    columns = X.indices if sparse.issparse(X) else np.arange(data.n_features)
    wanted = np.isnan(values) & chosen[columns]
    if not isinstance(with_, str) or with_ == "zero":
        values[wanted] = 0.0 if with_ == "zero" else with_
    else:
        overall = _overall_mean(data)
        if with_ == "mean":
            values[wanted] = np.broadcast_to(overall[columns], values.shape)[wanted]
        else:
            _fill_by_query(data, values, wanted, with_, overall)
    return data.with_features(X)


def refuse_texts(data: Dataset, ranker: str) -> None:
    """Raise an InputError when features are texts: which, and what to do."""
    if data.categories:
        names = ", ".join(map(repr, data.categories))
        raise InputError(
            f"column {names}: {ranker} takes numbers, got texts; leave the column out (drop it from the frame, "
            "columns={…: None}, --drop), convert it to numbers, let the ranker do so (prepare='auto'), or train "
            "trees, which accept texts (lambda-mart)"
        )


def refuse_missing(data: Dataset) -> None:
    """Raise an InputError when features are missing: which, how many, and what to do."""
    if not checks.has_missing(data.X):
        return
    counts = np.zeros(data.n_features)
    for block in blocks(data.X, data.indptr):
        counts += block.per_feature(block.documents - block.known(), data.n_features)
    worst = int(np.argmax(counts))
    others = int((counts > 0).sum()) - 1
    raise InputError(
        f"X: expected no missing values, got {counts.sum():,.0f} NaN, {counts[worst]:,.0f} of them in "
        f"{feature_label(data, worst)}{f' and the rest in {others} more' if others else ''}; "
        "fill them in with ar.impute(data, with_=…) first, or let the ranker do so (prepare='auto')"
    )


def _chosen(data: Dataset, features: Sequence[int | str] | None) -> NDArray[np.bool_]:
    if features is None:
        return np.isin(np.arange(data.n_features), places(data.categories, data.feature_names), invert=True)
    chosen = np.zeros(data.n_features, bool)
    for feature in features:
        if isinstance(feature, str):
            check_name("feature", feature, data.feature_names or ())
            chosen[(data.feature_names or ()).index(feature)] = True
        elif 0 <= feature < data.n_features:
            chosen[feature] = True
        else:
            raise OptionError(f"features: expected column numbers below {data.n_features}, got {shown(feature)}")
    return chosen


def _overall_mean(data: Dataset) -> Floats:
    total, known = np.zeros(data.n_features), np.full(data.n_features, float(data.n_documents))
    for block in blocks(data.X, data.indptr):
        total += block.per_feature(block.total(), data.n_features)
        known -= block.per_feature(block.documents - block.known(), data.n_features)
    return np.asarray(total / np.maximum(known, 1))


def _fill_by_query(data: Dataset, values: Any, wanted: Any, with_: str, overall: Floats) -> None:
    for block in blocks(data.X, data.indptr):
        holes = wanted[block.place]
        if not holes.any():
            continue
        statistic = {"query-mean": block.mean, "query-min": block.minimum, "query-max": block.maximum}[with_]()
        statistic = np.where(block.known() > 0, statistic, overall[block.features])
        part = values[block.place]
        part[holes] = block.spread(statistic)[holes]
        values[block.place] = part
