"""The result of a comparison of systems, and its rendering."""

from __future__ import annotations

import dataclasses
import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._declared import checked
from argrank._json import json_value
from argrank._results import Framed, Rendered
from argrank._tables import Cell, Table, measure_text, table
from argrank._types import Floats
from argrank.data.checks import as_array
from argrank.errors import InputError, check_name, shown
from argrank.evaluation.intervals import difference_text
from argrank.evaluation.segments import groups, interval_text, mean_with_interval
from argrank.evaluation.significance import EXACT_QUERIES
from argrank.evaluation.systems import Coverage
from argrank.measures.conventions import Convention

TEST_TITLES = {
    "randomisation": "Paired randomisation test",
    "t": "Paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
INTERVALS = {
    test: f"Intervals of the mean difference {kind}: they exclude 0 exactly if the uncorrected p is significant."
    for test, kind in {
        "randomisation": "contain the differences that the test does not reject",
        "t": "are Student's, like the test",
    }.items()
} | {"wilcoxon": "Wilcoxon's test compares ranks and gives no interval of the mean difference."}


@dataclass(frozen=True)
class PairResult:
    """System ``a`` against system ``b`` on one measure; differences are a minus b, query by query."""

    measure: str
    a: str
    b: str
    difference: float
    interval: tuple[float, float]
    p_value: float
    p_corrected: float
    effect_size: float
    wins: int
    ties: int
    losses: int
    n_queries: int
    n_dropped: int


@dataclass(frozen=True)
class SegmentResult:
    """System ``a`` against system ``b`` on one measure and the queries of one segment; differences are a minus b."""

    measure: str
    segment: str
    a: str
    b: str
    n_queries: int
    difference: float
    interval: tuple[float, float]
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, repr=False)
class Comparison(Rendered, Framed):
    """Systems compared on the same queries: means, paired tests, intervals; made by ``ar.compare``.

    Attributes
    ----------
    systems, measures : tuples of names, in the order given
    means : dict of dict
        ``means[system][measure]``.
    values : dict of dict of arrays
        ``values[system][measure]`` is one value for each of ``query_ids``, NaN where the measure is undefined.
    pairs : tuple of PairResult
        Every pair of systems, or every system against the baseline, measure by measure.
    undefined : dict
        For each measure the number of queries without a defined value.
    test, correction, level, convention, baseline, n_resamples, random_state
        The options used.
    notes : tuple of str
        Remarks about these numbers.
    coverage : dict of Coverage
        For each run, how many of its documents are judged.
    bounds : dict
        The range of each measure's values.
    rules : Convention
        The convention, with every switch.
    segment_of, segments : array of shape (n_queries,), tuple of SegmentResult
        If ``by`` was given: the segment of every query, and every pair on every segment. The intervals are not
        corrected for the number of segments.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    means: dict[str, dict[str, float]]
    values: dict[str, dict[str, Floats]]
    query_ids: NDArray[Any]
    pairs: tuple[PairResult, ...]
    undefined: dict[str, int]
    test: str
    correction: str
    level: float
    convention: str
    baseline: str | None
    n_resamples: int
    random_state: int
    notes: tuple[str, ...]
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    rules: Convention = field(default_factory=Convention)
    segment_of: NDArray[Any] | None = None
    segments: tuple[SegmentResult, ...] = ()

    @checked
    def differences(self, measure: str, a: str, b: str) -> Floats:
        """Return the measure of system a minus that of system b for each of ``query_ids``, NaN where undefined."""
        check_name("measure of this comparison", measure, self.measures)
        for system in (a, b):
            check_name("system of this comparison", system, self.systems)
        return self.values[a][measure] - self.values[b][measure]

    @checked
    def mean(
        self, system: str, measure: str, queries: NDArray[np.bool_] | None = None
    ) -> tuple[int, float, float, float]:
        """Return the number of queries (all or some) with a value, their mean and the ends of its interval."""
        check_name("system of this comparison", system, self.systems)
        check_name("measure of this comparison", measure, self.values[system])
        values = self.values[system][measure]
        if queries is not None and (as_array(queries, "queries").dtype != bool or np.shape(queries) != values.shape):
            raise InputError(f"queries: expected a mask of {len(values)} queries, got {shown(queries)}")
        own = values if queries is None else values[queries]
        return mean_with_interval(own, self.bounds[measure], level=self.level)

    @checked
    def interval_text(self, pair: PairResult | SegmentResult) -> str:
        """Return the interval of a difference as text."""
        return "-" if self.test == "wilcoxon" else difference_text(*pair.interval)

    @checked
    def letter_of(self, system: str) -> str:
        """Return the letter of a system, a for the first."""
        check_name("system of this comparison", system, self.systems)
        return _letters(len(self.systems))[self.systems.index(system)]

    @checked
    def letters(self, measure: str) -> dict[str, str]:
        """Return for each system the letters of the systems it beats significantly (a for the first system, …)."""
        check_name("measure of this comparison", measure, self.measures)
        letter = {system: self.letter_of(system) for system in self.systems}
        beaten: dict[str, set[str]] = {system: set() for system in self.systems}
        for pair in self.pairs:
            if pair.measure == measure and pair.p_corrected <= self.level and pair.difference != 0:
                better, worse = (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a)
                beaten[better].add(worse)
        mark = "" if len(self.systems) <= len(string.ascii_lowercase) else ","
        return {
            system: mark.join(letter[other] for other in self.systems if other in beaten[system])
            for system in self.systems
        }

    # ---- renderings -------------------------------------------------------------------------------------------

    def _shown(self) -> tuple[list[Table], list[str]]:
        return [self._means_table(), self.pairs_table(), *self.segment_tables()], self.footer

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the per-query values as plain data; non-finite numbers become None."""
        settings = ("test", "correction", "level", "convention", "baseline", "n_resamples", "random_state")
        found: dict[str, Any] = {
            "systems": list(self.systems),
            "measures": list(self.measures),
            "n_queries": len(self.query_ids),
            **{name: getattr(self, name) for name in settings},
            "means": self.means,
            "undefined": self.undefined,
            "letters": {measure: self.letters(measure) for measure in self.measures},
            "pairs": [dataclasses.asdict(pair) for pair in self.pairs],
            "coverage": {system: dataclasses.asdict(one) for system, one in self.coverage.items()},
            "segments": [dataclasses.asdict(one) for one in self.segments],
            "notes": list(self.notes),
        }
        return dict(json_value(found))

    def columns(self) -> dict[str, list[Any]]:
        """Return every measure and pair of systems by column."""
        names = [part.name for part in dataclasses.fields(PairResult)]
        columns = {name: [getattr(pair, name) for pair in self.pairs] for name in names}
        intervals = columns.pop("interval")
        return columns | {"low": [low for low, _ in intervals], "high": [high for _, high in intervals]}

    @property
    def _n_pairs(self) -> int:
        return len(self.pairs) // len(self.measures)

    def _means_table(self) -> Table:
        letters = {measure: self.letters(measure) for measure in self.measures}
        best = {measure: max(self.means[system][measure] for system in self.systems) for measure in self.measures}
        rows = []
        for letter, system in zip(_letters(len(self.systems)), self.systems, strict=True):
            means = {measure: self.means[system][measure] for measure in self.measures}
            cells = [Cell(measure_text(one), one == best[name], letters[name][system]) for name, one in means.items()]
            rows.append((Cell(letter), Cell(system), *cells))
        return Table(("", "system", *self.measures), tuple(rows), 2)

    @checked
    def pairs_table(self, measures: Sequence[str] | None = None) -> Table:
        """Return every pair of systems by the measures given, by default all, as a table."""
        corrected = self.correction != "none" and self._n_pairs > 1
        header = ["measure", "system", "against", "difference", f"{100 * (1 - self.level):.4g} % interval", "p"]
        header += ["p corrected"] * corrected + ["effect", "wins", "ties", "losses"]
        rows = []
        for pair in self.pairs:
            if measures is not None and pair.measure not in measures:
                continue
            p_values = [pair.p_value, pair.p_corrected] if corrected else [pair.p_value]
            last = Cell(_probability(p_values[-1]), best=p_values[-1] <= self.level)
            names = (pair.measure, pair.a, pair.b, _signed(pair.difference), self.interval_text(pair))
            counts = (_signed(pair.effect_size, 2), pair.wins, pair.ties, pair.losses)
            rows.append((*names, *map(_probability, p_values[:-1]), last, *counts))
        return table(header, rows, 3)

    def segment_tables(self) -> list[Table]:
        """Return the means and the differences on every segment as tables; none where ``by`` was not given."""
        if self.segment_of is None:
            return []
        return [self._segment_means_table(self.segment_of), *([self._segment_pairs_table()] if self.segments else [])]

    def _segment_means_table(self, segment_of: NDArray[Any]) -> Table:
        rows = []
        for measure in self.measures:
            for name, own in groups(segment_of):
                found = [self.mean(system, measure, own) for system in self.systems]
                best = max(mean for _, mean, _, _ in found)
                cells = [Cell(interval_text(mean, low, high), mean == best) for _, mean, low, high in found]
                rows.append((Cell(measure), Cell(name), Cell(str(int(own.sum()))), *cells))
        return Table(("measure", "segment", "queries", *self.systems), tuple(rows), 2)

    def _segment_pairs_table(self) -> Table:
        header = ("measure", "segment", "system", "against", "difference", f"{100 * (1 - self.level):.4g} % interval",
                  "wins", "ties", "losses")  # fmt: skip
        rows = [
            (one.measure, one.segment, one.a, one.b, _signed(one.difference),
             self.interval_text(one), one.wins, one.ties, one.losses)
            for one in self.segments
        ]  # fmt: skip
        return table(header, rows, n_names=4)

    @property
    def test_text(self) -> str:
        """The test and its correction, as text."""
        text = f"{TEST_TITLES[self.test]}, two-sided"
        if self.test == "randomisation" and len(self.query_ids) > EXACT_QUERIES:
            text += f" ({self.n_resamples:,} resamples, seed {self.random_state})"
        if self._n_pairs > 1:
            rule = "corrected by Holm's rule" if self.correction == "holm" else "not corrected"
            text += f"; p {rule} for the {self._n_pairs} pairs of each measure"
        return text

    @property
    def footer(self) -> list[str]:
        """Sentences on how the comparison was made, with the notes."""
        dropped = {pair.measure: pair.n_dropped for pair in self.pairs}
        undefined = [
            f"{measure} {count} ({'left out' if dropped[measure] else 'valued by the convention'})"
            for measure, count in self.undefined.items()
            if count
        ]
        return [
            f"Marked: the best mean of each measure, and p of {self.level:g} or less. "
            "Letters: the systems that are significantly worse.",
            f"{self.test_text}.",
            f"{INTERVALS[self.test]} Effect: mean / standard deviation of the differences (Cohen's d).",
            f"Convention {self.convention}; {len(self.query_ids):,} queries; "
            f"undefined: {', '.join(undefined) or 'none'}.",
            *self.notes,
        ]


def _letters(n: int) -> list[str]:
    """Return a, b, …, z, aa, ab, … as a spreadsheet names its columns."""
    names = []
    for number in range(1, n + 1):
        name = ""
        while number:
            number, place = divmod(number - 1, 26)
            name = string.ascii_lowercase[place] + name
        names.append(name)
    return names


def _signed(value: float, digits: int = 4) -> str:
    return "-" if math.isnan(value) else f"{value:+.{digits}f}"


def _probability(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
