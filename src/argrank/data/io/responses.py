"""Responses of search engines that log features, saved as JSON lines: one response per line, with its query.

A line is ``{"qid": …, "response": {…}}``, or the response itself with ``"qid"`` beside its own keys. What is read:
``fields._ltrlog`` of the plugins of OpenSearch and Elasticsearch, ``[features]`` of Solr, ``summaryfeatures`` and
``matchfeatures`` of Vespa. Nothing is fetched.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from argrank._files import open_bytes
from argrank._json import parse_json
from argrank.errors import FormatError, check_name, shown

QUERY = "qid"
SINGLE_MAX = 3.4028234663852886e38


class Hit(NamedTuple):
    """A document of a response: its features by name (NaN where one is missing), its score, and its line."""

    qid: str
    docid: str
    score: float
    features: dict[str, float]
    line: int


class _Place(NamedTuple):
    path: str | os.PathLike[str]
    line: int

    def error(self, expected: str, got: Any) -> FormatError:
        return FormatError(self.path, self.line, expected, shown(got))

    def of(self, parent: Any, name: str, kind: type) -> Any:
        """Return a part of a response by its name."""
        if not isinstance(parent, Mapping) or not isinstance(parent.get(name), kind):
            got = parent
            if isinstance(parent, Mapping):
                got = parent.get(name, f"none among {', '.join(map(str, parent))}")
            raise self.error(f"{name!r}, {_KINDS[kind]}", got)
        return parent[name]

    def number(self, value: Any, what: str) -> float:
        """Return a number; NaN for an engine's marker of a missing one."""
        if value is None or (isinstance(value, str) and value.strip().lower() in ("nan", "")):
            return math.nan
        try:
            found = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.inf
        if math.isinf(found) or isinstance(value, bool):
            raise self.error(f"a number for {what}", value)
        return found

    def single(self, value: Any, what: str) -> float:
        """Return a number written by Lucene's engines, which use float32 and its shortest text."""
        found = self.number(value, what)
        if abs(found) > SINGLE_MAX:
            raise self.error(f"a number of float32 for {what}", value)
        return float(struct.unpack("f", struct.pack("f", found))[0])


_KINDS: dict[type, str] = {dict: "an object", list: "a list"}
_Found = Iterator[tuple[Any, Any, dict[str, float]]]


def _of_plugins(place: _Place, response: Any) -> _Found:
    """Yield id, score and features; a feature whose query did not match is listed without a value."""
    for hit in place.of(place.of(response, "hits", dict), "hits", list):
        entries = place.of(place.of(hit, "fields", dict), "_ltrlog", list)
        features: dict[str, float] = {}
        objects = entries if all(isinstance(entry, Mapping) for entry in entries) else ()
        for name, logged in (pair for entry in objects for pair in entry.items()):
            for one in logged if isinstance(logged, list) else ():
                if not isinstance(one, Mapping) or not isinstance(one.get("name"), str) or one["name"] in features:
                    raise place.error(f"features with different names in {name!r}", one)
                features[one["name"]] = place.single(one.get("value"), f"feature {one['name']!r}")
        yield hit.get("_id"), hit.get("_score"), features


def _of_solr(place: _Place, response: Any) -> _Found:
    """Yield id, score and features of ``name=value,…``; a dense log names all of them."""
    for document in place.of(place.of(response, "response", dict), "docs", list):
        key = next((name for name in ("[features]", "features") if name in _mapping(place, document)), None)
        if key is None or not isinstance(document[key], str):
            raise place.error("'[features]' among the fields of a document", list(document))
        pairs = [pair.rpartition("=") for pair in document[key].split(",") if pair]
        yield (
            document.get("id"),
            document.get("score"),
            {name: place.single(value, f"feature {name!r}") for name, _, value in pairs},
        )


def _of_vespa(place: _Place, response: Any) -> _Found:
    """Yield id, score and features; the id is what follows ``::``."""
    root = place.of(response, "root", dict)
    for hit in place.of(root, "children", list) if "children" in root else ():
        fields = place.of(hit, "fields", dict)
        logged = {**fields.get("matchfeatures", {}), **fields.get("summaryfeatures", {})}
        if not logged:
            raise place.error("'summaryfeatures' or 'matchfeatures' among the fields of a hit", list(fields))
        features = {
            name: place.number(value, f"feature {name!r}")
            for name, value in logged.items()
            if not name.startswith("vespa.")  # such as vespa.summaryFeatures.cached
        }
        name = fields.get("documentid", hit.get("id"))
        yield name.rpartition("::")[2] if isinstance(name, str) else name, hit.get("relevance"), features


ENGINES: dict[str, tuple[str, Callable[[_Place, Any], _Found]]] = {
    "elasticsearch": ("hits", _of_plugins),
    "opensearch": ("hits", _of_plugins),
    "solr": ("response", _of_solr),
    "vespa": ("root", _of_vespa),
}


def read_responses(path: str | os.PathLike[str], engine: str | None = None) -> list[Hit]:
    """Read the documents of all responses; without ``engine`` it is detected for each response."""
    if engine is not None:
        check_name("engine", engine, ENGINES)
    found: list[Hit] = []
    with open_bytes(path) as stream:
        for line, text in enumerate(stream, 1):
            if text.strip():
                found += _line(_Place(path, line), text, engine)
    if not found:
        raise FormatError(path, None, "responses with documents, one per line", "none")
    return found


def _line(place: _Place, text: bytes, engine: str | None) -> Iterator[Hit]:
    try:
        content = _mapping(place, parse_json(text, os.fspath(place.path)))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise place.error("a response in JSON, all of it on one line", text[:60].decode("utf-8", "replace")) from error
    wrapped = content.get("response")
    is_wrapped = QUERY in content and isinstance(wrapped, Mapping) and "docs" not in wrapped
    response = _mapping(place, wrapped) if is_wrapped else content
    qid = content.get(QUERY, _solr_query(response))
    if not isinstance(qid, str | int) or isinstance(qid, bool):
        raise place.error(f'the query as {{"{QUERY}": …, "response": {{…}}}}', list(content))
    known = [name for name, (key, _) in ENGINES.items() if key in response and engine in (None, name)]
    if not known:
        raise place.error(f"a response of {engine or ', '.join(ENGINES)}", list(response))
    for docid, score, features in ENGINES[known[0]][1](place, response):
        if not isinstance(docid, str | int):
            raise place.error("the id of every document", docid)
        yield Hit(str(qid), str(docid), place.number(score, "the score"), features, place.line)


def _solr_query(response: Mapping[str, Any]) -> Any:
    """Return the query that Solr repeats if ``echoParams`` is set."""
    header = response.get("responseHeader")
    params = header.get("params") if isinstance(header, Mapping) else None
    return params.get("q") if isinstance(params, Mapping) else None


def _mapping(place: _Place, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise place.error("an object", value)
    return value
