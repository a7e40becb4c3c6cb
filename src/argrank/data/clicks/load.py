"""Click logs from files and frames: plain tables, OpenSearch UBI events, session lists, and sums."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank.data.clicks import session_lists, ubi
from argrank.data.clicks.coding import coded, paired
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import OPTIONAL, REQUIRED, Clicks
from argrank.data.frames import is_frame
from argrank.data.io.arrow import read_columns
from argrank.data.io.kinds import kind_of
from argrank.errors import FormatError, InputError, check_choice, shown

FORMATS = ("ubi", "sessions", "counts")
COUNTED = ("qid", "docid", "position", "impressions", "clicks")

#: Other names under which columns are found.
ALIASES = {
    "session": ("session_id", "search_id"),
    "qid": ("query_id", "query", "user_query", "query_text"),
    "docid": ("doc_id", "docno", "document_id", "product_id", "item_id", "object_id"),
    "position": ("rank", "ordinal"),
    "click": ("clicked", "is_click"),
    "user": ("user_id", "client_id"),
    "impressions": ("views", "shown"),
}


def load_clicks(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002
    first_position: int = 1,
    repeated: str = "error",
) -> Clicks | ClickCounts:
    """Read a click log.

    Parameters
    ----------
    source : path or data frame
        CSV, Parquet or Arrow; a data frame of pandas, polars or pyarrow; with ``format`` one of the forms below.
    columns : mapping, optional
        Your names of columns -> ours: session, qid, docid, position, click; user, weight, timestamp, ranker, team,
        propensity.
    format : str, optional
        "ubi": OpenSearch's User Behavior Insights, events and queries as NDJSON in bulk form. "sessions": a session a
        line, tab-separated: session, query, list of documents, anything, list of clicks (TianGong, PyClick).
        "counts": a table of sums: qid, docid, position, impressions, clicks.
    first_position : int
        The position of the top document, 1 or 0.
    repeated : "error", "merge" or "keep"
        What to do with a document that a session shows twice.

    Returns
    -------
    Clicks
        The log; of ``format="counts"`` its sums, a ClickCounts.

    Examples
    --------
    >>> import argrank as ar
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"session": [1, 1], "query": ["tv", "tv"], "sku": ["a", "b"]})
    >>> frame = frame.assign(rank=[1, 2], click=[0, 1])
    >>> ar.load_clicks(frame, columns={"sku": "docid"})
    Clicks(1 sessions, 1 queries, 2 shown documents, 1 clicks)
    """
    check_choice("format", format, (None, *FORMATS))
    if format == "ubi":
        found, unusable = ubi.read(source)
        return Clicks.of(found, first_position=first_position, repeated=repeated, unusable=unusable)
    if format == "sessions":
        return Clicks.of(session_lists.read(source), first_position=first_position, repeated=repeated)
    table = _table(source)
    required, optional = (COUNTED, ()) if format == "counts" else (REQUIRED, OPTIONAL)
    chosen = _chosen(list(table.column_names), columns or {}, required, optional, source)
    found = {name: table.column(column) for name, column in chosen.items()}
    if format == "counts":
        return _counts(found)
    return Clicks.of(found, first_position=first_position, repeated=repeated)


def _table(source: Any) -> Any:
    """Return a pyarrow table."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if is_frame(source):
        import narwhals as nw

        frame = nw.from_native(source)
        return (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_arrow()
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"expected the path of a log or a data frame, got {shown(source)}")
    kind = kind_of(source, None)
    if kind in ("parquet", "arrow"):
        return read_columns(source, kind)
    import pyarrow.csv

    try:
        return pyarrow.csv.read_csv(os.fspath(source))
    except OSError as error:
        raise InputError(f"{os.fspath(source)}: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise FormatError(source, None, "a table of comma-separated values", " ".join(str(error).split())) from error


def _chosen(
    names: list[str], given: Mapping[str, str], required: tuple[str, ...], optional: tuple[str, ...], source: Any
) -> dict[str, str]:
    """Return for every column that is there its name in the table."""
    place = os.fspath(source) if isinstance(source, str | os.PathLike) else "log"
    for name, meaning in given.items():
        if name not in names:
            raise InputError(f"{place}: expected a column {name!r}, got {', '.join(names)}")
        check_choice("columns", meaning, (*required, *optional))
    found = {meaning: name for name, meaning in given.items()}
    free = [name for name in names if name not in given]
    for meaning in (*required, *optional):
        spelled = [meaning, *ALIASES.get(meaning, ())]
        for one in spelled:
            if meaning not in found and one in free:
                found[meaning] = one
    missing = [meaning for meaning in required if meaning not in found]
    if missing:
        raise InputError(
            f"{place}: expected columns for {', '.join(missing)}, got {', '.join(names)}; say which they are with "
            f"columns={{'your name': {missing[0]!r}}}"
        )
    return found


def _counts(columns: dict[str, Any]) -> ClickCounts:
    """Return sums that were made elsewhere."""
    query, document = coded("qid", columns["qid"]), coded("docid", columns["docid"])
    position, impressions, clicks = (_whole(name, columns[name]) for name in COUNTED[2:])
    wrong = clicks > impressions
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"clicks: expected at most as many as impressions, got {clicks[row]} and {impressions[row]} in row {row}"
        )
    pair = paired(query.codes, document.codes)
    n = len(document.ids)
    return ClickCounts(
        query.ids, document.ids, pair.ids // n, pair.ids % n, None, pair.codes, position, None, impressions, clicks,
        clicks.astype(np.float64),
    )  # fmt: skip


def _whole(name: str, column: Any) -> Any:
    try:
        values = np.asarray(column.to_numpy(), np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected whole numbers, got {shown(error)}") from error
    wrong = ~((values >= 0) & (values == np.floor(values)) & (values < 2**53))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"{name}: expected whole numbers from 0 up, got {values[row]} in row {row}")
    return values.astype(np.int64)
