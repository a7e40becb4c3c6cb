"""The structured hinge: the loss of the most violated ranking, a convex bound of the measure's loss.

For one query with scores s, and a feature map whose ``w · phi(ranking)`` is a sum of coefficients times scores,

    h(s) = max over rankings y of [ loss(y) + (coefficients(y) - coefficients(reference)) · s ]

is at least the loss of the ranking by score, and ``coefficients(worst) - coefficients(reference)`` is a subgradient
(KDD 2008, equations 1 and 2). An *oracle* finds the worst ranking exactly; there is one for every pair of a feature map
and a measure. The tight bound subtracts ``max over y of (coefficients(y) - coefficients(reference)) · s``: no longer
convex, still a bound, and a difference of two convex functions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, unknown_name
from argrank.objectives.objective import Objective, Prepared, refuse_row_weights, require_labels
from argrank.objectives.structured.problem import Problem, resolve

BOUNDS = ("convex", "tight")
SCALES = ("pairs", "cutoff", None)
REFERENCES = ("averaged", "any", "given")

#: Makes an oracle ready for data: its losses are hinges, its gradients coefficients(worst) - coefficients(reference).
Preparation = Callable[[Problem, Dataset], Prepared]

#: (feature map, measure) -> the exact most violated ranking; filled by the modules of this folder, see ``register``.
ORACLES: dict[tuple[str, str], Preparation] = {}

#: feature map -> the greatest w · phi(ranking), which the tight bound subtracts.
REFERENCE_PARTS: dict[str, Preparation] = {}


def register(feature_map: str, measure: str, oracle: Preparation, reference_part: Preparation | None = None) -> None:
    """Add a (feature map, loss, oracle) triple of your own; every ``svm-*`` objective then takes the map by name.

    Parameters
    ----------
    feature_map : str
        A known map or the name of a new one.
    measure : str
        The spelling of a registered measure ("nDCG", "AP", …), or "terms" for losses that users pass as a function.
    oracle : callable(Problem, Dataset) -> Prepared
        Its ``evaluate`` gives, for every query, the hinge of the most violated ranking and the coefficients of that
        ranking minus those of the reference. ``Kernels`` wraps a numba kernel; see ``discounted_pairs.py``.
    reference_part : callable(Problem, Dataset) -> Prepared, optional
        The greatest ``w · phi`` and its coefficients minus the reference's: what ``bound="tight"`` subtracts.
    """
    ORACLES[feature_map, measure] = oracle
    if reference_part is not None:
        REFERENCE_PARTS[feature_map] = reference_part


@dataclass(frozen=True)
class StructuredHinge(Objective):
    """The hinge of the most violated ranking for a measure, on a feature map; one class, several rankers.

    The loss of a ranking is 1 - measure / (measure of the ideal ranking), so 0 for the ideal one. Queries without a
    pair of documents of different worth have loss and gradient 0.

    Parameters
    ----------
    measure : str, Measure or callable
        A measure that has an oracle on the map, or loss terms ``f(index, rank, n_goods)`` of the good documents: arrays
        of their index among the goods and their rank, both from 0, in any loss of the form "sum over goods of f".
    k : int, None or "auto"
        Cut-off; None for none; "auto" for the one in ``measure``, else the ranker's default.
    discount : "log2", "letor" or callable
    gain : "exp2", "linear", "binary", table or callable
        Worth of a label; documents of equal gain form one level.
    relevant_at : float
        Smallest label of a good document, for measures with goods and bads (MAP, MRR, P and here also ERR).
    feature_map : "pairs", "first", "positions" or a registered name
        phi_po, phi_mrr, phi_dorm of the KDD 2008 paper.
    scale : "pairs", "cutoff" or None
        "pairs" makes the pairs map a mean over the query's pairs, which the paper calls critical; "cutoff" divides the
        first map by k; None is a plain sum.
    decay : optional, for the positions map
        Weight of the ranks r = 0, 1, …: "sqrt" (default) 1/sqrt(1+r), a number d for (1+r)^-d, "linear" max(k-r, 0),
        "log2" 1/log2(r+2), "loglog" 1/log2(log2(r+2)+1), "measure" the measure's own discounts, or a vector that never
        rises; short ones are extended by zeros.
    reference : "averaged", "any" or "given", for the positions map
        The ideal ranking that the worst one is compared with: the mean of all of them, the one that keeps rows of
        equal gain in their order, or the rows exactly as given.
    bound : "convex" or "tight"
        The tight bound subtracts the greatest ``w · phi``; see ``convex_part`` and ``subtracted_part``.
    """

    default_k: ClassVar[int | None] = None

    measure: Any = "ndcg"
    k: Any = "auto"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    feature_map: str = "pairs"
    scale: str | None = "pairs"
    decay: Any = None
    reference: str = "averaged"
    bound: str = "convex"

    def __post_init__(self) -> None:
        for parameter, known in (("bound", BOUNDS), ("scale", SCALES), ("reference", REFERENCES)):
            if getattr(self, parameter) not in known:
                expected = ", ".join(map(repr, known))
                raise OptionError(
                    f"{self.name}: expected {parameter} to be one of {expected}, got {getattr(self, parameter)!r}"
                )
        if self.decay is not None and self.feature_map != "positions":
            raise OptionError(f"{self.name}: decay belongs to feature_map='positions', got {self.feature_map!r}")
        if isinstance(self.decay, np.ndarray | list):
            object.__setattr__(self, "decay", tuple(np.asarray(self.decay, np.float64).tolist()))
        self._oracle(self.problem)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether this bound is convex in the scores."""
        return self.bound == "convex"

    @property
    def problem(self) -> Problem:
        """The parameters, resolved, as oracles take them."""
        return resolve(
            name=self.name,
            measure=self.measure,
            k=self.k,
            default_k=self.default_k,
            gain=self.gain,
            discount=self.discount,
            relevant_at=self.relevant_at,
            feature_map=self.feature_map,
            scale=self.scale,
            decay="sqrt" if self.decay is None else self.decay,
            reference=self.reference,
            margin=getattr(self, "margin", "unit"),
        )

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the oracle; for the tight bound also what it subtracts."""
        refuse_row_weights(data, self.name)
        require_labels(data, self.name)
        hinge = self._oracle(self.problem)(self.problem, data)
        if self.convex:
            return hinge
        return Difference(hinge, self.subtracted_part().prepare(data))

    def convex_part(self) -> StructuredHinge:
        """Return the convex hinge; ``tight = convex_part - subtracted_part``."""
        return dataclasses.replace(self, bound="convex")

    def subtracted_part(self) -> SubtractedPart:
        """Return what the tight bound subtracts: the greatest ``w · phi`` less the reference's, convex and >= 0.

        Its gradient at fixed scores is the linear function by which a successive convex approximation (CCCP)
        replaces it: ``convex_part - gradient · s`` is convex and touches the tight bound there.
        """
        if self.feature_map not in REFERENCE_PARTS:
            raise OptionError(f"{self.name}: the map {self.feature_map!r} was registered without a tight bound")
        return SubtractedPart(self)

    def _oracle(self, problem: Problem) -> Preparation:
        known = [kind for a_map, kind in ORACLES if a_map == self.feature_map]
        if not known:
            raise unknown_name("feature_map", self.feature_map, {a_map for a_map, _ in ORACLES})
        if problem.kind not in known:
            raise OptionError(
                f"{self.name}: no exact oracle for {problem.measure} on the map {self.feature_map!r}"
                f"{_advice(problem.kind)}; this map has {', '.join(sorted(known))}"
            )
        return ORACLES[self.feature_map, problem.kind]


def _advice(kind: str) -> str:
    """Say where a measure that an assignment of documents to ranks cannot express belongs."""
    if kind == "AP":
        return ", since precision counts the good documents above a rank; use svm-map, which optimises it on pairs"
    return ""


@dataclass(frozen=True)
class SubtractedPart(Objective):
    """The convex function that a tight bound subtracts; an objective like any other, so every risk can evaluate it."""

    name: ClassVar[str] = "subtracted part"

    hinge: StructuredHinge

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the best ranking by ``w · phi`` on the hinge's map."""
        require_labels(data, self.hinge.name)
        problem = self.hinge.problem
        return REFERENCE_PARTS[self.hinge.feature_map](problem, data)


class Difference(Prepared):
    """One prepared objective minus another."""

    def __init__(self, first: Prepared, second: Prepared) -> None:
        self.indptr, self.ranks = first.indptr, first.ranks or second.ranks
        self._first, self._second = first, second

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Subtract losses and gradients."""
        losses = self._first.evaluate(first, last, scores, order, gradient)
        subtracted = np.zeros_like(gradient)
        losses = losses - self._second.evaluate(first, last, scores, order, subtracted)
        gradient -= subtracted
        return losses
