"""Measures as products a · b: what the ranks are worth times what the labels are worth (ORM section 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.measures.discounts import discounts
from argrank.measures.eru import ERU
from argrank.measures.gains import gains_of
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.product import Product
from argrank.objectives.objective import require_labels
from argrank.objectives.pairwise import level_numbers
from argrank.objectives.structured.problem import Problem, resolve

KINDS = ("DCG", "ERU", "P", "Product", "RR", "WTA", "nDCG")

#: Where the measures belong that no product expresses.
ELSEWHERE = {"AP": "svm-map", "AUC": "svm-auc", "ERR": "svm-ndcg with measure='err@k'"}


@dataclass(frozen=True)
class ProductProblem(Problem):
    """A measure in the form a · b, and how a ranking is scored.

    The loss of a ranking is what it lacks of the greatest a · b of its query: 1 - NDCG, or the DCG that is missing.
    """

    @property
    def is_normalised(self) -> bool:
        """Whether b is divided by the query's greatest a · b."""
        return self.kind == "nDCG" or bool(getattr(self.measure, "normalised", False))

    def worth(self, n: int) -> Floats:
        """Return a: what the ranks 1 … n are worth."""
        if isinstance(self.measure, Product):
            values = self.measure.worth(n)
        elif isinstance(self.measure, ERU):
            values = np.exp2(-np.arange(n) / (self.measure.alpha - 1.0))
        elif self.kind == "P":
            values = np.full(n, 1.0 / cast(int, self.k))
        elif self.kind == "WTA":
            values = np.ones(n)
        else:
            values = discounts(n, "reciprocal" if self.kind == "RR" else self.discount)
        if self.k is not None:
            values[self.k :] = 0.0
        if (np.diff(values) > 0).any():
            raise OptionError(f"{self.name}: expected a discount that never rises")
        return values

    def gains(self, data: Dataset) -> Floats:
        """Return b: what every row is worth."""
        labels = require_labels(data, self.name)
        if isinstance(self.measure, Product):
            gains = self.measure.gains(labels)
        elif isinstance(self.measure, ERU):
            gains = np.maximum(labels - self.measure.d, 0.0)
        elif self.kind in ("nDCG", "DCG"):
            gains = gains_of(labels, self.gain, self.relevant_at)
        else:
            gains = self.relevance(data)
        if not self.is_normalised:
            return gains
        best = greatest(gains, self.worth(int(data.sizes.max())), data)
        share = np.divide(1.0, best, out=np.zeros_like(best), where=best > 0)
        scaled: Floats = gains * np.repeat(share, data.sizes)
        return scaled

    def levels(self, data: Dataset) -> Floats:
        """Return the level number of every row: rows of equal b are of one level."""
        return level_numbers(self.gains(data), data.indptr)


def greatest(gains: Floats, worth: Floats, data: Dataset) -> Floats:
    """Return the greatest a · b of every query, that of the rows sorted by b."""
    ordered = gains[np.lexsort((-gains, data.query_of_row))]
    rank = np.arange(data.n_documents) - np.repeat(data.indptr[:-1], data.sizes)
    sums: Floats = np.add.reduceat(ordered * worth[rank], data.indptr[:-1])
    return sums


def product_problem(name: str, measure: Any, a: Any, b: Any, **parameters: Any) -> ProductProblem:
    """Bring the parameters of a ranker and those inside its measure together; refuse what no product expresses."""
    if (a is None) != (b is None):
        raise OptionError(f"{name}: expected a and b together, got only {'b' if a is None else 'a'}")
    asked: Measure = parse_measure(measure) if a is None else Product(a, b)
    if asked.spelling not in KINDS:
        where = f"; use {ELSEWHERE[asked.spelling]}" if asked.spelling in ELSEWHERE else ""
        raise OptionError(
            f"{name}: expected a measure of the form a · b ({', '.join(KINDS)}), got {asked}, which is none{where}"
        )
    problem = resolve(name=name, measure=asked, default_k=None, **parameters)
    if problem.kind == "P" and problem.k is None:
        raise OptionError(f"{name}: expected a cut-off, such as p@10, got {asked}")
    return ProductProblem(**vars(problem))
