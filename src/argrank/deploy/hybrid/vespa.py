"""Vespa: a rank profile whose global phase normalises across hits.

Arithmetic of ``LinearNormalizer`` and ``ReciprocalRankNormalizer`` (container-search, 2023 to 2026), in double. A rank
feature of a hit that its system did not find is 0, and is normalised and ranked with the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from argrank.deploy.hybrid.engine import RANK_CONSTANTS, Engine, Fusion, Way, readme
from argrank.deploy.hybrid.lists import Singles, sum_doubles, unchanged

_FEATURE = re.compile(r"[A-Za-z]\w*\([\w ,.]*\)(\.\w+)?", re.ASCII)  # such as bm25(title)
_TERMS = {"none": "{name}", "minmax": "normalize_linear({name})", "rrf": "reciprocal_rank({name}, {constant})"}


def normalize_linear(scores: Singles, constant: int) -> Singles:
    """Return the scores from 0 to 1 around the middle of their range; 0.5 where all are equal."""
    low, high = scores.min(), scores.max()
    scale, middle = (1.0 / (high - low), (low + high) * 0.5) if high > low else (0.0, 0.0)
    return 0.5 + scale * (scores - middle)


def reciprocal_rank(scores: Singles, constant: int) -> Singles:
    """Return 1 / (constant + rank)."""
    return 1.0 / (constant + 1.0 + np.arange(len(scores)))


_WAYS = [
    Way("none", (8,), unchanged, sum_doubles),
    Way("minmax", (8,), normalize_linear, sum_doubles),
    Way("rrf", (8,), reciprocal_rank, sum_doubles, constants=RANK_CONSTANTS),
]


def write(fusion: Fusion, weights: Mapping[str, float]) -> dict[str, str]:
    """Return a rank profile, and instructions."""
    names = {name: name if _FEATURE.fullmatch(name) else _identifier(name, i) for i, name in enumerate(weights, 1)}
    text = ""
    for name, weight in weights.items():
        text += ("" if not text else " - " if weight < 0 else " + ") + ("-" if not text and weight < 0 else "")
        text += f"{abs(weight)!r} * {_TERMS[fusion.way.name].format(name=names[name], constant=fusion.constant)}"
    count = fusion.window * len(weights)
    lines = ["rank-profile hybrid {"]
    for one in names.values():
        if not _FEATURE.fullmatch(one):
            lines += [f"    function {one}() {{", f"        expression: RANK_FEATURE_OF_{one}", "    }"]
    lines += [f"    match-features: {' '.join(names.values())}"]
    lines += ["    first-phase {", f"        expression: {' + '.join(names.values())}", "    }"]
    lines += ["    global-phase {", f"        rerank-count: {count}", f"        expression: {text}", "    }", "}", ""]
    notes = [
        "hybrid.profile: put a rank feature in place of every RANK_FEATURE_OF_..., such as bm25(title) or "
        "closeness(field, embedding); copy the file to schemas/SCHEMA/ of the application package.",
        f"Let every operator of the query find {fusion.window} documents (targetHits), and ask for as many hits as are "
        f"reranked: rerank-count {count} is all of them.",
        f"{fusion.way.name} needs Vespa {'.'.join(map(str, fusion.way.since))} or later.",
    ]
    commands = ["vespa deploy app", "vespa query 'yql=...' ranking=hybrid"]
    return {"hybrid.profile": "\n".join(lines), "README.txt": readme("Hybrid search in Vespa", commands, notes)}


def _identifier(name: str, number: int) -> str:
    """Return a name for a function of the profile."""
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return word if word == name else f"{word or 'system'}_{number}"


ENGINE = Engine(
    "vespa", {way.name: way for way in _WAYS}, write, takes_negative=True, in_double=True, ranks_absent=True
)
