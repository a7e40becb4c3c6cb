from __future__ import annotations

import json

import numpy as np

import argrank as ar
from argrank.data.summary import MOST_FEATURES, MOST_LABELS, Overview


def test_says_what_is_inside():
    data = ar.Dataset(
        [[0.0, 1.0], [2.0, np.nan], [4.0, np.nan], [0.0, np.nan]],
        [0, 1, 1, 0.5],
        qid=[1, 1, 1, 2],
        feature_names=["a", "b\x1b"],
    )
    facts = Overview(data).to_dict()
    assert facts["labels"] == [
        {"label": "0", "documents": 1},
        {"label": "0.5", "documents": 1},
        {"label": "1", "documents": 2},
    ]
    assert facts["documents_a_query"]["median"] == 2
    assert facts["features"][0] == {"feature": "a", "min": 0, "max": 4, "mean": 1.5, "share_zero": 0.5, "missing": 0}
    assert facts["features"][1]["missing"] == 3
    assert "\x1b" not in repr(Overview(data))


def test_numbers_that_do_not_exist_are_none():
    data = ar.Dataset([[np.nan], [np.nan]], qid=[1, 1])
    facts = json.loads(json.dumps(Overview(data).to_dict(), allow_nan=False))
    assert facts["labels"] == []
    assert facts["features"][0]["mean"] is None
    assert "-" in repr(Overview(data))


def test_many_labels_and_features_are_shortened():
    rng = np.random.default_rng(0)
    data = ar.Dataset(rng.normal(size=(500, 90)), rng.random(500), group=[250, 250])
    overview = Overview(data)
    labels = overview.to_dict()["labels"]
    assert len(labels) == MOST_LABELS
    assert sum(one["documents"] for one in labels) == 500
    assert f"… and {90 - MOST_FEATURES} more features" in repr(overview)
    assert len(overview.to_dict()["features"]) == 90
