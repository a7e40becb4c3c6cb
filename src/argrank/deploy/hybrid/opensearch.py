"""OpenSearch: the search pipelines of its hybrid query.

Arithmetic of the plugin neural-search as of its normalisation and combination classes (commit 00be312, 2025); a
document that a clause did not return has 0 there, and its weight stays in the divisor of the arithmetic mean (confirmed
by the maintainers in neural-search #1830), while geometric and harmonic means leave it out. For one shard: with more
shards every list is longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.deploy.hybrid.engine import RANK_CONSTANTS, Engine, Fusion, Way, json_text, number, readme
from argrank.deploy.hybrid.lists import Singles, sum_singles

LEAST = np.float32(0.001)  # in place of 0, which would mean "not returned"


def min_max(scores: Singles, constant: int) -> Singles:
    """Return (score - min) / (max - min), 0.001 in place of 0, 1 where all are equal."""
    low, high = scores.min(), max(scores.max(), np.float32(1.4e-45))
    if low == high:
        return np.ones_like(scores)
    found = (scores - low) / (high - low)
    return np.where(found == 0, LEAST, found)


def l2(scores: Singles, constant: int) -> Singles:
    """Return the scores divided by the root of the sum of their squares, which is added up in float32."""
    norm = np.sqrt(np.cumsum(scores * scores, dtype=np.float32)[-1], dtype=np.float64).astype(np.float32)
    return np.zeros_like(scores) if norm == 0 else scores / norm


def z_score(scores: Singles, constant: int) -> Singles:
    """Return (score - mean) / deviation, 0.001 below the mean; at the mean the list's greatest raw score."""
    doubles = scores.astype(np.float64)
    mean = np.float32(doubles.mean())
    deviation = np.float32(doubles.std(ddof=1)) if len(scores) > 1 else np.float32(0)
    if deviation == 0:
        found = np.full_like(scores, scores.min())
    else:
        found = (scores - mean) / deviation
        found = np.where(found <= 0, LEAST, found)
    return np.where(scores == mean, scores.max(), found)


def rank_scores(scores: Singles, constant: int) -> Singles:
    """Return 1 / (constant + rank), rounded to ten decimals, then to float32."""
    return np.array([round(1 / (constant + rank), 10) for rank in range(1, len(scores) + 1)], np.float32)


def arithmetic_mean(ready: Floats, weights: Floats) -> Floats:
    """Return the weighted mean over all systems."""
    total = np.cumsum(weights.astype(np.float32), dtype=np.float32)[-1]
    summed = sum_singles(ready, weights).astype(np.float32)
    return (summed / total if total > 0 else summed).astype(np.float64)


def geometric_mean(ready: Floats, weights: Floats) -> Floats:
    """Return the weighted geometric mean over the systems that have the document."""
    logs, total = _over_present(ready, weights, lambda weight, score: np.float64(weight) * np.log(np.float64(score)))
    mean = np.divide(logs, total, out=np.zeros_like(logs), where=total > 0)
    return np.where(total > 0, np.exp(mean.astype(np.float64)).astype(np.float32), 0.0).astype(np.float64)


def harmonic_mean(ready: Floats, weights: Floats) -> Floats:
    """Return the weighted harmonic mean over the systems that have the document."""
    inverse, total = _over_present(ready, weights, lambda weight, score: weight / score)
    return np.divide(total, inverse, out=np.zeros_like(total), where=inverse > 0).astype(np.float64)


def _over_present(ready: Floats, weights: Floats, term: Callable[[Any, Singles], Singles]) -> tuple[Singles, Singles]:
    """Return the float32 sums of a term and of the weights over the systems whose score is above 0."""
    summed, total = np.zeros(ready.shape[1], np.float32), np.zeros(ready.shape[1], np.float32)
    for scores, weight in zip(ready.astype(np.float32), weights.astype(np.float32), strict=True):
        present = scores > 0
        summed[present] = summed[present] + term(weight, scores[present])
        total[present] += weight
    return summed, total


_NORMALISERS = {"minmax": (min_max, (2, 10)), "l2": (l2, (2, 10)), "zscore": (z_score, (3, 0))}
_MEANS = {"geometric": geometric_mean, "harmonic": harmonic_mean}
_NAMES = {"minmax": "min_max", "l2": "l2", "zscore": "z_score"}

_WAYS = [
    *(Way(name, since, rule, arithmetic_mean) for name, (rule, since) in _NORMALISERS.items()),
    *(
        Way(f"{name}-{mean}", since, rule, combine, is_sum=False)
        for mean, combine in _MEANS.items()
        for name, (rule, since) in _NORMALISERS.items()
        if name != "zscore"  # its processor supports only the arithmetic mean
    ),
    Way("rrf", (3, 1), rank_scores, constants=RANK_CONSTANTS),
]


def write(fusion: Fusion, weights: Mapping[str, float]) -> dict[str, str]:
    """Return the search pipeline, a search, and the commands."""
    shares: dict[str, object] = {"parameters": {"weights": [number(weight) for weight in weights.values()]}}
    if fusion.constant:
        combination = shares | {"technique": "rrf", "rank_constant": fusion.constant}
        processor: dict[str, object] = {"score-ranker-processor": {"combination": combination}}
    else:
        name, _, mean = fusion.way.name.partition("-")
        combination = shares | {"technique": f"{mean or 'arithmetic'}_mean"}
        processor = {
            "normalization-processor": {"normalization": {"technique": _NAMES[name]}, "combination": combination}
        }
    order = ", ".join(weights)
    pipeline = {
        "description": f"weights of {order}, in the order of the hybrid query's clauses",
        "phase_results_processors": [processor],
    }
    queries = [{"match": {"FIELD": {"query": f"query of {name}"}}} for name in weights]
    hybrid = {"pagination_depth": fusion.window, "queries": queries}
    search = {"size": min(10, fusion.window), "query": {"hybrid": hybrid}}
    commands = [
        "curl -XPUT localhost:9200/_search/pipeline/hybrid -H 'Content-Type: application/json' -d @pipeline.json",
        "curl 'localhost:9200/INDEX/_search?search_pipeline=hybrid' -H 'Content-Type: application/json' "
        "-d @search.json",
    ]
    notes = [
        f"search.json: put your queries in place of the clauses, in this order: {order}.",
        f"pagination_depth {fusion.window} is the length of each list that the weights were tuned for (from 2.19 up; "
        "before, the size of the search is).",
        f"{fusion.way.name} needs OpenSearch {'.'.join(map(str, fusion.way.since))} or later.",
    ]
    title = "Hybrid search in OpenSearch"
    return {
        "pipeline.json": json_text(pipeline),
        "search.json": json_text(search),
        "README.txt": readme(title, commands, notes),
    }


ENGINE = Engine("opensearch", {way.name: way for way in _WAYS}, write, as_shares=True, most_systems=5)
