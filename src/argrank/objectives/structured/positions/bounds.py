"""ORM: a bound of any loss of the form a · b, found by assigning documents to ranks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.sources import check_diverse, source_numbers
from argrank.errors import OptionError
from argrank.objectives.objective import Objective, Prepared, refuse_row_weights
from argrank.objectives.structured.hinge import REFERENCES, Difference
from argrank.objectives.structured.positions.best_by_score import BestByScore
from argrank.objectives.structured.positions.decay import decay_vector
from argrank.objectives.structured.positions.diverse import DiverseAssignment, diverse_reference
from argrank.objectives.structured.positions.full_assignment import FullAssignment
from argrank.objectives.structured.positions.oracle import (
    LessReference,
    best_assignment,
    has_pairs,
    require_single_good,
)
from argrank.objectives.structured.positions.product import ProductProblem, greatest, product_problem
from argrank.objectives.structured.positions.reference import reference_coefficients

BOUNDS = ("convex", "tie-broken", "tight")
ASSIGNMENTS = ("auto", "full")


@dataclass(frozen=True)
class ORM(Objective):
    """Upper bounds of the loss ``max a · b - a · b[ranking]`` (Le, Smola, Chapelle and Teo, section 3).

    The scores s rank; ``c · s[ranking]`` is greatest for the ranking by score. Every bound is
    ``max over rankings of (c · s - a · b) + max a · b - c · s[reference]``; they differ in the reference.

    Parameters
    ----------
    measure : str or Measure
        WTA, MRR (one relevant document a query), DCG, NDCG, P@k, ERU, nERU, each with or without a cut-off.
    k : int, None or "auto"
        Cut-off; "auto" for the one in ``measure``.
    discount, gain, relevant_at
        As in every ranker.
    a, b : optional
        A measure of one's own, see ``argrank.measures.product.Product``; it takes the place of ``measure``.
    decay : optional
        c: "sqrt" (default) 1/sqrt(i), a number d for i^-d, "linear" max(k + 1 - i, 0), "log2" 1/log2(i + 1), "loglog"
        1/log2(log2(i + 1) + 1), "measure" for c = a, or a vector that never rises (short ones are extended by zeros).
    reference : "averaged", "any" or "given"
        The ideal ranking of the convex bound: the mean of all ideal ones, one that keeps equals in their order, or the
        rows as they come.
    bound : "convex", "tie-broken" or "tight"
        Equation 20; equation 21, whose reference is the ideal ranking of the highest score; equation 22, whose
        reference is the ranking by score. Each lies below the one before, and above the loss.
    assignment : "auto" or "full"
        The cheapest exact method for each query, or SciPy's on all documents and ranks.
    diverse : bool or int
        Rankings hold at most one document (or so many) of a source at the first k ranks, and no more ranks count.
    """

    name: ClassVar[str] = "orm"

    measure: Any = "ndcg@10"
    k: Any = "auto"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    a: Any = None
    b: Any = None
    decay: Any = None
    reference: str = "averaged"
    bound: str = "convex"
    assignment: str = "auto"
    diverse: bool | int = False

    def __post_init__(self) -> None:
        choices = (("bound", BOUNDS), ("reference", REFERENCES), ("assignment", ASSIGNMENTS))
        for parameter, known in choices:
            if getattr(self, parameter) not in known:
                expected = ", ".join(map(repr, known))
                raise OptionError(
                    f"{self.name}: expected {parameter} to be one of {expected}, got {getattr(self, parameter)!r}"
                )
        for parameter in ("decay", "a", "b"):
            if isinstance(getattr(self, parameter), np.ndarray | list):  # values that compare and hash
                object.__setattr__(self, parameter, tuple(np.asarray(getattr(self, parameter), np.float64).tolist()))
        if self.diverse is not False:
            check_diverse(self.diverse)
            if self.assignment == "full":
                raise OptionError(f"{self.name}: expected assignment='auto' for diverse rankings, got 'full'")
        decay_vector(self.problem, 1)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether this bound is convex in the scores."""
        return self.bound == "convex"

    @property
    def problem(self) -> ProductProblem:
        """The parameters, resolved."""
        return product_problem(
            self.name,
            self.measure,
            self.a,
            self.b,
            k=self.k,
            gain=self.gain,
            discount=self.discount,
            relevant_at=self.relevant_at,
            feature_map="positions",
            scale=None,
            decay="sqrt" if self.decay is None else self.decay,
            reference=self.reference,
            margin="unit",
        )

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the hinge; for the bounds that are not convex also what they subtract."""
        refuse_row_weights(data, self.name)
        parts = _Parts(self, data)
        hinge = LessReference(parts.worst(), parts.reference, parts.ideal, parts.pairs)
        return hinge if self.convex else Difference(hinge, parts.subtracted(self.bound))

    def convex_part(self) -> ORM:
        """Return the convex bound; the others are ``convex_part - subtracted_part``."""
        return dataclasses.replace(self, bound="convex")

    def subtracted_part(self) -> SubtractedReference:
        """Return what a bound that is not convex subtracts: the greatest ``c · s`` of its references, convex.

        Its gradient gives the tangent that successive convex approximation (Algorithm 2) puts in its place.
        """
        return SubtractedReference(self)


@dataclass(frozen=True)
class SubtractedReference(Objective):
    """The score of the best reference ranking, less that of the convex bound's."""

    name: ClassVar[str] = "subtracted reference"

    hinge: ORM

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the best reference."""
        return _Parts(self.hinge, data).subtracted(self.hinge.bound)


class _Parts:
    """Everything of a bound that labels alone decide."""

    def __init__(self, asked: ORM, data: Dataset) -> None:
        problem, longest = asked.problem, int(data.sizes.max())
        if problem.kind == "RR":
            require_single_good(problem, data)
        self.data, self.full = data, asked.assignment == "full"
        self.gains, self.worth = problem.gains(data), problem.worth(longest)
        self.decay = decay_vector(problem, longest)
        self.at_most = longest if asked.diverse is False else int(asked.diverse)
        self.diverse = asked.diverse is not False
        self.k = min(problem.k or longest, longest) if self.diverse else longest
        self.sources = source_numbers(data) if self.diverse else np.zeros(data.n_documents, np.int64)
        if self.diverse:
            self.reference, self.ideal = diverse_reference(
                data, self.gains, self.sources, self.decay, self.worth, self.k, self.at_most, asked.reference
            )
            if problem.is_normalised:
                self._normalise()
        else:
            self.reference = reference_coefficients(problem.reference, self.gains, data.indptr, self.decay, self.worth)
            self.ideal = greatest(self.gains, self.worth, data)
        self.levels = problem.levels(data)
        self.pairs = has_pairs(self.levels, data.indptr)

    def _normalise(self) -> None:
        """Divide by what the best diverse ranking is worth: the best loses nothing."""
        share = np.divide(1.0, self.ideal, out=np.zeros_like(self.ideal), where=self.ideal > 0)
        self.gains = self.gains * np.repeat(share, self.data.sizes)
        self.ideal = np.where(self.ideal > 0, 1.0, 0.0)

    def worst(self) -> Prepared:
        """Prepare the most violated ranking."""
        indptr = self.data.indptr
        if self.diverse:
            return DiverseAssignment(indptr, self.gains, self.sources, self.decay, self.worth, self.k, self.at_most)
        if self.full:
            return FullAssignment(indptr, self.gains, self.decay, self.worth)
        return best_assignment(self.data, self.gains, self.levels, self.decay, self.worth)

    def subtracted(self, bound: str) -> Prepared:
        """Prepare the score of the best reference less that of the convex bound's."""
        gains: Floats = self.gains if bound == "tie-broken" else np.zeros_like(self.gains)
        worth = self.worth if bound == "tie-broken" else np.zeros_like(self.worth)
        best = BestByScore(self.data.indptr, gains, self.decay, worth, self.sources, self.k, self.at_most)
        return LessReference(best, self.reference, np.zeros_like(self.ideal), self.pairs)
