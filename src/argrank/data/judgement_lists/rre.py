"""JSON of the Rated Ranking Evaluator: topics with groups of queries and their relevant documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from argrank.data.judgement_lists.quepid import add
from argrank.data.judgement_lists.workbench import field, is_json_with, object_of, write_json
from argrank.errors import FormatError, InputError, shown

PLACEHOLDER = "$query"
TEMPLATE = "query.json"


def is_own(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file has this form."""
    return is_json_with(path, "topics") or is_json_with(path, "query_groups") or is_json_with(path, "queries")


def read(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read judgements: every query of a group has the group's relevant documents.

    These are given as ``{document: {"gain": 3}}`` or as ``{"3": [documents]}``; topics and groups may be left out.
    """
    content = object_of(path)
    topics = field(path, content, "topics", list) if "topics" in content else [content]
    groups = [
        group
        for topic in topics
        for group in (field(path, topic, "query_groups", list) if "query_groups" in topic else [topic])
    ]
    found: dict[str, dict[str, float]] = {}
    for group in groups:
        judged = _gains(path, field(path, group, "relevant_documents", dict))
        for query in _queries(path, group):
            found.setdefault(query, {})
            for document, gain in judged:
                add(found, query, document, gain, (path, None))
    return found


def _queries(path: str | os.PathLike[str], group: dict[str, Any]) -> list[str]:
    found = []
    for one in field(path, group, "queries", list) if "queries" in group else [group]:
        placeholders = one.get("placeholders") if isinstance(one, dict) else None
        if isinstance(placeholders, dict) and isinstance(placeholders.get(PLACEHOLDER), str):
            found.append(placeholders[PLACEHOLDER])
        elif isinstance(placeholders, dict) and len(placeholders) == 1:
            found.append(str(next(iter(placeholders.values()))))
        else:
            raise FormatError(path, None, f"placeholders with {PLACEHOLDER!r} in every query", shown(one))
    return found


def _gains(path: str | os.PathLike[str], given: dict[str, Any]) -> list[tuple[str, str]]:
    """Return documents and gains."""
    found = []
    for key, value in given.items():
        if isinstance(value, list):
            found += [(str(document), key) for document in value]
        else:
            gain = field(path, value, "gain" if "gain" in value else "rating", int | float)
            found.append((key, str(gain)))
    return found


def write(judged: Mapping[str, Mapping[str, float]], path: str | os.PathLike[str]) -> None:
    """Write judgements; gains have to be whole numbers."""
    groups = []
    for query, of_query in judged.items():
        for document, rating in of_query.items():
            if rating != int(rating):
                raise InputError(
                    f"query {shown(query)}, document {shown(document)}: expected a whole number, which RRE needs, "
                    f"got {rating:g}; use grades (levels=)"
                )
        relevant = {document: {"gain": int(rating)} for document, rating in of_query.items()}
        queries = [{"template": TEMPLATE, "placeholders": {PLACEHOLDER: query}}]
        groups.append({"name": query, "queries": queries, "relevant_documents": relevant})
    write_json(path, {"id_field": "id", "topics": [{"description": "argrank", "query_groups": groups}]})
