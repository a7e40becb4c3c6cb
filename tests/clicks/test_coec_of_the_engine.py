"""COEC on OpenSearch's sample of events, beside the engine's own way, with its conventions and with ours."""

from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict

import numpy as np
import pytest

from argrank.clicks.judgements import judgements
from argrank.data.clicks.load import load_clicks
from argrank.errors import ArgrankWarning


def both_ways(shown: list, clicks: list) -> dict:
    """Return for every (query, document): clicks over rates summed over ranks, and over those of the smallest rank."""
    at, clicked_at, ranks = Counter(rank for *_, rank in shown), Counter(rank for *_, rank in clicks), defaultdict(list)
    for query, document, rank in shown:
        ranks[query, document].append(rank)
    own = Counter((query, document) for query, document, _ in clicks)
    rate = {rank: clicked_at[rank] / n for rank, n in at.items()}
    found = {}
    for pair, of_pair in ranks.items():
        summed, smallest = sum(rate[rank] for rank in of_pair), len(of_pair) * rate[min(of_pair)]
        found[pair] = tuple(own[pair] / one if own[pair] else 0.0 for one in (summed, smallest))
    return found


def differing(found: dict) -> int:
    return sum(abs(one - other) > 1e-9 for one, other in found.values())


def test_the_pairs_that_differ(real_data):
    path = real_data / "clicks" / "ubi-esci" / "ubi_events.ndjson.xz"
    with lzma.open(path) as stream:
        events = [json.loads(line) for line in stream]
    text = {one["query_id"]: one["user_query"] for one in events if "user_query" in one and "action_name" not in one}
    rows = {"impression": [], "click": []}
    for one in events:
        if one.get("action_name") in rows:
            attributes = one["event_attributes"]
            place = attributes["object"]["object_id"], attributes["position"]["ordinal"]
            rows[one["action_name"]].append((text.get(one["query_id"]), *place))
    engine = both_ways(rows["impression"], rows["click"])  # every click event, at its own rank; no text is a query
    assert (len(engine), differing(engine)) == (1146, 24)
    assert engine["wireless earbuds", "B07ZCRSVBB"] == (pytest.approx(5.98, abs=0.005), pytest.approx(11.82, abs=0.005))

    log = load_clicks(path, format="ubi")
    columns = log.columns()
    shown = list(zip(columns["qid"].tolist(), columns["docid"].tolist(), log.position.tolist(), strict=True))
    ours = both_ways(shown, [row for row, click in zip(shown, log.click, strict=True) if click])
    assert (len(ours), differing(ours)) == (1085, 26)
    with pytest.warns(ArgrankWarning, match="position 0 is taken for a rank of its own"):
        judged = judgements(log, "coec")
    pairs = zip(judged.qid.tolist(), judged.docid.tolist(), strict=True)
    np.testing.assert_allclose(judged.value, [ours[pair][0] for pair in pairs])
