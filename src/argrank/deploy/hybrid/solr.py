"""Solr: function queries over several queries, and the combined query with reciprocal-rank fusion.

Sums are those of the functions ``sum``, ``product``, ``query`` and ``scale`` in float32. ``scale`` uses all documents
of the index, and those that the query does not match have 0: it divides by the greatest score. The combined query
(``ReciprocalRankFusion`` of Solr 9.11 and 10) has a constant and no weights.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from argrank.deploy.hybrid.engine import RANK_CONSTANTS, Engine, Fusion, Way, json_text, number, readme
from argrank.deploy.hybrid.lists import Singles, reciprocal_ranks, unchanged


def scale(scores: Singles, constant: int) -> Singles:
    """Return the scores scaled to 0 … 1, where documents that do not match have 0 before."""
    low, high = min(scores.min(), np.float32(0)), max(scores.max(), np.float32(0))
    factor = np.float32(0) if high == low else np.float32(1) / (high - low)
    return np.asarray((scores - low) * factor)


_WAYS = [
    Way("none", (9, 0), unchanged, has_window=False),
    Way("max", (9, 0), scale, has_window=False),
    Way("rrf", (9, 11), reciprocal_ranks, has_weights=False, constants=RANK_CONSTANTS),
]


def write(fusion: Fusion, weights: Mapping[str, float]) -> dict[str, str]:
    """Return a request of the JSON API, and the command."""
    queries = [f"system{i}" for i in range(1, len(weights) + 1)]
    needs = f"{fusion.way.name} needs Solr {'.'.join(map(str, fusion.way.since))} or later"
    if fusion.constant:
        search: dict[str, object] = {
            "queries": {one: {"edismax": {"qf": "FIELD", "query": "TEXT"}} for one in queries},
            "limit": fusion.window,
            "fields": ["id", "score"],
            "params": {
                "combiner": True,
                "combiner.query": queries,
                "combiner.algorithm": "rrf",
                "combiner.rrf.k": str(fusion.constant),
            },
        }
        note = (
            f"limit {fusion.window} is the length of each list; {needs}, with solr.CombinedQuerySearchHandler as the "
            "handler and solr.CombinedQueryComponent declared as a search component, whose maxCombinerQueries is 5 "
            "unless set. Without SolrCloud, start Solr with -Dsolr.security.allow.urls=http://localhost:8983/solr/."
        )
    else:
        score = "query(${})" if fusion.way.name == "none" else "scale(query(${}),0,1)"
        terms = (f"product({number(w)},{score.format(one)})" for one, w in zip(queries, weights.values(), strict=True))
        search = {
            "query": "{!bool filter=$retrieve must=$rank}",
            "limit": 10,
            "fields": ["id", "score"],
            "params": {
                "retrieve": "{!bool " + " ".join(f"should=${one}" for one in queries) + "}",
                "rank": "{!func}sum(" + ",".join(terms) + ")",
                **dict.fromkeys(queries, "{!edismax qf=FIELD v=$text}"),
                "text": "TEXT",
            },
        }
        note = (
            "A system returns every document that matches its query; {!knn} with its topK that many, and the run that "
            f"the weights were tuned on should be as long. {needs}."
        )
    commands = ["curl localhost:8983/solr/COLLECTION/query -H 'Content-Type: application/json' -d @search.json"]
    order = ", ".join(f"{one} is {name}" for one, name in zip(queries, weights, strict=True))
    notes = [f"search.json: put your queries in place of those given: {order}.", note]
    return {"search.json": json_text(search), "README.txt": readme("Hybrid search in Solr", commands, notes)}


ENGINE = Engine("solr", {way.name: way for way in _WAYS}, write)
