from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from argrank import Dataset, objective
from argrank.errors import InputError, OptionError


def test_cut_offs():
    assert objective("svm-ndcg").k == 10
    assert objective("svm-ndcg", k=None).k is None
    assert objective("svm-ndcg", measure="ndcg@5").k == 5
    assert objective("svm-ndcg", measure="ndcg@5", k=5).k == 5
    assert objective("svm-ndcg-nc").k is None
    assert objective("svm-map").k is None
    assert objective("svm-mrr").k == 10
    assert objective("svm-ndcg", measure="wta").k == 1
    for k in (10, None):
        with pytest.raises(OptionError, match="one cut-off, got measure='nDCG@5' and k="):
            objective("svm-ndcg", measure="ndcg@5", k=k)
    for k in (0, -1, 2.5, True, "ten"):
        with pytest.raises(OptionError, match="k to be a whole number"):
            objective("svm-ndcg", k=k)


def test_parameters_inside_the_measure_come_first():
    problem = objective("svm-ndcg", measure="nDCG(dcg='log2')@5", gain="exp2")
    assert problem.rules.gain == "linear"
    assert objective("svm-mrr", measure="RR(rel=2)@5").rules.relevant_at == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bound": "loose"}, "bound: expected 'convex', 'tie-broken' or 'tight', got 'loose'"),
        ({"scale": "rows"}, "scale: expected"),
        ({"feature_map": "triples"}, "unknown feature_map 'triples'"),
        ({"measure": "kendall"}, "no exact oracle for tau"),
        ({"gain": "cubic"}, "unknown gain"),
        ({"discount": "cubic"}, "unknown discount"),
        ({"feature_map": "first"}, "no exact oracle for nDCG@10 on the map 'first'"),
    ],
)
def test_unusable_parameters_are_refused(parameters, message):
    with pytest.raises(OptionError, match=message):
        objective("svm-ndcg", **parameters)


def test_discounts_that_rise_are_refused():
    data = Dataset(np.eye(3), [1, 0, 0], group=[3])
    with pytest.raises(OptionError, match="never rises"):
        objective("svm-ndcg", discount=lambda rank: rank)(np.zeros(3), data)


def test_a_loss_of_the_users_own_is_checked():
    data = Dataset(np.eye(3), [1, 0, 0], group=[3])
    with pytest.raises(InputError, match="loss terms"):
        objective("svm-map", measure=lambda index, rank, n_goods: np.nan * rank)(np.zeros(3), data)


def test_row_weights_are_refused():
    data = Dataset(np.eye(3), [1, 0, 0], group=[3], sample_weight=[1, 2, 1])
    with pytest.raises(InputError, match="weight queries with query_weight"):
        objective("svm-map")(np.zeros(3), data)


def test_objectives_are_values():
    one = objective("dorm", decay=np.array([1.0, 0.5]), k=2)
    assert one == objective("dorm", decay=[1.0, 0.5], k=2)
    assert hash(one) == hash(copy.deepcopy(one))
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != objective("dorm", decay=[1.0, 0.5])


def test_without_scaling_the_pairs_map_is_a_sum():
    """scale=None is the same hinge at scores times the number of pairs."""
    rng = np.random.default_rng(0)
    y, scores = (rng.random(20) < 0.3).astype(float), rng.standard_normal(20) / 100
    n_pairs = y.sum() * (20 - y.sum())
    data = Dataset(np.eye(20), y, group=[20])
    for name, more in (("svm-auc", {}), ("svm-map", {}), ("svm-ndcg", {}), ("svm-mrr", {"feature_map": "pairs"})):
        value, u = objective(name, scale=None, **more)(scores, data)
        same, same_u = objective(name, scale="pairs", **more)(n_pairs * scores, data)
        assert value == pytest.approx(same, rel=1e-12)
        np.testing.assert_allclose(u, n_pairs * same_u, rtol=1e-12)
