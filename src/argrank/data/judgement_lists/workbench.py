"""JSON of OpenSearch's Search Relevance Workbench: lists of judgements, and query sets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from argrank._declared import checked
from argrank._files import open_bytes, read_all, split_suffixes, write_text
from argrank._json import parse_json
from argrank.data.io.text import number_text
from argrank.data.judgement_lists.quepid import add
from argrank.errors import FormatError, shown


def is_own(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file has this form."""
    return is_json_with(path, "judgmentRatings")


def read(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read judgements; the Workbench writes ratings as texts."""
    found: dict[str, dict[str, float]] = {}
    for one in field(path, object_of(path), "judgmentRatings", list):
        query = field(path, one, "query", str)
        found.setdefault(query, {})
        for rating in field(path, one, "ratings", list):
            document, text = field(path, rating, "docId", str), field(path, rating, "rating", str | int | float)
            add(found, query, document, str(text), (path, None))
    return found


def write(judged: Mapping[str, Mapping[str, float]], path: str | os.PathLike[str]) -> None:
    """Write judgements in the format that the Workbench imports."""
    ratings = [
        {"query": query, "ratings": [{"docId": one, "rating": number_text(float(n))} for one, n in of_query.items()]}
        for query, of_query in judged.items()
    ]
    content = {
        "name": "argrank",
        "description": "Judgements written by argrank",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": ratings,
    }
    write_json(path, content)


@checked
def read_query_set(path: str | os.PathLike[str]) -> list[str]:
    """Read the queries of a query set: JSON of the Search Relevance Workbench, or one query per line (``.txt``)."""
    if split_suffixes(path)[0] == ".txt":
        with open_bytes(path) as stream:
            lines = read_all(stream, os.fspath(path)).decode("utf-8", "replace").splitlines()
        return [line for line in lines if line.strip()]
    rows = field(path, object_of(path), "querySetQueries", list)
    return [field(path, one, "queryText", str) for one in rows]


@checked
def write_query_set(queries: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Write queries as a query set that the Search Relevance Workbench imports."""
    content = {
        "name": "argrank",
        "description": "Queries written by argrank",
        "sampling": "manual",
        "querySetQueries": [{"queryText": str(one)} for one in queries],
    }
    write_json(path, content)


def is_json_with(path: str | os.PathLike[str], name: str) -> bool:
    """Tell whether a file is a JSON object with a field."""
    if split_suffixes(path)[0] != ".json":
        return False
    return name in object_of(path)


def object_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON object that a file holds."""
    with open_bytes(path) as stream:
        content = read_all(stream, os.fspath(path))
    try:
        found = parse_json(content, os.fspath(path))
    except (ValueError, RecursionError) as error:
        raise FormatError(path, None, "a JSON object", shown(error)) from error
    if not isinstance(found, dict):
        raise FormatError(path, None, "a JSON object", type(found).__name__)
    return found


def field(path: str | os.PathLike[str], one: Any, name: str, kind: Any) -> Any:
    """Return a field of a JSON object, of the kind that is expected."""
    value = one.get(name) if isinstance(one, dict) else None
    if isinstance(value, bool) or not isinstance(value, kind):
        raise FormatError(path, None, f"{name!r} in every entry", shown(one))
    return value


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write JSON."""
    write_text(path, json.dumps(content, indent=1))
