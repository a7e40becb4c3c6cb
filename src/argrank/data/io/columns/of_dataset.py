"""Convert a Dataset to columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.categories import decode
from argrank.data.dataset import Dataset
from argrank.data.io.columns.roles import COLUMNS, TEXTS
from argrank.data.subsets import BY_QUERY
from argrank.errors import InputError


def feature_names(data: Dataset) -> list[str]:
    """Return the names of the feature columns: f1, f2, … if the Dataset has none."""
    if data.feature_names is None:
        return [f"f{data.feature_base + position}" for position in range(data.n_features)]
    taken = [name for name in data.feature_names if name in COLUMNS or name == ""]
    if taken:
        raise InputError(f"feature_names: expected names that are not reserved, got {taken[0]!r}")
    return list(data.feature_names)


def named_columns(data: Dataset) -> dict[str, NDArray[Any]]:
    """Return the columns with a meaning that a Dataset holds, one value for each row in the caller's order."""
    found: dict[str, NDArray[Any]] = {}
    for column, argument in COLUMNS.items():
        field = "query_ids" if argument == "qid" else argument
        values = getattr(data, field)
        if values is None or (column == "label" and not data.is_judged):
            continue
        if column in TEXTS:
            values = np.array(["" if text is None else text for text in values.tolist()], dtype=object)
        by_row = np.repeat(values, data.sizes) if field in BY_QUERY else values
        found[column] = data.to_caller(by_row)
    return found


def columns_of_data(data: Dataset) -> dict[str, NDArray[Any]]:
    """Return the columns of a table in the caller's row order: label, qid and so on, then the features."""
    order, columns = data.to_caller(np.arange(data.n_documents)), named_columns(data)
    X = data.X.tocsc() if data.is_sparse else data.X
    for position, name in enumerate(feature_names(data)):
        column = X[:, [position]].toarray()[:, 0] if data.is_sparse else X[:, position]
        columns[name] = column[order]
        if data.categories and name in data.categories:
            columns[name] = np.array(decode(column[order], data.categories[name]), object)
    return columns
