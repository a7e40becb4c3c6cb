"""Data frames (pandas, polars, pyarrow) to the columns of a Dataset, through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.errors import InputError, shown

#: Columns with a meaning, in files and frames alike: column name -> argument of Dataset. All others are features.
COLUMNS = {
    "label": "y",
    "qid": "qid",
    "docid": "document_ids",
    "comment": "comments",
    "sample_weight": "sample_weight",
    "query_weight": "query_weight",
    "source": "sources",
    "query": "query_texts",
    "title": "titles",
}


def by_name(X: Any, names: Any, expected: Any) -> Any:
    """Return the columns of the expected names, in their order; columns of other names are left out."""
    if tuple(names) == tuple(expected):
        return X
    place = {name: position for position, name in enumerate(names)}
    lacking = [name for name in expected if name not in place]
    if lacking:
        others = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise InputError(f"X: expected a feature {lacking[0]!r}{others}, as in training, got {shown(list(names), 200)}")
    return X[:, [place[name] for name in expected]]


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame that narwhals knows, without importing any frame library."""
    if isinstance(X, np.ndarray | list | tuple) or not (hasattr(X, "columns") or hasattr(X, "column_names")):
        return False
    import narwhals as nw

    _refuse_repeats(X)
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def _refuse_repeats(frame: Any) -> None:
    """Refuse a pandas frame with two columns of one name; the other libraries make none."""
    names: Any = getattr(frame, "columns", None)
    if getattr(names, "has_duplicates", False) is True:
        twice = names[names.duplicated()][0]
        raise InputError(f"columns: expected different names, got {shown(twice)} twice")


def columns_of(frame: Any) -> dict[str, Any]:
    """Split a data frame into the arguments of Dataset: features become X, named columns what COLUMNS says."""
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    found: dict[str, Any] = {
        argument: table.get_column(column).to_numpy() for column, argument in COLUMNS.items() if column in table.columns
    }
    names = [name for name in table.columns if name not in COLUMNS]
    found["X"] = _matrix(table, names)
    found["feature_names"] = names
    return found


def feature_columns(frame: Any) -> Any:
    """Return a data frame's feature columns alone, as a frame of the same kind."""
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    return table.drop([name for name in COLUMNS if name in table.columns]).to_native()


def _matrix(table: Any, names: list[str]) -> NDArray[Any]:
    dtypes = [table.get_column(name).dtype for name in names]
    for name, dtype in zip(names, dtypes, strict=True):
        if not (dtype.is_numeric() or dtype.is_boolean()):
            values = shown(table.get_column(name).head(1).to_list()[0] if len(table) else dtype)
            raise InputError(
                f"column {name!r}: expected numbers, got {values}; columns with a meaning are {', '.join(COLUMNS)}"
            )
    single = bool(dtypes) and all(str(dtype) == "Float32" for dtype in dtypes)
    X = np.empty((len(table), len(names)), np.float32 if single else np.float64)
    for position, name in enumerate(names):
        X[:, position] = table.get_column(name).to_numpy()
    X.flags.writeable = False  # made here: a Dataset may keep it
    return X
