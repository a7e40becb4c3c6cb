"""The value over ties is the mean over all orders within tie groups, for every measure."""

from __future__ import annotations

import numpy as np
import pytest
from tests.measures.enumeration import PLAIN, average_precision, orders

import argrank as ar


@pytest.fixture(scope="module")
def small_lists():
    """Lists of 1 to 6 documents with few score levels, all constant ones and lists without relevant documents."""
    random = np.random.default_rng(3)
    lists = [
        (random.integers(0, 5, n) * (random.random() < 0.85), random.integers(0, levels, n))
        for n in range(1, 7)
        for levels in (1, 2, 3, 9)
        for _ in range(9)
    ]
    labels, scores = (np.concatenate(column).astype(float) for column in zip(*lists, strict=True))
    qid = np.repeat(np.arange(len(lists)), [len(one) for one, _ in lists])
    return lists, ar.Dataset(np.zeros((len(qid), 1)), labels, qid=qid), scores


def over_orders(lists, plain):
    return np.array([np.mean([plain([float(y[i]) for i in order]) for order in orders(s.tolist())]) for y, s in lists])


@pytest.mark.parametrize("name", PLAIN)
def test_expected_is_the_mean_over_all_orders(small_lists, name):
    lists, data, scores = small_lists
    found = ar.evaluate(scores, data, name).values[name]
    np.testing.assert_allclose(found, over_orders(lists, PLAIN[name]), rtol=0, atol=1e-13)


@pytest.mark.parametrize("denominator", ["relevant", "min", "hits"])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_expected_average_precision_with_every_denominator(small_lists, denominator, k):
    lists, data, scores = small_lists
    found = ar.evaluate(scores, data, f"ap@{k}", ap_denominator=denominator).values[f"ap@{k}"]
    expected = over_orders(lists, lambda y: average_precision(y, k, 1, denominator))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["ndcg@3", "map", "mrr", "p@2", "recall@3", "wta", "AUC(graded=True)", "eru"])
@pytest.mark.parametrize(("rule", "choose"), [("best", max), ("worst", min)])
def test_best_and_worst_bound_all_orders(small_lists, name, rule, choose):
    """For measures that grow with every exchange into label order, best and worst are the extremes of all orders."""
    lists, data, scores = small_lists
    found = ar.evaluate(scores, data, name, ties=rule).values[name]
    expected = [choose(PLAIN[name]([float(y[i]) for i in order]) for order in orders(s.tolist())) for y, s in lists]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", PLAIN)
def test_row_order_is_the_stable_sort(small_lists, name):
    lists, data, scores = small_lists
    found = ar.evaluate(scores, data, name, ties="row").values[name]
    expected = [PLAIN[name](y[np.argsort(-s, kind="stable")].astype(float).tolist()) for y, s in lists]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", PLAIN)
def test_a_long_tied_list_agrees_with_sampled_orders(name):
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 60).astype(float)
    scores = random.integers(0, 4, 60)
    data = ar.Dataset(np.zeros((60, 1)), labels, group=[60])
    expected = ar.evaluate(scores, data, name).means[name]
    samples = []
    for _ in range(600):
        order = np.lexsort((random.random(60), -scores))
        samples.append(PLAIN[name](labels[order].tolist()))
    error = np.std(samples) / np.sqrt(len(samples))
    assert abs(np.mean(samples) - expected) <= 5 * error + 1e-12


@pytest.mark.parametrize("name", ["ndcg@10", "map", "mrr@10", "err@10", "p@10", "wta", "auc", "tau", "rbp"])
def test_a_constant_score_on_data_sorted_by_label_does_not_look_good(name):
    labels = np.repeat([4.0, 3.0, 2.0, 1.0, 0.0], [1, 2, 5, 12, 80])
    data = ar.Dataset(np.zeros((100, 1)), labels, group=[100])
    constant = ar.evaluate(np.zeros(100), data, name)
    random = np.random.default_rng(0)
    shuffled = [ar.evaluate(random.random(100), data, name).means[name] for _ in range(400)]
    assert constant.n_tied == 1
    assert abs(constant.means[name] - np.mean(shuffled)) < 5 * np.std(shuffled) / 20
    assert constant.means[name] < ar.evaluate(labels, data, name).means[name] / 1.4


def test_document_id_orders(tmp_path):
    data = ar.Dataset(np.zeros((4, 1)), [0, 0, 1, 0], group=[4], document_ids=["d9", "d10", "d2", "e"])
    assert ar.evaluate(np.zeros(4), data, "mrr", ties="docid-descending").means["mrr"] == 1 / 3  # e d9 d2 d10
    assert ar.evaluate(np.zeros(4), data, "mrr", ties="docid-ascending").means["mrr"] == 1 / 2  # d10 d2 d9 e
    bare = ar.Dataset(np.zeros((4, 1)), [0, 0, 1, 0], group=[4])
    result = ar.evaluate(np.zeros(4), bare, "mrr", convention="trec")
    assert result.means["mrr"] == 1 / 2  # rows 3 2 1 0
    assert result.notes == ["ties are broken by row number, because the data has no document ids"]
    assert ar.evaluate([4, 3, 2, 1], bare, "mrr", convention="trec").notes == []


def test_equal_labels_in_a_tie_are_not_counted_as_ties():
    data = ar.Dataset(np.zeros((4, 1)), [0, 0, 1, 1], group=[2, 2])
    assert ar.evaluate([1, 1, 2, 2], data, "ndcg").n_tied == 0


def test_a_single_tie_counts_too():
    """Where no other documents of any query are tied."""
    data = ar.Dataset(np.zeros((4, 1)), [0, 1, 0, 1], qid=["a", "a", "b", "b"])
    found = ar.evaluate([1.0, 1.0, 3.0, 2.0], data, "mrr").values["mrr"]
    np.testing.assert_allclose(found, [0.75, 0.5])
