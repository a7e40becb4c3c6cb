"""Hybrid search: how each engine combines several systems' scores, the requests for it, and a readable formula.

To add an engine: a module with an ``ENGINE``, and its line here.
"""

from __future__ import annotations

from collections.abc import Mapping

from argrank.deploy.hybrid import elasticsearch, opensearch, solr, vespa
from argrank.deploy.hybrid.engine import RANK_CONSTANT, WINDOW, Engine, Fusion
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


PLAIN = "plain"
_TERMS = {
    "none": "{name}",
    "minmax": "minmax({name})",
    "zscore": "zscore({name})",
    "rank": f"1 / ({RANK_CONSTANT} + rank({{name}}))",
}


def formula(weights: Mapping[str, float], normalisers: Mapping[str, str]) -> str:
    """Return the weighted sum as text; systems of weight 0 are left out."""
    text = ""
    for name, weight in weights.items():
        if weight != 0:
            sign = "-" if weight < 0 else "+" if text else ""
            text += f" {sign} " if text else sign
            term = _TERMS[normalisers[name]].format(name=name)
            text += f"{abs(weight):.6g}{term[1:]}" if term.startswith("1 / ") else f"{abs(weight):.6g} * {term}"
    return text or "0"


def nearest_fusion(normalisers: Mapping[str, str], target: str) -> Fusion:
    """Return an engine's equivalent of weights that were tuned without an engine, or raise if there is none."""
    check_name("target", target, ENGINES)
    kinds = set(normalisers.values())
    if len(kinds) > 1:
        raise OptionError(f"{target}: expected one normalisation for all systems, got {', '.join(sorted(kinds))}")
    kind = kinds.pop().replace("rank", "rrf")
    ways = ENGINES[target].ways
    if kind not in ways:
        raise OptionError(
            f"{target}: expected a normalisation it can compute ({', '.join(ways)}), got {kind!r}: "
            f"tune with engine={target!r}, which chooses among those"
        )
    return Fusion(ENGINES[target], ways[kind], WINDOW, RANK_CONSTANT if kind == "rrf" else 0)
