"""The page of peers: paired differences by hand, missing folds, where others are better."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.peers.page import by_system, differences, page


def row(tool, fold, values, mode="default"):
    return {"set": "toy", "fold": fold, "tool": tool, "mode": mode, "cpu": 1.5, "megabytes": 100.0, "values": values}


ROWS = [
    row("argrank auto", 1, [0.5, 0.7, None]),
    row("argrank auto", 2, [0.9, 0.2]),
    row("LightGBM lambdarank", 1, [0.4, 0.8, None]),
    row("LightGBM lambdarank", 2, [0.5, 0.1]),
    row("XGBoost rank:ndcg", 1, [0.9, 0.9, None]),
    row("XGBoost rank:ndcg", 2, [1.0, 0.4]),
    row("CatBoost YetiRank", 1, [0.9, 0.9, None], "tuned"),
]


def test_differences_are_paired_over_all_folds():
    found = differences(by_system(ROWS)["toy"], "argrank auto, default")
    assert set(found) == {"LightGBM lambdarank, default", "XGBoost rank:ndcg, default"}  # one has a fold less
    gap = np.array([0.1, -0.1, 0.4, 0.1])
    mean, error, p = found["LightGBM lambdarank, default"]
    assert mean == pytest.approx(gap.mean())
    assert error == pytest.approx(gap.std(ddof=1) / 2)
    assert 0 < p <= 1


def test_the_page_says_where_others_are_better():
    text = page(ROWS)
    assert "Others are better: XGBoost rank:ndcg, default on toy (by 0.2250" in text
    assert "| CatBoost YetiRank, tuned (1 of 2 folds) | 0.9000 |" in text
    assert "| argrank auto, default | 0.5750 |" in text
