"""Structure: the form of a measure, for everything that optimises it.

The value of a ranking is

    1 / divisor * sum over the ranks r of discount_r * gain_r * factor_r

with the gain of the document at rank r. Measures differ in the factor, their *kind*:

=============  ==============================================  =================
kind           factor                                          measures
=============  ==============================================  =================
additive       1: the measure is a product a · b               NDCG, DCG, P, RBP
precision      1 + the gains above                             AP
cascade        the product of 1 - gain over all ranks above    ERR
first          the same with gains of 0 and 1                  RR
pairs          (no sum over ranks) pairs in the right order    AUC
capped pairs   (the same) of R relevant documents, not more    bpref
               than R that are worse count against each
=============  ==============================================  =================

A measure declares its structure once; structured hinges, smooth measures, lambdas, conditional models and the line
search use it and treat every measure of a kind alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import OptionError


class Gaining(Protocol):
    """Rows with labels, or with gains of their own."""

    @property
    def y(self) -> Floats:
        """The label of every row."""

    @property
    def gains(self) -> Floats | None:
        """The gain of every row, if rows have gains."""


@dataclass(frozen=True)
class Structure:
    """Gains of labels, discounts of ranks, and the divisor of the sum.

    ``gains`` maps labels to gains, ``discounts`` maps n to the discounts of the ranks 1 … n, which are 0 below the
    cut-off. ``divisor`` is "one", "ideal" (the greatest sum of the query), "gains" (the sum of all gains), "size" (the
    number of documents), "pairs" (the number of pairs of different gain) or "capped pairs". ``one_relevant`` marks a
    structure that equals the measure only for queries with at most one document of positive gain.
    """

    kind: str
    gains: Callable[[Floats], Floats]
    discounts: Callable[[int], Floats]
    divisor: str = "one"
    one_relevant: bool = False
    name: str = ""  # of the measure

    @property
    def takes_gains(self) -> bool:
        """Whether the measure is a sum of gains with a constant divisor, so that rows may have their own gains."""
        return self.kind == "additive" and self.divisor == "one" and not self.one_relevant

    def row_gains(self, data: Gaining) -> Floats:
        """Return the gain of every row: its own if rows have gains, else that of its label.

        Estimated gains, such as those from clicks, can be used only in measures that are sums with a constant divisor:
        an ideal, a product or a first hit of estimated gains is biased.
        """
        if data.gains is None:
            return self.gains(data.y)
        if not self.takes_gains:
            raise refused_gains(self.name)
        return data.gains

    def factors(self, labels: Floats, indptr: Integers, depth: int | None = None) -> Floats:
        """Return 1 / divisor of every query, 0 where the divisor is 0; ``depth`` cuts the ideal off."""
        sizes = np.diff(indptr)
        if self.divisor == "ideal":
            divisors = greatest(self.gains(labels), self.discounts(int(sizes.max(initial=0)))[:depth], indptr)
        elif self.divisor == "gains":
            divisors = np.add.reduceat(self.gains(labels), indptr[:-1])
        elif self.divisor == "pairs":
            divisors = pair_counts(indptr, level_numbers(self.gains(labels), indptr))
        elif self.divisor == "capped pairs":
            most, n_relevant = capped_pairs(self.gains(labels), indptr)
            divisors = n_relevant * most
        elif self.divisor == "size":
            divisors = sizes.astype(np.float64)
        else:
            divisors = np.ones(len(sizes))
        return np.divide(1.0, divisors, out=np.zeros_like(divisors), where=divisors > 0)

    def good_terms(self, index: Integers, rank: Integers) -> Floats:
        """Return the contribution of good documents, up to a constant, if documents are either good or bad.

        ``index`` counts the good documents above, ``rank`` all documents above. A good document is one of label 1.
        """
        terms = self.discounts(int(rank.max()) + 1)[rank]
        if self.kind == "precision":
            return terms * (index + 1.0)
        if self.kind == "first":
            return np.where(index == 0, terms, 0.0)
        if self.kind == "cascade":
            return terms * (1.0 - float(self.gains(np.ones(1))[0])) ** index
        return terms


def refused_gains(name: str) -> OptionError:
    """Return the error for a measure that needs labels."""
    return OptionError(
        f"{name or 'measure'}: expected labels, got row gains, which only work with measures that are sums with a "
        f"constant divisor: dcg@k, p@k, rbp, clicks@k"
    )


def greatest(gains: Floats, discounts: Floats, indptr: Integers) -> Floats:
    """Return the greatest sum of gain times discount of every query, that of its rows sorted by gain.

    Ranks past the end of ``discounts`` count nothing.
    """
    sizes = np.diff(indptr)
    query = np.repeat(np.arange(len(sizes)), sizes)
    ordered = gains[np.lexsort((-gains, query))]
    rank = np.arange(len(gains)) - np.repeat(indptr[:-1], sizes)
    weights = np.concatenate((discounts, np.zeros(max(int(sizes.max(initial=0)) - len(discounts), 0))))
    return np.asarray(np.bincount(query, weights=ordered * weights[rank], minlength=len(sizes)))


def level_numbers(gains: Floats, indptr: Integers) -> Floats:
    """Return, for every row, how many different smaller gains (or labels) its query has."""
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((gains, query))
    steps = np.zeros(len(gains))
    steps[1:] = np.diff(gains[order]) != 0
    steps[indptr[:-1]] = 0.0
    climbed = np.cumsum(steps)
    levels = np.empty(len(gains))
    levels[order] = climbed - np.repeat(climbed[indptr[:-1]], np.diff(indptr))
    return levels


def level_sizes(levels: Floats, indptr: Integers) -> Integers:
    """Return the number of rows of every level, one query per row; ``levels`` are level numbers."""
    n_queries, n_levels = len(indptr) - 1, int(levels.max()) + 1
    query = np.repeat(np.arange(n_queries), np.diff(indptr))
    sizes = np.bincount(query * n_levels + levels.astype(np.int64), minlength=n_queries * n_levels)
    return sizes.reshape(n_queries, n_levels)


def pair_counts(indptr: Integers, levels: Floats) -> Floats:
    """Return, for every query, how many pairs of its documents are of different level."""
    sizes = np.diff(indptr).astype(np.float64)
    equal = level_sizes(levels, indptr).astype(np.float64)
    return np.asarray(0.5 * (sizes**2 - (equal**2).sum(axis=1)))


def capped_pairs(gains: Floats, indptr: Integers) -> tuple[Floats, Floats]:
    """Return, for every query, the most that a relevant document can count, and the most worse ones against it.

    That is min(R, N), or 1 if it is 0, and R, with R relevant documents and N others.
    """
    n_relevant = np.add.reduceat((gains != 0.0).astype(np.float64), indptr[:-1])
    return np.maximum(np.minimum(np.diff(indptr) - n_relevant, n_relevant), 1.0), n_relevant
