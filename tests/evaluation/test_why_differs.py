from __future__ import annotations

import numpy as np
import pytest

import argrank as ar


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    sizes = random.integers(1, 15, 40)
    labels = np.concatenate([random.integers(0, 4, n) * (random.random() < 0.7) for n in sizes])
    return ar.Dataset(np.zeros((len(labels), 1)), labels, group=sizes)


@pytest.fixture
def scores(data):
    return np.random.default_rng(1).integers(0, 6, data.n_documents)


@pytest.mark.parametrize("measure", ["ndcg@10", "map@5", "p@5", "mrr"])
@pytest.mark.parametrize(("a", "b"), [("lightgbm", "trec"), ("letor4", "default"), ("mslr", "xgboost")])
def test_the_path_leads_from_a_to_b(scores, data, measure, a, b):
    told = ar.why_differs(scores, data, measure, a=a, b=b)
    means = [ar.evaluate(scores, data, measure, convention=name).means[measure] for name in (a, b)]
    assert [told.value_a, told.value_b] == means
    if told.steps:
        assert told.steps[-1].cumulative == pytest.approx(told.value_b, abs=1e-12)
    for step in told.steps:
        alone = ar.evaluate(scores, data, measure, convention=a, **{step.switch: step.b}).means[measure]
        assert told.value_a + step.alone == pytest.approx(alone, abs=1e-12)
        assert f"{step.alone:+.6f}" in repr(told)


def test_undefined_queries_are_named_as_the_cause():
    data = ar.Dataset(np.zeros((4, 1)), [1, 0, 0, 0], group=[2, 2])
    told = ar.why_differs([2, 1, 2, 1], data, "ndcg@10", a="lightgbm", b="trec")
    assert [step.switch for step in told.steps] == ["undefined"]
    assert told.steps[0].alone == -0.5
    assert "ties" in told.idle
    assert told.to_dict()["steps"] == [{"switch": "undefined", "a": "1", "b": "0", "alone": -0.5, "cumulative": 0.5}]


def test_equal_conventions():
    data = ar.Dataset(np.zeros((2, 1)), [1, 0], group=[2])
    told = ar.why_differs([2, 1], data, "ndcg@10", a="trec", b="trec")
    assert told.steps == [] == told.idle
    assert "no switch changes the value" in repr(told)
