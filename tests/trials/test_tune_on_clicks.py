"""Fusion weights from clicks are those of the greatest counterfactual value."""

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError


@pytest.fixture(scope="module")
def logged():
    data = ar.make_ranking(30, 12, 3, random_state=4)
    data = ar.Dataset(data.X, data.y, qid=data.qid, document_ids=np.arange(data.n_documents))
    log = ar.simulate_clicks(data, data.X.sum(axis=1), n_sessions=3000, vary=1.0, random_state=1)
    return data, log, ar.propensities(log)


def run_of(data, scores):
    found = {}
    for qid, docid, score in zip(data.qid, data.document_ids, scores, strict=True):
        found.setdefault(str(qid), {})[str(docid)] = float(score)
    return found


def test_tuned_weights_are_the_best_of_a_fine_grid(logged):
    data, log, theta = logged
    runs = {"a": run_of(data, data.X[:, 0]), "b": run_of(data, data.X[:, 1])}
    tuned = ar.tune_weights(runs, log, propensities=theta, normalise=None, bounds=(0, None), cv=None)

    def mixed(weight):
        return weight * data.X[:, 0] + (1 - weight) * data.X[:, 1]

    assert tuned.measure == "DCG@10"
    share = tuned.weights["a"] / (tuned.weights["a"] + tuned.weights["b"])
    found = ar.evaluate(mixed(share), log, "dcg@10", propensities=theta, features=data)
    assert found.means["dcg@10"] == pytest.approx(tuned.value, rel=1e-12)
    train = ar.from_clicks(log, data, propensities=theta)
    grid = [ar.evaluate(mixed(one), train, "dcg@10").means["dcg@10"] for one in np.linspace(0, 1, 401)]
    assert tuned.value >= max(grid) - 1e-12
    assert max(grid) > min(grid)
    assert tuned.earned.means == pytest.approx({"DCG@10": tuned.value}, rel=1e-12)
    assert tuned.earned.low == pytest.approx({"DCG@10": found.low["dcg@10"]}, rel=1e-12)
    assert f"coverage {found.coverage['dcg@10']:.3f}" in repr(tuned)
    assert tuned.to_dict()["earned"]["effective_clicks"]["DCG@10"] > 100


def test_a_fusion_of_what_was_hardly_shown_is_refused(logged):
    data, log, theta = logged
    runs = {"a": run_of(data, data.X[:, 0]), "b": run_of(data, data.X[:, 1])}
    few = log.select(np.arange(60))
    with pytest.raises(InputError, match="of the fusion: expected"):
        ar.tune_weights(runs, few, propensities=theta, cv=None)
    found = ar.tune_weights(runs, few, propensities=theta, cv=None, min_coverage=0, min_clicks=0)
    assert found.earned.effective_clicks["DCG@10"] < 100


def test_refusals(logged):
    data, log, theta = logged
    with pytest.raises(InputError, match="expected runs with a click log"):
        ar.tune_weights({"a": data.X[:, 0]}, log, propensities=theta)
    with pytest.raises(OptionError, match="click log with them"):
        ar.tune_weights({"a": data.X[:, 0]}, data, propensities=theta, cv=None)
