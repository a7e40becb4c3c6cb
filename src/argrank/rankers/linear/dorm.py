"""DORM: measures of the form sum of gains times discounts, on the positions map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.rankers.linear._linear import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class DORM(StructuredRanker):
    """Linear ranker for NDCG@k on the positions map: ``w·phi`` is the sum of the scores times a decay of the rank.

    The most violated ranking is an assignment, solved exactly by far smaller problems than the paper's n x n.

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
    decay : optional
        Weight of the ranks in the positions map: "sqrt" (default), a power, "linear", "log2", "loglog", "measure" or a
        vector that never rises.
    reference : "averaged", "any" or "given"
        The ideal ranking of equal labels in the positions map.
    C, bound, penalty, signs, scoring, solver, tol, max_iter, normalise, n_jobs, random_state, verbose
        See ``StructuredRanker``.
    """

    ranker: ClassVar[str] = "dorm"

    measure: Any = "ndcg"
    k: int | None = 10
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    decay: Any = None
    reference: str = "averaged"
