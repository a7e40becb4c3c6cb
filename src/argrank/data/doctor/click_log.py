"""Problems of a click log: positions, pages, bots, and source rows that are not part of the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._tables import Table, counted
from argrank._types import Integers
from argrank.data.clicks.counts import ClickCounts, Unusable, ranks_text
from argrank.data.clicks.log import Clicks
from argrank.data.clicks.rates import RankRates, rates_by_rank
from argrank.data.doctor.diagnosis import Diagnosis, Finding
from argrank.errors import shown

LEAST_PAGE = 5  # a session that clicks all of at least this many documents looks like a bot
FEW_CLICKS = 100  # with fewer clicks, intervals say little


@dataclass(frozen=True, repr=False)
class LogDiagnosis(Diagnosis):
    """The doctor's findings about a click log, and click rates by rank."""

    rates: RankRates | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the findings and the rates as plain values, for example for JSON."""
        rates = {} if self.rates is None else {name: one.tolist() for name, one in self.rates._asdict().items()}
        return {**super().to_dict(), "rates": rates}

    def _tables(self) -> list[Table]:
        return super()._tables() + ([] if self.rates is None else [self.rates.table()])


def look_at(log: Clicks | ClickCounts) -> LogDiagnosis:
    """Return the findings about a log; for sums, only checks that need no sessions."""
    counts = log.counts() if isinstance(log, Clicks) else log
    findings = [finding for check in OF_SOURCES for finding in check(counts.unusable)]
    findings += [finding for check in OF_SUMS for finding in check(counts)]
    if isinstance(log, Clicks):
        findings += [finding for check in OF_SESSIONS for finding in check(log)]
    return LogDiagnosis(tuple(findings), rates=rates_by_rank(counts))


# ---- checks of the source -----------------------------------------------------------------------------------------


def lost_clicks(unusable: Unusable) -> Iterator[Finding]:
    """Find clicks on what was not shown."""
    if n := unusable.clicks_without_impression:
        what = f"{counted(n, 'click', 'clicks')} on documents that the log does not show"
        advice = "they are left out, because their rank is unknown; log impressions of everything that is shown"
        yield Finding("clicks-without-impression", "warning", what, n, "", advice)


def repeated_impressions(unusable: Unusable) -> Iterator[Finding]:
    """Find impressions that were merged."""
    if n := unusable.merged_impressions:
        what = f"{counted(n, 'impression', 'impressions')} of a document that the same search had shown before"
        advice = "the first is kept, with the clicks of all; check whether pages are logged twice"
        yield Finding("repeated-impressions", "warning", what, n, "", advice)


def lost_queries(unusable: Unusable) -> Iterator[Finding]:
    """Find impressions of searches without a text."""
    if n := unusable.impressions_without_query:
        what = f"{counted(n, 'impression', 'impressions')} of searches whose query is not in the source"
        advice = "they are left out, with their clicks; log the query of every search"
        yield Finding("impressions-without-query", "warning", what, n, "", advice)


def other_actions(unusable: Unusable) -> Iterator[Finding]:
    """Find events that are neither impressions nor clicks."""
    if found := unusable.other_actions:
        named = sorted(found.items(), key=lambda one: (-one[1], one[0]))
        text = ", ".join(f"{shown(name)} {count}" for name, count in named)
        what = f"{counted(len(found), 'action name', 'action names')} other than impression and click: {text}"
        advice = "such events are ignored; rename those that mean a click, and give others as 'weight'"
        yield Finding("unknown-actions", "note", what, sum(found.values()), "", advice)


def split_sessions(unusable: Unusable) -> Iterator[Finding]:
    """Find sessions that came in several parts."""
    if n := unusable.split_sessions:
        what = f"{counted(n, 'session has', 'sessions have')} rows in several files or parts"
        advice = "their rows were joined; if each file numbers its sessions separately, make the ids different"
        yield Finding("split-sessions", "note", what, n, "", advice)


# ---- checks of sums -----------------------------------------------------------------------------------------------


def no_clicks(counts: ClickCounts) -> Iterator[Finding]:
    """Find too few clicks to learn from."""
    n = int(counts.clicks.sum())
    if n < FEW_CLICKS:
        what = f"{counted(n, 'click', 'clicks')} in {int(counts.impressions.sum())} impressions"
        advice = "collect a longer log: estimates from so few clicks are unreliable"
        yield Finding("few-clicks", "warning" if n else "error", what, n, "", advice)


def zero_position(counts: ClickCounts) -> Iterator[Finding]:
    """Find positions from 0."""
    if n := int(counts.impressions[counts.position == 0].sum()):
        what = f"{counted(n, 'impression', 'impressions')} at position 0"
        advice = "positions count from 1 here: load with first_position=0 if the top of every page is 0"
        yield Finding("position-zero", "error", what, n, "", advice)


def empty_ranks(counts: ClickCounts) -> Iterator[Finding]:
    """Find ranks at which nothing was shown, above others where something was."""
    seen = counts.by_position()[0]
    missing = np.flatnonzero(seen[1:] == 0) + 1
    if len(missing):
        what = f"nothing was shown at {ranks_text(missing)}"
        advice = "check whether advertisements are shown there, or whether rows are missing"
        yield Finding("ranks-without-traffic", "warning", what, len(missing), "", advice)


def one_rank(counts: ClickCounts) -> Iterator[Finding]:
    """Find logs of one rank."""
    if len(np.unique(counts.position)) == 1:
        what = f"everything was shown at rank {counts.n_positions}"
        advice = "log all documents of a page with their ranks; one rank says nothing about how much each rank is seen"
        yield Finding("one-rank", "error", what, 1, "", advice)


def fixed_pages(counts: ClickCounts) -> Iterator[Finding]:
    """Find pages that never vary, from which the examination of ranks cannot be learned."""
    n = counts.n_positions + 1
    several = np.bincount(np.unique(counts.pair * n + counts.position) // n, minlength=counts.n_pairs) > 1
    if len(np.unique(counts.position)) > 1 and not several.any():
        what = "no document was shown at two ranks of the same query: pages never vary"
        advice = "ar.propensities cannot separate how much a rank is seen from how good its documents are; vary pages"
        yield Finding("fixed-pages", "warning", what, 0, "", advice)


# ---- checks of sessions -------------------------------------------------------------------------------------------


def mixed_bases(log: Clicks) -> Iterator[Finding]:
    """Find logs in which some pages begin at position 0 and others at 1."""
    top = log.position[log.indptr[:-1]]
    from_zero, from_one = int((top == 0).sum()), int((top == 1).sum())
    if from_zero and from_one:
        what = f"{from_zero} searches begin at position 0, {from_one} at position 1"
        example = f"{_session(log, np.argmax(top == 1))} begins with 1"
        advice = (
            "find out which part of the site counts from 0, and load the parts separately, each with its first_position"
        )
        yield Finding("mixed-positions", "error", what, min(from_zero, from_one), example, advice)


def late_tops(log: Clicks) -> Iterator[Finding]:
    """Find pages whose top is missing."""
    top = log.position[log.indptr[:-1]]
    if n := int((top > 1).sum()):
        what = f"{counted(n, 'search begins', 'searches begin')} below position 1"
        example = f"{_session(log, np.argmax(top > 1))} begins with {top[top > 1][0]}"
        yield Finding(
            "pages-without-top", "note", what, n, example, "this is right for second pages; otherwise rows are missing"
        )


def shared_positions(log: Clicks) -> Iterator[Finding]:
    """Find pages that show two documents at one position."""
    same = np.flatnonzero((np.diff(log.position) == 0) & (np.diff(log.session_of_row) == 0))
    if n := len(same):
        what = f"{counted(n, 'document stands', 'documents stand')} at the position of another of the same search"
        example = f"position {log.position[same[0]]} of {_session(log, log.session_of_row[same[0]])}"
        advice = "check whether two searches share a session id, or a page was logged twice"
        yield Finding("shared-positions", "warning", what, n, example, advice)


def kept_repetitions(log: Clicks) -> Iterator[Finding]:
    """Find documents that a session shows twice."""
    if n := log.n_repeated:
        what = f"{counted(n, 'row shows', 'rows show')} a document that the same search has shown before"
        advice = "repeated='merge' of ar.load_clicks keeps the first of them with all clicks"
        yield Finding("repeated-documents", "warning", what, n, "", advice)


def bots(log: Clicks) -> Iterator[Finding]:
    """Find sessions that click everything."""
    clicks: Integers = np.add.reduceat(log.click.astype(np.int64), log.indptr[:-1])
    greedy = (clicks == log.sizes) & (log.sizes >= LEAST_PAGE)
    if n := int(greedy.sum()):
        what = f"{counted(n, 'search clicks', 'searches click')} all of {LEAST_PAGE} or more documents, as programs do"
        advice = "leave them out: log.select takes a mask of sessions"
        yield Finding("clicks-everything", "warning", what, n, _session(log, np.argmax(greedy)), advice)


def _session(log: Clicks, number: np.integer[Any]) -> str:
    return f"session {shown(log.session_ids.tolist()[number])}"


OF_SOURCES: tuple[Callable[[Unusable], Iterator[Finding]], ...] = (
    lost_clicks,
    repeated_impressions,
    lost_queries,
    other_actions,
    split_sessions,
)
OF_SUMS: tuple[Callable[[ClickCounts], Iterator[Finding]], ...] = (
    no_clicks,
    zero_position,
    empty_ranks,
    one_rank,
    fixed_pages,
)
OF_SESSIONS: tuple[Callable[[Clicks], Iterator[Finding]], ...] = (
    mixed_bases,
    late_tops,
    shared_positions,
    kept_repetitions,
    bots,
)
