"""Click logs from files and frames: plain tables, OpenSearch UBI events, session lists, LETOR clicks, and sums."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from argrank._declared import checked
from argrank._files import open_bytes
from argrank.data.clicks import ubi
from argrank.data.clicks.coding import coded, paired
from argrank.data.clicks.counts import ClickCounts, Unusable
from argrank.data.clicks.log import LARGEST_POSITION, OPTIONAL, REQUIRED, Clicks
from argrank.data.clicks.stream import summed
from argrank.data.clicks.tables import place_of, read_table
from argrank.data.io.arrow import stream_columns
from argrank.data.io.kinds import kind_of
from argrank.data.io.load import load
from argrank.data.io.tables import write_columns
from argrank.errors import FormatError, InputError, OptionError, check_choice, shown

FORMATS = ("ubi", "sessions", "letor", "counts")
SUFFIX = ".position"  # of LightGBM's file of positions
ROWS_AT_ONCE = 1_000_000
IDS = ("session", "qid", "docid", "user", "ranker", "team")
COUNTED = ("qid", "docid", "position", "impressions", "clicks")

#: Other recognised names of columns.
ALIASES = {
    "session": ("session_id", "search_id"),
    "qid": ("query_id", "query", "user_query", "query_text"),
    "docid": ("doc_id", "docno", "document_id", "product_id", "item_id", "object_id"),
    "position": ("rank", "ordinal"),
    "click": ("clicked", "is_click"),
    "user": ("user_id", "client_id"),
    "impressions": ("views", "shown"),
}


@checked
def load_clicks(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002
    first_position: Literal[0, 1] = 1,
    repeated: Literal["error", "merge", "keep"] = "error",
    keep: Sequence[str] = (),
    sums: bool = False,
) -> Clicks | ClickCounts:
    """Read a click log.

    Parameters
    ----------
    source : path, list of paths, or data frame
        CSV, Parquet or Arrow; a data frame of pandas, polars or pyarrow; with ``format`` one of the forms below. The
        rows of one session may be in several files.
    columns : mapping, optional
        Your names of columns -> ours: session, qid, docid, position, click; user, weight, timestamp, ranker, team,
        propensity.
    format : str, optional
        "ubi": OpenSearch's User Behavior Insights, one source or several: NDJSON in bulk form, or ubi_queries and
        ubi_events as tables, whose nested fields may have dotted names (``event_attributes.position.ordinal``).
        "sessions": one session per line, tab-separated: session, query, list of documents, anything, list of clicks
        (TianGong, PyClick). "counts": a table of sums: qid, docid, position, impressions, clicks. "letor": LETOR text
        whose labels are clicks (0 or 1), with LightGBM's file of positions (``train.txt.position``, a line for each
        row).
    first_position : int
        The position of the top document, 1 or 0.
    repeated : "error", "merge" or "keep"
        How to treat a document that a session shows twice.
    keep : sequence of str
        Further columns to keep, such as the device, for ``ar.propensities(log, by="device")``.
    sums : bool
        Read Parquet and Arrow files a million rows at a time and keep only sums, for logs larger than memory.
        Propensities, and judgements by "coec", "ctr" and "examinations", need no more.

    Returns
    -------
    Clicks
        The log; with ``format="counts"`` or ``sums``, its sums as ClickCounts.

    Examples
    --------
    >>> import argrank as ar
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"session": [1, 1], "query": ["tv", "tv"], "sku": ["a", "b"]})
    >>> frame = frame.assign(rank=[1, 2], click=[0, 1])
    >>> ar.load_clicks(frame, columns={"sku": "docid"})
    Clicks(1 session, 1 query, 2 shown documents, 1 click)
    """
    check_choice("format", format, (None, *FORMATS))
    how: dict[str, Any] = {"first_position": first_position, "repeated": repeated}
    sources = list(source) if isinstance(source, list | tuple) else [source]
    if not sources:
        raise InputError("expected the path of a log or a data frame, got an empty list")
    given = columns or {}
    if sums:
        if format is not None:
            raise OptionError(f"sums=True: expected a table of shown documents, got format={format!r}")
        choose = partial(_chosen, given=given, required=REQUIRED, optional=OPTIONAL)
        return summed((piece for one in sources for piece in _pieces(one, choose)), how)
    if format == "ubi":
        found, unusable = ubi.read(sources)
        return Clicks.of(found, unusable=unusable, **how)
    if format in ("sessions", "letor"):
        if len(sources) > 1:
            raise InputError(f"format={format!r}: expected one file, got {len(sources)}")
        return Clicks.of(_sessions(sources[0]) if format == "sessions" else _letor(sources[0]), **how)
    required, optional = (COUNTED, ()) if format == "counts" else (REQUIRED, OPTIONAL)
    parts = []
    for one in sources:
        choose = partial(_chosen, source=one, given=given, required=required, optional=optional)
        table, chosen = _table(one, choose)
        lacking = [name for name in keep if name not in table.column_names]
        if lacking:
            raise InputError(f"keep: expected a column {lacking[0]!r}, got {', '.join(table.column_names)}")
        named = {name: table.column(column) for name, column in chosen.items()}
        parts.append((named, {name: table.column(name) for name in keep}))
    if format == "counts":
        return _counts(_joined([named for named, _ in parts]))
    unusable = Unusable(split_sessions=_split_sessions([named["session"] for named, _ in parts]))
    kept = _joined([kept for _, kept in parts]) if keep else {}
    return Clicks.of(_joined([named for named, _ in parts]), extra=kept, unusable=unusable, **how)


def _table(source: Any, choose: Callable[[list[str]], dict[str, str]]) -> tuple[Any, dict[str, str]]:
    """Return a table, and its name of every column that exists."""
    table = read_table(source, lambda names: [column for what, column in choose(names).items() if what in IDS])
    return table, choose(list(table.column_names))


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Concatenate several tables, which must have the same columns."""
    import pyarrow as pa

    if len(parts) == 1:
        return parts[0]
    names = list(parts[0])
    for part in parts[1:]:
        if set(part) != set(names):
            other = sorted(set(part) ^ set(names))[0]
            raise InputError(f"expected the same columns in every file, got {other!r} in some")
    try:
        tables = [pa.table({name: part[name] for name in names}) for part in parts]
        joined = pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(f"expected the same types of columns in every file, got {shown(error)}") from error
    return {name: joined.column(name) for name in names}


