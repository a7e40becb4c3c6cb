"""Section 5.3 of LogRank as data."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError
from experiments.logrank import sampling_diagnostics as diagnostics


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(20, 30, 4, grades=2, relevant=0.2, random_state=1)


def test_accuracy_has_a_row_for_every_value_and_seed(data):
    train, test = data.split(0.5, 0.5)
    rows = diagnostics.accuracy("n_samples", [5, 50], train, test, ["ndcg@10", "map"], seeds=(0, 1))
    assert [(row["n_samples"], row["seed"]) for row in rows] == [(5, 0), (5, 1), (50, 0), (50, 1)]
    assert all(0 < row["ndcg@10"] <= 1 and 0 < row["map"] <= 1 for row in rows)
    assert rows[0]["map"] != rows[1]["map"]  # another seed, another sample


def test_losses_smear_more_from_the_best_ranking_than_from_the_worst(data):
    """Figure 7: with few relevant documents a move changes much near the best ranking and little near the worst."""
    rows = diagnostics.smear(data, "map", n_moves=5)
    spread = {
        wanted: np.mean([np.ptp(row["losses"]) for row in rows if row["wanted"] == wanted]) for wanted in (0.0, 1.0)
    }
    assert spread[0.0] > 2 * spread[1.0]
    assert all(row["start"] == 0.0 for row in rows if row["wanted"] == 0.0)
    assert all((row["losses"] >= 0).all() and (row["losses"] <= 1).all() for row in rows)
    assert len(rows) == 3 * data.n_queries


def test_sampled_and_exact_objective_fall_together(data):
    rows = diagnostics.objective_dynamics(data, C=150.0, max_iter=30)
    sampled, exact = (np.array([row[column] for row in rows]) for column in ("sampled", "exact"))
    assert (np.diff(sampled) <= 1e-9).all()
    assert exact[-1] < exact[0] / 2  # the first row is that of w = 0


def test_scores_soon_outgrow_losses_unless_scaled(data):
    """Figure 8: unscaled, w · phi is far larger than any loss after few iterations; at w = 0 it is 0."""
    rows = diagnostics.scores_against_losses(data, "map", C=1500.0)
    assert len(rows) == 100
    assert all(row["w_phi"][0] == 0 for row in rows)
    last = np.mean([abs(row["w_phi"][-1]) for row in rows])
    assert last > 10 * max(row["loss"] for row in rows)
    scaled = diagnostics.scores_against_losses(data, "map", C=1500.0, scale="pairs")
    assert np.mean([abs(row["w_phi"][-1]) for row in scaled]) < last / 5
    with pytest.raises(InputError, match="sampled, got auc"):
        diagnostics.scores_against_losses(data, "auc")
