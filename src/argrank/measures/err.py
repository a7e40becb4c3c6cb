"""ERR: expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from argrank._types import Floats
from argrank.errors import InputError, OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.discounts import cut_discounts
from argrank.measures.measure import Measure, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure
from argrank.measures.ties import TieGroups


@dataclass(frozen=True, repr=False)
class ERR(Measure):
    """The expected 1/rank at which a user stops who reads down and is satisfied by label y with chance
    (2^y - 1) / 2^max_grade (Chapelle et al. 2009). Never undefined: 0 where all labels are 0.

    Expected over ties: the chance to continue past t documents drawn at random from a group is the mean of the products
    of the "not satisfied" chances over all t-subsets, an elementary symmetric polynomial; the chance to stop at place t
    is the difference of two such means. Their recursion takes O(m^2) for a group of m documents.
    """  # noqa: D205 - the formula belongs to the first sentence

    spelling = "ERR"
    aliases = ("err",)

    k: int | None = None
    max_grade: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        grade = self.max_grade
        is_number = isinstance(grade, int | float) and not isinstance(grade, bool)
        if grade is not None and not (is_number and 0 < grade < 1024):
            raise OptionError(f"ERR(max_grade=…): expected a positive number, got {shown(grade)}")

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        stop = satisfaction(rankings.labels, convention.max_grade)
        terms = _terms(stop)
        if rankings.ties is not None:
            _set_expected(terms, stop, rankings.ties, self.k)
        return total(terms[:, : self.k])

    def _structure(self, convention: Convention) -> Structure:
        gains = partial(satisfaction, max_grade=convention.max_grade)
        return Structure("cascade", gains, cut_discounts("reciprocal", self.k))

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance to be satisfied there, and to stop there over the rank."""
        stop = satisfaction(rankings.labels, self.adapt(convention).max_grade)
        terms = _terms(stop)
        if rankings.ties is not None:
            _set_expected(terms, stop, rankings.ties, None)
            stop.reshape(-1)[rankings.ties.cells] = rankings.ties.means(stop.reshape(-1)[rankings.ties.cells])
        return {"chance to satisfy": stop[0], "chance to stop / rank": terms[0]}


def satisfaction(labels: Floats, max_grade: float) -> Floats:
    """Return the chance that a document of a label satisfies: (2^y - 1) / 2^max_grade; 0 for padding."""
    largest = float(labels.max(initial=0.0))
    if largest > max_grade:
        raise InputError(
            f"ERR: expected labels up to max_grade={max_grade:g}, got {largest:g}; "
            "set max_grade to the greatest label of the collection"
        )
    chances: Floats = np.exp2(np.maximum(labels, 0.0)) - 1.0
    chances /= 2.0**max_grade
    return chances


def _terms(stop: Floats) -> Floats:
    going = np.cumprod(1.0 - stop, axis=1)
    terms = stop / np.arange(1.0, stop.shape[1] + 1.0)
    terms[:, 1:] *= going[:, :-1]
    return terms


def _set_expected(terms: Floats, stop: Floats, ties: TieGroups, k: int | None) -> None:
    """Set the terms of tied cells down to rank k to their expected values; groups of one size are done together."""
    depth = ties.width if k is None else min(k, ties.width)
    going = np.cumprod(1.0 - stop, axis=1).reshape(-1)
    start = ties.first % ties.width
    reached = np.where(start > 0, going[ties.first - 1], 1.0)
    for size in np.unique(ties.sizes[start < depth]):
        groups = np.flatnonzero((ties.sizes == size) & (start < depth))
        cells = ties.first[groups, None] + np.arange(size)
        chances = _stop_at_place(stop.reshape(-1)[cells], min(int(size), depth))
        cells = cells[:, : chances.shape[1]]
        terms.reshape(-1)[cells] = chances * reached[groups, None] / (cells % ties.width + 1.0)


def _stop_at_place(stop: Floats, depth: int) -> Floats:
    """Return for groups of equal size (one per row) the chance to stop at place 1, …, depth of a random order."""
    means = np.zeros((len(stop), depth + 1))  # mean over t-subsets of the product of (1 - stop), t = 0, …, depth
    means[:, 0] = 1.0
    places = np.arange(1, depth + 1)
    for seen in range(1, stop.shape[1] + 1):
        one = 1.0 - stop[:, seen - 1 : seen]
        share = np.minimum(places / seen, 1.0)
        means[:, 1:] = (1.0 - share) * means[:, 1:] + share * one * means[:, :-1]
    return means[:, :-1] - means[:, 1:]
