"""AUC: the share of pairs that the scores put in the right order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.gains import relevance
from argrank.measures.measure import Measure, ratio
from argrank.measures.pairs import balance, n_pairs
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class AUC(Measure):
    """The share of (relevant, other) pairs in right order, tied ones counted half; undefined without a pair.

    ``gAUC``, the graded one, counts all pairs of different labels instead of those across ``rel``. Rankers report the
    one they train: "auc" is binary everywhere, and ``svm-auc``, which trains on all pairs, reports gAUC. Only ranked
    documents form pairs; of a run, those it returned.
    """

    spelling = "AUC"
    aliases = ("auc", "roc_auc")
    reaches_one = True

    rel: float | None = None
    graded: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.graded, bool):
            raise OptionError(f"AUC(graded=…): expected True or False, got {shown(self.graded)}")

    def _spelling(self) -> str:
        return "gAUC" if self.graded else "AUC"

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        levels = rankings.labels
        if not self.graded:
            levels = np.where(levels > -np.inf, rankings.relevant(convention.relevant_at), -np.inf)
        pairs = n_pairs(levels)
        return ratio((balance(rankings, levels) + pairs) / 2.0, pairs)

    def _structure(self, convention: Convention) -> Structure:
        gains = np.asarray if self.graded else relevance(convention.relevant_at)
        return Structure("pairs", gains, np.zeros, "pairs")
