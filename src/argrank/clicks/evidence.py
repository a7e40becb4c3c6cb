"""The evidence of a log for every (query, document): clicks over examinations, also without each group of sessions.

The probability of a click at rank k is examination times attraction, so the value of a document is its clicks over its
expected examinations:

    b_qd = sum over sessions of c / sum over sessions of theta_k,

over the sessions of query q that showed d. Dividing by all sessions of the query instead would count documents that
were not on the page as not clicked.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.clicks.curve import Propensities, PropensitiesBy
from argrank.clicks.propensities import counts_of, grouped, propensities
from argrank.data.clicks.coding import N_GROUPS
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.errors import InputError, OptionError, shown

Estimator = Literal["examinations", "ips", "dr", "model"]
ROUNDING = 1e-9  # share of the examinations that remains from rounding after a subtraction
MODEL_PRIOR = 2.0  # weight of the mean, in examinations, that shrinks the model's values


class Worth(NamedTuple):
    """The value of every pair, and the number of sessions of every query."""

    gains: Floats
    sessions: Floats
    elsewhere: float  # value of a document that was never shown


@dataclass(frozen=True, eq=False)
class Evidence:
    """Clicks and examinations of every pair in cells, by group of sessions, with sessions of queries by group.

    Cells are of one pair and one group; ``clicks`` are weighted, with those due to the rank alone subtracted.
    ``weighed`` are clicks over the examination of their row. ``replicates`` is the curve without each group, if it was
    estimated from this log; ``others`` the same for a curve estimated from another log.
    """

    counts: ClickCounts
    pair: Integers
    group: Integers
    clicks: Floats
    examinations: Floats
    weighed: Floats
    impressions: Floats
    sessions: Floats  # one row for each query, one column for each group
    curve: Propensities | PropensitiesBy | None
    position: Integers | None = None
    replicates: Floats | None = None  # one curve for each group
    others: Floats | None = None

    @property
    def n_pairs(self) -> int:
        """Number of different (query, document) pairs."""
        return self.counts.n_pairs

    @property
    def groups(self) -> NDArray[np.intp]:
        """The groups that hold sessions."""
        return np.flatnonzero(np.bincount(self.group, minlength=N_GROUPS))

    def sums(self, values: Floats) -> Floats:
        """Return the sum of a value of the cells for every pair."""
        return np.bincount(self.pair, values, self.n_pairs).astype(np.float64)

    def worth(self, estimator: Estimator = "examinations", without: int | None = None) -> Worth:
        """Return the value of every pair, from all sessions or without those of a group."""
        top, bottom = self._sums_of_all[estimator == "ips"]
        sessions = self.sessions.sum(axis=1)
        if without is not None:
            whole, here = bottom, self._cells_of[without]
            pair, of_group = self.pair[here], self.weighed if estimator == "ips" else self.clicks
            top = top - np.bincount(pair, of_group[here], self.n_pairs)
            below = self.impressions[here] if estimator == "ips" else self.examinations[here]
            if self.replicates is not None and self.position is not None and estimator != "ips":
                curve = self.replicates[without]
                bottom = self._impressions_at @ curve
                below = self.impressions[here] * curve[self.position[here] - 1]
            bottom = bottom - np.bincount(pair, below, self.n_pairs)
            bottom[bottom < ROUNDING * whole] = 0.0
            sessions = sessions - self.sessions[:, without]
        return self._worth(estimator, top, bottom, sessions)

    def worth_by(self, estimator: Estimator, curve: Floats) -> Worth:
        """Return the value of every pair with another examination curve."""
        top, bottom = self._sums_of_all[estimator == "ips"]
        if estimator == "ips" and self.position is not None:
            top = self.sums(self.clicks / curve[self.position - 1])
        elif estimator != "ips":
            bottom = self._impressions_at @ curve
        return self._worth(estimator, top, bottom, self.sessions.sum(axis=1))

    def excess(self, estimator: Estimator) -> Floats:
        """Return by how much the variance of every pair's worth is above what its own clicks say.

        A document without a click in half an examination looks certainly worthless. What its variance would be if it
        attracted as the model says, which pulls it to the mean by two examinations, is what is to be expected; for
        often examined documents the two agree.
        """
        examinations, impressions = self.sums(self.examinations), self.sums(self.impressions)
        top, bottom = {
            "ips": (self.sums(self.impressions**2 / self.examinations), impressions),
            "model": (examinations, examinations + MODEL_PRIOR),
        }.get(estimator, (examinations, examinations))
        per_click = float(self.clicks.sum()) / max(float(self.counts.clicks.sum()), 1.0)  # what a click is worth
        above = self.worth("model").gains - self.worth().gains
        return above * per_click * np.divide(top, bottom**2, out=np.zeros(len(top)), where=bottom > 0)

    def _worth(self, estimator: Estimator, top: Floats, bottom: Floats, sessions: Floats) -> Worth:
        shown_at_all = bottom > 0
        known = np.divide(top, bottom, out=np.zeros(len(top)), where=shown_at_all)
        if estimator in ("examinations", "ips"):
            return Worth(known, sessions, 0.0)
        mean = float(top.sum() / bottom.sum())
        model = (top + MODEL_PRIOR * mean) / (bottom + MODEL_PRIOR)
        return Worth(np.where(shown_at_all, known, model) if estimator == "dr" else model, sessions, mean)

    @functools.cached_property
    def _sums_of_all(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Clicks and examinations of every pair, also in the form of ips."""
        return (
            (self.sums(self.clicks), self.sums(self.examinations)),
            (self.sums(self.weighed), self.sums(self.impressions)),
        )

    @functools.cached_property
    def _cells_of(self) -> list[Integers]:
        """The cells of every group."""
        order = np.argsort(self.group, kind="stable")
        return np.split(order, np.searchsorted(self.group[order], np.arange(1, N_GROUPS)))

    @functools.cached_property
    def _impressions_at(self) -> Any:
        """How often every pair was shown at every rank, one row per pair."""
        position: Any = self.position
        n_ranks = len(cast(Propensities, self.curve))
        return sparse.csr_matrix((self.impressions, (self.pair, position - 1)), shape=(self.n_pairs, n_ranks))


