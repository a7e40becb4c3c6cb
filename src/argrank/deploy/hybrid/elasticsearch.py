"""Elasticsearch: the linear and the rrf retriever.

Arithmetic of ``LinearRetrieverBuilder``, ``MinMaxScoreNormalizer``, ``L2ScoreNormalizer`` and ``RRFRetrieverBuilder``
(x-pack/plugin/rank-rrf, 2025): float32, and 0 from a retriever that did not return the document. Lists of equal scores
are treated as since June 2025 (pull request 128689, also in 8.18, 8.19 and 9.0); before, they kept their raw score.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from argrank.deploy.hybrid.engine import RANK_CONSTANTS, Engine, Fusion, Way, json_text, number, readme
from argrank.deploy.hybrid.lists import Singles, reciprocal_ranks, unchanged

LEAST_SPREAD = np.float32(1e-6)  # of scores, below which the engine does not divide by it


def minmax(scores: Singles, constant: int) -> Singles:
    """Return (score - min) / (max - min); where all are equal, 1."""
    low, high = scores.min(), max(scores.max(), np.float32(1.4e-45))
    if abs(low - high) < LEAST_SPREAD:
        return np.ones_like(scores)
    return np.asarray((scores - low) / (high - low))


def l2_norm(scores: Singles, constant: int) -> Singles:
    """Return the scores divided by the root of the sum of their squares, which is added up in double."""
    norm = np.sqrt(np.cumsum((scores * scores).astype(np.float64))[-1])
    return scores if norm < LEAST_SPREAD else (scores / norm).astype(np.float32)


_NAMES = {"none": "none", "minmax": "minmax", "l2": "l2_norm"}
_WAYS = [
    Way("none", (8, 18), unchanged),
    Way("minmax", (8, 18), minmax),
    Way("l2", (8, 19), l2_norm),
    Way("rrf", (9, 2), reciprocal_ranks, constants=RANK_CONSTANTS),
]


def write(fusion: Fusion, weights: Mapping[str, float]) -> dict[str, str]:
    """Return a search with a linear or an rrf retriever, and the command."""
    normaliser = {} if fusion.constant else {"normalizer": _NAMES[fusion.way.name]}
    retrievers = [
        {"retriever": {"standard": {"query": {"match": {"FIELD": f"query of {name}"}}}}, "weight": number(weight)}
        | normaliser
        for name, weight in weights.items()
    ]
    body: dict[str, object] = {"retrievers": retrievers, "rank_window_size": fusion.window}
    kind = "linear"
    if fusion.constant:
        kind, body = "rrf", body | {"rank_constant": fusion.constant}
    commands = ["curl localhost:9200/INDEX/_search -H 'Content-Type: application/json' -d @search.json"]
    notes = [
        f"search.json: put your retrievers in place of the queries, in this order: {', '.join(weights)}.",
        f"rank_window_size {fusion.window} is the length of each list that the weights were tuned for.",
        f"{fusion.way.name} needs Elasticsearch {'.'.join(map(str, fusion.way.since))} or later, and an Enterprise "
        "subscription: the linear and rrf retrievers answer 403 under the free licence.",
    ]
    search = json_text({"size": min(10, fusion.window), "retriever": {kind: body}})
    return {"search.json": search, "README.txt": readme("Hybrid search in Elasticsearch", commands, notes)}


ENGINE = Engine("elasticsearch", {way.name: way for way in _WAYS}, write)