def _split_sessions(parts: list[Any]) -> int:
    """Return how many sessions have rows in several tables."""
    if len(parts) == 1:
        return 0
    seen = Counter(one for part in parts for one in set(map(str, part.unique().to_pylist())))
    return sum(count > 1 for count in seen.values())


def _pieces(source: Any, choose: Callable[..., dict[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield the columns of a log by our names, a million rows of a file at a time."""
    kind = kind_of(source, None) if isinstance(source, str | os.PathLike) else None
    if kind not in ("parquet", "arrow"):
        table, found = _table(source, partial(choose, source=source))
        yield {name: table.column(column) for name, column in found.items()}
        return
    chosen: dict[str, str] = {}

    def columns(names: list[str]) -> list[str]:
        chosen.update(choose(names, source=source))
        return list(dict.fromkeys(chosen.values()))

    for piece in stream_columns(source, str(kind), ROWS_AT_ONCE, columns):
        yield {name: piece.column(column) for name, column in chosen.items()}


def _chosen(
    names: list[str], source: Any, given: Mapping[str, str], required: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, str]:
    """Return the table's name of every column that exists."""
    place = place_of(source)
    for name, meaning in given.items():
        if name not in names:
            raise InputError(f"{place}: expected a column {name!r}, got {', '.join(names)}")
        check_choice("columns", meaning, (*required, *optional))
    found = {meaning: name for name, meaning in given.items()}
    free = [name for name in names if name not in given]
    for meaning in (*required, *optional):
        spelled = next((one for one in (meaning, *ALIASES.get(meaning, ())) if one in free), None)
        if meaning not in found and spelled is not None:
            found[meaning] = spelled
    missing = [meaning for meaning in required if meaning not in found]
    if missing:
        raise InputError(
            f"{place}: expected columns for {', '.join(missing)}, got {', '.join(names)}; name them with "
            f"columns={{'your name': {missing[0]!r}}} (in the shell: --column 'your name={missing[0]}')"
        )
    return found


def _counts(columns: dict[str, Any]) -> ClickCounts:
    """Read precomputed sums."""
    query, document = coded("qid", columns["qid"]), coded("docid", columns["docid"])
    position, impressions, clicks = (_whole(name, columns[name]) for name in COUNTED[2:])
    if not len(position):
        raise InputError("expected at least one row of sums, got an empty log")
    if int(position.max()) > LARGEST_POSITION:
        raise InputError(
            f"position: expected whole numbers up to {LARGEST_POSITION}, got {position.max()} in row "
            f"{int(np.argmax(position))}"
        )
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


def _sessions(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    """Read session lists, one session per line: session, query, lists of documents, of verticals and of clicks.

    Lines with the same session are searches of one user.
    """
    found: dict[str, list[Any]] = {name: [] for name in ("session", "user", "qid", "docid", "position", "click")}
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                _add_session(path, number, line, found)
    if not found["session"]:
        raise FormatError(path, None, "one session per line", "an empty file")
    return found


def _add_session(path: str | os.PathLike[str], number: int, line: bytes, found: dict[str, list[Any]]) -> None:
    try:
        cells = line.decode("utf-8").rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        raise FormatError(path, number, "UTF-8 text", "other bytes") from error
    if len(cells) < 5:
        raise FormatError(path, number, "five cells: session, query, documents, verticals, clicks", str(len(cells)))
    documents, clicks = _list(path, number, cells[2]), _list(path, number, cells[4])
    if len(documents) != len(clicks) or not documents:
        raise FormatError(path, number, "as many clicks as documents", f"{len(clicks)} and {len(documents)}")
    n = len(documents)
    found["session"] += [f"{cells[0]}:{number}"] * n
    found["user"] += [cells[0]] * n
    found["qid"] += [cells[1]] * n
    found["docid"] += [str(one) for one in documents]
    found["position"] += range(1, n + 1)
    found["click"] += clicks


def _list(path: str | os.PathLike[str], number: int, text: str) -> list[Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, number, "a list in brackets", shown(text)) from error
    if not isinstance(values, list) or not all(isinstance(one, int | str) for one in values):
        raise FormatError(path, number, "a list of numbers or texts", shown(text))
    return values


def _letor(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read LETOR text whose labels are clicks, with LightGBM's file of positions, one position per line.

    A query of the file is a session, a comment ``docid = …`` names the document.
    """
    data = load(path)
    beside = os.fspath(path) + SUFFIX
    positions = _positions(beside)
    if len(positions) != data.n_documents:
        raise FormatError(beside, None, f"{data.n_documents} positions, one for each row", str(len(positions)))
    own = np.arange(data.n_documents) if data.document_ids is None else data.to_caller(data.document_ids)
    qid = data.to_caller(data.query_ids[data.query_of_row])
    return {"session": qid, "qid": qid, "docid": own, "position": positions, "click": data.to_caller(data.y)}


def _positions(path: str) -> list[int]:
    with open_bytes(path) as stream:
        lines = stream.read().split(b"\n")
    lines = lines[:-1] if not lines[-1].strip() else lines
    for number, line in enumerate(lines, 1):
        if not line.strip().isdigit():
            raise FormatError(path, number, "a position, a whole number from 0 up", shown(line[:40]))
    return [int(line) for line in lines]


@checked
def write_clicks(log: Clicks, path: str | os.PathLike[str]) -> None:
    """Write a log with one row for each shown document: .csv, .tsv, .parquet or .arrow."""
    write_columns(log.columns(), path)
