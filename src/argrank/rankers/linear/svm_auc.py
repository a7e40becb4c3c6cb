"""SVMauc: the area under the ROC curve, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from argrank.rankers.linear._linear import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMauc(StructuredRanker):
    """Linear ranker for AUC: the mean over a query's pairs of ``max(0, 1 - 2 w·(x_i - x_j))``.

    Pairs are across all levels of graded labels. It is RankSVM's hinge, averaged within queries, with margin 1/2.

    Parameters
    ----------
    scale : "pairs", "cutoff" or None
        "pairs" divides the pairs map by the number of pairs, "cutoff" the first map by k, None leaves sums.
    margin : "unit" or "labels"
        For graded labels: a margin of 1 for every pair, or of the difference of the labels.
    C, bound, penalty, signs, scoring, solver, tol, max_iter, normalise, n_jobs, random_state, verbose
        See ``StructuredRanker``.
    """

    ranker: ClassVar[str] = "svm-auc"
    reported: ClassVar[str] = "auc"  # by score and validation

    scale: str | None = "pairs"
    margin: str = "unit"
