from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import OptionError
from argrank.measures.conventions import PRESETS, SWITCHES, Convention, make_convention

REQUIRED = {
    "default", "kdd2008", "letor3", "letor4", "mslr", "yahoo", "trec", "gdeval", "msmarco", "sklearn", "lightgbm",
    "xgboost", "xgboost-", "catboost", "ranklib", "ranx",
}  # fmt: skip


@pytest.fixture
def data():
    """Query a: 5 documents with a tie; b: no relevant document; c: two documents."""
    labels = [2, 0, 1, 0, 3, 0, 0, 0, 1]
    return ar.Dataset(np.zeros((9, 1)), labels, qid=list("aaaaabbcc"), document_ids=list("zyxwvutsr"))


SCORES = [5, 4, 4, 4, 3, 1, 2, 1, 2]


def value(data, name, **rules):
    return ar.evaluate(SCORES, data, name, **rules).values[name]


def test_required_presets():
    assert set(ar.convention_names()) >= REQUIRED
    assert all(make_convention(name).name == name for name in ar.convention_names())
    assert make_convention("LETOR3") == make_convention("letor3")


def test_single_switches_override_the_preset(data):
    result = ar.evaluate(SCORES, data, "ndcg@10", convention="letor3", short="pad", undefined="skip")
    assert result.convention.short == "pad"
    assert result.convention.discount == "letor"
    assert result.convention.name == "letor3 with short=pad, undefined=skip"
    assert ar.evaluate(SCORES, data, "ndcg@10", ties=None).convention == make_convention("default")


def test_a_measures_own_parameter_beats_the_convention(data):
    assert value(data, "AP(rel=3)", relevant_at=1)[0] == value(data, "map", relevant_at=3)[0] == 1 / 5
    assert np.isnan(value(data, "ndcg(undefined='skip')@3", convention="lightgbm")[1])
    assert value(data, "map@3-", convention="xgboost")[1] == 0


def test_undefined_policies(data):
    def mean(policy):
        return ar.evaluate(SCORES, data, "map", undefined=policy)

    a, c = value(data, "map")[[0, 2]]
    for policy, expected in ((0, (a + c) / 3), (1, (a + 1 + c) / 3), (0.5, (a + 0.5 + c) / 3), ("skip", (a + c) / 2)):
        assert mean(policy).means["map"] == pytest.approx(expected, abs=1e-15)
        assert mean(policy).undefined == {"map": 1}
        assert mean(policy).zero_filled["map"] == pytest.approx((a + c) / 3, abs=1e-15)
    assert np.isnan(mean("nan").means["map"])
    assert np.isnan(mean(float("nan")).means["map"])


def test_undefined_values_of_presets(data):
    told = {name: value(data, "ndcg@10", convention=name)[1] for name in ar.convention_names()}
    assert {name for name, one in told.items() if one == 1} == {"lightgbm", "xgboost", "catboost"}
    assert {name for name, one in told.items() if one == 0.5} == {"yahoo"}
    assert {name for name, one in told.items() if np.isnan(one)} == {"default", "kdd2008", "gdeval"}
    assert value(data, "err", convention="yahoo")[1] == 0


def test_short_lists(data):
    # Query c: two documents, the relevant one first.
    assert value(data, "ndcg@10", short="pad")[2] == 1
    assert value(data, "ndcg@10", short="zero")[2] == 0
    assert value(data, "p@4", short_precision="pad")[2] == 1 / 4
    assert value(data, "p@4", short_precision="min")[2] == 1 / 2
    assert value(data, "p@4", short_precision="zero")[2] == 0


def test_the_ideal_of_a_short_list_may_know_more_documents(data):
    judgements = {"a": [2, 0, 1, 0, 3], "b": [0], "c": [1, 1, 1, 1]}
    padded = ar.evaluate(SCORES, data, "ndcg@3", judgements=judgements, short="pad").values["ndcg@3"][2]
    cut = ar.evaluate(SCORES, data, "ndcg@3", judgements=judgements, short="min").values["ndcg@3"][2]
    discounts = 1 / np.log2([2, 3, 4])
    assert padded == pytest.approx(1 / discounts.sum())
    assert cut == pytest.approx(1 / discounts[:2].sum())
    assert ar.evaluate(SCORES, data, "MeanNDCG", judgements=judgements).values["MeanNDCG"][2] < 1


def test_average_precision_denominators(data):
    # Query a under row order: relevant at ranks 1, 3, 5.
    assert value(data, "ap@2", ties="row", ap_denominator="relevant")[0] == 1 / 3
    assert value(data, "ap@2", ties="row", ap_denominator="min")[0] == 1 / 2
    assert value(data, "ap@2", ties="row", ap_denominator="hits")[0] == 1


def test_kdd2008_is_letor_discount_with_binary_gain(data):
    found = value(data, "ndcg@10", convention="kdd2008", ties="row")[0]
    worth = [1, 1, 1 / np.log2(3), 1 / 2, 1 / np.log2(5)]
    assert found == pytest.approx((worth[0] + worth[2] + worth[4]) / sum(worth[:3]))


def test_dcg_of_natural_logarithm(data):
    """Yahoo's and gdeval's DCG divide by ln: greater by 1 / ln 2, while NDCG is the same."""
    plain, natural = value(data, "dcg@3"), value(data, "dcg@3", logarithm="natural")
    np.testing.assert_allclose(natural, plain / np.log(2))
    for logarithm in ("log2", "divided", "ratio", "scaled", "natural"):
        np.testing.assert_allclose(value(data, "ndcg@3", logarithm=logarithm), value(data, "ndcg@3"), atol=1e-15)
        np.testing.assert_allclose(value(data, "ndcg@3", normalise="multiply"), value(data, "ndcg@3"), atol=1e-15)


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"convention": "letor5"}, "did you mean letor"),
        ({"convention": 3}, "convention: expected a name"),
        ({"tie": "row"}, "unknown switch 'tie'; did you mean ties"),
        ({"ties": "random"}, "ties: expected one of expected"),
        ({"undefined": "zero"}, "undefined: expected skip, nan or a number"),
        ({"undefined": True}, "undefined"),
        ({"relevant_at": "one"}, "relevant_at: expected a number"),
        ({"format": "%d%d"}, "format"),
        ({"discount": "log"}, "did you mean log2"),
    ],
)
def test_unknown_rules(data, switches, message):
    with pytest.raises(OptionError, match=message):
        ar.evaluate(SCORES, data, "ndcg", **switches)


def test_a_convention_of_ones_own(data):
    mine = Convention(name="mine", gain="linear", undefined=0)
    assert ar.evaluate(SCORES, data, "ndcg", convention=mine).convention.name == "mine"
    assert value(data, "ndcg", convention=mine)[0] == value(data, "ndcg", gain="linear")[0]


@pytest.mark.parametrize(
    ("switch", "word", "meaning"),
    [
        ("ties", "docid descending", "docid-descending"),
        ("ties", "docid_asc", "docid-ascending"),
        ("ties", "Expected", "expected"),
        ("ap_denominator", "min(R, k)", "min"),
        ("ap_denominator", "R", "relevant"),
        ("short_precision", "min(k,n)", "min"),
    ],
)
def test_other_words_for_a_choice(switch, word, meaning):
    assert getattr(make_convention("default", **{switch: word}), switch) == meaning


def test_presets_change_only_what_exists():
    assert all(set(preset) <= set(SWITCHES) for preset in PRESETS.values())
