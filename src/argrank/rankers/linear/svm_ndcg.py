"""SVMndcg: NDCG with a cut-off, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.rankers.linear._linear import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMndcg(StructuredRanker):
    """Linear ranker for NDCG@k; the most violated ranking takes O(n log n + k²), graded labels a little more.

    Also for ``measure="p@10"`` and ``"dcg@10"``, which have the same structure.

    Parameters
    ----------
    measure : str, Measure or callable
        What is optimised: any measure with an oracle on the feature map.
    k : int or None
        Cut-off of the measure; None for none.
    discount : "log2", "letor" or callable
        Discount of the ranks; "letor" is the paper's.
    gain : "exp2", "linear", "binary", table or callable
        Gain of a label.
    relevant_at : float
        Smallest label of a good document.
    feature_map : "pairs", "first", "positions" or a registered name
        How a ranking becomes a feature vector; the default is the paper's.
    scale : "pairs", "cutoff" or None
        "pairs" divides the pairs map by the number of pairs, "cutoff" the first map by k, None leaves sums.
    C, bound, penalty, signs, scoring, solver, tol, max_iter, normalise, n_jobs, random_state, verbose
        See ``StructuredRanker``.
    """

    ranker: ClassVar[str] = "svm-ndcg"

    measure: Any = "ndcg"
    k: int | None = 10
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    feature_map: str = "pairs"
    scale: str | None = "pairs"
