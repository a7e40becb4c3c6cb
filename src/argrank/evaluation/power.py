"""How many queries a comparison needs, and the smallest difference that it can show."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy.special import ndtri, stdtrit

from argrank._declared import Above, AtLeast, AtMost, Below, Positive, Seed, checked
from argrank._json import json_value
from argrank._results import Rendered
from argrank._tables import Table, table
from argrank._types import Floats
from argrank.errors import InputError, shown
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.defaults import LEVEL
from argrank.evaluation.noise import Noise, noise_floor, noise_table
from argrank.evaluation.significance import all_equal, standard_errors, unseen_variance

N_DRAWS = 2000  # samples of n queries
LARGEST_DRAWN = 500  # queries; the mean of more is taken as normal
MOST = 10**9  # queries; more count as "never"
CHANCE = 0.8
PILOT = 5  # least queries of a pilot


@dataclass(frozen=True, eq=False)
class PowerResult:
    """The number of queries needed, from the differences of two systems on ``n_queries``.

    ``smallest`` is the difference that this many queries show with the requested power, ``needed`` the number of
    queries for the requested difference, ``likely`` the range of that number given the uncertainty of the pilot's
    variance, ``deviation`` the standard deviation of the differences. NaN and None if the differences do not vary;
    ``smallest`` is infinite if too few of them do. ``reach`` is how far from 0 a difference can be.
    """

    measure: str
    a: str
    b: str
    n_queries: int
    deviation: float
    smallest: float
    needed: int | None
    likely: tuple[int, int] | None
    reach: float
    differences: Floats = dataclasses.field(repr=False)


@dataclass(frozen=True, repr=False, eq=False)
class Power(Rendered):
    """The result of ``ar.power``: a row for every measure and pair of systems, and the noise floor of each measure."""

    rows: tuple[PowerResult, ...]
    difference: float
    level: float
    chance: float
    random_state: int
    noise: tuple[Noise, ...] = ()
    disagreement: float | None = None

    @checked
    def smallest(self, row: PowerResult, n_queries: Annotated[int, AtLeast(2)]) -> float:
        """Return the smallest difference that this many queries would show."""
        return smallest_difference(row.differences, n_queries, row.reach, self.level, self.chance, self.random_state)

    def _shown(self) -> tuple[list[Table], list[str]]:
        paired = any(row.a for row in self.rows)
        head = (*(("measure", "system", "against") if paired else ()), "queries", "deviation", "smallest difference")
        rows = [
            (
                *((row.measure, row.a, row.b) if paired else ()),
                f"{row.n_queries:,}",
                "-" if np.isnan(row.deviation) else f"{row.deviation:.4f}",
                f"{row.smallest:.4f}" if np.isfinite(row.smallest) else "-",
                "-" if row.needed is None else f"{row.needed:,}",
                "-" if row.likely is None else f"{row.likely[0]:,} to {row.likely[1]:,}",
            )
            for row in self.rows
        ]
        found = table((*head, f"queries for {self.difference:g}", "roughly between"), rows, n_names=3 if paired else 0)
        return [found, *([noise_table(self.noise)] if self.noise else [])], self.notes

    @property
    def notes(self) -> list[str]:
        """Sentences on how it was computed."""
        notes = [
            f"Smallest difference: the one that as many queries show with a chance of {100 * self.chance:g} % by a "
            f"paired t-test at level {self.level:g}, uncorrected; found by resampling these queries.",
        ]
        if not all(np.isfinite(row.smallest) for row in self.rows):
            notes.append(f"-: fewer than {PILOT} queries, or too few on which the systems differ.")
        if self.noise:
            rejudged = "" if self.disagreement is None else (
                f" Re-judging moves {100 * self.disagreement:g} % of the labels to a neighbouring grade."
            )  # fmt: skip
            notes.append(f"Noise: the standard deviation of a mean, and of the difference of two.{rejudged}")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the differences of single queries as plain data."""
        names = [part.name for part in dataclasses.fields(PowerResult) if part.name not in ("reach", "differences")]
        found: dict[str, Any] = json_value(
            {
                "difference": self.difference,
                "level": self.level,
                "chance": self.chance,
                "rows": [{name: getattr(row, name) for name in names} for row in self.rows],
                "noise": [one._asdict() for one in self.noise],
                "disagreement": self.disagreement,
            }
        )
        return found


