"""The estimated value of a ranking, with intervals, coverage and effective clicks, by head, torso and tail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import NDArray

from argrank._json import json_value
from argrank._results import Framed, Rendered
from argrank._tables import Table, table
from argrank._types import Floats
from argrank.evaluation.segments import interval_text

BY_TRAFFIC = ("traffic", "queries", "sessions", "value", "coverage", "effective clicks")


class TrafficSegment(NamedTuple):
    """A measure on the queries of much, medium or little traffic."""

    segment: str
    measure: str
    n_queries: int
    n_sessions: int
    mean: float
    low: float
    high: float
    coverage: float
    effective_clicks: float


@dataclass(frozen=True, eq=False, repr=False)
class ClickEvaluation(Rendered, Framed):
    """The value of a ranking per session, estimated from a click log.

    Attributes
    ----------
    means, low, high : dict
        Measure to its value and the ends of its 95 % interval, by groups of sessions.
    coverage : dict
        Measure to the share of the ranking's discount on documents that the log has shown; nothing is known of the
        others.
    effective_clicks : dict
        Measure to the equivalent number of equally weighted clicks behind the value.
    expected_clicks : dict
        The same with the clicks that are to be expected if documents that were hardly examined attract as others do:
        far below ``effective_clicks`` where a few such documents, without a click so far, decide about the value.
    logged : dict
        Measure to the value of the pages that the log has, by the same estimate.
    values, query_ids, n_sessions
        Values of every query of the log, its id, and its number of sessions.
    segments : tuple of TrafficSegment
        The same by head, torso and tail: queries by traffic, about a third of the sessions each.
    estimator : str
    notes : tuple of str
        Remarks about the figures.
    """

    means: Mapping[str, float]
    low: Mapping[str, float]
    high: Mapping[str, float]
    coverage: Mapping[str, float]
    effective_clicks: Mapping[str, float]
    expected_clicks: Mapping[str, float]
    logged: Mapping[str, float]
    values: Mapping[str, Floats]
    without: Mapping[str, tuple[Floats, ...]]
    discounts: Mapping[str, Floats]
    excess: Floats
    query_ids: NDArray[Any]
    n_sessions: Floats
    segments: tuple[TrafficSegment, ...]
    estimator: str
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold; NaN becomes None."""
        figures = ("means", "low", "high", "coverage", "effective_clicks", "expected_clicks", "logged")
        found = {name: vars(self)[name] for name in (*figures, "estimator", "notes")}
        found |= {"segments": [one._asdict() for one in self.segments], "per_query": self.columns()}
        return dict(json_value(found))

    def columns(self) -> dict[str, Any]:
        """Return the values of every query by column: qid, sessions, the measures."""
        return {"qid": self.query_ids, "sessions": self.n_sessions, **self.values}

    def row(self, name: str) -> tuple[str, ...]:
        """Return the cells of a measure: value with interval, coverage, effective clicks."""
        text = interval_text(self.means[name], self.low[name], self.high[name])
        return text, f"{self.coverage[name]:.3f}", f"{self.effective_clicks[name]:,.0f}"

    def _shown(self) -> tuple[list[Table], tuple[str, ...]]:
        head = ("measure", "value a session, 95 % interval", "coverage", "effective clicks", "logged pages")
        tables = [table(head, [(name, *self.row(name), f"{self.logged[name]:.4f}") for name in self.means])]
        rows = self.rows_by_traffic()
        return [*tables, *([table(("measure", *BY_TRAFFIC), rows, n_names=2)] if rows else [])], self.notes

    def rows_by_traffic(self) -> list[tuple[str, ...]]:
        """Return the cells of head, torso and tail for every measure."""
        return [
            (one.measure, one.segment, f"{one.n_queries:,}", f"{one.n_sessions:,}",
             interval_text(one.mean, one.low, one.high), f"{one.coverage:.3f}", f"{one.effective_clicks:,.0f}")
            for one in self.segments
        ]  # fmt: skip


class ClickEvaluations(dict[str, ClickEvaluation]):
    """The values of several rankings by name; ``ar.compare`` also tests the differences."""

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """``means[system][measure]``."""
        return {name: dict(one.means) for name, one in self.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {name: one.to_dict() for name, one in self.items()}

    def __repr__(self) -> str:
        return repr(ClickComparison(self, ()))


@dataclass(frozen=True, eq=False)
class Difference:
    """The value of system a minus that of b per session, on the same sessions, with its 95 % interval and p-value."""

    measure: str
    a: str
    b: str
    difference: float
    low: float
    high: float
    p_value: float
    p_corrected: float


@dataclass(frozen=True, eq=False, repr=False)
class ClickComparison(Rendered):
    """Several rankings on one log: the value of each, and all differences, paired by groups of sessions."""

    evaluations: Mapping[str, ClickEvaluation]
    pairs: tuple[Difference, ...]

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """``means[system][measure]``."""
        return {name: dict(one.means) for name, one in self.evaluations.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        systems = {name: one.to_dict() for name, one in self.evaluations.items()}
        return {"systems": systems, "pairs": json_value([vars(one) for one in self.pairs])}

    def _shown(self) -> tuple[list[Table], tuple[str, ...]]:
        first = next(iter(self.evaluations.values()))
        rows = [(m, name, *one.row(m)) for name, one in self.evaluations.items() for m in one.means]
        rows.sort(key=lambda row: list(first.means).index(row[0]))
        head = ("measure", "system", "value a session, 95 % interval", "coverage", "effective clicks")
        pairs = [
            (one.measure, f"{one.a} - {one.b}", interval_text(one.difference, one.low, one.high),
             f"{one.p_corrected:.2g}")
            for one in self.pairs
        ]  # fmt: skip
        header = ("measure", "systems", "difference, 95 % interval", "p (Holm)")
        return [table(head, rows, n_names=2), *([table(header, pairs, n_names=2)] if pairs else [])], first.notes

    def by_traffic(self) -> Table:
        """Return every system's values on head, torso and tail of the traffic."""
        rows = [(name, *row) for name, one in self.evaluations.items() for row in one.rows_by_traffic()]
        return table(("system", "measure", *BY_TRAFFIC), rows, n_names=3)
