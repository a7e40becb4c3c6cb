"""Interleaved lists against enumeration of all draws, and what users prefer on simulated sessions."""

import itertools

import numpy as np
import pytest

import argrank as ar
from argrank.clicks.interleaving import balanced, probabilistic, team_draft
from argrank.errors import InputError, OptionError
from argrank.evaluation.counterfactual.preference import confidence_sequence

A, B = ["d1", "d2", "d3", "d4"], ["d2", "d3", "d4", "d1"]  # the second is the first moved by one place


class Given:
    """A generator that draws what it is told."""

    def __init__(self, draws):
        self._draws = iter(draws)

    def permutation(self, n):
        return np.array(next(self._draws))

    def integers(self, n):
        return next(self._draws)


def every_draft(a, b, k):
    """Yield the lists and teams of team draft for all flips of a coin, by its definition with two teams."""
    for flips in itertools.product((0, 1), repeat=k):
        picked, counts = [], [0, 0]
        for flip in itertools.chain(flips):
            for team in (flip, 1 - flip):
                left = [one for one in (a, b)[team] if one not in [document for document, _ in picked]]
                if left and len(picked) < k:
                    picked.append((left[0], team))
                    counts[team] += 1
        yield flips, picked


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("lists", [(A, B), (["x", "y", "z"], ["y", "x", "w"]), (["x"], ["y", "z"])])
def test_team_draft_for_all_draws(lists, k):
    slots = np.zeros(2)
    for flips, wanted in every_draft(*lists, k):
        assert team_draft(lists, k, Given([[flip, 1 - flip] for flip in flips])) == wanted
        slots += [sum(team == one for _, team in wanted) for one in (0, 1)]
    if min(map(len, lists)) >= k:
        assert slots[0] == slots[1]  # both teams have as many documents on average


def clicked_at_random(mixer, n=4):
    """Return the expected credit of the first list less that of the second, for one click anywhere, over all draws."""
    total = 0.0
    for flip in (0, 1):
        picked = mixer(flip)
        total += sum((team == 0) - (team == 1) for _, team in picked) / len(picked) / 2
    return total


def test_balanced_interleaving_favours_a_list_that_is_moved_by_a_place_and_team_draft_none():
    lists = (A, B)
    # a click on d1 is a point for the first list, one on d2, d3 or d4 for the second
    assert clicked_at_random(lambda flip: balanced(lists, 4, Given([flip]))) == pytest.approx(-0.5)
    drafts = [picked for _, picked in every_draft(*lists, 4)]
    assert sum((team == 0) - (team == 1) for picked in drafts for _, team in picked) == 0


def test_probabilistic_interleaving_shows_every_order():
    rng = np.random.default_rng(0)
    seen = {tuple(document for document, _ in probabilistic((["x", "y", "z"],) * 2, 3, rng)) for _ in range(2000)}
    assert seen == set(itertools.permutations("xyz"))
    firsts = [probabilistic((["x", "y", "z"],) * 2, 1, rng)[0][0] for _ in range(2000)]
    weights = np.arange(1, 4.0) ** -3
    assert firsts.count("x") / 2000 == pytest.approx(weights[0] / weights.sum(), abs=0.04)


def test_interleave_takes_runs_and_says_what_is_wrong():
    runs = {"a": {"q": {"x": 3.0, "y": 2.0}, "r": {"z": 1.0}}, "b": {"q": {"y": 3.0, "x": 2.0}}}
    mixed = ar.interleave(runs, random_state=4)
    assert mixed.qid.tolist() == ["q", "q"]
    assert sorted(mixed.docid.tolist()) == ["x", "y"]
    assert mixed.position.tolist() == [1, 2]
    assert ar.interleave(runs, random_state=4).team.tolist() == mixed.team.tolist()
    with pytest.raises(InputError, match="two or more"):
        ar.interleave({"a": runs["a"]})
    with pytest.raises(OptionError, match="balanced"):
        ar.interleave({**runs, "c": runs["a"]}, "balanced")
    with pytest.raises(InputError, match="team"):
        ar.preference(ar.Clicks.of({"session": [1], "qid": [1], "docid": [1], "position": [1], "click": [1]}))


def test_confidence_sequence_errs_rarely_at_any_time_and_finds_a_difference():
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(100):
        outcome = rng.choice([-1.0, 0.0, 1.0], 1500)
        low, high = confidence_sequence(outcome)  # its means are ruined for good: it has looked at all times
        wrong += not low <= 0.0 <= high
    assert wrong <= 9  # more has a chance below 3 % at 5 %
    low, high = confidence_sequence(rng.choice([-1.0, 1.0], 3000, p=[0.4, 0.6]))
    assert 0 < low < 0.2 < high


def sessions(rng, n, better):
    """Return a log of team-draft sessions over ten documents, with one click in a session."""
    order = [f"d{one}" for one in range(10)]
    rows = []
    for session in range(n):
        picked = team_draft((order, order[::-1]), 6, rng)
        chances = np.array([better if team == 0 else 1.0 for _, team in picked]) / np.arange(1, 7)
        click = rng.choice(6, p=chances / chances.sum())
        rows += [
            (session, "q", document, place + 1, place == click, "ab"[team])
            for place, (document, team) in enumerate(picked)
        ]
    names = ("session", "qid", "docid", "position", "click", "team")
    return ar.Clicks.of(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_preference_of_equal_and_of_different_rankers():
    rng = np.random.default_rng(2)
    better = ar.preference(sessions(rng, 1500, 1.6))
    assert better.winner == "a"
    assert better.wins + better.losses == 1500
    assert better.p_sign < 1e-6
    assert better.p_paired < 1e-6
    assert better.low > 0
    found = [ar.preference(sessions(rng, 150, 1.0)) for _ in range(30)]
    assert sum(one.p_paired < 0.05 for one in found) <= 5
    assert sum(one.winner is not None for one in found) <= 4
    outcome = np.array([1.0] * better.wins + [-1.0] * better.losses)
    assert better.difference == pytest.approx(outcome.mean())
    assert better.sessions_needed == pytest.approx(7.849 * outcome.var() / 0.05**2, rel=1e-3)
