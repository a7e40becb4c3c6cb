"""Power and the number of queries, against simulation and Student's formula; the noise floor."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import argrank as ar
from argrank.errors import ArgrankError
from argrank.evaluation.noise import relabelled
from argrank.evaluation.power import queries_needed, smallest_difference
from argrank.evaluation.significance import paired_t

DATA = ar.make_ranking(50, 10, 3, noise=2.0, random_state=0)
SCORES = {"a": DATA.X[:, 0], "b": np.round(DATA.X[:, 1])}  # b has ties
FOUND = ar.compare(SCORES, DATA, ["ndcg@10", "mrr@10"])


def lumpy(n: int, seed: int) -> np.ndarray:
    """Half of the queries tie, the others have a skewed difference."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.5, 0.0, rng.gamma(2.0, 0.1, n) - 0.15)


@pytest.mark.parametrize("n_queries", [10, 40, 800])
def test_the_smallest_difference_is_found_as_often_as_promised(n_queries):
    pilot = lumpy(3000, 1)
    smallest = smallest_difference(pilot, n_queries, np.inf, 0.05, 0.8, 0)
    drawn = np.random.default_rng(2).choice(pilot - pilot.mean() + smallest, (n_queries, 2000))
    shown = (paired_t(drawn) <= 0.05) & (drawn.mean(axis=0) > 0)
    assert shown.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("n_queries", [10, 40, 80])
def test_few_queries_show_less_by_the_test_that_allows_for_what_they_do_not_show(n_queries):
    pilot = lumpy(3000, 1)
    smallest = smallest_difference(pilot, n_queries, 1.0, 0.05, 0.8, 0)
    drawn = np.random.default_rng(2).choice(pilot, (n_queries, 2000))
    limit = stats.t.ppf(0.975, n_queries - 1)
    added = 2 / 16 / n_queries * np.maximum(0, 1 - np.count_nonzero(drawn, axis=0) / 50)
    t = (drawn.mean(axis=0) - pilot.mean() + smallest) / np.sqrt((drawn.var(axis=0, ddof=1) + added) / n_queries)
    assert (t >= limit).mean() == pytest.approx(0.8, abs=0.03)
    assert smallest > smallest_difference(pilot, n_queries, np.inf, 0.05, 0.8, 0)


@pytest.mark.parametrize("difference", [0.02, 0.1])
def test_the_number_of_queries_is_that_of_the_noncentral_t(difference):
    pilot = stats.norm.ppf((np.arange(4000) + 0.5) / 4000) * 0.2

    def chance(n: int) -> float:
        return float(stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, difference / 0.2 * np.sqrt(n)))

    expected = next(n for n in range(2, 5000) if chance(n) >= 0.8)
    assert queries_needed(pilot, difference, np.inf, 0.05, 0.8, 0) == pytest.approx(expected, rel=0.06)


def test_more_queries_show_less_and_surer_ones_need_more():
    (row, *_), loud = ar.power(FOUND, 0.05).rows, ar.power(FOUND, 0.05, chance=0.95).rows[0]
    found = ar.power(FOUND, 0.05)
    assert found.smallest(row, 400) < found.smallest(row, 100) < found.smallest(row, 20)
    assert found.smallest(row, row.n_queries) == row.smallest
    assert loud.smallest > row.smallest
    assert loud.needed > row.needed
    assert row.likely[0] < row.needed < row.likely[1]


def test_a_comparison_and_its_differences_say_the_same():
    rows = ar.power(FOUND, 0.03).rows
    assert [(row.measure, row.a, row.b) for row in rows] == [("ndcg@10", "a", "b"), ("mrr@10", "a", "b")]
    (alone,) = ar.power(FOUND.differences("ndcg@10", "a", "b"), 0.03).rows
    assert (alone.smallest, alone.needed, alone.n_queries) == (rows[0].smallest, rows[0].needed, rows[0].n_queries)
    assert ar.power(FOUND, 0.03).noise[0].cause == "other queries"
    assert len(ar.power(FOUND, 0.03).noise) == 2  # without the data, judging again is not known


