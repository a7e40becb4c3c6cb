"""SVMcombo: several measures at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.errors import OptionError, shown
from argrank.measures.names import measure as parse_measure
from argrank.objectives.structured import StructuredHinge
from argrank.objectives.structured.combination import Combination, Slacks
from argrank.rankers.estimator import GainsAndDiscounts
from argrank.rankers.linear.structured_ranker import HingeBound, StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMcombo(GainsAndDiscounts, StructuredRanker):
    """Linear ranker for several measures at once, each with its own most violated ranking.

    ``weights`` are the paper's C_l, relative to C. The defaults are those of svm-ndcg: the tight bound, started from
    RankSVM, on the scaled pairs map for all measures.

    Parameters
    ----------
    measures : sequence of measures or structured objectives
        What is optimised together; a named measure uses the map of its own ranker, NDCG without a cut-off the whole
        list. An objective such as ``ar.objective("svm-mrr", feature_map="pairs")`` is used unchanged, with this bound.
    weights : number, sequence of one weight per measure, or array of shape (n_queries, n_measures)
        The array gives every query its own, so that navigational queries may train on MRR, others on NDCG.
    feature_map : "pairs" or "first"
        The map of MRR; all others use pairs. The paper uses "first", whose sums outweigh the other measures.
    slacks
        The sum of the measures' hinges, or the largest of them. Separate slacks did better on OHSUMED, as in the paper.
    """

    ranker: ClassVar[str] = "svm-combo"
    minimises: ClassVar[str] = "the hinges of several measures together"

    C: Positive = 1e4
    bound: HingeBound = "tight"
    measures: Any = ("ndcg@10", "map", "mrr@10")
    weights: Any = 1.0
    slacks: Slacks = "separate"
    feature_map: str = "pairs"

    def _objective(self) -> Combination:
        if isinstance(self.measures, str) or not isinstance(self.measures, Sequence) or not self.measures:
            raise OptionError(f"svm-combo: expected measures to be a list of measures, got {shown(self.measures)}")
        hinges = tuple(self._component(one) for one in self.measures)
        return Combination(hinges=hinges, weights=self.weights, slacks=self.slacks)

    def _component(self, one: Any) -> StructuredHinge:
        """Return the hinge of a measure, with the cut-off of its own ranker; only MRR may be on another map."""
        if isinstance(one, StructuredHinge):
            return replace(one, bound=self.bound)
        convention, measure = self._convention(), parse_measure(one)
        structure = measure.structure(convention)
        kind = None if structure is None else structure.kind
        whole = kind in ("precision", "pairs") or (structure is not None and structure.divisor == "ideal")
        feature_map = self.feature_map if kind == "first" else "pairs"
        return self._hinge(measure.cut("auto", None if whole else 10), convention, feature_map=feature_map)

    @property
    def _asked(self) -> Any:
        return self.measures
