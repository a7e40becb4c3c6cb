"""OpenSearch's User Behavior Insights: queries and events, as NDJSON in the form of the bulk interface or as tables.

A search is a ``query_id``; its text, trimmed and in lower case, is the query; ``client_id`` is the user. Impressions
and clicks are events of a search on an object at a position.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from argrank._files import open_bytes
from argrank.data.clicks.counts import Unusable
from argrank.data.clicks.tables import place_of, read_table
from argrank.data.io.kinds import kind_of
from argrank.errors import FormatError, shown

IMPRESSION = "impression"
CLICK = "click"
FIELDS = ("query_id", "user_query", "client_id", "action_name", "event_attributes")
TABLES = ("parquet", "arrow", "csv")
OBJECT = {"event_attributes.object.object_id"}
ROWS_AT_ONCE = 10_000


class Seen(NamedTuple):
    """A search and an object."""

    search: str
    object: str


def read(sources: Sequence[Any]) -> tuple[dict[str, list[Any]], Unusable]:
    """Return the columns of a log, and what could not be used; queries and events in any order, of any source."""
    text_of: dict[str, str] = {}
    shown_at: dict[Seen, int] = {}
    client: dict[str, str] = {}
    clicked: set[Seen] = set()
    others: Counter[str] = Counter()
    repeated = 0
    for path, number, one in chain.from_iterable(map(_documents, sources)):
        search = one.get("query_id")
        if isinstance(search, str) and isinstance(one.get("user_query"), str):
            text_of[search] = " ".join(one["user_query"].split()).casefold()
        if isinstance(search, str) and isinstance(one.get("client_id"), str):
            client.setdefault(search, one["client_id"])
        action = one.get("action_name")
        if action is None:
            continue
        if action not in (IMPRESSION, CLICK):
            others[str(action)] += 1
            continue
        if not isinstance(search, str):
            raise FormatError(path, number, "a query_id of every impression and click", shown(search))
        seen = Seen(search, _object(path, number, one))
        if action == CLICK:
            clicked.add(seen)
        elif seen in shown_at:
            repeated += 1
        else:
            shown_at[seen] = _position(path, number, one)
    if not shown_at:
        raise FormatError(place_of(sources[0]), None, "events with action_name 'impression'", "none")
    known = {seen: position for seen, position in shown_at.items() if seen.search in text_of}
    if not known:
        raise FormatError(place_of(sources[0]), None, "queries with user_query for the searches of the events", "none")
    found: dict[str, list[Any]] = {
        "session": [seen.search for seen in known],
        "qid": [text_of[seen.search] for seen in known],
        "docid": [seen.object for seen in known],
        "position": list(known.values()),
        "click": [int(seen in clicked) for seen in known],
        "user": [client.get(seen.search, seen.search) for seen in known],
    }
    return found, Unusable(len(clicked - shown_at.keys()), repeated, len(shown_at) - len(known), dict(others))


def _documents(source: Any) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the source's name, the number of the line or row, and a document."""
    is_path = isinstance(source, str | os.PathLike)
    return _lines(source) if is_path and kind_of(source) not in TABLES else _rows(source)


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the documents of NDJSON; action lines of the bulk interface are skipped."""
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                one = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise FormatError(path, number, "a JSON object", shown(line[:40])) from error
            if not isinstance(one, dict):
                raise FormatError(path, number, "a JSON object", shown(line[:40]))
            if "index" not in one and "create" not in one:
                yield os.fspath(path), number, one


def _rows(source: Any) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the rows of a table as documents; a column with a dotted name is a field inside another."""
    table, place, number = read_table(source, lambda names: OBJECT & set(names)), place_of(source), 0
    wanted = [name for name in table.column_names if name.split(".")[0] in FIELDS]
    for batch in table.select(wanted).to_batches(max_chunksize=ROWS_AT_ONCE):
        for row in batch.to_pylist():
            number += 1
            yield place, number, _nested(row)


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        *outer, last = name.split(".")
        inside = found
        for one in outer:
            inside = inside.setdefault(one, {})
        inside[last] = value
    return found


def _attributes(one: dict[str, Any]) -> dict[str, Any]:
    found = one.get("event_attributes")
    if isinstance(found, str):  # tables often hold it as text
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, dict) else {}


def _object(path: str | os.PathLike[str], number: int, one: dict[str, Any]) -> str:
    found = _attributes(one).get("object")
    name = found.get("object_id") if isinstance(found, dict) else None
    if not isinstance(name, str | int):
        raise FormatError(path, number, "event_attributes.object.object_id", shown(name))
    return str(name)


def _position(path: str | os.PathLike[str], number: int, one: dict[str, Any]) -> int:
    found = _attributes(one).get("position")
    ordinal = found.get("ordinal") if isinstance(found, dict) else None
    if isinstance(ordinal, bool) or not isinstance(ordinal, int):
        raise FormatError(path, number, "event_attributes.position.ordinal, a whole number", shown(ordinal))
    return ordinal
