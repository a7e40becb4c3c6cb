"""Which of two rankers users prefer: clicks of interleaved lists, session by session.

A session's outcome is the credit of team a less that of team b, as a share of both, in [-1, 1]. Its mean has an
interval by groups of sessions (users), and a confidence sequence that is valid at all times at once, so that you may
look every day and stop when it excludes 0: the hedged betting sequence of Waudby-Smith and Ramdas (2024) for bounded
outcomes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from argrank._declared import Share, checked
from argrank._json import json_value
from argrank._results import Rendered
from argrank._tables import Table, table
from argrank._types import Floats
from argrank.clicks.interleaving import BOTH
from argrank.data.clicks.log import Clicks
from argrank.errors import InputError, check_name
from argrank.evaluation.counterfactual.value import half_width

POWER = 0.8  # of finding a difference
GRID = 401  # means in [-1, 1] that the confidence sequence tests


@dataclass(frozen=True, eq=False, repr=False)
class Preference(Rendered):
    """Which team users prefer, from sessions with interleaved lists.

    Attributes
    ----------
    a, b : str
        The teams.
    wins, losses, ties : int
        Sessions in which a got more credit, b did, or both the same; sessions without a click are not counted.
    difference, low, high : float
        The mean over sessions with clicks of the credit of a less that of b, as a share of both, and its 95 % interval
        by groups of users.
    query_low, query_high : float
        The ends of the interval by groups of queries, for variation between queries.
    p_sign, p_paired : float
        The sign test of wins and losses, and the paired t-test of groups of users.
    sequence_low, sequence_high : float
        The ends of the confidence sequence: valid at all times at once with 95 %, however often you look.
    sessions_needed : int
        Sessions with clicks needed to detect the stated difference with a power of 80 % at 5 %.
    """

    a: str
    b: str
    n_sessions: int
    wins: int
    losses: int
    ties: int
    difference: float
    low: float
    high: float
    query_low: float
    query_high: float
    p_sign: float
    p_paired: float
    sequence_low: float
    sequence_high: float
    stated: float
    sessions_needed: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return dict(json_value(vars(self)))

    @property
    def winner(self) -> str | None:
        """The team that the confidence sequence prefers; None while it contains 0."""
        if self.sequence_low > 0:
            return self.a
        return self.b if self.sequence_high < 0 else None

    def _shown(self) -> tuple[list[Table], list[str]]:
        counted = self.wins + self.losses + self.ties
        rows = [
            ("sessions", f"{self.n_sessions:,}, {counted:,} with clicks of a team"),
            (f"{self.a} wins, {self.b} wins, ties", f"{self.wins:,}, {self.losses:,}, {self.ties:,}"),
            ("mean difference of credit", f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}] by users"),
            ("by queries", f"[{self.query_low:+.4f}, {self.query_high:+.4f}]"),
            ("at all times at once", f"[{self.sequence_low:+.4f}, {self.sequence_high:+.4f}]"),
            ("p, sign test and paired test", f"{self.p_sign:.3g}, {self.p_paired:.3g}"),
            (f"sessions with clicks to find {self.stated:g}", f"{self.sessions_needed:,}"),
        ]
        undecided = "undecided: the interval that is valid at all times contains 0"
        told = undecided if self.winner is None else f"users prefer {self.winner}"
        return [table((f"{self.a} against {self.b}", ""), rows)], [told]


@checked
def preference(
    log: Clicks, a: str | None = None, b: str | None = None, *, difference: Share = 0.05, level: Share = 0.05
) -> Preference:
    """Test which of two interleaved rankers users prefer.

    Parameters
    ----------
    log : Clicks
        A log with the column ``team`` of ``ar.interleave``: clicks are credited to the team of the document (with the
        click's weight, if the log has one); those of team "both" to neither.
    a, b : str, optional
        The teams to compare; needed where there are more than two.
    difference : float
        A difference of credit, for the number of sessions needed to detect it.
    level : float
        1 - the coverage of the confidence sequence.

    Examples
    --------
    >>> import argrank as ar
    >>> log = ar.Clicks.of({"session": [1, 1, 2, 2, 3, 3], "qid": ["q"] * 6, "docid": ["x", "y"] * 3,
    ...     "position": [1, 2] * 3, "click": [1, 0, 1, 0, 0, 1], "team": ["a", "b", "a", "b", "b", "a"]})
    >>> found = ar.preference(log)
    >>> found.wins, found.losses, found.winner
    (3, 0, None)
    """
    if not isinstance(log, Clicks) or log.team is None:
        raise InputError("preference: expected a click log with a column 'team' (ar.interleave), got none")
    team = log.team.astype(str)
    first, second = _teams(np.unique(team[team != BOTH]).tolist(), a, b)
    session = log.session_of_row
    worth = log.click.astype(np.float64) if log.weight is None else log.click * log.weight
    of_a, of_b = (np.bincount(session, worth * (team == one), log.n_sessions) for one in (first, second))
    both = of_a + of_b
    some = both > 0
    if not some.any():
        raise InputError(f"preference: expected clicks of {first} or {second}, got none")
    outcome = np.asarray((of_a - of_b)[some] / both[some], np.float64)
    wins, losses = int((outcome > 0).sum()), int((outcome < 0).sum())
    mean = float(outcome.mean())
    by_user, by_query = _without(outcome, log.group[some]), _without(outcome, log.query[some])
    wide, query_wide = half_width(by_user), half_width(by_query)
    error = wide / stats.t.ppf(0.975, len(by_user) - 1) if len(by_user) > 1 else np.nan
    p = float(2 * stats.t.sf(abs(mean) / error, len(by_user) - 1)) if error > 0 else float("nan")
    by_time = slice(None) if log.timestamp is None else np.argsort(log.timestamp[log.indptr[:-1]][some], kind="stable")
    low, high = confidence_sequence(outcome[by_time], float(level))
    needed = (stats.norm.ppf(0.975) + stats.norm.ppf(POWER)) ** 2 * float(outcome.var()) / float(difference) ** 2
    return Preference(
        a=first, b=second, n_sessions=log.n_sessions, wins=wins, losses=losses, ties=len(outcome) - wins - losses,
        difference=mean, low=mean - wide, high=mean + wide, query_low=mean - query_wide, query_high=mean + query_wide,
        p_sign=float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0, p_paired=p,
        sequence_low=low, sequence_high=high, stated=float(difference), sessions_needed=int(np.ceil(needed)),
    )  # fmt: skip


def _teams(known: list[str], a: str | None, b: str | None) -> tuple[str, str]:
    if a is None and b is None and len(known) == 2:
        return known[0], known[1]
    if a is None or b is None:
        raise InputError(f"preference: expected a and b of the teams {', '.join(known)}, got a={a!r}, b={b!r}")
    check_name("team", a, known)
    check_name("team", b, known)
    return a, b


def _without(outcome: Floats, group: Any) -> Floats:
    """Return the mean without each group of sessions."""
    number = np.unique(group, return_inverse=True)[1]
    sums, counts = np.bincount(number, outcome), np.bincount(number)
    left = len(outcome) - counts
    return np.asarray((outcome.sum() - sums)[left > 0] / left[left > 0], np.float64)


def confidence_sequence(outcome: Floats, level: float = 0.05) -> tuple[float, float]:
    """Return the ends of an interval of the mean of outcomes in [-1, 1] that holds at all times with 1 - level.

    For every mean m on a grid, two gamblers bet that the true mean is above and below m, with bets that depend only on
    earlier outcomes: if m were the mean, the mean of their capitals would be a martingale, which ever reaches 1 / level
    with probability at most level (Ville). Means for which it does are excluded for good. Sessions are taken as
    independent: if few users have most sessions, use the interval by users.
    """
    x = (outcome + 1.0) / 2.0
    n = np.arange(1, len(x) + 1)
    spread = np.concatenate(([0.0], np.cumsum((x - (0.5 + np.cumsum(x)) / (n + 1)) ** 2)[:-1]))
    variance = (0.25 + spread) / n
    bet = np.sqrt(2.0 * np.log(2.0 / level) / (variance * n * np.log(n + 1.0)))
    left = np.linspace(0.0, 1.0, GRID)
    kept = np.ones(GRID, bool)
    for number in range(GRID):
        m = left[number]
        up = np.minimum(bet, 0.5 / max(m, 1e-9))
        down = np.minimum(bet, 0.5 / max(1.0 - m, 1e-9))
        above, below = np.cumsum(np.log1p(up * (x - m))), np.cumsum(np.log1p(-down * (x - m)))
        kept[number] = np.logaddexp(above, below).max() - np.log(2.0) < np.log(1.0 / level)
    if not kept.any():
        centre = float(2.0 * x.mean() - 1.0)
        return centre, centre
    inside = np.flatnonzero(kept)
    low, high = max(inside[0] - 1, 0), min(inside[-1] + 1, GRID - 1)  # ends between two means of the grid
    return float(2.0 * left[low] - 1.0), float(2.0 * left[high] - 1.0)
