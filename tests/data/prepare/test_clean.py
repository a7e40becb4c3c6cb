from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import argrank as ar
from argrank.errors import InputError, OptionError


def test_kdd2008_by_hand():
    X = [
        [0, 0], [4, 0], [0, 4], [4, 0.1],  # a: a zero row, then a good row and a bad one that is nearly the same
        [2, 1], [1, 2], [0, 0],            # b: nothing wrong but the zero row
        [0, 0], [1, 3], [1, 1],            # c: only good documents besides the zero row
    ]  # fmt: skip
    y = [0, 2, 1, 0, 1, 0, 1, 0, 1, 1]
    cleaned, report = ar.clean(ar.Dataset(X, y, qid=list("aaaabbbccc")))
    zero, similar, lost = report.dropped
    assert zero.rows.tolist() == [0, 6, 7]
    assert similar.rows.tolist() == [1, 3]
    assert lost.rows.tolist() == [2, 8, 9]
    assert lost.queries == ("a", "c")
    assert report.kept.tolist() == [4, 5]
    assert cleaned.query_ids.tolist() == ["b"]
    assert cleaned.X.tolist() == [[2, 1], [1, 2]]  # the features come back as they were


def test_logrank_by_hand():
    X = [[1.0], [1.0], [2.0], [1.0], [3.0], [3.0], [4.0]]
    y = [2, 1, 1, 1, 0, 0, 0]
    cleaned, report = ar.clean(ar.Dataset(X, y, qid=[1, 1, 1, 2, 2, 2, 3]), "logrank")
    conflict, lost = report.dropped
    assert conflict.rows.tolist() == [0, 1]
    assert (lost.rows.tolist(), lost.queries) == ([6], (3,))
    assert cleaned.y.tolist() == [1, 1, 0, 0]
    assert report.n_queries == 2


def test_rows_are_counted_as_the_caller_counts_them():
    X = [[1.0], [5.0], [1.0], [6.0], [3.0]]
    data = ar.Dataset(X, [1, 1, 0, 0, 1], qid=["a", "b", "a", "b", "a"], document_ids=list("pqrst"))
    cleaned, report = ar.clean(data, "logrank")
    assert report.dropped[0].rows.tolist() == [0, 2]
    assert report.kept.tolist() == [1, 3, 4]
    assert cleaned.document_ids.tolist() == ["t", "q", "s"]


@pytest.mark.parametrize("rule", ["kdd2008", "logrank"])
def test_sparse_equals_dense(rule):
    data = ar.make_ranking(30, (5, 30), 40, density=0.05, grades=2)
    dense = ar.clean(data.with_features(data.X.toarray()), rule)
    found = ar.clean(data, rule)
    assert found.report.to_dict() == dense.report.to_dict()
    assert found.data.is_sparse
    assert sum(len(step.rows) for step in found.report.dropped) + len(found.report.kept) == data.n_documents


def test_preferences_of_dropped_rows_go():
    X = [[1.0], [1.0], [2.0], [3.0]]
    data = ar.Dataset(X, [1, 0, 1, 0], qid=[1, 1, 1, 1], preferences=[[0, 3], [2, 3]])
    kept = ar.clean(data, "logrank").data.preferences
    assert (kept.better.tolist(), kept.worse.tolist()) == ([0], [1])


def test_report_prints_counts_and_is_plain_data():
    report = ar.clean(ar.Dataset([[1.0], [1.0], [2.0]], [1, 0, 1], qid=[1, 1, 2]), "logrank").report
    assert "dropped 2 documents: identical features" in repr(report)
    assert report.to_dict()["kept_rows"] == 1


def test_mistakes_are_named():
    data = ar.Dataset([[1.0], [1.0]], [1, 0], qid=[1, 1])
    with pytest.raises(InputError, match="none of 1"):
        ar.clean(data, "logrank")
    with pytest.raises(OptionError, match="rule: expected 'kdd2008' or 'logrank'"):
        ar.clean(data, "kdd")
    with pytest.raises(OptionError, match="cosine"):
        ar.clean(data, cosine=99)
    with pytest.raises(InputError, match="labels"):
        ar.clean(ar.Dataset([[1.0], [2.0]], qid=[1, 1]))
    with pytest.raises(InputError, match=r"ar\.impute"):
        ar.clean(ar.Dataset([[1.0], [np.nan]], [0, 1], qid=[1, 1]))


def ohsumed(real_data) -> ar.Dataset:
    parts = [ar.load(real_data / "OHSUMED-LETOR2" / f"S{number}.txt.xz") for number in range(1, 6)]
    return ar.Dataset.concatenate(parts)


def test_kdd2008_on_ohsumed_against_all_pairs(real_data):
    data = ohsumed(real_data)
    zero, similar, queries = [], [], []
    for query in range(data.n_queries):
        rows = np.arange(data.indptr[query], data.indptr[query + 1])
        X, good = data.X[rows], data.y[rows] >= 1
        extent = np.ptp(X, axis=0)
        X = (X - X.min(axis=0))[:, extent > 0] / extent[extent > 0]
        empty = ~X.any(axis=1)
        distance = cdist(X[good & ~empty], X[~good & ~empty], "cosine")
        close = np.zeros(len(rows), bool)
        close[np.flatnonzero(good & ~empty)[(distance < 0.01).any(axis=1)]] = True
        close[np.flatnonzero(~good & ~empty)[(distance < 0.01).any(axis=0)]] = True
        left = ~empty & ~close
        zero += rows[empty].tolist()
        similar += rows[close].tolist()
        if not (left & good).any() or not (left & ~good).any():
            queries.append(data.query_ids[query])
    cleaned, report = ar.clean(data)
    assert report.dropped[0].rows.tolist() == zero
    assert report.dropped[1].rows.tolist() == similar
    assert list(report.dropped[2].queries) == queries
    assert cleaned.n_queries == 106 - len(queries)
    scaled = ar.clean(ar.normalise(data))  # scaling first changes the features, not the verdicts
    assert np.array_equal(scaled.report.kept, report.kept)


def test_logrank_on_ohsumed_against_a_dictionary(real_data):
    data = ohsumed(real_data)
    labels: dict[tuple, set] = {}
    keys = [(query, row.tobytes()) for query, row in zip(data.query_of_row, data.X, strict=True)]
    for key, label in zip(keys, data.y, strict=True):
        labels.setdefault(key, set()).add(label)
    conflicts = [row for row, key in enumerate(keys) if len(labels[key]) > 1]
    report = ar.clean(data, "logrank").report
    assert report.dropped[0].rows.tolist() == conflicts
    assert report.dropped[1].queries == (8,)  # OHSUMED's one query without a relevant document


def test_products_are_made_in_parts(monkeypatch):
    data = ar.make_ranking(10, 50, 3, grades=2)
    whole = ar.clean(data).report.to_dict()
    monkeypatch.setattr("argrank.data.prepare.clean.PRODUCT_ROWS", 7)
    assert ar.clean(data).report.to_dict() == whole


def test_sparse_columns_that_hold_nothing_cost_nothing():
    X = sparse.csr_matrix(([1.0, 2.0, 3.0], ([0, 1, 2], [5, 999_999, 7])), shape=(3, 1_000_000))
    cleaned, _ = ar.clean(ar.Dataset(X, [1, 0, 0], qid=[1, 1, 1]))
    assert cleaned.n_documents == 3
