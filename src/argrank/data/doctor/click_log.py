"""Problems of a click log: positions, pages, bots, and source rows that are not part of the log."""

from __future__ import annotations

from collections.abc import Iterator
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
    of_sessions = _of_sessions(log) if isinstance(log, Clicks) else ()
    findings = (*_of_source(counts.unusable), *_of_sums(counts), *of_sessions)
    return LogDiagnosis(findings, rates=rates_by_rank(counts))


def _of_source(unusable: Unusable) -> Iterator[Finding]:
    """Yield what the source had that is not part of the log."""
    if n := unusable.clicks_without_impression:
        what = f"{counted(n, 'click', 'clicks')} on documents that the log does not show"
        advice = "they are left out, because their rank is unknown; log impressions of everything that is shown"
        yield Finding("clicks-without-impression", "warning", what, n, "", advice)
    if n := unusable.merged_impressions:
        what = f"{counted(n, 'impression', 'impressions')} of a document that the same search had shown before"
        advice = "the first is kept, with the clicks of all; check whether pages are logged twice"
        yield Finding("repeated-impressions", "warning", what, n, "", advice)
    if n := unusable.impressions_without_query:
        what = f"{counted(n, 'impression', 'impressions')} of searches whose query is not in the source"
        advice = "they are left out, with their clicks; log the query of every search"
        yield Finding("impressions-without-query", "warning", what, n, "", advice)
    if found := unusable.other_actions:
        named = sorted(found.items(), key=lambda one: (-one[1], one[0]))
        text = ", ".join(f"{shown(name)} {count}" for name, count in named)
        what = f"{counted(len(found), 'action name', 'action names')} other than impression and click: {text}"
        advice = "such events are ignored; rename those that mean a click, and give others as 'weight'"
        yield Finding("unknown-actions", "note", what, sum(found.values()), "", advice)
    if n := unusable.split_sessions:
        what = f"{counted(n, 'session has', 'sessions have')} rows in several files or parts"
        advice = "their rows were joined; if each file numbers its sessions separately, make the ids different"
        yield Finding("split-sessions", "note", what, n, "", advice)


def _of_sums(counts: ClickCounts) -> Iterator[Finding]:
    """Yield problems that the sums show: of clicks, of positions, of pages that never vary."""
    n = int(counts.clicks.sum())
    if n < FEW_CLICKS:
        what = f"{counted(n, 'click', 'clicks')} in {int(counts.impressions.sum())} impressions"
        advice = "collect a longer log: estimates from so few clicks are unreliable"
        yield Finding("few-clicks", "warning" if n else "error", what, n, "", advice)
    if n and n == counts.impressions.sum():
        what = f"all {n:,} shown documents were clicked"
        advice = "the log has clicks alone, without what was shown beside them: log impressions of all that is shown"
        yield Finding("only-clicks", "error", what, n, "", advice)
    if n := int(counts.impressions[counts.position == 0].sum()):
        what = f"{counted(n, 'impression', 'impressions')} at position 0"
        advice = "positions count from 1 here: load with first_position=0 if the top of every page is 0"
        yield Finding("position-zero", "error", what, n, "", advice)
    seen = counts.by_position()[0]
    missing = np.flatnonzero(seen[1:] == 0) + 1
    if len(missing):
        what = f"nothing was shown at {ranks_text(missing)}"
        advice = "check whether advertisements are shown there, or whether rows are missing"
        yield Finding("ranks-without-traffic", "warning", what, len(missing), "", advice)
    if len(np.unique(counts.position)) == 1:
        what = f"everything was shown at rank {counts.n_positions}"
        advice = "log all documents of a page with their ranks; one rank says nothing about how much each rank is seen"
        yield Finding("one-rank", "error", what, 1, "", advice)
    n = counts.n_positions + 1
    several = np.bincount(np.unique(counts.pair * n + counts.position) // n, minlength=counts.n_pairs) > 1
    if len(np.unique(counts.position)) > 1 and not several.any():
        what = "no document was shown at two ranks of the same query: pages never vary"
        advice = "ar.propensities cannot separate how much a rank is seen from how good its documents are; vary pages"
        yield Finding("fixed-pages", "warning", what, 0, "", advice)


def _of_sessions(log: Clicks) -> Iterator[Finding]:
    """Yield problems of single pages: where they begin, what they show twice, who clicks everything."""
    top = log.position[log.indptr[:-1]]
    from_zero, from_one = int((top == 0).sum()), int((top == 1).sum())
    if from_zero and from_one:
        what = f"{from_zero} searches begin at position 0, {from_one} at position 1"
        example = f"{_session(log, np.argmax(top == 1))} begins with 1"
        advice = (
            "find out which part of the site counts from 0, and load the parts separately, each with its first_position"
        )
        yield Finding("mixed-positions", "error", what, min(from_zero, from_one), example, advice)
    if n := int((top > 1).sum()):
        what = f"{counted(n, 'search begins', 'searches begin')} below position 1"
        example = f"{_session(log, np.argmax(top > 1))} begins with {top[top > 1][0]}"
        yield Finding(
            "pages-without-top", "note", what, n, example, "this is right for second pages; otherwise rows are missing"
        )
    same = np.flatnonzero((np.diff(log.position) == 0) & (np.diff(log.session_of_row) == 0))
    if n := len(same):
        what = f"{counted(n, 'document stands', 'documents stand')} at the position of another of the same search"
        example = f"position {log.position[same[0]]} of {_session(log, log.session_of_row[same[0]])}"
        advice = "check whether two searches share a session id, or a page was logged twice"
        yield Finding("shared-positions", "warning", what, n, example, advice)
    if n := log.n_repeated:
        what = f"{counted(n, 'row shows', 'rows show')} a document that the same search has shown before"
        advice = "repeated='merge' of ar.load_clicks keeps the first of them with all clicks"
        yield Finding("repeated-documents", "warning", what, n, "", advice)
    clicks: Integers = np.add.reduceat(log.click.astype(np.int64), log.indptr[:-1])
    greedy = (clicks == log.sizes) & (log.sizes >= LEAST_PAGE)
    if n := int(greedy.sum()):
        what = f"{counted(n, 'search clicks', 'searches click')} all of {LEAST_PAGE} or more documents, as programs do"
        advice = "leave them out: log.select takes a mask of sessions"
        yield Finding("clicks-everything", "warning", what, n, _session(log, np.argmax(greedy)), advice)


def _session(log: Clicks, number: np.integer[Any]) -> str:
    return f"session {shown(log.session_ids.tolist()[number])}"
