"""The page of peers: paired differences by hand, folds that are missing, where others are better."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from benchmarks.peers.page import AUTO, Gap, by_system, error_of_mean, gap_between, page, summary
from benchmarks.peers.tools import FEW_SETTINGS, TOOLS, Fitted, run_tool

import argrank as ar


def row(tool, fold, values, mode="default", cpu=1.5):
    cost = {"cpu": cpu, "wall": 2.0, "predict_cpu": 0.1, "megabytes": 100.0, "documents": 50, "bytes": 2000}
    return {"set": "MQ2008", "fold": fold, "tool": tool, "mode": mode, "setting": mode, "values": values, **cost}


ROWS = [
    row("argrank auto", 1, [0.5, 0.7, None]),
    row("argrank auto", 2, [0.9, 0.2]),
    row("LightGBM lambdarank", 1, [0.4, 0.8, None], cpu=3.0),
    row("LightGBM lambdarank", 2, [0.5, 0.1], cpu=3.0),
    row("LightGBM lambdarank", 3, [0.0, 0.0], cpu=100.0),
    row("XGBoost rank:ndcg", 1, [0.9, 0.9, None]),
    row("XGBoost rank:ndcg", 2, [1.0, 0.4]),
    row("CatBoost YetiRank", 1, [0.9, 0.8, None], "tuned"),
    row("CatBoost YetiRank", 3, [0.9, 0.9], "default"),
]


def test_differences_are_paired_over_the_folds_of_both():
    systems = by_system(ROWS)["MQ2008"]
    found = gap_between(systems[AUTO], systems["LightGBM lambdarank, default"])
    gap = np.array([0.1, -0.1, 0.4, 0.1])
    assert found.mean == pytest.approx(gap.mean())
    assert found.error == pytest.approx(gap.std(ddof=1) / 2)
    assert 0 < found.p <= 1
    one = gap_between(systems[AUTO], systems["CatBoost YetiRank, tuned"])
    assert one.mean == pytest.approx(-0.25)
    assert gap_between(systems[AUTO], systems["CatBoost YetiRank, default"]) is None  # no fold in common


def test_the_page_says_what_was_run_what_it_cost_and_where_others_are_better():
    text = page(ROWS)
    assert "- XGBoost rank:ndcg, default is ahead of argrank auto on MQ2008 by 0.2250" in text
    assert "LightGBM lambdarank, default is ahead" not in text
    assert "| CatBoost YetiRank, tuned (fold 1 alone) | 0.8500 | -0.2500" in text
    assert "| argrank auto, default | 0.5750 |" in text
    assert "| LightGBM lambdarank, default | 1 | +0.1250 ± 0.1031 | -0.0770 to +0.3270 | 0.5 |" in text  # CPU of both
    assert "argrank auto: 3 comparisons with a peer on a set." in text
    assert "| LightGBM lambdarank, default | 3 |" in text  # folds that were run


def test_tuning_by_folds_keeps_the_best_setting_on_queries_that_it_did_not_train_on(monkeypatch):
    data = ar.make_ranking(20, 8, 3, random_state=1)
    fits = []

    def fit(train, watched, plan):
        """Predict the labels themselves with one of the settings, and noise with the others."""
        fits.append((train, watched, plan))
        right = plan.setting == FEW_SETTINGS[1]
        own = {
            id(one): one.y if right else np.cos(np.arange(one.n_documents))
            for one in (data, watched)
            if one is not None
        }
        return Fitted(lambda part: (1 + plan.seed) * own[id(part)], 10 * len(fits), 100)

    monkeypatch.setitem(TOOLS, "fake", (fit, ("folds",)))
    fitted, setting = run_tool("fake", "folds", data, data)
    search, again = fits[:-3], fits[-3:]
    assert len(search) == 4 * len(FEW_SETTINGS)
    for train, watched, plan in search:
        assert not set(train.qid) & set(watched.qid)
        assert train.n_queries + watched.n_queries == 20
        assert (plan.n_trees, plan.patience) == (1000, 50)
    assert [one[2].seed for one in again] == [0, 1, 2]
    assert all(one[0] is data and one[1] is None and one[2].n_trees == 65 for one in again)  # mean of 50, 60, 70, 80
    assert setting == f"{FEW_SETTINGS[1]}, 65 trees"
    assert fitted.n_bytes == 300
    np.testing.assert_allclose(fitted.predict(data), 6 * data.y)


def test_the_summary_has_a_line_for_every_run():
    lines = list(csv.DictReader(summary(ROWS).splitlines()))
    assert len(lines) == len(ROWS)
    assert (lines[0]["queries"], float(lines[0]["ndcg@10"])) == ("2", 0.6)


def test_sets_with_the_same_queries_are_not_taken_for_independent():
    one = Gap(0.0, 0.3, 1.0)
    assert error_of_mean({"MQ2008": one, "MQ2007-agg": one}) == pytest.approx(0.3 / np.sqrt(2))
    assert error_of_mean({"OHSUMED-LETOR2": one, "OHSUMED-LETOR3": one}) == pytest.approx(0.3)
