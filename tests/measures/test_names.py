from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import OptionError
from argrank.measures import AP, AUC, DCG, ERR, ERU, MEASURES, NDCG, RBP, RR, WTA, KendallTau, MeanNDCG, P, R

SPELLINGS = {
    "ndcg@10": NDCG(10),
    "NDCG@10": NDCG(10),
    "nDCG@10": NDCG(10),
    "ndcg_cut_10": NDCG(10),
    "ndcg_cut.10": NDCG(10),
    "nDCG(dcg='exp-log2')@10": NDCG(10, gain="exp2", discount="log2"),
    "nDCG(dcg='log2')@10": NDCG(10, gain="linear", discount="log2"),
    "ndcg_burges": NDCG(gain="exp2"),
    "ndcg_burges@5": NDCG(5, gain="exp2"),
    "ndcg": NDCG(),
    "ndcg@5-": NDCG(5, undefined=0),
    "ndcg-": NDCG(undefined=0),
    "nDCG(gains={0: 0, 1: 5})": NDCG(gain={0: 0, 1: 5}),
    "dcg@10": DCG(10),
    "AP": AP(),
    "MAP": AP(),
    "map": AP(),
    "map@5-": AP(5, undefined=0),
    "map_cut_100": AP(100),
    "AP(rel=2)@100": AP(100, rel=2),
    "AP@100": AP(100),
    "RR@10": RR(10),
    "mrr": RR(),
    "mrr@10": RR(10),
    "recip_rank": RR(),
    "ERR@20": ERR(20),
    "err@10": ERR(10),
    "P@5": P(5),
    "P_10": P(10),
    "p@5": P(5),
    "pre@5": P(5),
    "precision@5": P(5),
    "recall@10": R(10),
    "recall_10": R(10),
    "R@5": R(5),
    "auc": AUC(),
    "AUC(graded=True)": AUC(graded=True),
    "wta": WTA(),
    "eru": ERU(),
    "ERU(alpha=3, d=1)": ERU(alpha=3, d=1),
    "nERU": ERU(normalised=True),
    "tau": KendallTau(),
    "rbp": RBP(),
    "RBP(p=0.5)@10": RBP(10, p=0.5),
    "MeanNDCG": MeanNDCG(),
    " ndcg@ 10 ": NDCG(10),
}


@pytest.mark.parametrize(("name", "expected"), SPELLINGS.items())
def test_spellings(name, expected):
    found = ar.measure(name)
    assert found == expected
    assert hash(found) == hash(expected)
    assert ar.measure(found.name) == found == ar.measure(found.name.upper()) == ar.measure(found.name.lower())


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (NDCG(k=10), "nDCG@10"),
        (AP(k=100, rel=2), "AP(rel=2)@100"),
        (AP(rel=1.5), "AP(rel=1.5)"),
        (NDCG(k=10, gain="exp2", discount="log2"), "nDCG(dcg='exp-log2')@10"),
        (NDCG(gain=(0, 1, 3)), "nDCG(gain=(0.0, 1.0, 3.0))"),
        (ERU(normalised=True, alpha=2), "nERU(alpha=2)"),
        (RR(k=np.int64(3)), "RR@3"),
    ],
)
def test_names(measure, name):
    assert measure.name == name == repr(measure) == str(measure)
    assert ar.measure(name) == measure


@pytest.mark.parametrize("name", ["ndcg@0", "ndcg@-3", "ndcg@x", "ndcg@", "ndcg@1.5", "p@1e3", "map@5--", "rr@٣"])
def test_bad_cutoffs(name):
    with pytest.raises(OptionError, match="whole number from 1 up"):
        ar.measure(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ncdg@10", "did you mean ndcg"),
        ("", "unknown measure"),
        ("@10", "unknown measure"),
        ("ndcg 10", "unknown measure"),
        ("auc@5", "takes no cut-off"),
        ("AP(rle=2)", "got 'rle'"),
        ("AP(rel='two')", "expected a number"),
        ("AP(2)", "expected parameters"),
        ("AP(rel=__import__('os'))", "expected parameters"),
        ("AP(rel=", "unknown measure"),
        ("nDCG(dcg='ln')", "expected dcg="),
        ("nDCG(gain='cubic')", "unknown gain"),
        ("RBP(p=1)", "between 0 and 1"),
        ("ERU(alpha=1)", "above 1"),
        ("ERR(max_grade=-1)", "positive"),
        (10, "expected a name"),
        (None, "expected a name"),
    ],
)
def test_errors(name, message):
    with pytest.raises(OptionError, match=message):
        ar.measure(name)


def test_a_measure_is_frozen():
    with pytest.raises(AttributeError):
        NDCG(10).k = 5  # type: ignore[misc]


def test_names_of_all_measures_parse():
    assert {type(ar.measure(name)) for name in ar.measure_names()} == set(MEASURES.values())


def test_a_range_of_cutoffs_is_several_measures():
    data = ar.Dataset(np.ones((3, 1)), [2, 0, 1], [1, 1, 1])
    found = ar.evaluate([1.0, 3.0, 2.0], data, ["ndcg@1..3", "map", "ap(rel=2)@2..3-"])
    names = ["ndcg@1", "ndcg@2", "ndcg@3", "map", "ap(rel=2)@2-", "ap(rel=2)@3-"]
    assert list(found.means) == names
    assert found.means == ar.evaluate([1.0, 3.0, 2.0], data, names).means
    assert list(ar.evaluate([1.0, 3.0, 2.0], data, "p@2..2").means) == ["p@2"]


@pytest.mark.parametrize("name", ["ndcg@3..1", "ndcg@0..2", "ndcg@1..", "ndcg@..3", "ndcg@1..2000", "ndcg@a..b"])
def test_bad_ranges(name):
    with pytest.raises(OptionError, match=r"measure 'ndcg@"):
        ar.evaluate([1.0], ar.Dataset([[1.0]], [1], [1]), name)


def test_a_range_is_not_one_measure():
    with pytest.raises(OptionError, match=r"one measure, got the range 'ndcg@1\.\.3'"):
        ar.measure("ndcg@1..3")
