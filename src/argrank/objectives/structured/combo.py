"""Several measures at once (SVMcombo): one hinge each, added up, or the greatest of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, shown
from argrank.objectives.objective import Objective, Prepared
from argrank.objectives.structured.hinge import BOUNDS, StructuredHinge
from argrank.objectives.structured.presets import ranker_of

SLACKS = ("separate", "shared")


@dataclass(frozen=True)
class SVMcombo(Objective):
    """Train on several measures (KDD 2008, section 3.7), each on the feature map the paper gives it.

    Parameters
    ----------
    measures : sequence of measures or structured objectives
        A measure gets its ranker's defaults (NDCG and MAP pairs, MRR the first map); an objective such as
        ``ar.objective("svm-mrr", feature_map="pairs")`` is taken as it is.
    weights : number, sequence of one weight per measure, or array of shape (n_queries, n_measures)
        C_l of the paper; the array gives each query its own, in the data's order of queries, so that navigational ones
        may train on MRR and informational ones on NDCG.
    slacks : "separate" or "shared"
        "separate" adds up the weighted hinges, so their mean bounds the sum of the losses; "shared" takes the greatest
        weighted hinge of each query and bounds the greatest loss.
    discount, gain, relevant_at, bound
        For the measures given by name, as in the single rankers; ``bound`` holds for all.
    """

    name: ClassVar[str] = "svm-combo"

    measures: Any = ("ndcg@10", "map", "mrr@10")
    weights: Any = 1.0
    slacks: str = "separate"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    bound: str = "convex"

    def __post_init__(self) -> None:
        for parameter, known in (("slacks", SLACKS), ("bound", BOUNDS)):
            if getattr(self, parameter) not in known:
                expected = ", ".join(map(repr, known))
                raise OptionError(
                    f"{self.name}: expected {parameter} to be one of {expected}, got {getattr(self, parameter)!r}"
                )
        if isinstance(self.measures, str) or not isinstance(self.measures, Sequence) or not self.measures:
            raise OptionError(f"{self.name}: expected measures to be a list of measures, got {shown(self.measures)}")
        object.__setattr__(self, "measures", tuple(self.measures))
        if isinstance(self.weights, np.ndarray | Sequence):  # hashable, like every other parameter
            frozen = tuple(tuple(row) if np.ndim(row) else float(row) for row in self.weights)
            object.__setattr__(self, "weights", frozen)
        self.components()

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether this bound is convex in the scores."""
        return self.bound == "convex"

    def components(self) -> tuple[StructuredHinge, ...]:
        """Return the hinge of every measure."""
        shared = {"discount": self.discount, "gain": self.gain, "relevant_at": self.relevant_at}
        return tuple(
            dataclasses.replace(one, bound=self.bound)
            if isinstance(one, StructuredHinge)
            else ranker_of(one)(measure=one, bound=self.bound, **shared)
            for one in self.measures
        )

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare every measure's oracle."""
        prepared = [component.prepare(data) for component in self.components()]
        return Combined(prepared, self._weights(data), shared=self.slacks == "shared")

    def convex_part(self) -> SVMcombo | ComboPart:
        """Return the convex function from which the tight bound subtracts ``subtracted_part``."""
        plain = dataclasses.replace(self, bound="convex")
        if self.slacks == "separate":
            return plain
        return ComboPart(plain, lifted=True)

    def subtracted_part(self) -> ComboPart:
        """Return what the tight bound subtracts, convex and >= 0: the weighted sum of the measures' parts.

        The greatest of differences h_l - r_l is max over l of (h_l + the r of all others) - the sum of all r: with
        shared slacks the convex part is that maximum.
        """
        return ComboPart(dataclasses.replace(self, bound="convex"), lifted=False)

    def _weights(self, data: Dataset) -> Floats:
        """Return the weight of every query and measure."""
        n_measures = len(self.measures)
        try:
            weights = np.asarray(self.weights, np.float64)
            full = np.broadcast_to(weights, (data.n_queries, n_measures))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name}: expected weights as a number, {n_measures} numbers or an array of shape "
                f"({data.n_queries}, {n_measures}), got {shown(self.weights)}"
            ) from error
        if not np.isfinite(full).all() or (full < 0).any():
            raise InputError(f"{self.name}: expected finite weights >= 0, got {shown(self.weights)}")
        return np.ascontiguousarray(full)


@dataclass(frozen=True)
class ComboPart(Objective):
    """One of the two convex functions whose difference is a tight combination."""

    name: ClassVar[str] = "svm-combo part"

    combo: SVMcombo
    lifted: bool

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the parts that are subtracted, and the hinges where they are lifted by them."""
        weights = self.combo._weights(data)
        components = self.combo.components()
        subtracted = Combined([one.subtracted_part().prepare(data) for one in components], weights, shared=False)
        if not self.lifted:
            return subtracted
        tight = Combined(
            [dataclasses.replace(one, bound="tight").prepare(data) for one in components], weights, shared=True
        )
        return Total(tight, subtracted)


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


class Total(Prepared):
    """The sum of two prepared objectives."""

    def __init__(self, one: Prepared, other: Prepared) -> None:
        self.indptr, self.ranks = one.indptr, one.ranks or other.ranks
        self._one, self._other = one, other

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Add losses and gradients."""
        own = np.empty_like(gradient)
        losses = self._other.evaluate(first, last, scores, order, own)
        losses = losses + self._one.evaluate(first, last, scores, order, gradient)
        gradient += own
        return losses
