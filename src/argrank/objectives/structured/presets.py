"""The rankers of the KDD 2008 paper: a measure each, with the feature map the paper gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.errors import OptionError
from argrank.measures.names import measure as parse_measure
from argrank.objectives.structured.hinge import StructuredHinge
from argrank.objectives.structured.pairs.auc import MARGINS


@dataclass(frozen=True)
class SVMauc(StructuredHinge):
    """Pairs of different label in the wrong order (2.1): (1/M) sum of max(0, 1 - 2 (s_i - s_j)) over M pairs.

    Parameters
    ----------
    margin : "unit" or "labels"
        "unit" lets every pair decide for itself: with graded labels the maximum over all sets of preferences, also
        those that no ranking obeys (what RankSVM minimises). "labels" has pairs lose y_i - y_j instead of 1, and is the
        exact maximum over rankings. The two are one for labels 0 and 1.
    """

    name: ClassVar[str] = "svm-auc"

    measure: Any = "auc"
    margin: str = "unit"

    def __post_init__(self) -> None:
        if self.margin not in MARGINS:
            raise OptionError(f"{self.name}: expected margin to be 'unit' or 'labels', got {self.margin!r}")
        super().__post_init__()


@dataclass(frozen=True)
class SVMmap(StructuredHinge):
    """Average precision on pairs (Yue et al. 2007)."""

    name: ClassVar[str] = "svm-map"

    measure: Any = "map"


@dataclass(frozen=True)
class SVMndcg(StructuredHinge):
    """NDCG@k on pairs, k = 10 unless said otherwise; also P@k, DCG@k (both over their ideal), WTA.

    Queries of two levels of gain cost O(n log n + k²). With L > 2 levels the search goes through at most C(k+L, L)
    states, as a rule a few of a hundred; where a query would have more than a million (k = 30 with six large levels,
    say), preparing raises an OptionError that names the ways out: a smaller k, fewer levels, or ``dorm``.
    """

    name: ClassVar[str] = "svm-ndcg"
    default_k: ClassVar[int | None] = 10


@dataclass(frozen=True)
class SVMndcgNoClip(StructuredHinge):
    """NDCG over the whole list on pairs (SVMndcg-nc): O(n log n) for two levels of gain.

    Graded labels need a table of the product of the level sizes, see ``SVMndcg``; the paper has two levels
    (``gain="binary"``).
    """

    name: ClassVar[str] = "svm-ndcg-nc"


@dataclass(frozen=True)
class SVMmrr(StructuredHinge):
    """Reciprocal rank at k = 10 on the first map, or on pairs."""

    name: ClassVar[str] = "svm-mrr"
    default_k: ClassVar[int | None] = 10

    measure: Any = "mrr"
    feature_map: str = "first"


@dataclass(frozen=True)
class DORM(StructuredHinge):
    """NDCG@k (or DCG@k, P@k, WTA, MRR where one document is relevant) on positions, k = 10 unless said otherwise."""

    name: ClassVar[str] = "dorm"
    default_k: ClassVar[int | None] = 10

    feature_map: str = "positions"


def ranker_of(measure: Any) -> type[StructuredHinge]:
    """Return the ranker that has a measure, with the paper's feature map for it."""
    kind = parse_measure(measure)
    for ranker in (SVMauc, SVMmap, SVMmrr):
        if parse_measure(ranker.measure).spelling == kind.spelling:
            return ranker
    if kind.spelling == "nDCG" and kind.k is None:  # type: ignore[attr-defined]
        return SVMndcgNoClip
    return SVMndcg
