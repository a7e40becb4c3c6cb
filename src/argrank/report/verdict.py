"""The first lines of a report: one plain sentence, a badge, and the figures behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from argrank._tables import counted
from argrank.evaluation.comparison import TEST_TITLES, Comparison
from argrank.report.svg import escape
from argrank.trials.trial import Trial

MOST_NAMES = 8

Intervals = Mapping[str, Mapping[str, tuple[float, float]]]  # measure -> system -> interval of its mean


class Badge(Enum):
    """The result of the comparison; the values are CSS classes."""

    BETTER = "up"
    NOT_SHOWN = "even"
    WORSE = "down"


class Duel(NamedTuple):
    """The best system against another, differences being best minus other."""

    rival: str
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    effect: float
    wins: int
    ties: int
    losses: int
    sure: bool

    @property
    def badge(self) -> Badge:
        """What this comparison has shown."""
        if not self.sure:
            return Badge.NOT_SHOWN
        return Badge.BETTER if self.difference > 0 else Badge.WORSE


def duels_of(comparison: Comparison, best: str) -> list[Duel]:
    """Return the best system against every other on the first measure, the strongest other first."""
    found = []
    for pair in comparison.pairs:
        if pair.measure != comparison.measures[0] or best not in (pair.a, pair.b):
            continue
        sure = pair.p_corrected <= comparison.level
        (low, high), p = pair.interval, (pair.p_value, pair.p_corrected)
        if pair.a == best:
            sides = (pair.b, pair.difference, low, high, *p, pair.effect_size, pair.wins, pair.ties, pair.losses)
        else:
            sides = (pair.a, -pair.difference, -high, -low, *p, -pair.effect_size, pair.losses, pair.ties, pair.wins)
        found.append(Duel(*sides, sure))
    return sorted(found, key=lambda duel: -comparison.means[duel.rival][comparison.measures[0]])


def beaten_by(duels: Sequence[Duel], trial: Trial | None) -> Duel | None:
    """Return the strongest ranker of a trial that is significantly better than the one that validation chose."""
    if trial is None or trial.best is None:
        return None
    return next((duel for duel in duels if duel.rival in trial.systems and duel.badge is Badge.WORSE), None)


class Headline(NamedTuple):
    """The result in a few words, and in one sentence without statistics; plain text."""

    badge: Badge | None
    words: str
    sentence: str


def headline(
    best: str, duels: Sequence[Duel], comparison: Comparison, baseline: str | None, better: Duel | None
) -> Headline:
    """Return the result for the best system: against the baseline, else against the strongest of the others."""
    measure = comparison.measures[0]
    if not duels:
        n = counted(len(comparison.query_ids), "query", "queries")
        return Headline(None, "", f"{best} has a mean {measure} of {_mean(best, comparison):.4f} on {n}.")
    if better is not None:
        sentence = (
            f"Validation and test disagree: validation chose {best}, but {better.rival} ranks these queries better, by "
            f"{-better.difference:.4f} {measure} a query. Choose again on more validation queries."
        )
        return Headline(Badge.WORSE, "validation and test disagree", sentence)
    duel = next((one for one in duels if one.rival == baseline), duels[0])
    other = duel.rival if baseline is None else f"your current order, {baseline}"
    short = duel.rival if baseline is None else "the baseline"
    of_all = f"of {duel.wins + duel.ties + duel.losses:,} queries"
    expect = f"expect about {signed(duel.difference, 2)} {measure}"
    if duel.badge is Badge.BETTER:
        sentence = f"{best} puts better documents on top than {other}, on {duel.wins:,} {of_all}; {expect}."
        return Headline(duel.badge, f"better than {short}", sentence)
    if duel.badge is Badge.WORSE:
        sentence = f"{best} ranks worse than {other}, on {duel.losses:,} {of_all}; {expect}."
        return Headline(duel.badge, f"worse than {short}", sentence)
    sentence = f"{best} is not shown to be better than {other}: it ranks {duel.wins:,} {of_all} better, "
    sentence += f"{duel.losses:,} worse."
    return Headline(duel.badge, f"not shown to be better than {short}", sentence)


def headline_html(found: Headline) -> str:
    """Return the headline as HTML, with its badge."""
    badge = (
        "" if found.badge is None else f'<p><span class="badge {found.badge.value}">{escape(found.words)}</span></p>'
    )
    return f'{badge}<p class="verdict">{escape(found.sentence)}</p>'


def figures(best: str, comparison: Comparison, intervals: Intervals, trial: Trial | None, baseline: str | None) -> str:
    """Return the mean of the best with its interval, and how it was chosen."""
    measure = comparison.measures[0]
    low, high = intervals[measure][best]
    level = f"{100 * (1 - comparison.level):g} %"
    value = f"{_mean(best, comparison):.4f}" + (
        "" if math.isnan(low) else f" ({level} interval {low:.4f} to {high:.4f})"
    )
    n, without = len(comparison.query_ids), comparison.undefined[measure]
    here = f"on the {counted(n - without, 'query', 'queries')} tested here"
    text = f"The mean {escape(measure)} of {escape(best)} {here} is {value}."
    if without:
        left_out = f"{counted(without, 'more query', 'more queries')} on which it is undefined"
        text += f" It leaves out {left_out}, mostly because no document is relevant."
    if trial is not None and trial.best is not None:
        return f"{text} Validation chose it ({escape(trial.select_by)} {trial.validation[best]:.4f})."
    if len(comparison.systems) - (baseline is not None) > 1:
        return f"{text} It is the highest of these means, chosen on the same queries, so it is a little too good."
    return text


def how_sure(duels: Sequence[Duel], comparison: Comparison, baseline: str | None) -> str:
    """Return tests, intervals and effects, folded."""
    if not duels:
        return ""
    first = duels[0]
    told = [_against(first, comparison)]
    told += [_against(duel, comparison) for duel in duels[1:] if duel.rival == baseline]
    told.append(_others(duels))
    inner = "".join(f"<p>{one}</p>" for one in told if one)
    return f"<details><summary>How sure is this?</summary>{inner}</details>"


def _against(duel: Duel, comparison: Comparison) -> str:
    interval = f"{100 * (1 - comparison.level):g} % interval {signed(duel.low)} to {signed(duel.high)}"
    p = f"{TEST_TITLES[comparison.test].lower()}, {_probability(duel.p)}"
    n_pairs = sum(pair.measure == comparison.measures[0] for pair in comparison.pairs)
    if comparison.correction == "holm" and n_pairs > 1:
        p += f"; {_probability(duel.p_corrected)} after Holm's correction for {n_pairs} pairs"
    sure = "a significant difference" if duel.sure else "<strong>not</strong> a significant difference"
    return (
        f"Against {strong(duel.rival)}: {signed(duel.difference)} a query ({interval}), "
        f"better on {duel.wins:,} queries, worse on {duel.losses:,}, equal on {duel.ties:,}. This is {sure} ({p})."
    )


def _others(duels: Sequence[Duel]) -> str:
    if len(duels) == 1:
        return ""
    titles = {
        Badge.BETTER: "Significantly better than",
        Badge.WORSE: "Significantly worse than",
        Badge.NOT_SHOWN: "No significant difference from",
    }
    groups = {words: [duel.rival for duel in duels if duel.badge is badge] for badge, words in titles.items()}
    return " ".join(f"{words} {names_of(names)}." for words, names in groups.items() if names)


def _mean(system: str, comparison: Comparison) -> float:
    return comparison.means[system][comparison.measures[0]]


def names_of(names: Sequence[str]) -> str:
    """Return the first names of a list, as HTML."""
    shown = ", ".join(escape(name) for name in names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"


def strong(name: str) -> str:
    """Return a name, as HTML that stands out."""
    return f"<strong>{escape(name)}</strong>"


def command(text: str) -> str:
    """Return a command as HTML; lines break between its words alone, not after the hyphens of an option."""
    return f"<code>{' '.join(f'<span>{escape(word)}</span>' for word in text.split())}</code>"


def signed(value: float, digits: int = 4) -> str:
    """Return a number with its sign."""
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _probability(value: float) -> str:
    return "p &lt; 0.0001" if value < 0.0001 else f"p = {value:.4f}"
