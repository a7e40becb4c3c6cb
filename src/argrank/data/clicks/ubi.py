"""OpenSearch's User Behavior Insights: queries and events, as NDJSON in the form of the bulk interface.

A search is a ``query_id``; its text, trimmed and in small letters, is the query; ``client_id`` is the user. Impressions
and clicks are events of a search on an object at a position.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any, NamedTuple

from argrank._files import open_bytes
from argrank.data.clicks.log import Unusable
from argrank.errors import FormatError, shown

IMPRESSION = "impression"
CLICK = "click"


class Seen(NamedTuple):
    """A search and an object."""

    search: str
    object: str


def read(path: str | os.PathLike[str]) -> tuple[dict[str, list[Any]], Unusable]:
    """Return the columns of a log, and what could not be used."""
    text_of: dict[str, str] = {}
    shown_at: dict[Seen, int] = {}
    client: dict[str, str] = {}
    clicked: set[Seen] = set()
    others: Counter[str] = Counter()
    repeated = 0
    for number, one in _documents(path):
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
        raise FormatError(path, None, "events with action_name 'impression'", "none")
    known = {seen: position for seen, position in shown_at.items() if seen.search in text_of}
    if not known:
        raise FormatError(path, None, "queries with user_query for the searches of the events", "none")
    found: dict[str, list[Any]] = {
        "session": [seen.search for seen in known],
        "qid": [text_of[seen.search] for seen in known],
        "docid": [seen.object for seen in known],
        "position": list(known.values()),
        "click": [int(seen in clicked) for seen in known],
        "user": [client.get(seen.search, seen.search) for seen in known],
    }
    return found, Unusable(len(clicked - shown_at.keys()), repeated, len(shown_at) - len(known), dict(others))


def _documents(path: str | os.PathLike[str]) -> Any:
    """Yield line number and document; lines that say where a document goes are passed over."""
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
                yield number, one


def _attributes(one: dict[str, Any]) -> dict[str, Any]:
    found = one.get("event_attributes")
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
