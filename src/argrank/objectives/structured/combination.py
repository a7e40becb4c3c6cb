"""Several measures at once (SVMcombo): one hinge each; their sum, or the greatest of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.checks import as_array
from argrank.data.dataset import Dataset
from argrank.errors import InputError, shown
from argrank.objectives.objective import Objective, Prepared, Sum
from argrank.objectives.structured.hinge import StructuredHinge

Slacks = Literal["separate", "shared"]


@dataclass(frozen=True, kw_only=True)
class Combination(Objective):
    """Several structured hinges h_l with weights C_l (KDD 2008, section 3.7), all of one bound.

    *Separate* slacks add up: ``sum over l of C_l h_l`` bounds the weighted sum of the losses. A *shared* slack is the
    greatest, ``max over l of C_l h_l``, and bounds the greatest weighted loss. Weights are a number, one per hinge, or
    an array of shape (n_queries, n_hinges) in the data's order of queries.
    """

    name: ClassVar[str] = "svm-combo"

    hinges: tuple[StructuredHinge, ...]
    weights: Any
    slacks: Slacks

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.weights, np.ndarray | Sequence):  # hashable, like every other parameter
            rows = np.atleast_1d(as_array(self.weights, "weights", np.float64)).tolist()
            frozen = tuple(tuple(row) if isinstance(row, list) else row for row in rows)
            object.__setattr__(self, "weights", frozen)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether this bound is convex in the scores: weighted sums and maxima of convex hinges are."""
        return all(hinge.convex for hinge in self.hinges)

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare every measure's oracle."""
        prepared = [hinge.prepare(data) for hinge in self.hinges]
        return Combined(prepared, self.query_weights(data), shared=self.slacks == "shared")

    def convex_part(self) -> Objective:
        """Return the convex function from which the bound subtracts ``subtracted_part``; a convex bound is its own.

        The greatest of differences h_l - r_l is max over l of (h_l + the r of all others) - the sum of all r: with
        a shared slack the convex part is that maximum.
        """
        if self.convex:
            return self
        if self.slacks == "shared":
            return CombinationPart(combination=self, lifted=True)
        return dataclasses.replace(self, hinges=tuple(hinge.convex_part() for hinge in self.hinges))

    def subtracted_part(self) -> CombinationPart:
        """Return what a bound that is not convex subtracts: the weighted sum of the parts that its hinges subtract."""
        return CombinationPart(combination=self, lifted=False)

    def query_weights(self, data: Dataset) -> Floats:
        """Return the weight of every query and hinge."""
        n_measures = len(self.hinges)
        try:
            weights = np.asarray(self.weights, np.float64)
            full = np.broadcast_to(weights, (data.n_queries, n_measures))
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{self.name}: expected weights as a number, {n_measures} numbers or an array of shape "
                f"({data.n_queries}, {n_measures}), got {shown(self.weights)}"
            ) from error
        if not np.isfinite(full).all() or (full < 0).any():
            raise InputError(f"{self.name}: expected finite weights >= 0, got {shown(self.weights)}")
        return np.ascontiguousarray(full)


@dataclass(frozen=True, kw_only=True)
class CombinationPart(Objective):
    """One of the two convex functions whose difference is a combination of bounds that are not convex."""

    name: ClassVar[str] = "part of a combination"

    combination: Combination
    lifted: bool

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the parts that are subtracted, and the hinges where they are lifted by them."""
        hinges, weights = self.combination.hinges, self.combination.query_weights(data)
        subtracted = Combined([hinge.subtracted_part().prepare(data) for hinge in hinges], weights, shared=False)
        return Sum(self.combination.prepare(data), subtracted) if self.lifted else subtracted


class Combined(Prepared):
    """Weighted losses of several prepared objectives, added up or the greatest of them."""

    def __init__(self, parts: Sequence[Prepared], weights: Floats, shared: bool) -> None:
        self.indptr, self.ranks = parts[0].indptr, any(part.ranks for part in parts)
        self._parts, self._weights, self._shared = parts, weights, shared

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Evaluate part by part; the sort is shared."""
        sizes = np.diff(self.indptr[first : last + 1])
        total = np.full(last - first, -np.inf) if self._shared else np.zeros(last - first)
        gradient[:] = 0.0
        own = np.empty_like(gradient)
        for number, part in enumerate(self._parts):
            weight = self._weights[first:last, number]
            losses = weight * part.evaluate(first, last, scores, order, own)
            own *= np.repeat(weight, sizes)
            if self._shared:
                greater = losses > total
                total = np.where(greater, losses, total)
                np.copyto(gradient, own, where=np.repeat(greater, sizes))
            else:
                total += losses
                gradient += own
        return total
