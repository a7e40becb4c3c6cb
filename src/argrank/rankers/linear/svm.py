"""SVMmap, SVMmrr, SVMndcg, SVMndcg-nc and SVMauc: a measure each, as structured hinge (KDD 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.measures.auc import AUC
from argrank.measures.average_precision import AP
from argrank.measures.dcg import DCG
from argrank.measures.measure import Measure
from argrank.measures.ndcg import NDCG
from argrank.measures.precision import P
from argrank.measures.reciprocal_rank import RR
from argrank.objectives.structured.hinge import Margin, Scale
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
