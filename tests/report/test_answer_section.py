"""What the answer of a report says of the best system and each of the others."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import argrank as ar
from argrank.report.answer_section import _round
from argrank.report.comparison_section import _matrix
from argrank.report.verdict import Badge, beaten_by, command, duels_of, figures, headline, headline_html, how_sure


@pytest.fixture(scope="module")
def comparison():
    """The best system is the second of one pair and the first of another."""
    data = ar.make_ranking(40, 20, 4, random_state=0)
    noise = np.random.default_rng(0).normal(size=(3, data.n_documents))
    systems = {name: data.y + size * one for name, size, one in zip("abc", (4.0, 1.0, 2.0), noise, strict=True)}
    return ar.compare(systems, data, ["ndcg@5", "map"])


def test_a_duel_is_seen_from_the_side_of_the_best(comparison):
    best, found = comparison.values["b"]["ndcg@5"], duels_of(comparison, "b")
    assert [duel.rival for duel in found] == ["c", "a"]  # the strongest first
    for duel in found:
        differences = best - comparison.values[duel.rival]["ndcg@5"]
        differences = differences[~np.isnan(differences)]
        assert duel.difference == pytest.approx(differences.mean())
        assert duel.low < duel.difference < duel.high
        assert duel.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
        counts = ((differences > 0).sum(), (differences == 0).sum(), (differences < 0).sum())
        assert (duel.wins, duel.ties, duel.losses) == counts


def test_the_interval_is_mirrored_with_the_pair(comparison):
    by_pair = {(pair.a, pair.b): pair for pair in comparison.pairs if pair.measure == "ndcg@5"}
    against = {duel.rival: duel for duel in duels_of(comparison, "b")}
    low, high = by_pair["a", "b"].interval
    assert (against["a"].low, against["a"].high) == (-high, -low)
    assert (against["c"].low, against["c"].high) == by_pair["b", "c"].interval


def test_what_is_significant_only_before_the_correction_is_not_called_so(comparison):
    pairs = tuple(replace(pair, p_value=0.03, p_corrected=0.09) for pair in comparison.pairs)
    assert not any(duel.sure for duel in duels_of(replace(comparison, pairs=pairs), "b"))
    pairs = tuple(replace(pair, p_value=0.03, p_corrected=0.04) for pair in comparison.pairs)
    assert all(duel.sure for duel in duels_of(replace(comparison, pairs=pairs), "b"))


def test_the_table_of_wins_marks_who_is_significantly_better(comparison):
    pairs = tuple(replace(pair, p_corrected=0.01 if "b" in (pair.a, pair.b) else 0.5) for pair in comparison.pairs)
    rows = re.findall(r'<th scope="row">(.)</th>(.*?)</tr>', _matrix(replace(comparison, pairs=pairs), "ndcg@5"))
    marks = {name: ["✓" in cell for cell in cells.split("</td>")[:3]] for name, cells in rows}
    assert marks == {"a": [False] * 3, "b": [True, False, True], "c": [False] * 3}


@pytest.mark.parametrize(("n", "rounded"), [(7, 7), (99, 99), (101, 110), (1234, 1300), (98_765, 99_000)])
def test_numbers_of_queries_are_rounded_up_to_two_digits(n, rounded):
    assert _round(n) == rounded


def verdict_of(comparison, best, baseline=None, **changed):
    pairs = tuple(replace(pair, **changed) for pair in comparison.pairs)
    changed = replace(comparison, pairs=pairs)
    return headline(best, duels_of(changed, best), changed, baseline, None)


def test_the_first_sentence_has_no_statistics_and_a_badge(comparison):
    """Against the baseline where there is one, else against the strongest of the others."""
    wins = int((comparison.values["b"]["ndcg@5"] > comparison.values["a"]["ndcg@5"]).sum())
    gain = np.nanmean(comparison.values["b"]["ndcg@5"] - comparison.values["a"]["ndcg@5"])
    found = verdict_of(comparison, "b", "a", p_corrected=0.01)
    assert (found.badge, found.words) == (Badge.BETTER, "better than the baseline")
    tested = int((~np.isnan(comparison.values["b"]["ndcg@5"])).sum())
    assert found.sentence == (
        f"b puts better documents on top than your current order, a, on {wins} of {tested} queries; "
        f"expect about {gain:+.2f} ndcg@5."
    )
    worse = verdict_of(comparison, "a", "b", p_corrected=0.01)
    assert (worse.badge, worse.words) == (Badge.WORSE, "worse than the baseline")
    assert "\N{MINUS SIGN}" in worse.sentence
    unsure = verdict_of(comparison, "b", p_corrected=0.5)
    assert (unsure.badge, unsure.words) == (Badge.NOT_SHOWN, "not shown to be better than c")
    for one in (found, worse, unsure):
        assert not re.search(r"p =|Holm|interval|signific", one.sentence)


def test_statistics_are_folded_away_and_names_escaped(comparison):
    page = how_sure(duels_of(comparison, "b"), comparison, None)
    assert page.startswith("<details><summary>")
    assert "Holm" in page
    hostile = headline_html(headline("<b>", [], replace(comparison, means={"<b>": comparison.means["b"]}), None, None))
    assert "<b>" not in hostile


def test_only_a_choice_on_the_same_queries_is_called_too_good(comparison):
    intervals = {name: dict.fromkeys("abc", (0.1, 0.2)) for name in comparison.measures}
    assert "too good" in figures("b", comparison, intervals, None, None)
    two = replace(comparison, systems=("a", "b"))
    assert "too good" in figures("b", two, intervals, None, None)
    assert "too good" not in figures("b", two, intervals, None, "a")


def test_queries_without_a_value_are_counted_apart(comparison):
    intervals = {name: dict.fromkeys("abc", (0.1, 0.2)) for name in comparison.measures}
    undefined = int(np.isnan(comparison.values["b"]["ndcg@5"]).sum())
    assert f"on the {40 - undefined} queries" in figures("b", comparison, intervals, None, None)
    told = figures("b", replace(comparison, undefined={"ndcg@5": 2}), intervals, None, None)
    assert "on the 38 queries tested here" in told
    assert "leaves out 2 more queries on which it is undefined" in told


def test_a_command_breaks_between_its_words_alone():
    assert command("argrank cv --save <x>") == (
        "<code><span>argrank</span> <span>cv</span> <span>--save</span> <span>&lt;x&gt;</span></code>"
    )


def test_without_a_trial_nothing_disagrees(comparison):
    assert beaten_by(duels_of(comparison, "a"), None) is None


def test_a_feature_is_the_baseline_and_the_doctor_looks_at_used_columns(tmp_path):
    data = ar.make_ranking(40, 20, 4, random_state=0)
    X = np.column_stack([data.X, np.full(data.n_documents, 3.0)])
    wide = ar.Dataset(X, data.y, data.qid, feature_names=["one", "two", "three", "four", "constant"])
    small = ar.Dataset(X[:, :4], data.y, data.qid, feature_names=["one", "two", "three", "four"])
    ranker = ar.make_ranker("regression").fit(small)
    text = ar.write_report(tmp_path / "r.html", wide, {"learned": ranker}, baseline="two").read_text("utf-8")
    assert "your current order, two" in text
    assert "highest of these means" not in text
    assert "constant" in str(ar.doctor(wide))
    assert "constant" not in text[text.index('<section id="data"') : text.index("<footer>")]
    with pytest.raises(ar.errors.OptionError, match="baseline: expected a feature that is a number, got 'nosuch'"):
        ar.write_report(tmp_path / "r.html", wide, {"learned": ranker}, baseline="nosuch")
