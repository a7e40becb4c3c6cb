"""Evaluation: the result of evaluate, as numbers, as data frames and as tables."""

from __future__ import annotations

import dataclasses
import html
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argrank._json import json_value
from argrank._results import Framed
from argrank._tables import Table, counted, table, to_html, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import MissingExtraError
from argrank.evaluation.intervals import TOO_FEW, Interval, mean_interval
from argrank.evaluation.segments import Segment, groups, interval_text, mean_with_interval
from argrank.evaluation.systems import Coverage
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure

if TYPE_CHECKING:
    from argrank.evaluation.explain import Explanation
    from argrank.evaluation.judges.prediction_powered import Powered
    from argrank.evaluation.judges.trusted import Correction


@dataclass(eq=False)
class Evaluation(Framed):
    """Means and values per query of the requested measures, under the requested names.

    Attributes
    ----------
    means : dict
        Name to mean over queries, weighted where the data has query weights; of counts (NumRet, …) the sum.
    values : dict
        Name to one value per query; NaN where the measure is undefined and the query is left out.
    query_ids : array of shape (n_queries,)
    undefined : dict
        Name to the number of queries where the measure is undefined.
    zero_filled : dict
        Name to the mean with such queries counted as 0.
    n_tied : int
        Number of queries in which documents of different labels have equal scores.
    convention : Convention
    query_weight : array of shape (n_queries,), optional
    notes : list of str
    added_up : tuple of str
        Measures whose figure in ``means`` is a sum.
    coverage : Coverage, optional
        For a run: how many of its documents are not judged, how many judged ones it did not return, and more.
    segment_of : array of shape (n_queries,), optional
        The segment of every query, if ``by`` was given; ``segments`` has the figures.
    bounds : dict
        Name to the range of the measure's values, used for intervals.
    correction : Correction, optional
        If ``trusted`` was given: the values by trusted judgements, and in ``powered`` for each measure the weight of
        the cheap judgements (``tuning``), the means by cheap ones and by trusted ones alone, and the equivalent number
        of trusted queries. ``values`` are those by cheap judgements.
    explanation : Explanation, optional
        How the values of one query were computed, if ``explain`` was given.
    """

    means: dict[str, float]
    values: dict[str, Floats]
    query_ids: NDArray[Any]
    undefined: dict[str, int]
    zero_filled: dict[str, float]
    n_tied: int
    convention: Convention
    query_weight: Floats | None = None
    notes: list[str] = field(default_factory=list)
    added_up: tuple[str, ...] = ()
    coverage: Coverage | None = None
    segment_of: NDArray[Any] | None = None
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    explanation: Explanation | None = None
    correction: Correction | None = None

    @classmethod
    def of(
        cls,
        asked: list[tuple[str, Measure]],
        values: list[Floats],
        tied: NDArray[np.bool_],
        data: Dataset,
        convention: Convention,
        missing: NDArray[np.bool_] | None = None,
        coverage: Coverage | None = None,
    ) -> Evaluation:
        """Make the result from raw values, NaN if a measure is undefined; ``missing`` queries have empty lists."""
        weight = data.query_weight
        result = cls({}, {}, data.query_ids, {}, {}, int(tied.sum()), convention, weight, coverage=coverage)
        absent = np.zeros(data.n_queries, bool) if missing is None or convention.missing == "empty" else missing
        order = _by_qid(data.query_ids) if convention.averaging == "by-qid" else None
        for (name, measure), raw in zip(asked, values, strict=True):
            result.bounds[name] = measure.bounds if data.gains is None else (-np.inf, np.inf)
            lacking = np.isnan(raw) & ~absent
            rules = measure.adapt(convention)
            filled = raw
            if isinstance(rules.undefined, float) and convention.empty == "keep":
                filled = np.where(lacking, rules.undefined, raw)
            result.values[name] = np.where(absent, np.nan, filled) if absent.any() else filled
            result.undefined[name] = int(lacking.sum())
            counts = ~absent
            result.zero_filled[name] = _mean(np.where(lacking, 0.0, raw), weight, counts, order)
            if rules.undefined == "skip" or convention.empty == "skip":
                counts = counts & ~lacking
            if measure.adds_up:
                result.means[name] = result.zero_filled[name] = math.fsum(filled[counts].tolist())
                result.added_up += (name,)
                continue
            alone = lacking if rules.undefined_weight == "one" and measure.spelling == "nDCG" else None
            result.means[name] = _mean(filled, weight, counts, order, alone)
        result.notes = _notes(result, data)
        return result

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.query_ids)

    def metrics(self) -> dict[str, float]:
        """Return the means under names that experiment trackers accept: ``ndcg_at_10`` for ``ndcg@10``."""
        return {re.sub(r"\W+", "_", name.replace("@", "_at_")).strip("_"): mean for name, mean in self.means.items()}

    @property
    def per_query(self) -> Any:
        """A data frame (pandas, else polars, else pyarrow) with the column qid and one column for each measure."""
        columns = self.columns()
        for package, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
            try:
                library = __import__(package)
            except ImportError:
                continue
            return getattr(library, make)(columns)
        raise MissingExtraError("pandas", "frames", "the data frame of an evaluation")

    def columns(self) -> dict[str, Any]:
        """Return the values of every query by column: qid, segment where there are any, the measures."""
        segment = {} if self.segment_of is None else {"segment": self.segment_of.tolist()}
        return {"qid": self.query_ids.tolist(), **segment, **self.values}

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """Name to the 95 % interval of the mean; NaN for too few queries, and for sums of counts."""
        weight = self.query_weight
        return {
            name: Interval(math.nan, math.nan)
            if name in self.added_up
            else mean_interval(values, self.bounds[name], weight=weight)
            for name, values in self.values.items()
        }

    @property
    def low(self) -> dict[str, float]:
        """Name to the lower end of the 95 % interval of the mean."""
        return {name: one.low for name, one in self.intervals.items()}

    @property
    def high(self) -> dict[str, float]:
        """Name to the upper end of the 95 % interval of the mean."""
        return {name: one.high for name, one in self.intervals.items()}

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Every measure on every segment, with a 95 % interval; empty where ``by`` was not given."""
        if self.segment_of is None:
            return ()
        if self.correction is not None:
            return self.correction.segments(self, self.segment_of)
        weight = self.query_weight
        return tuple(
            Segment(
                name,
                measure,
                *mean_with_interval(values[own], self.bounds[measure], None if weight is None else weight[own]),
            )
            for measure, values in self.values.items()
            for name, own in groups(self.segment_of)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold; NaN becomes None."""
        return {
            "convention": self.convention.name,
            "n_queries": self.n_queries,
            "n_tied": self.n_tied,
            "means": json_value(self.means),
            "undefined": dict(self.undefined),
            "zero_filled": json_value(self.zero_filled),
            "low": json_value(self.low),
            "high": json_value(self.high),
            **self._corrected(),
            "notes": list(self.notes),
            **({} if self.coverage is None else {"coverage": json_value(dataclasses.asdict(self.coverage))}),
            **({} if self.segment_of is None else {"segments": json_value([s._asdict() for s in self.segments])}),
            "per_query": json_value({"qid": self.query_ids, **self.values}),
        }

    def with_means(self, powered: Mapping[str, Powered], notes: list[str]) -> Evaluation:
        """Replace the means and intervals by ones corrected with trusted judgements, and add notes."""
        self.means = {name: one.mean for name, one in powered.items()}
        self.intervals = {name: Interval(one.low, one.high) for name, one in powered.items()}
        self.notes = [*self.notes, *notes]
        return self

    def _corrected(self) -> dict[str, Any]:
        if self.correction is None:
            return {}
        powered = {name: one._asdict() for name, one in self.correction.powered.items()}
        return dict(json_value({"n_trusted": len(self.correction.where), "powered": powered}))

    def texts(self) -> list[str]:
        """Return the figures of ``means`` as the convention prints them; sums of counts as whole numbers."""
        form = self.convention.format
        return [f"{mean:.0f}" if name in self.added_up else form % mean for name, mean in self.means.items()]

    def interval_texts(self) -> list[str]:
        """Return the intervals of ``means`` as texts, in the order of the measures."""
        form, ends = self.convention.format, self.intervals.values()
        return [TOO_FEW if math.isnan(low) else f"[{form % low}, {form % high}]" for low, high in ends]

    def _table(self) -> Table:
        columns = {"mean": self.texts()}
        if self.correction is not None:
            form, powered = self.convention.format, self.correction.powered.values()
            columns["95 % interval"] = self.interval_texts()
            columns["cheap alone"] = [form % one.cheap for one in powered]
            columns["trusted alone"] = [form % one.alone for one in powered]
            columns["lambda"] = [f"{one.tuning:.2f}" for one in powered]
            columns["worth"] = [f"{one.worth:.0f} trusted" for one in powered]
        elif any(self.undefined.values()):
            columns["undefined"] = [str(count) for count in self.undefined.values()]
            columns["undefined as 0"] = [self.convention.format % mean for mean in self.zero_filled.values()]
        return table(("measure", *columns), zip(self.means, *columns.values(), strict=True))

    def _tables(self) -> list[Table]:
        return [self._table()] if self.segment_of is None else [self._table(), segments_table(self.segments)]

    def _caption(self) -> str:
        ties = f", {self.n_tied:,} with ties between labels" if self.n_tied else ""
        return f"{counted(self.n_queries, 'query', 'queries')}{ties}; convention {self.convention.name}"

    def __repr__(self) -> str:
        lines = [to_text(self._tables()), self._caption(), *self.notes]
        if self.explanation is not None:
            lines += ["", repr(self.explanation)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        told = "" if self.explanation is None else f"<pre>{html.escape(repr(self.explanation))}</pre>"
        return to_html(self._tables(), [self._caption(), *self.notes]) + told


def _mean(
    values: Floats,
    weight: Floats | None,
    counts: NDArray[np.bool_],
    order: NDArray[np.intp] | None,
    alone: NDArray[np.bool_] | None = None,
) -> float:
    """Return the (weighted) mean of the values that count; those in ``alone`` have weight one."""
    weights = np.ones(len(values)) if weight is None else weight
    kept = np.flatnonzero(counts) if order is None else order[counts[order]]
    divisor = float(weights[kept].sum())
    if divisor == 0:
        return math.nan
    terms = (values * (weights if alone is None else np.where(alone, 1.0, weights)))[kept]
    if np.isnan(terms).any():
        return math.nan
    top = float(np.cumsum(terms)[-1]) if order is not None else math.fsum(terms.tolist())
    return top / divisor


def _by_qid(query_ids: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order of ascending query id: as numbers where all are numbers, else as text."""
    try:
        return np.argsort(query_ids.astype(np.float64), kind="stable")
    except (TypeError, ValueError):
        return np.argsort(np.array([str(qid) for qid in query_ids.tolist()]), kind="stable")


def _notes(result: Evaluation, data: Dataset) -> list[str]:
    notes = []
    if result.n_tied and result.convention.ties.startswith("docid") and data.document_ids is None:
        notes.append("ties are broken by row number, because the data has no document ids")
    if result.added_up:
        notes.append(f"{', '.join(result.added_up)}: the sum over the queries")
    if result.coverage is not None:
        notes += coverage_notes(result.coverage, result.convention)
    return notes


def coverage_notes(found: Coverage, convention: Convention) -> list[str]:
    """Return notes about a run."""
    fate = "are left out" if convention.judged_only else "count as not relevant"
    notes = [
        f"{found.unjudged:,} of {found.returned:,} returned documents are not judged and {fate}; "
        f"judged@10 {found.judged_at_10:.4f}"
    ]
    if found.not_returned:
        notes.append(f"{found.not_returned:,} judged documents were not returned; they count in ideals and in recall")
    if found.missing:
        fate = "are left out" if convention.missing == "skip" else "count as empty lists"
        notes.append(f"{found.missing:,} judged queries have no document in the run and {fate}")
    if found.unknown:
        notes.append(f"{found.unknown:,} queries of the run have no judgements and are left out")
    return notes


def segments_table(segments: tuple[Segment, ...]) -> Table:
    """Return the measures of segments as a table, with their intervals."""
    rows = [
        (one.measure, one.segment, str(one.n_queries), interval_text(one.mean, one.low, one.high)) for one in segments
    ]
    return table(("measure", "segment", "queries", "mean and 95 % interval"), rows, n_names=2)


class Evaluations(Framed, dict[str, Evaluation]):
    """The results of several systems by their names, as one table; ``ar.compare`` also tests the differences."""

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """``means[system][measure]``."""
        return {name: dict(one.means) for name, one in self.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {name: one.to_dict() for name, one in self.items()}

    def columns(self) -> dict[str, Any]:
        """Return the values of every system and query by column: system, qid, the measures."""
        parts = [{"system": [name] * one.n_queries, **one.columns()} for name, one in self.items()]
        return {name: [value for part in parts for value in part[name]] for name in parts[0]}

    def _tables(self) -> list[Table]:
        first = next(iter(self.values()))
        form, covered = first.convention.format, any(one.coverage for one in self.values())
        rows = []
        for name, one in self.items():
            known = "-" if one.coverage is None else f"{one.coverage.unjudged:,}"
            share = "-" if one.coverage is None else form % one.coverage.judged_at_10
            figures = one.texts()
            if one.correction is not None:
                figures = [f"{mean} {ends}" for mean, ends in zip(figures, one.interval_texts(), strict=True)]
            rows.append((name, *figures, *((known, share) if covered else ())))
        extra = ("unjudged", "share judged at 10") if covered else ()
        tables = [table(("system", *first.means, *extra), rows)]
        if first.correction is None and any(count for one in self.values() for count in one.undefined.values()):
            lacking = [
                (name, measure, str(count), form % one.zero_filled[measure])
                for name, one in self.items()
                for measure, count in one.undefined.items()
            ]
            tables.append(table(("system", "measure", "undefined", "undefined as 0"), lacking, n_names=2))
        if first.segment_of is None:
            return tables
        segments = [
            (one.measure, one.segment, name, str(one.n_queries), interval_text(one.mean, one.low, one.high))
            for number in range(len(first.segments))
            for name, one in ((name, result.segments[number]) for name, result in self.items())
        ]
        header = ("measure", "segment", "system", "queries", "mean and 95 % interval")
        return [*tables, table(header, segments, n_names=3)]

    def _notes(self) -> list[str]:
        notes = [f"{name}: {note}" for name, one in self.items() for note in one.notes]
        return [next(iter(self.values()))._caption(), *notes]

    def __repr__(self) -> str:
        return "\n".join([to_text(self._tables()), *self._notes()])

    def _repr_html_(self) -> str:
        return to_html(self._tables(), self._notes())
