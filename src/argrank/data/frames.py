"""Data frames (pandas, polars, pyarrow) to the columns of a Dataset, through narwhals."""

from __future__ import annotations

import functools
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from argrank.data.categories import encode
from argrank.errors import InputError, shown

logger = logging.getLogger(__name__)

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

#: Other common names of these columns, the most specific first; used where the column itself is absent.
ALIASES = {
    "qid": ("query_id", "queryid", "query"),
    "label": ("relevance", "relevance_label", "judgement", "judgment", "grade", "rel", "rating"),
    "docid": ("doc_id", "docno", "document_id"),
}

FRAMES = ("columns", "column_names")  # attributes of the types of data frames
TABLES = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")  # protocols of any other table

FEATURE = "feature"  # says that a column has no meaning, whatever its name


def meanings_of(
    names: Sequence[str],
    given: Mapping[str, str | None] | None = None,
    known: Collection[str] = (),
    features: Collection[str] = (),
    where: str = "",
) -> dict[str, str | None]:
    """Return what columns mean: name -> meaning for those that have one, None for those to leave out.

    ``given`` states meanings, ``features`` are columns without one, and meanings ``known`` from elsewhere are not
    looked for under other names. A column that is taken under another name is reported in one line of the log.
    """
    found: dict[str, str | None] = {name: meaning for name, meaning in (given or {}).items() if meaning != FEATURE}
    features = {*features, *(name for name, meaning in (given or {}).items() if meaning == FEATURE)}
    free = [name for name in names if name not in found and name not in features]
    found |= {name: name for name in free if name in COLUMNS}
    told = []
    for meaning, others in ALIASES.items():
        if meaning in known or meaning in found.values():
            continue
        spelled = {_plain(name): name for name in reversed(free) if found.get(name, name) == name}
        taken = next((spelled[other] for other in (meaning, *others) if other in spelled), None)
        if taken is not None:
            found[taken] = meaning
            told.append(f"{meaning} from column {taken!r}")
    if told:
        _tell(f"{where}{': ' if where else ''}{', '.join(told)}")
    return found


@functools.lru_cache(maxsize=64)
def _tell(text: str) -> None:
    """Say it once: a cross-validation makes many Datasets of the same frame."""
    logger.warning("%s", text)


def _plain(name: str) -> str:
    return str(name).strip().lower().replace("-", "_").replace(" ", "_")


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame: one that narwhals knows, lazy or not, or a table of the Arrow protocols.

    Nothing of it is read: a stream can be read only once.
    """
    kind = type(X)
    if isinstance(X, np.ndarray | list | tuple) or not any(hasattr(kind, name) for name in (*FRAMES, *TABLES)):
        return False
    import narwhals as nw

    try:
        found = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"expected columns of different names: {' '.join(str(error).split())}") from error
    if isinstance(found, nw.Series):
        return False
    return isinstance(found, nw.DataFrame | nw.LazyFrame) or (
        any(hasattr(kind, name) for name in TABLES) and not _is_arrow_column(X)
    )


def _is_arrow_column(X: Any) -> bool:
    """Tell whether an object of the Arrow protocols is one column, not a table."""
    import pyarrow as pa

    return isinstance(X, pa.Array | pa.Scalar) and not isinstance(X, pa.StructArray)


def columns_of(frame: Any, known: Collection[str] = (), features: Sequence[str] | None = None) -> dict[str, Any]:
    """Split a data frame into the arguments of Dataset: features become X, other columns what they mean.

    ``known`` are meanings that come from elsewhere. ``features`` are the columns of a model: they alone become X, as
    far as they are there, whatever their names mean.
    """
    table = _table(frame)
    wanted = [name for name in features or () if name in table.columns]
    meanings = meanings_of(table.columns, known=known, features=wanted)
    found: dict[str, Any] = {
        COLUMNS[meaning]: table.get_column(name).to_numpy() for name, meaning in meanings.items() if meaning is not None
    }
    names = wanted or [name for name in table.columns if name not in meanings]
    found["X"], found["categories"] = _matrix(table, names)
    found["feature_names"] = names
    return found


def select_columns(frame: Any, names: Sequence[str]) -> Any:
    """Return some columns of a data frame, as a frame of the same kind."""
    table, wanted = _table(frame), set(names)
    places = [place for place, name in enumerate(table.columns) if str(name) in wanted]
    return table[:, places].to_native()


def _table(frame: Any) -> Any:
    """Return an eager frame of narwhals."""
    import narwhals as nw

    table = nw.from_native(frame, pass_through=True)
    if not isinstance(table, nw.DataFrame | nw.LazyFrame):
        table = nw.from_native(_arrow_table(frame))
    return table.collect() if isinstance(table, nw.LazyFrame) else table


def _arrow_table(X: Any) -> Any:
    """Return the pyarrow table of an object that speaks one of the Arrow protocols."""
    import pyarrow as pa
    from pyarrow.interchange import from_dataframe

    try:
        streams = any(hasattr(type(X), name) for name in TABLES[:2])
        return pa.table(X) if streams else from_dataframe(X)
    except Exception as error:  # of somebody else's exporter
        raise InputError(f"X: expected a table, got {type(X).__name__}, which cannot be read: {error}") from error


def _matrix(table: Any, names: list[str]) -> tuple[Any, dict[str, tuple[str, ...]] | None]:
    columns = {name: table.get_column(name) for name in names}
    categories: dict[str, tuple[str, ...]] = {}
    single = bool(names) and all(str(column.dtype) == "Float32" for column in columns.values())
    X = np.empty((len(table), len(names)), np.float32 if single else np.float64)
    for position, (name, column) in enumerate(columns.items()):
        kind = str(column.dtype).partition("(")[0]
        if column.dtype.is_numeric() or column.dtype.is_boolean():
            X[:, position] = column.to_numpy()
        elif kind in ("String", "Categorical", "Enum"):
            known = [str(one) for one in column.dtype.categories] if kind == "Enum" else None
            X[:, position], categories[name] = encode(column.to_list(), known)
        else:
            value = shown(column.head(1).to_list()[0] if len(table) else column.dtype)
            raise InputError(
                f"column {name!r}: expected numbers or texts, got {value}; columns with a meaning are "
                f"{', '.join(COLUMNS)}"
            )
    X.flags.writeable = False  # made here: a Dataset may keep it
    return X, categories or None
