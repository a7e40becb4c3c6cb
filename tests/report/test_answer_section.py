"""What the answer of a report says of the best system and each of the others."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import argrank as ar
from argrank.report.answer_section import _round, duels_of
from argrank.report.comparison_section import _matrix


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
