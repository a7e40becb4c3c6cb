"""Agreement: the result of ``ar.agreement``, as numbers and as tables."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._declared import CountFromZero, checked
from argrank._json import json_value
from argrank._results import Framed, Rendered
from argrank._tables import Cell, Table, counted, measure_text, table
from argrank._types import Floats, Integers
from argrank.evaluation.judges.coefficients import Estimate

MOST_SHOWN = 10  # queries, and grades of a table of counts
DOMINANT = 0.8  # share of one grade above which agreement by chance is frequent

TITLES = {
    "raw": "raw agreement",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "weighted kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
}


class PairAgreement(NamedTuple):
    """Two judges on the documents that both judged; ``gap`` is the mean grade of a minus that of b."""

    a: str
    b: str
    n_documents: int
    raw: float
    kappa: Estimate
    weighted_kappa: Estimate
    gap: float


class GradeAgreement(NamedTuple):
    """One grade: its share of all judgements, and how often a second judge agrees.

    ``agreement`` is the probability that another judge gives this grade if one gave it, ``alpha`` is of this grade
    against all others.
    """

    grade: float
    share: float
    agreement: Estimate
    alpha: Estimate


class QueryAgreement(NamedTuple):
    """One query: the share of its judgements that are equal, and its share of all disagreement."""

    qid: Any
    n_documents: int
    raw: float
    share: float


class SegmentAgreement(NamedTuple):
    """The coefficients on the queries of one segment."""

    segment: str
    n_queries: int
    n_documents: int
    estimates: dict[str, Estimate]


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Rendered, Framed):
    """How well judges agree; the result of ``ar.agreement``.

    Attributes
    ----------
    judges : tuple of str
    grades : array
        The grades that occur, ascending.
    n_documents : int
        Documents that at least two judges judged.
    query_ids : array
        Their queries.
    estimates : dict of Estimate
        Each coefficient as (value, low, high); ``kappa``, ``weighted_kappa``, ``alpha`` and ``raw`` are the values.
    table : array of shape (n_grades, n_grades)
        How often the first judge gave the grade of the row and the second that of the column, summed over all pairs of
        judges.
    pairs : tuple of PairAgreement
    prevalence : dict
        For each judge the shares of the grades.
    by_grade : tuple of GradeAgreement
    queries : tuple of QueryAgreement
        Queries by their share of all disagreement, the largest first.
    segments : tuple of SegmentAgreement
    weights, metric, level
        Kind of weighted kappa, kind of alpha, and 1 - coverage of the intervals.
    alone, pooled : int
        Documents that only one judge judged, and judgements below 0; both are left out.
    """

    judges: tuple[str, ...]
    grades: Floats
    n_documents: int
    query_ids: NDArray[Any]
    weights: str
    metric: str
    level: float
    estimates: dict[str, Estimate]
    table: Integers
    pairs: tuple[PairAgreement, ...]
    prevalence: dict[str, Floats]
    by_grade: tuple[GradeAgreement, ...]
    queries: tuple[QueryAgreement, ...]
    segments: tuple[SegmentAgreement, ...]
    alone: int
    pooled: int

    @property
    def raw(self) -> float:
        """Share of judgements that are equal."""
        return self.estimates["raw"].value

    @property
    def kappa(self) -> float:
        """Cohen's kappa; for more than two judges the mean over all pairs."""
        return self.estimates["kappa"].value

    @property
    def weighted_kappa(self) -> float:
        """Cohen's weighted kappa, by ``weights``."""
        return self.estimates["weighted_kappa"].value

    @property
    def alpha(self) -> float:
        """Krippendorff's alpha, by ``metric``."""
        return self.alphas[self.metric]

    @property
    def alphas(self) -> dict[str, float]:
        """Krippendorff's alpha by metric."""
        return {name.removeprefix("alpha_"): one.value for name, one in self.estimates.items() if "alpha" in name}

    @property
    def low(self) -> dict[str, float]:
        """Lower ends of the intervals by coefficient."""
        return {name: one.low for name, one in self.estimates.items()}

    @property
    def high(self) -> dict[str, float]:
        """Upper ends of the intervals by coefficient."""
        return {name: one.high for name, one in self.estimates.items()}

    @checked
    def judge_again(self, n: CountFromZero = MOST_SHOWN) -> list[Any]:
        """Return the ids of the queries with most of the disagreement, where judging again is most useful.

        They are not a random sample: do not evaluate on these alone, or give them to ``ar.evaluate(trusted=…)``.
        """
        return [one.qid for one in self.queries[:n] if one.share > 0]

    # ---- renderings -------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; NaN becomes None."""
        found = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        found |= {name: [_plain(one) for one in found[name]] for name in ("pairs", "by_grade", "segments", "queries")}
        return dict(json_value({**found, "estimates": _plain(self.estimates), "notes": self.notes}))

    def columns(self) -> dict[str, list[Any]]:
        """Return every query by column: qid, n_documents, raw, share."""
        return dict(zip(QueryAgreement._fields, map(list, zip(*self.queries, strict=True)), strict=True))

    def _shown(self) -> tuple[list[Table], list[str]]:
        found = [self._coefficients()]
        if len(self.judges) > 2:
            found.append(self._pairs())
        if len(self.grades) <= MOST_SHOWN:
            found += [self._grades(), self.counts_table()]
        if self.segments:
            found.append(self._segments())
        return [*found, *([self._queries()] if self.judge_again() else [])], self.notes

    def _coefficients(self) -> Table:
        rows = []
        for name, one in self.estimates.items():
            title = TITLES[name] + (f", {self.weights}" if name == "weighted_kappa" else "")
            if "kappa" in name and len(self.judges) > 2:
                title += ", mean over pairs"
            rows.append((title, Cell(measure_text(one.value)), _span(one)))
        return table(("coefficient", "value", f"{100 * (1 - self.level):.4g} % interval"), rows)

    def _pairs(self) -> Table:
        rows = [
            (one.a, one.b, str(one.n_documents), measure_text(one.raw), _with_span(one.kappa),
             _with_span(one.weighted_kappa), _signed(one.gap))
            for one in self.pairs
        ]  # fmt: skip
        kappas = ("kappa and interval", f"{self.weights} kappa and interval")
        return table(("judge", "judge", "documents", "raw", *kappas, "mean gap"), rows, n_names=2)

    def _grades(self) -> Table:
        rows = [
            (f"{one.grade:g}", *(measure_text(float(self.prevalence[name][place])) for name in self.judges),
             _with_span(one.agreement), _with_span(one.alpha))
            for place, one in enumerate(self.by_grade)
        ]  # fmt: skip
        header = ("grade", *(f"share of {name}" for name in self.judges), "given again", "alpha against the others")
        return table(header, rows)

    def counts_table(self) -> Table:
        """Return how often each pair of grades was given."""
        first, second = self.judges if len(self.judges) == 2 else ("first of a pair", "second")
        rows = []
        for place, grade in enumerate(self.grades):
            counts = enumerate(self.table[place].tolist())
            rows.append((f"{grade:g}", *(Cell(f"{count:,}", place == other) for other, count in counts)))
        return table((f"{first} \\ {second}", *(f"{grade:g}" for grade in self.grades)), rows)

    def _segments(self) -> Table:
        shown = ("raw", "kappa", "weighted_kappa", f"alpha_{self.metric}")
        rows = []
        for one in self.segments:
            spans = [_with_span(one.estimates[name]) for name in shown]
            rows.append((one.segment, one.n_queries, one.n_documents, *spans))
        titles = ("raw", "kappa", f"{self.weights} kappa", f"{self.metric} alpha")
        return table(("segment", "queries", "documents", *titles), rows)

    def _queries(self) -> Table:
        rows = [
            (str(one.qid), str(one.n_documents), measure_text(one.raw), f"{100 * one.share:.1f} %")
            for one in self.queries[:MOST_SHOWN]
            if one.share > 0
        ]
        return table(("judge again", "documents", "raw", "share of all disagreement"), rows)

    @property
    def notes(self) -> list[str]:
        """What was compared, and remarks about it."""
        documents = counted(self.n_documents, "document", "documents")
        notes = [
            f"{documents} of {counted(len(self.query_ids), 'query', 'queries')} judged by "
            f"{'both' if len(self.judges) == 2 else f'at least two of {len(self.judges)}'} judges; {self.alone:,} "
            "judged by one alone are left out. Intervals: queries left out in turn (jackknife, Student's t)."
        ]
        if self.pooled:
            notes.append(f"{counted(self.pooled, 'judgement', 'judgements')} below 0 are marks of TREC and left out.")
        largest = max(self.by_grade, key=lambda one: one.share)
        if DOMINANT <= largest.share < 1:
            notes.append(
                f"{100 * largest.share:.0f} % of the judgements are grade {largest.grade:g}: chance alone agrees on "
                f"{100 * sum(one.share**2 for one in self.by_grade):.0f} %, so look at kappa and alpha, not at raw "
                "agreement, and at the rarer grades by themselves."
            )
        if np.isnan(self.kappa):
            notes.append("All judgements are the same grade: kappa and alpha, which compare with chance, do not exist.")
        elif self.raw == 1:
            notes.append("There is no disagreement, so no interval can be computed.")
        for one in self.pairs:
            if abs(one.gap) >= 0.05:
                more, less = (one.a, one.b) if one.gap > 0 else (one.b, one.a)
                notes.append(f"{more} gives higher grades than {less}: by {abs(one.gap):.2f} on average.")
        if len(self.query_ids) < 2:
            notes.append("One query has no interval: other queries may be judged quite differently.")
        return notes


def _span(one: Estimate) -> str:
    return "-" if np.isnan(one.low) else f"[{measure_text(one.low)}, {measure_text(one.high)}]"


def _with_span(one: Estimate) -> str:
    return measure_text(one.value) if np.isnan(one.low) else f"{measure_text(one.value)} {_span(one)}"


def _signed(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:+.2f}"


def _plain(value: Any) -> Any:
    """Return named tuples as dicts, those inside of them too."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    named = PairAgreement | GradeAgreement | QueryAgreement | SegmentAgreement | Estimate
    return _plain(value._asdict()) if isinstance(value, named) else value
