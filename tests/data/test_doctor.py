from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.doctor import CHECKS, PAIR_CHECKS, Diagnosis, Finding
from argrank.data.doctor.labels import order_of_labels
from argrank.errors import InputError, OptionError


def checks(*sets: ar.Dataset, **options) -> dict[str, Finding]:
    return {finding.check: finding for finding in ar.doctor(*sets, **options).findings}


def good_data(random_state: int = 0) -> ar.Dataset:
    return ar.make_ranking(20, 30, 5, grades=3, relevant=0.6, random_state=random_state)


def with_labels(y) -> ar.Dataset:
    return ar.Dataset(np.random.default_rng(0).normal(size=(len(y), 2)), y, group=[len(y) // 2, len(y) - len(y) // 2])


def with_feature(column) -> ar.Dataset:
    data = good_data()
    return data.with_features(np.column_stack((data.X, column)))


def test_healthy_data_has_no_findings():
    diagnosis = ar.doctor(good_data(), good_data(1).select(np.arange(5)), names=["train", "test"])
    only_ids = [finding.check for finding in diagnosis]
    assert only_ids == ["shared-ids"]  # both sets number their queries from 0
    assert "no problems found" in repr(ar.doctor(good_data()))


@pytest.mark.parametrize(
    ("y", "check", "severity", "count"),
    [
        ([0, 1, 0, 0], "without-relevant", "warning", 1),
        ([0, 0, 0, 0], "without-relevant", "error", 2),
        ([1, 0, 2, 2], "one-label", "warning", 1),
        ([1, 2, 1, 3], "labels", "warning", 4),  # nothing is irrelevant
        ([0, 40, 0, 33], "labels", "warning", 2),
        ([0, 2000, 0, 1], "labels", "error", 1),
        ([0, 0.5, 0, 1], "labels", "note", 1),
    ],
)
def test_labels(y, check, severity, count):
    finding = checks(with_labels(y))[check]
    assert (finding.severity, finding.count) == (severity, count)


def test_relevant_at_moves_the_border():
    assert checks(with_labels([0, 1, 0, 2]), relevant_at=2)["without-relevant"].example == "qid 0"


def test_documents_of_one_label_that_is_not_relevant_are_no_perfect_query():
    found = checks(with_labels([1, 1, 0, 2]), relevant_at=2)
    assert "one-label" not in found
    assert found["without-relevant"].example == "qid 0"


def test_data_without_labels():
    finding = checks(ar.Dataset([[1.0], [2.0]], qid=[1, 1]))["labels"]
    assert (finding.severity, finding.what) == ("note", "there are no labels")


def test_single_documents():
    data = ar.Dataset([[1.0], [2.0], [3.0]], [0, 1, 1], qid=["x", "x", "y"])
    finding = checks(data)["single-documents"]
    assert (finding.count, finding.example) == (1, "qid 'y'")


def test_documents():
    X = [[5.0, 1.0], [7.0, 1.0], [5.0, 1.0], [7.0, 1.0], [9.0, 2.0]]
    data = ar.Dataset(X, [0, 1, 2, 0, 1], qid=["a", "b", "a", "a", "b"], document_ids=["p", "q", "p", "r", "q"])
    found = checks(data)
    assert (found["repeated-documents"].count, found["repeated-documents"].example) == (2, "qid 'a', row 0")
    assert (found["conflicting-labels"].count, found["conflicting-labels"].example) == (2, "qid 'a', row 0")
    assert (found["ties"].count, found["ties"].severity) == (2, "warning")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("column", "check", "severity"),
    [
        (np.full(600, 3.0), "constant", "note"),
        (np.zeros(600), "constant", "note"),
        (np.full(600, np.nan), "missing", "note"),
        (np.repeat(np.arange(20.0), 30), "constant-in-queries", "note"),
        (np.random.default_rng(1).normal(size=600) * 1e6, "scales", "warning"),
        (np.random.default_rng(1).random(600) * np.repeat(100.0 ** np.arange(-2, 3), 120), "scales-of-queries", "note"),
    ],
)
def test_features(column, check, severity, kind):
    data = with_feature(column)
    finding = checks(data.with_features(kind(data.X)))[check]
    assert finding.severity == severity
    assert "feature 6" in finding.example
    assert finding.count >= 1


def test_coarse_features():
    finding = checks(with_feature(np.arange(600) % 30 == 0))["coarse"]
    assert (finding.count, finding.example) == (1, "feature 6")


def test_features_are_called_by_name():
    data = ar.Dataset([[1.0, 2.0], [1.0, 3.0]], [0, 1], qid=[1, 1], feature_names=["price", "rating"])
    assert checks(data)["constant"].example == "feature 'price'"
    assert checks(data)["constant"].what.startswith("1 of 2 features has ")
    both = ar.Dataset(np.ones((2, 3)), [0, 1], qid=[1, 1])
    assert checks(both)["constant"].what.startswith("3 of 3 features have ")


def test_leaks():
    train = good_data()
    shuffled = train.select([3, 4])
    order = np.concatenate((np.arange(29, -1, -1), np.arange(30, 60)))
    leaked = ar.Dataset(sparse.csr_matrix(shuffled.X[order]), shuffled.y[order], qid=["x"] * 30 + ["y"] * 30)
    found = checks(train, leaked, names=["train", "test"])
    assert (found["shared-queries"].severity, found["shared-queries"].count) == ("error", 2)
    assert found["shared-queries"].data == "train and test"
    assert "shared-ids" not in found
    assert "shared-documents" not in found


def test_ids_and_documents_in_two_sets():
    train, test = good_data(), good_data(1).select([0, 1])
    mixed = np.vstack((train.X[:10], test.X[10:]))
    found = checks(train, test.with_features(mixed))
    assert (found["shared-ids"].severity, found["shared-ids"].count) == ("warning", 2)
    assert (found["shared-documents"].severity, found["shared-documents"].count) == ("note", 10)


def test_documents_without_any_feature_are_not_the_same_document():
    some = np.arange(600)[:, None] % 30 > 2
    train, test = (data.with_features(np.where(some, data.X, 0.0)) for data in (good_data(), good_data(1)))
    assert "shared-documents" not in checks(train, test)


def test_sets_with_other_features():
    assert checks(good_data(), with_feature(np.ones(600)))["other-features"].severity == "error"


def test_findings_are_ordered_and_plain_data():
    data = ar.Dataset([[1.0, np.nan], [1.0, 2.0], [1.0, 3.0]], [0, 0, 1], qid=[1, 1, 2])
    diagnosis = ar.doctor(data)
    severities = [finding.severity for finding in diagnosis]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert json.loads(json.dumps(diagnosis.to_dict()))["findings"][0]["severity"] == severities[0]
    assert len(diagnosis) == len(diagnosis.findings) == sum(len(diagnosis.of(s)) for s in ("error", "warning", "note"))
    with pytest.raises(AttributeError):
        diagnosis.findings[0].count = 5


def test_the_table_fits_and_the_html_is_escaped():
    evil = "<script>\x1b[31m"
    data = ar.Dataset([[1.0, 2.0], [1.0, 3.0]], [0, 1], qid=[evil, evil], feature_names=[evil, "b"])
    diagnosis = ar.doctor(data, ar.Dataset([[1.0], [2.0]], [0, 0], qid=[1, 1]), names=["a", evil])
    assert "<script>" not in diagnosis._repr_html_()
    assert max(map(len, repr(diagnosis).splitlines())) <= 120
    assert "\x1b" not in repr(diagnosis)


def test_every_check_is_registered_once():
    names = [check.__name__ for check in (*CHECKS, *PAIR_CHECKS)]
    assert len(set(names)) == len(names)


def test_mistakes_are_named():
    with pytest.raises(InputError, match="expected a Dataset, a Clicks or a ClickCounts, got array"):
        ar.doctor(np.zeros((2, 2)))
    with pytest.raises(OptionError, match="expected 1 names, got 2"):
        ar.doctor(good_data(), names=["a", "b"])


def test_an_empty_diagnosis_is_html_too():
    assert "no problems found" in Diagnosis(())._repr_html_()


def test_says_once_what_is_the_same_in_several_sets():
    constant = ar.Dataset([[1.0, 2.0], [1.0, 3.0]], [0, 1], qid=[1, 1], feature_names=["price", "rating"])
    found = [one for one in ar.doctor(constant, constant, names=["train", "test"]) if one.check == "constant"]
    assert [one.data for one in found] == ["train, test"]


def test_facts_of_real_data(real_data):
    """What is known of the collections: one OHSUMED query has no relevant document, 6 features of MQ2008 are zero."""
    null = checks(ar.load(real_data / "OHSUMED-LETOR3-null" / "S1.txt.xz"))
    assert null["without-relevant"].example == "qid 8"
    assert null["missing"].severity == "note"
    mq2008 = ar.load(real_data / "MQ2008" / "S1.txt.xz")
    constant = np.flatnonzero(np.ptp(mq2008.X, axis=0) == 0)
    assert checks(mq2008)["constant"].count == len(constant)


def test_features_that_look_like_a_label():
    made = ar.make_ranking(30, 10, 3, random_state=0)
    X = np.column_stack([made.X, 2 * made.y + 1])
    known = ar.Dataset(X, made.y, made.qid, feature_names=["a", "b", "c", "score"])
    (finding,) = [one for one in ar.doctor(known).findings if one.check == "label-like"]
    assert finding.count == 1
    assert finding.what.startswith("1 feature looks like a label: feature 'score' (AUC 1.000); the next best: feature ")
    named = ar.Dataset(made.X, made.y, made.qid, feature_names=["rating", "old_grade", "relief"])
    (finding,) = [one for one in ar.doctor(named).findings if one.check == "label-like"]
    assert finding.count == 1  # a rating is a feature like any other
    assert "like a label: feature 'old_grade' (AUC" in finding.what
    assert "label-like" not in [one.check for one in ar.doctor(made).findings]


def test_all_leaks_are_named_the_best_first():
    made = ar.make_ranking(40, 12, 3, random_state=1)
    noise = np.random.default_rng(0).normal(size=(2, made.n_documents))
    leaks = [-3 * made.y + noise[0], made.y + 0.2 * noise[1]]
    data = ar.Dataset(
        np.column_stack([made.X, *leaks]), made.y, made.qid, feature_names=["a", "b", "c", "slow", "fast"]
    )
    (finding,) = [one for one in ar.doctor(data).findings if one.check == "label-like"]
    shares = order_of_labels(data)
    assert finding.count == 2
    best, second = ("slow", "fast") if shares[3] > shares[4] else ("fast", "slow")
    assert finding.what.index(f"feature '{best}'") < finding.what.index(f"feature '{second}'")


def test_how_well_a_feature_orders_labels_is_the_area_under_the_curve():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    qid, y, X = np.repeat(np.arange(12), 9), rng.integers(0, 2, 108), rng.integers(0, 5, (108, 3)).astype(float)
    y[::9], y[1::9] = 0, 1
    values = [[roc_auc_score(y[qid == q], X[qid == q, at]) for q in range(12)] for at in range(3)]
    expected = np.mean(values, axis=1)
    assert np.allclose(order_of_labels(ar.Dataset(X, y, qid)), np.maximum(expected, 1 - expected))


def test_features_that_are_texts():
    import pandas as pd

    data = ar.Dataset(pd.DataFrame({"brand": ["x", "y"], "qid": [1, 1], "label": [1, 0]}))
    (finding,) = [one for one in ar.doctor(data).findings if one.check == "texts"]
    assert "trees use them" in finding.advice


def test_features_are_compared_by_name():
    made = ar.make_ranking(5, 4, 2, random_state=0)
    a, b, c = (
        ar.Dataset(made.X, made.y, made.qid, feature_names=names) for names in (["a", "b"], ["b", "a"], ["a", "c"])
    )
    assert "other-features" not in [one.check for one in ar.doctor(a, b).findings]
    assert "1 feature of the first is not in the other" in [one.what for one in ar.doctor(a, c).findings]
