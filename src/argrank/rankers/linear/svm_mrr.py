"""SVMmrr: the reciprocal rank of the first good document, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.rankers.linear._linear import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMmrr(StructuredRanker):
    """Linear ranker for MRR@k; on the first map the most violated ranking takes O(n), without a sort.

    ``feature_map="pairs"`` is the alternative that the paper compares with (Figure 7).

    Parameters
    ----------
    measure : str, Measure or callable
        What is optimised: any measure with an oracle on the feature map.
    k : int or None
        Cut-off of the measure; None for none.
    relevant_at : float
        Smallest label of a good document.
    feature_map : "pairs", "first", "positions" or a registered name
        How a ranking becomes a feature vector; the default is the paper's.
    scale : "pairs", "cutoff" or None
        "pairs" divides the pairs map by the number of pairs, "cutoff" the first map by k, None leaves sums.
    C, bound, penalty, signs, scoring, solver, tol, max_iter, normalise, n_jobs, random_state, verbose
        See ``StructuredRanker``.
    """

    ranker: ClassVar[str] = "svm-mrr"

    measure: Any = "mrr"
    k: int | None = 10
    relevant_at: float = 1.0
    feature_map: str = "first"
    scale: str | None = None
