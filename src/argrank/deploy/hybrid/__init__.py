"""Hybrid search: how each engine combines several systems' scores, and the requests for it.

To add an engine: a module with an ``ENGINE``, and its line here.
"""

from __future__ import annotations

from argrank.deploy.hybrid import elasticsearch, opensearch, solr, vespa
from argrank.deploy.hybrid.engine import Engine
from argrank.errors import OptionError, check_name, shown

ENGINES: dict[str, Engine] = {
    one.name: one for one in (elasticsearch.ENGINE, opensearch.ENGINE, solr.ENGINE, vespa.ENGINE)
}


def find_engine(text: str) -> Engine:
    """Return the engine of a name, or of a name and a version (``"opensearch@2.19"``), with its features."""
    name, at, version = text.partition("@")
    check_name("engine", name, ENGINES)
    if not at:
        return ENGINES[name]
    try:
        numbers = tuple(int(part) for part in version.split("."))
    except ValueError:
        raise OptionError(f"engine: expected a version such as {name}@9.2, got {shown(text)}") from None
    return ENGINES[name].at(numbers)