def test_nothing_is_said_where_nothing_varies():
    for pilot in (np.zeros(30), [0.1, -0.2, 0.3], [np.nan] * 9):
        found = ar.power(pilot)
        assert np.isnan(found.rows[0].smallest)
        assert found.rows[0].needed is None
        assert "too few on which the systems differ" in repr(found)
        with pytest.raises(ArgrankError, match="expected differences that vary"):
            ar.plot.power(found)


def test_too_few_queries_that_differ_show_no_difference():
    found = ar.power([0.0] * 7 + [1.0])
    assert found.rows[0].smallest == np.inf
    assert "inf" not in repr(found)
    assert "too few on which the systems differ" in repr(found)
    assert json.loads(found.render("json"))["rows"][0]["needed"] == found.rows[0].needed


def test_the_noise_floor():
    found = ar.power(FOUND, scores=SCORES, data=DATA, disagreement=0.2)
    noise = {(one.measure, one.cause): one for one in found.noise}
    values = FOUND.values["a"]["ndcg@10"], FOUND.values["b"]["ndcg@10"]
    errors = [stats.sem(one, nan_policy="omit") for one in values]
    drawn = noise["ndcg@10", "other queries"]
    assert drawn.mean == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert drawn.difference == pytest.approx(stats.sem(values[0] - values[1], nan_policy="omit"))
    assert 0 < noise["ndcg@10", "judging again"].mean < drawn.mean
    assert 0 < noise["ndcg@10", "order of ties"].mean < drawn.mean
    untied = ar.power(FOUND, scores={"a": SCORES["a"], "b": DATA.X[:, 1]}, data=DATA)
    assert {one.mean for one in untied.noise if one.cause == "order of ties"} == {0.0}
    text = repr(found)
    assert "20 % of the labels" in text
    assert "judging again" in text
    assert json.loads(found.render("json"))["rows"][0]["n_queries"] == found.rows[0].n_queries
    assert "<table" in found._repr_html_()


def test_runs_and_judgements_have_a_noise_floor():
    rng = np.random.default_rng(0)
    judged = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(8)} for q in range(12)}
    runs = {
        name: {q: {d: float(rng.integers(0, 4)) for d in [*own, "unjudged"]} for q, own in judged.items()}
        for name in "xy"
    }
    compared = ar.compare(runs, judged, "ndcg@10")
    found = ar.power(compared, scores=runs, data=judged)
    assert [one.cause for one in found.noise] == ["other queries", "judging again", "order of ties"]
    assert all(one.mean > 0 and one.difference > 0 for one in found.noise)


def test_labels_move_to_neighbouring_grades_as_often_as_stated():
    data = ar.Dataset(np.ones((6000, 1)), np.tile([0, 1, 4], 2000), np.repeat(np.arange(600), 10))
    again = relabelled(data, 0.3, np.random.default_rng(0)).y
    moved = again != data.y
    assert moved.mean() == pytest.approx(0.3, abs=0.02)
    assert set(again[moved & (data.y == 0)]) == {1}
    assert set(again[moved & (data.y == 1)]) == {0, 4}
    assert set(again[moved & (data.y == 4)]) == {1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nonsense",), "expected what ar.compare returned"),
        ((np.ones((3, 3)),), "a difference for each query"),
        ((FOUND, 0), "difference: expected a positive number"),
        ((FOUND, -0.1), "difference"),
    ],
)
def test_mistakes(arguments, words):
    with pytest.raises(ArgrankError, match=words):
        ar.power(*arguments)


def test_scores_and_data_come_together_and_fit():
    with pytest.raises(ArgrankError, match="both, or neither"):
        ar.power(FOUND, scores=SCORES)
    with pytest.raises(ArgrankError, match="none named 'b'"):
        ar.power(FOUND, scores={"a": SCORES["a"], "c": SCORES["b"]}, data=DATA)
    with pytest.raises(ArgrankError, match="expected a comparison as the pilot"):
        ar.power([0.1] * 8, scores=SCORES, data=DATA)


def test_the_curve_goes_through_the_queries_at_hand():
    found = ar.power(FOUND, 0.05)
    axes = ar.plot.power(found)
    lines = axes.get_lines()
    assert lines[1].get_xydata().tolist() == [[found.rows[0].n_queries, found.rows[0].smallest]]
    heights = lines[0].get_ydata()
    assert heights[0] > found.rows[0].smallest > heights[-1]