@checked
def power(
    pilot: Any,
    difference: Positive = 0.01,
    *,
    scores: Any = None,
    data: Any = None,
    disagreement: Annotated[float, Above(0), AtMost(1)] = 0.1,
    level: Annotated[float, Above(0), Below(1)] | None = None,
    chance: Annotated[float, Above(0), Below(1)] = CHANCE,
    random_state: Seed = 0,
) -> Power:
    """Estimate how many queries a difference needs, and the smallest difference that the given queries can show.

    Samples of n queries are drawn from the pilot's own paired differences, shifted so that their true mean is the
    difference in question, and tested: so ties, tails and the correlation of the two systems are those of the data.
    Beyond 500 queries the mean is taken as normal.

    Parameters
    ----------
    pilot : Comparison or array
        What ``ar.compare`` returned, or the differences of two systems, one for each query; those are taken as of a
        measure between 0 and 1 unless one is greater.
    difference : float
        A difference of the measure that matters to you.
    scores, data : as in ``ar.compare``, optional
        The systems and judgements of the comparison. With them the result also shows how much a measure changes with
        new judgements and with the order of tied documents.
    disagreement : float
        The share of labels on which a second judge would differ, by one grade.
    level : float, optional
        Significance level, by default that of the comparison, or 0.05.
    chance : float
        The probability of detecting a true difference (the power of the test).

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(60, 10, 3, random_state=0)
    >>> found = ar.compare({"a": data.X[:, 0], "b": data.X[:, 1]}, data, "ndcg@10")
    >>> (row,) = ar.power(found, difference=0.02).rows
    >>> row.smallest > 0.02 and row.needed > row.n_queries
    True
    """
    settings = (LEVEL if level is None else level, chance, random_state)
    if not isinstance(pilot, Comparison):
        if scores is not None or data is not None:
            raise InputError("scores, data: expected a comparison as the pilot, got differences")
        column = _column(pilot)
        reach = 1.0 if np.nanmax(np.abs(column), initial=0.0) <= 1 else np.inf
        return Power((power_of("", "", "", column, reach, difference, *settings),), difference, *settings)
    if not pilot.pairs:
        raise InputError("pilot: expected a comparison of at least two systems, got one system")
    if (scores is None) != (data is None):
        raise InputError("scores, data: expected both, or neither")
    settings = (pilot.level if level is None else level, chance, random_state)
    rows = [power_of_pair(pilot, one.measure, one.a, one.b, difference, *settings) for one in pilot.pairs]
    asked = None if data is None else disagreement
    noise = noise_floor(pilot, scores, data, disagreement, random_state)
    return Power(tuple(rows), difference, *settings, noise, asked)


def _column(pilot: Any) -> Floats:
    try:
        column = np.asarray(pilot, np.float64)
    except (TypeError, ValueError, OverflowError):
        column = np.empty((0, 0))
    if column.ndim != 1 or np.isinf(column).any():
        raise InputError(
            f"pilot: expected what ar.compare returned, or a difference for each query, got {shown(pilot)}"
        )
    return column


def power_of_pair(
    comparison: Comparison, measure: str, a: str, b: str, difference: float, level: float, chance: float, seed: int
) -> PowerResult:
    """Return what the differences of two systems of a comparison say about the number of queries."""
    low, high = comparison.bounds[measure]
    given = comparison.differences(measure, a, b)
    return power_of(measure, a, b, given, high - low, difference, level, chance, seed)


def power_of(
    measure: str, a: str, b: str, given: Floats, reach: float, difference: float, level: float, chance: float, seed: int
) -> PowerResult:
    """Return the number of queries needed, from differences (NaN if undefined)."""
    known = given[~np.isnan(given)]
    n = len(known)
    if n < PILOT or all_equal(known[:, None])[0]:
        return PowerResult(measure, a, b, n, np.nan, np.nan, None, None, reach, known)
    smallest = smallest_difference(known, n, reach, level, chance, seed)
    needed = queries_needed(known, difference, reach, level, chance, seed)
    centred = known - known.mean()
    excess = np.mean(centred**4) / np.mean(centred**2) ** 2 - (n - 3) / (n - 1)
    factor = float(np.exp(2 * np.sqrt(max(excess, 0.0) / n)))  # the number of queries goes with the variance
    likely = None if needed is None else (int(np.ceil(needed / factor)), int(np.ceil(needed * factor)))
    return PowerResult(measure, a, b, n, float(known.std(ddof=1)), smallest, needed, likely, reach, known)


def smallest_difference(
    pilot: Floats, n_queries: int, reach: float, level: float, chance: float, random_state: int
) -> float:
    """Return the true mean difference that n queries show with this chance, given differences that vary like the pilot.

    A sample of the centred pilot with mean m and standard error s, moved by d, is significant in the right direction
    where (m + d) / s is at least Student's quantile t: where d >= t s - m. So the answer is a quantile of t s - m over
    samples; infinite where too many of them do not vary at all. Ties count in s as they are in the pilot.
    """
    t = float(stdtrit(n_queries - 1, 1 - level / 2))
    scaled = pilot * np.sqrt(len(pilot) / (len(pilot) - 1))
    if n_queries > LARGEST_DRAWN:
        unseen = unseen_variance(n_queries * np.mean(pilot != 0), n_queries, reach)
        return float((t * np.sqrt(scaled.var() + unseen) + ndtri(chance) * scaled.std()) / np.sqrt(n_queries))
    drawn = scaled[np.random.default_rng(random_state).integers(len(scaled), size=(N_DRAWS, n_queries))].T
    wanted = t * standard_errors(drawn, reach) - (drawn.mean(axis=0) - scaled.mean())
    return float(np.quantile(np.where(all_equal(drawn), np.inf, wanted), chance, method="higher"))


def queries_needed(
    pilot: Floats, difference: float, reach: float, level: float, chance: float, random_state: int
) -> int | None:
    """Return the least number of queries whose smallest difference is at most this one; None for never."""

    def enough(n: int) -> bool:
        return smallest_difference(pilot, n, reach, level, chance, random_state) <= difference

    low, high = 1, 4
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > max(1, high // 500):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
