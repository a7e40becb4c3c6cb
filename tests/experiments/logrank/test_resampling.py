"""Section 4 of LogRank: redrawing the sample breaks the line search."""

from __future__ import annotations

import numpy as np
from experiments.logrank.resampling import resampling

import argrank as ar


def test_a_fixed_sample_converges_and_a_redrawn_one_does_not():
    data = ar.make_ranking(20, 30, 4, grades=2, relevant=0.2, random_state=1)
    rows = resampling(data, "map", n_samples=50, C=1000.0)
    by = {name: [row for row in rows if row["sample"] == name] for name in ("fixed", "redrawn")}
    assert {row["ended"] for row in by["fixed"]} == {"gradient"}
    assert {row["ended"] for row in by["redrawn"]} <= {"precision", "passes"}
    assert all(row["shown"] == row["true"] for row in by["fixed"])
    assert any(row["shown"] != row["true"] for row in by["redrawn"])
    best = np.min([row["true"] for row in by["fixed"]])
    assert by["redrawn"][-1]["true"] > 1.01 * best  # it never gets near the minimum
    assert by["fixed"][-1]["true"] < 1.0001 * best
