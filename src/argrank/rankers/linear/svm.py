"""The structured hinges of KDD 2008: SVMmap, SVMmrr, SVMndcg, SVMndcg-nc, SVMauc, DORM, and SVMcombo of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.measures.auc import AUC
from argrank.measures.average_precision import AP
from argrank.measures.dcg import DCG
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.ndcg import NDCG
from argrank.measures.precision import P
from argrank.measures.product import is_product
from argrank.measures.reciprocal_rank import RR
from argrank.objectives.structured import StructuredHinge
from argrank.objectives.structured.combination import Combination, Slacks
from argrank.objectives.structured.hinge import Bound, Margin, Reference, Scale
from argrank.rankers.estimator import GainsAndDiscounts
from argrank.rankers.linear.linear_ranker import CutOff
from argrank.rankers.linear.structured_ranker import FeatureMap, HingeBound, MeasureHinge, StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMmap(FeatureMap, MeasureHinge):
    """Linear ranker for MAP; the most violated ranking is found by divide and conquer in O(n log n).

    Documents from label ``relevant_at`` up are good. The default is the convex bound, which did not collapse on any of
    our data sets; C was chosen on validation parts. On few queries ``bound="tight", C=1e4`` is often better.
    """

    ranker: ClassVar[str] = "svm-map"
    cutoff: ClassVar[int | None] = None
    kinds: ClassVar[tuple[type[Measure], ...]] = (AP,)

    C: Positive = 100.0
    bound: HingeBound = "convex"
    measure: Any = "map"


@dataclass(eq=False, repr=False, kw_only=True)
class SVMmrr(CutOff, FeatureMap, MeasureHinge):
    """Linear ranker for MRR@k, by default on the scaled pairs map and with the tight bound.

    ``feature_map="first"`` is the paper's own map (phi_mrr), on which the most violated ranking takes O(n), without a
    sort. If a query has several good documents, that map bounds the rank of the *lowest* of them: the most violated
    ranking may put any good document first and picks the one with the lowest score, so all of them are pushed up. Its
    sums over documents grow with the list, and its convex bound mostly has its optimum at w = 0 (``collapsed_``).

    The default C suits the tight bound on the pairs map, whose weights are long since the map is a mean over pairs.
    """

    ranker: ClassVar[str] = "svm-mrr"
    kinds: ClassVar[tuple[type[Measure], ...]] = (RR,)

    C: Positive = 1e4
    bound: HingeBound = "tight"
    measure: Any = "mrr"


@dataclass(eq=False, repr=False, kw_only=True)
class SVMndcg(CutOff, FeatureMap, GainsAndDiscounts, MeasureHinge):
    """Linear ranker for NDCG@k; the most violated ranking takes O(n log n + k²), graded labels a little more.

    Also for ``measure="p@10"`` and ``"dcg@10"``, which have the same structure.

    The default is the tight bound, started from RankSVM: the paper's convex bound (``bound="convex"``) has its optimum
    at w = 0 on data like OHSUMED, for every C. C = 10,000 was best on validation parts, since the map is a mean over
    pairs and its weights are long.
    """

    ranker: ClassVar[str] = "svm-ndcg"
    kinds: ClassVar[tuple[type[Measure], ...]] = (DCG, P)

    C: Positive = 1e4
    bound: HingeBound = "tight"
    measure: Any = "ndcg"


@dataclass(eq=False, repr=False, kw_only=True)
class SVMndcgNC(FeatureMap, GainsAndDiscounts, StructuredRanker):
    """Linear ranker for NDCG of the whole list, good against bad documents.

    Divide and conquer for convex discounts, two cases of it for LETOR's, the full table for any other. The default is
    the tight bound, started from RankSVM, with a C chosen on validation parts: the paper's convex bound does not
    collapse for this measure, but was worse than least squares on OHSUMED.

    Parameters
    ----------
    gain : "binary", table or callable
        Gain of a label; more than two different gains take a table that grows with the product of their numbers.
    feature_map : "pairs", "positions" or a registered name
        The feature vector of a ranking; the default is the paper's.
    """

    ranker: ClassVar[str] = "svm-ndcg-nc"

    C: Positive = 1e4
    bound: HingeBound = "tight"
    gain: Any = "binary"

    @property
    def _asked(self) -> Measure:
        return NDCG()


@dataclass(eq=False, repr=False, kw_only=True)
class SVMauc(StructuredRanker):
    """Linear ranker for AUC: the mean over a query's pairs of ``max(0, 1 - 2 w·(x_i - x_j))``.

    All pairs of different label count, so it trains and reports ``AUC(graded=True)``. It is RankSVM's hinge, averaged
    within queries, with margin 1/2. C was chosen on validation parts.

    Parameters
    ----------
    scale
        "pairs" divides the map by the number of pairs, None leaves sums; C then has another scale.
    margin
        For graded labels: a margin of 1 for every pair, or of the difference of the labels.
    """

    ranker: ClassVar[str] = "svm-auc"

    C: Positive = 100.0
    bound: HingeBound = "convex"
    scale: Scale = "pairs"
    margin: Margin = "unit"

    def _hinge_options(self) -> dict[str, Any]:
        return {"scale": self.scale, "margin": self.margin}

    @property
    def _asked(self) -> Measure:
        return AUC(graded=True)


@dataclass(eq=False, repr=False, kw_only=True)
class DORM(CutOff, GainsAndDiscounts, MeasureHinge):
    """Linear ranker for NDCG@k on the positions map: ``w·phi`` is the sum of the scores times a decay of the rank.

    The most violated ranking is an assignment, solved exactly with far smaller problems than the paper's n x n.

    The default is the tight bound, started from RankSVM, with C = 100, chosen on validation parts; the paper's is
    ``bound="convex"``, which has its optimum at w = 0 on data like OHSUMED. The default reference is not the
    paper's y*, one ideal ranking: "averaged" is the mean over *all* rankings without loss, which does not depend on the
    order of equal documents in the file; ``reference="any"`` is the paper's.

    Parameters
    ----------
    decay : optional
        Weight of the ranks in the positions map: "sqrt" (default), a power, "linear", "log2", "loglog", "measure" or a
        vector that never rises.
    reference
        The ideal ranking that the convex bound compares with: the mean of all ideal ones, one that keeps equal labels
        in their order (the paper's), or the order of the rows.
    """

    ranker: ClassVar[str] = "dorm"

    C: Positive = 100.0
    bound: Bound = "tight"
    measure: Any = "ndcg"
    decay: Any = None
    reference: Reference = "averaged"

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return is_product(measure, self._convention(), data) and measure.cut("auto", self.cutoff) == measure

    def _hinge_options(self) -> dict[str, Any]:
        return {"feature_map": "positions", "scale": None, "decay": self.decay, "reference": self.reference}


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
