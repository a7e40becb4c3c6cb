"""The page of peers: paired differences by hand, folds that are missing, where others are better."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from benchmarks.peers.page import AUTO, Gap, by_system, error_of_mean, gap_between, page, summary


def row(tool, fold, values, mode="default", cpu=1.5):
    cost = {"cpu": cpu, "wall": 2.0, "predict_cpu": 0.1, "megabytes": 100.0}
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
    assert "| LightGBM lambdarank, default | 1 | +0.1250 ± 0.1031 | 0.225 | 0.5 |" in text  # CPU of the folds of both
    assert "| LightGBM lambdarank, default | 3 |" in text  # folds that were run


def test_the_summary_has_a_line_for_every_run():
    lines = list(csv.DictReader(summary(ROWS).splitlines()))
    assert len(lines) == len(ROWS)
    assert (lines[0]["queries"], float(lines[0]["ndcg@10"])) == ("2", 0.6)


def test_sets_with_the_same_queries_are_not_taken_for_independent():
    one = Gap(0.0, 0.3, 1.0)
    assert error_of_mean({"MQ2008": one, "MQ2007-agg": one}) == pytest.approx(0.3 / np.sqrt(2))
    assert error_of_mean({"OHSUMED-LETOR2": one, "OHSUMED-LETOR3": one}) == pytest.approx(0.3)
