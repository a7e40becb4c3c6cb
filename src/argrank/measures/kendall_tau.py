"""Kendall's tau between scores and labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.pairs import balance, n_pairs, n_untied
from argrank.measures.rankings import Rankings


@dataclass(frozen=True, repr=False)
class KendallTau(Measure):
    """Tau-b: (pairs in right order - pairs in wrong order) / sqrt(pairs untied in label * pairs untied in score).

    Undefined if all labels are equal; 0 if all scores are equal. Under a convention that breaks ties there are no tied
    scores.
    """

    spelling = "tau"
    aliases = ("tau", "kendall", "kendall_tau", "kendalltau", "tau_b")
    bounds = (-1.0, 1.0)
    averages_ties = False  # tau-b divides by the pairs with different scores

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        by_label, by_score = n_pairs(rankings.labels), n_untied(rankings)
        product = np.sqrt(by_label * by_score)
        tau = np.divide(balance(rankings, rankings.labels), product, out=np.zeros(len(product)), where=product > 0)
        return np.where(by_label > 0, tau, np.nan)
