"""The first measure asked for is what direct-rank climbs in every kind of trial, unless it was given another one."""

from __future__ import annotations

from typing import Any

import pytest

import argrank as ar

CLIMB: dict[str, Any] = {"folds": 0, "max_iter": 1, "n_jobs": 1}
CONFIG = """
title = "what is optimised"
convention = "default"
measures = ["map", "ndcg@10"]

[[data]]
name = "made"
files = [{ train = "train.txt", valid = "valid.txt", test = "test.txt" }]

[[ranker]]
name = "direct-rank"
parameters = { folds = 0, max_iter = 1 }

[[ranker]]
name = "given"
ranker = "direct-rank"
parameters = { folds = 0, max_iter = 1, measure = "ndcg@10" }

[[ranker]]
name = "rank-svm"
"""


@pytest.fixture(scope="module")
def data() -> ar.Dataset:
    return ar.make_ranking(24, (6, 12), 3, noise=1.5, random_state=2)


@pytest.fixture(scope="module")
def parts(data: ar.Dataset) -> Any:
    return data.split(0.5, 0.25, 0.25)


def climbed(train: ar.Dataset, measure: str) -> Any:
    return ar.make_ranker("direct-rank", measure=measure, **CLIMB).fit(train)


pytestmark = pytest.mark.filterwarnings("ignore:.*still rising:argrank.errors.ArgrankWarning")


def test_select(parts: Any) -> None:
    train, valid, _ = parts
    found = ar.select(ar.make_ranker("direct-rank", **CLIMB), {"tol": [1e-4]}, train, valid, "map", progress=False)
    assert found.ranker.objective_ == climbed(train, "map").objective_
    assert found.ranker.objective_ != climbed(train, "ndcg@10").objective_
    assert "optimised: map; reported: map" in repr(found)
    given = ar.make_ranker("direct-rank", measure=ar.measure("ndcg@10"), **CLIMB)
    found = ar.select(given, {"tol": [1e-4]}, train, valid, "map", progress=False)
    assert found.ranker.objective_ == climbed(train, "ndcg@10").objective_
    assert "optimised: nDCG@10 instead of map; reported: map" in repr(found)


@pytest.mark.parametrize("way", ["cross_validate", "benchmark"])
def test_folds(way: str, data: ar.Dataset) -> None:
    rankers = {"direct-rank": ar.make_ranker("direct-rank", **CLIMB), "rank-svm": "rank-svm"}
    measures, options = ["map", "ndcg@10"], {"n_folds": 3, "progress": False}
    if way == "benchmark":
        found = ar.benchmark(data, measures, rankers, normalise=None, **options)
    else:
        found = ar.cross_validate(rankers, data, measures, **options)
    for run, fold in zip(found.folds["direct-rank"], ar.QueryKFold(3).folds(data), strict=True):
        best = climbed(fold.train, "map").predict(fold.test)
        assert run.means["map"] == ar.evaluate(best, fold.test, "map").means["map"]
    assert "map is optimised by direct-rank; no measure by rank-svm." in repr(found)


def test_experiment(parts: Any, tmp_path: Any) -> None:
    for name, part in zip(("train", "valid", "test"), parts, strict=True):
        ar.dump(part, tmp_path / f"{name}.txt")
    (tmp_path / "config.toml").write_text(CONFIG, "utf-8")
    found = ar.run_experiment(tmp_path / "config.toml", tmp_path / "out")
    train, _, test = parts
    means = {run.ranker: run.means["map"] for run in found.runs}
    for name, measure in (("direct-rank", "map"), ("given", "ndcg@10")):
        assert means[name] == ar.evaluate(climbed(train, measure).predict(test), test, "map").means["map"]
    text = " ".join((tmp_path / "out" / "results.md").read_text("utf-8").split())
    assert (
        "map is optimised by direct-rank; another measure is optimised by given (nDCG@10); no measure by rank-svm."
        in text
    )