def evidence_of(log: Any, curve: Any = None) -> Evidence:
    """Return the evidence of a log by an examination curve; None for the log's own column, or to estimate one."""
    if not isinstance(log, Clicks | ClickCounts):
        raise InputError(f"expected a click log (ar.load_clicks), got {type(log).__name__}")
    if curve is None and isinstance(log, Clicks) and log.propensity is not None:
        if (log.propensity <= 0).any():
            row = int(np.argmin(log.propensity))
            raise InputError(f"propensity: expected numbers above 0, got 0 in row {row} of the log")
        return _of_rows(log, log.propensity, None)
    if curve is None:
        curve = propensities(log)
    if isinstance(curve, PropensitiesBy):
        if not isinstance(log, Clicks):
            raise InputError(f"propensities by {curve.column}: expected a log with sessions, got sums")
        return _of_rows(log, curve.of(log), curve)
    if not isinstance(curve, Propensities):
        raise OptionError(f"propensities: expected a curve of ar.propensities, got {shown(curve)}")
    return _of_counts(log, curve)


def _of_rows(log: Clicks, theta: Floats, curve: PropensitiesBy | None) -> Evidence:
    clicks = log.click.astype(np.float64) if log.weight is None else log.click * log.weight
    return Evidence(
        counts=counts_of(log),
        pair=log.pair,
        group=np.repeat(log.group, log.sizes).astype(np.int64),
        clicks=clicks,
        examinations=theta,
        weighed=clicks / theta,
        impressions=np.ones(log.n_rows),
        sessions=_sessions(log.query, log.group, log.n_queries),
        curve=curve,
    )


def _of_counts(log: Clicks | ClickCounts, curve: Propensities) -> Evidence:
    counts = grouped(counts_of(log))
    group = np.zeros(len(counts.pair), np.int64) if counts.group is None else counts.group.astype(np.int64)
    theta, owed = curve.at(counts.position), curve.offset_at(counts.position)
    clicks = counts.value - counts.impressions * owed
    if isinstance(log, Clicks):
        sessions = _sessions(log.query, log.group, log.n_queries)
    else:
        sessions = np.zeros((len(counts.query_ids), N_GROUPS))
        sessions[:] = (_queries_of_sums(counts) / N_GROUPS)[:, None]
    same = curve.replicates is not None and curve.source == counts_of(log).fingerprint
    return Evidence(
        counts=counts,
        pair=counts.pair,
        group=group,
        clicks=clicks,
        examinations=counts.impressions * theta,
        weighed=clicks / theta,
        impressions=counts.impressions.astype(np.float64),
        sessions=sessions,
        curve=curve,
        position=counts.position,
        replicates=curve.replicates if same else None,
        others=None if same else curve.replicates,
    )


def _sessions(query: Integers, group: NDArray[np.uint8], n_queries: int) -> Floats:
    sums = np.bincount(query * N_GROUPS + group, minlength=n_queries * N_GROUPS)
    return sums.reshape(n_queries, N_GROUPS).astype(np.float64)


def _queries_of_sums(counts: ClickCounts) -> Floats:
    """Return the number of sessions of every query; if sums do not have it, the most impressions at a rank."""
    if counts.sessions_of_query is not None:
        return counts.sessions_of_query.astype(np.float64)
    width = counts.n_positions + 1
    cell = counts.pair_query[counts.pair] * width + counts.position
    by_rank = np.bincount(cell, counts.impressions, len(counts.query_ids) * width).reshape(-1, width)
    return np.asarray(by_rank.max(axis=1), np.float64)
