"""The figures known for the LETOR data come out to four digits, through the experiments that state them."""

from __future__ import annotations

from pathlib import Path

import pytest

import argrank as ar

FOLDER = Path(__file__).resolve().parents[2] / "experiments" / "letor"
MEASURES = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")

#: NDCG@1/3/5/10 and MAP, mean of the five official folds under the official script's rules.
FIGURES = {
    ("ohsumed", "regression"): (0.4456, 0.4426, 0.4278, 0.4110, 0.4220),
    ("ohsumed", "rank-svm"): (0.5460, 0.4855, 0.4689, 0.4504, 0.4446),
    ("mq2008", "regression"): (0.3474, 0.4116, 0.4578, 0.2203, 0.4555),
    ("mq2008", "rank-svm"): (0.3724, 0.4333, 0.4765, 0.2309, 0.4744),
}


@pytest.mark.parametrize("name", ["ohsumed", "mq2008"])
def test_experiment(name, real_data, tmp_path, monkeypatch):
    monkeypatch.setenv("ARGRANK_DATA", str(real_data))
    results = ar.run_experiment(FOLDER / f"{name}.toml", tmp_path, n_jobs=1)
    assert results.failures == []
    (data,) = results.config.data
    for ranker in ("regression", "rank-svm"):
        got = tuple(round(results.mean(data.name, ranker, measure), 4) for measure in MEASURES)
        assert got == FIGURES[name, ranker]
    assert {(check.expected.ranker, check.expected.measure) for check in results.checks} == {
        (ranker, measure) for ranker in ("regression", "rank-svm") for measure in MEASURES
    }
