"""Importance of features in a model: their contributions within queries, and how scores change with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.data.categories import places
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.models._rows import as_doubles
from argrank.models.model import Model

MOST_ROWS = 2000  # documents used for importances, in whole queries
MOST_CELLS = 1 << 24  # values of these documents: contributions to a sum are dense
SWAPPED_ROWS = 400  # documents for models without contributions
MOST_SWAPS = 1000  # most features for such models
DEPENDENCE_ROWS = 500  # documents used for dependence
POINTS = 13  # values of a feature at which it is evaluated
MOST_TEXTS = 12  # bars of a text feature


def some_queries(data: Dataset, most: int = MOST_ROWS) -> Dataset:
    """Return whole queries drawn by a fixed seed, of at most a number of documents together.

    If even the shortest query is longer, its first documents.
    """
    most = max(1, min(most, MOST_CELLS // data.n_features))
    if data.n_documents <= most:
        return data
    order = np.random.default_rng(0).permutation(data.n_queries)
    chosen = order[np.cumsum(data.sizes[order]) <= most]
    if not len(chosen):
        shortest = int(np.argmin(data.sizes))
        part = data.select([shortest])
        return part if part.n_documents <= most else part.keep(np.arange(part.n_documents) < most)
    return data.select(np.sort(chosen))


def importances(model: Model, data: Dataset) -> Floats | None:
    """Return the share of each feature: the mean absolute contribution to a score, relative to the mean of its query.

    ``data`` has the features of training. For models that are not sums of contributions (class probabilities, kernels)
    it is the mean change of a score if the feature's value is replaced by that of another document of the query; None
    if they have very many features.
    """
    part = some_queries(data)
    found = model.explain(part)
    if found is None and data.n_features > MOST_SWAPS:
        return None
    total = _swapped(model, some_queries(data, SWAPPED_ROWS)) if found is None else _within(found, part.indptr)
    return total / total.sum() if total.sum() > 0 else total


def _within(found: Any, indptr: Integers) -> Floats:
    """Return the summed absolute differences from the mean of the query, column by column."""
    total = np.zeros(found.shape[1])
    for start, end in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        own, columns = found[start:end], np.arange(found.shape[1])
        if sparse.issparse(own):
            columns = np.unique(own.indices)
            own = own[:, columns].toarray()
        total[columns] += np.abs(own - own.mean(axis=0)).sum(axis=0)
    return total


def _swapped(model: Model, part: Dataset) -> Floats:
    scores, order = model.predict(part), shuffled(part.indptr, np.random.default_rng(0))
    moved = (model.predict(reordered(part, column, order)) - scores for column in range(part.n_features))
    return np.array([np.abs(one).sum() for one in moved])


def reordered(data: Dataset, column: int, order: Integers) -> Dataset:
    """Return data with one column in another order of the rows."""
    return with_column(data, column, data.X[order][:, [column]])


def with_column(data: Dataset, column: int, values: Any) -> Dataset:
    """Return data with other values of one column."""
    X: Any = data.X.tolil(copy=True) if data.is_sparse else np.array(data.X)
    X[:, [column]] = values
    return data._but(X=X.tocsr() if data.is_sparse else X)


def shuffled(indptr: Integers, random: np.random.Generator) -> Integers:
    """Return the rows in an order that is random within queries."""
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return np.lexsort((random.random(len(query)), query))


def directions(model: Model, data: Dataset) -> Floats:
    """Return for each feature the correlation of its contribution with its value within queries, -1 to 1.

    0 if there is none, for text features, and for models without contributions.
    """
    part = some_queries(data)
    found = model.explain(part)
    signs = np.zeros(part.n_features)
    if found is None:
        return signs
    texts = places(data.categories, data.feature_names)
    for column in np.setdiff1d(np.arange(part.n_features), texts).tolist():
        x, y = (_centred(as_doubles(one[:, [column]])[:, 0], part.indptr) for one in (part.X, found))
        known = ~np.isnan(x)
        length = np.linalg.norm(x[known]) * np.linalg.norm(y[known])
        signs[column] = x[known] @ y[known] / length if length > 0 else 0.0
    return signs


def _centred(values: Floats, indptr: Integers) -> Floats:
    known = ~np.isnan(values)
    sizes, starts = np.diff(indptr), indptr[:-1]
    total = np.add.reduceat(np.where(known, values, 0.0), starts)
    mean = total / np.maximum(np.add.reduceat(known.astype(np.float64), starts), 1.0)
    return np.asarray(values - np.repeat(mean, sizes))


class Dependence(NamedTuple):
    """The mean score of documents if a feature had each of some values, or for a text feature each of some texts."""

    feature: str
    values: tuple[float, ...]
    texts: tuple[str, ...] | None  # names of the values
    scores: Floats  # minus the mean over the documents as they are
    missing: float | None = None  # the same for a missing value, if some are missing


def dependence(model: Model, data: Dataset, column: int) -> Dependence:
    """Return how the mean score changes with one feature of the data, with others unchanged.

    Values are quantiles of the feature; of a text, the most frequent ones. A model that normalises within queries is an
    error, because normalising removes a value that all documents share.
    """
    if model.needs_queries:
        raise OptionError(
            "dependence: expected a model that scores each document independently, got one that normalises in queries"
        )
    part = some_queries(data, DEPENDENCE_ROWS)
    name = label(data, column)
    values = as_doubles(part.X[:, [column]])[:, 0]
    known, lacks = values[~np.isnan(values)], bool(np.isnan(values).any())
    texts = None
    if data.categories and name in data.categories:
        found, counts = np.unique(known, return_counts=True)
        points = np.sort(found[np.argsort(-counts, kind="stable")[:MOST_TEXTS]])
        texts = tuple(data.categories[name][int(code)] for code in points.tolist())
    else:
        points = np.unique(np.quantile(known, np.linspace(0.0, 1.0, POINTS))) if len(known) else np.empty(0)
    base = float(model.predict(part).mean())
    moved = [float(model.predict(with_column(part, column, one)).mean()) - base for one in [*points, *[np.nan] * lacks]]
    scores, missing = np.array(moved[: len(points)]), moved[-1] if lacks else None
    return Dependence(name, tuple(points.tolist()), texts, scores, missing)


def label(data: Dataset, column: int) -> str:
    """Return a feature's name, or its number as in the file."""
    return data.feature_names[column] if data.feature_names else f"feature {column + data.feature_base}"


def importances_of(model: Model) -> Floats:
    """Return the importances stored in a model, or raise with the reason why there are none."""
    if model.feature_importances is None:
        raise OptionError(
            f"importances: this {type(model).__name__} has none: it comes from another tool, from an older argrank "
            f"or from a cluster, or it has too many features; ar.permutation_importance computes them on data"
        )
    return model.feature_importances
