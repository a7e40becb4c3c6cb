from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.evaluation.compare import compare

MEASURES = ["ndcg@10", "map"]


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def judged(n_queries: int = 60, seed: int = 0, barren: int = 3) -> ar.Dataset:
    """Queries of 8 documents; the last ``barren`` ones have nothing relevant."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (n_queries, 8))
    labels[:, 0] = 1
    labels[n_queries - barren :] = 0
    return ar.Dataset(np.ones((labels.size, 1)), labels.ravel(), np.repeat(np.arange(n_queries), 8))


def noisy(data: ar.Dataset, noise: float, seed: int) -> np.ndarray:
    return data.y + noise * np.random.default_rng(seed).normal(size=data.n_documents)


@pytest.fixture
def data() -> ar.Dataset:
    return judged()


@pytest.fixture
def scores(data) -> dict[str, np.ndarray]:
    return {"good": noisy(data, 0.5, 1), "fair": noisy(data, 2, 2), "poor": -noisy(data, 2, 3)}


def test_means_and_values_are_those_of_evaluate(data, scores):
    result = ar.compare(scores, data, MEASURES, n_resamples=200)
    assert result.systems == ("good", "fair", "poor")
    assert result.measures == ("ndcg@10", "map")
    for system, one in scores.items():
        alone = ar.evaluate(one, data, MEASURES)
        assert result.means[system] == alone.means
        assert result.undefined == alone.undefined == {"ndcg@10": 3, "map": 3}
        for measure in MEASURES:
            np.testing.assert_array_equal(result.values[system][measure], alone.values[measure])
    assert result.query_ids.tolist() == data.query_ids.tolist()


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("t", lambda a, b: stats.ttest_rel(a, b).pvalue),
        ("wilcoxon", lambda a, b: stats.wilcoxon(a - b).pvalue),
    ],
)
def test_pairs_against_scipy(test, expected):
    data = judged(90)  # so that more than 50 queries differ
    scores = {"good": noisy(data, 0.5, 1), "fair": noisy(data, 2, 2), "poor": -noisy(data, 2, 3)}
    result = ar.compare(scores, data, MEASURES, test=test, n_resamples=200)
    assert [(pair.measure, pair.a, pair.b) for pair in result.pairs] == [
        (measure, a, b) for measure in MEASURES for a, b in (("good", "fair"), ("good", "poor"), ("fair", "poor"))
    ]
    for pair in result.pairs:
        a, b = (ar.evaluate(scores[name], data, pair.measure).values[pair.measure] for name in (pair.a, pair.b))
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        assert pair.p_value == pytest.approx(expected(a, b), rel=1e-9)
        assert pair.difference == pytest.approx(np.mean(a - b), abs=1e-12)
        if test == "t":
            np.testing.assert_allclose(pair.interval, stats.ttest_rel(a, b).confidence_interval(), rtol=1e-9)
        else:
            assert np.isnan(pair.interval).all()
        assert pair.effect_size == pytest.approx(np.mean(a - b) / np.std(a - b, ddof=1))
        assert (pair.n_queries, pair.n_dropped) == (87, 3)
        assert pair.wins == np.sum(a > b)
        assert pair.wins + pair.ties + pair.losses == 87


def test_correction_is_holms_within_each_measure(data, scores):
    result = ar.compare(scores, data, MEASURES, n_resamples=200)
    for measure in MEASURES:
        pairs = sorted((pair for pair in result.pairs if pair.measure == measure), key=lambda pair: pair.p_value)
        highest = 0.0
        for pair, factor in zip(pairs, (3, 2, 1), strict=True):
            highest = max(highest, min(1.0, factor * pair.p_value))
            assert pair.p_corrected == pytest.approx(highest)
    plain = ar.compare(scores, data, MEASURES, correction="none", n_resamples=200)
    assert [pair.p_corrected for pair in plain.pairs] == [pair.p_value for pair in result.pairs]


def test_baseline_compares_with_nothing_else(data, scores):
    result = ar.compare(scores, data, "map", baseline="fair", n_resamples=200)
    assert [(pair.a, pair.b) for pair in result.pairs] == [("good", "fair"), ("poor", "fair")]
    assert [np.sign(pair.difference) for pair in result.pairs] == [1, -1]


def test_letters_name_the_systems_that_are_beaten(data, scores):
    assert ar.compare(scores, data, "map", n_resamples=200).letters("map") == {"good": "bc", "fair": "c", "poor": ""}
    against = ar.compare(scores, data, "map", baseline="fair", n_resamples=200)
    assert against.letters("map") == {"good": "b", "fair": "c", "poor": ""}


def test_letters_go_on_after_z(data):
    scores = {f"system {number}": noisy(data, 20, number) for number in range(27)}
    scores["perfect"] = data.y
    letters = ar.compare(scores, data, "map", baseline="perfect", n_resamples=10).letters("map")["perfect"].split(",")
    assert letters[:2] == ["a", "b"]
    assert letters[-2:] == ["z", "aa"]


def test_equal_systems_tie_everywhere(data, scores):
    # another scale, the same ranking
    result = ar.compare({"one": scores["fair"], "two": 3 * scores["fair"] + 1}, data, MEASURES, n_resamples=200)
    for pair in result.pairs:
        assert (pair.difference, pair.p_value, pair.effect_size) == (0, 1, 0)
        assert pair.interval == pytest.approx((-(1 - 0.025 ** (1 / 57)), 1 - 0.025 ** (1 / 57)))  # 57 say no more
        assert (pair.wins, pair.ties, pair.losses) == (0, 57, 0)
    assert result.letters("map") == {"one": "", "two": ""}


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from(["t", "wilcoxon", "randomisation"]))
def test_the_order_of_two_systems_changes_only_signs(seed, test):
    data = judged(25, seed, barren=1)
    scores = {"x": noisy(data, 1, seed), "y": noisy(data, 1.5, seed + 1)}
    (forth,) = compare(scores, data, "map", test=test, n_resamples=100).pairs
    (back,) = compare(dict(reversed(scores.items())), data, "map", test=test, n_resamples=100).pairs
    assert forth.difference == pytest.approx(-back.difference, abs=1e-15)
    assert forth.p_value == pytest.approx(back.p_value, rel=1e-9)
    assert forth.effect_size == pytest.approx(-back.effect_size)
    assert (forth.wins, forth.ties, forth.losses) == (back.losses, back.ties, back.wins)


def test_same_seed_same_numbers(data, scores):
    first, second, other = (
        ar.compare(scores, data, "map", test="randomisation", n_resamples=500, random_state=seed) for seed in (1, 1, 2)
    )
    assert first.pairs == second.pairs
    assert first.pairs != other.pairs


def test_one_query_proves_nothing():
    data = judged(1, barren=0)
    for test in ("t", "wilcoxon", "randomisation"):
        result = ar.compare({"a": data.y, "b": -data.y}, data, "map", test=test)
        (pair,) = result.pairs
        assert pair.difference > 0
        assert pair.p_value == 1
        assert np.isnan(pair.interval).all()
        assert any(f"fewer than {50 if test == 't' else 20} queries" in note for note in result.notes)
        assert ("too few queries" in result.to_text()) == (test != "wilcoxon")
        assert json.loads(result.to_json())["pairs"][0]["interval"] == [None, None]


def test_no_defined_query_at_all():
    data = judged(2, barren=2)
    (pair,) = ar.compare({"a": data.y + 1, "b": -data.y}, data, "map").pairs
    assert np.isnan(pair.difference)
    assert (pair.n_queries, pair.n_dropped, pair.p_value) == (0, 2, 1)


def test_a_convention_that_fills_undefined_queries_keeps_them(data, scores):
    result = ar.compare(scores, data, "map", convention="letor4", n_resamples=200)
    assert {(pair.n_queries, pair.n_dropped) for pair in result.pairs} == {(60, 0)}
    assert "Convention letor4; 60 queries; undefined: map 3 (valued by the convention)." in result.to_text()
    switched = ar.compare(scores, data, "map", undefined=0.0, n_resamples=200)
    assert {pair.n_dropped for pair in switched.pairs} == {0}


def test_equal_differences_have_an_interval_that_fits_p():
    data = ar.Dataset(np.ones((6, 1)), [1, 0] * 3, [1, 1, 2, 2, 3, 3])
    (pair,) = ar.compare({"a": data.y, "b": -data.y}, data, "mrr@10").pairs
    assert pair.difference == 0.5
    assert pair.p_value == pytest.approx(2 * (1 / 1.5) ** 3)
    low, high = pair.interval
    assert -1 < low < 0 < 0.5 < high < 1


def test_query_weights_are_noted(scores, data):
    weighted = ar.Dataset(data.X, data.y, np.repeat(data.query_ids, 8), query_weight=np.arange(1, 61))
    result = ar.compare(scores, weighted, "map", n_resamples=100)
    assert any("weighted" in note for note in result.notes)


def test_differences_belong_to_the_query_ids(data, scores):
    result = ar.compare(scores, data, "map", n_resamples=100)
    differences = result.differences("map", "good", "poor")
    assert differences.shape == result.query_ids.shape
    assert np.isnan(differences).sum() == 3
    assert np.nanmean(differences) == pytest.approx(result.pairs[1].difference)
    np.testing.assert_array_equal(differences, -result.differences("map", "poor", "good"))
    with pytest.raises(OptionError, match="'gud'; did you mean good"):
        result.differences("map", "gud", "poor")
    with pytest.raises(OptionError, match="'mapp'; did you mean map"):
        result.letters("mapp")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"scores": {}}, InputError, "at least two systems"),
        ({"scores": {"a": np.ones(480)}}, InputError, "at least two systems"),
        ({"scores": [np.ones(480)] * 2}, InputError, "dict from system names"),
        ({"scores": {1: np.ones(480), 2: np.ones(480)}}, InputError, "dict from system names"),
        ({"scores": {"a": np.ones(480), "b": np.ones(3)}}, InputError, r"480 rows, got shape \(3,\)"),
        ({"baseline": "goo"}, OptionError, "baseline 'goo'; did you mean good"),
        ({"test": "z"}, OptionError, "known: randomisation, t, wilcoxon"),
        ({"correction": "bonferroni"}, OptionError, "known: holm, none"),
        ({"level": 5}, OptionError, "below 1, got 5"),
        ({"n_resamples": 0}, OptionError, "whole number from 1 up, got 0"),
        ({"convention": "letr3"}, OptionError, "letor3"),
        ({"measures": "nonsense"}, OptionError, "nonsense"),
    ],
)
def test_refusals(data, scores, change, error, message):
    arguments = {"scores": scores, "data": data, "measures": MEASURES} | change
    with pytest.raises(error, match=message):
        ar.compare(**arguments)


def test_text_says_everything(data, scores):
    result = ar.compare(scores, data, MEASURES, n_resamples=1000, random_state=7)
    text = result.to_text()
    assert repr(result) == text
    for words in (
        "a  good", "b  fair", "c  poor", "* bc", "95 % interval", "p corrected",
        "Paired t-test, two-sided; p corrected by Holm's rule for the 3 pairs of each measure.",
        "Intervals of the mean difference are Student's",
        "Convention default; 60 queries; undefined: ndcg@10 3 (left out), map 3 (left out).",
    ):  # fmt: skip
        assert words in text
    for measure in MEASURES:
        assert f"{result.means['good'][measure]:.4f}*" in text
        assert f"{result.means['fair'][measure]:.4f}*" not in text


def test_uncorrected_text_has_one_p(data, scores):
    result = ar.compare(scores, data, "map", correction="none", level=0.1, n_resamples=100)
    assert "p corrected" not in result.to_text()
    assert "p not corrected for the 3 pairs" in result.to_text()
    assert "90 % interval" in result.to_text()


def test_json_holds_what_the_object_holds(data, scores):
    result = ar.compare(scores, data, MEASURES, n_resamples=200)
    found = json.loads(result.to_json())
    assert found == result.to_dict()
    assert found["means"] == result.means
    assert found["n_queries"] == 60
    assert (found["test"], found["correction"], found["convention"]) == ("t", "holm", "default")
    assert len(found["pairs"]) == 6
    first = dataclasses.asdict(result.pairs[0]) | {"interval": list(result.pairs[0].interval)}
    assert found["pairs"][0] == first


def test_names_are_escaped_in_every_format(data):
    nasty = "a|b_<b>&%"
    result = ar.compare({nasty: data.y, "x": -data.y}, data, "map", n_resamples=100)
    assert r"a\|b\_\<b\>\&%" in result.to_markdown()
    assert r"a\textbar{}b\_\textless{}b\textgreater{}\&\%" in result.to_latex()
    assert "a|b_&lt;b&gt;&amp;%" in result._repr_html_()
    assert nasty in result.to_text()
    assert json.loads(result.to_json())["systems"][0] == nasty
    with pytest.raises(OptionError, match="unknown format 'xml'"):
        result.render("xml")


def test_across_takes_evaluations(data, scores):
    found = {name: ar.evaluate(one, data, MEASURES) for name, one in scores.items()}
    assert ar.winning_numbers({"d": found}) == {
        "good": {"ndcg@10": 2, "map": 2},
        "fair": {"ndcg@10": 1, "map": 1},
        "poor": {"ndcg@10": 0, "map": 0},
    }
    pooled = ar.micro_average({"d": found, "e": found})
    for name, evaluation in found.items():
        assert pooled[name] == pytest.approx(evaluation.means)
