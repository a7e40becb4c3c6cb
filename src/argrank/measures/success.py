"""Success: whether there is a relevant document above rank k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.measure import ByRelevance
from argrank.measures.rankings import Rankings
from argrank.measures.reciprocal_rank import first_relevant


@dataclass(frozen=True, repr=False)
class Success(ByRelevance):
    """1 where a relevant document is among the first k, else 0 (also called hit rate). Never undefined.

    Expected over ties it is the probability of one, which depends on the first group with a relevant document.
    """

    spelling = "Success"
    aliases = ("success", "hit_rate")
    reaches_one = True

    k: int | None = None
    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        return np.minimum(first_relevant(rankings, convention.relevant_at, self.k, np.ones_like), 1.0)
