"""SVMcombo: several measures at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.rankers.linear._linear import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMcombo(StructuredRanker):
    """Linear ranker for several measures together, each with its own most violated ranking.

    ``weights`` are the paper's C_l, relative to C.

    Parameters
    ----------
    measures : sequence of measures or structured objectives
        What is optimised together; a measure by name takes the map of its own ranker.
    weights : number, sequence of one weight per measure, or array of shape (n_queries, n_measures)
        The array gives every query its own, so that navigational queries may train on MRR, others on NDCG.
    slacks : "separate" or "shared"
        The sum of the measures' hinges, or the largest of them.
    discount : "log2", "letor" or callable
        Discount of the ranks; "letor" is the paper's.
    gain : "exp2", "linear", "binary", table or callable
        Gain of a label.
    relevant_at : float
        Smallest label of a good document.
    C, bound, penalty, signs, scoring, solver, tol, max_iter, normalise, n_jobs, random_state, verbose
        See ``StructuredRanker``.
    """

    ranker: ClassVar[str] = "svm-combo"
    reported: ClassVar[str] = "ndcg@10"  # by score and validation

    measures: Any = ("ndcg@10", "map", "mrr@10")
    weights: Any = 1.0
    slacks: str = "separate"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
