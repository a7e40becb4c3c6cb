"""A ranker of its own: RankSVM with little trust in its data."""

from __future__ import annotations

from dataclasses import dataclass

import argrank as ar
from argrank.rankers import RankSVM


@dataclass(eq=False, repr=False, kw_only=True)
class ShySVM(RankSVM):
    """RankSVM that keeps its weights small."""

    C: float = 0.01


# With more than the entry point can say: where comparisons show it, and what selection tries.
ar.register_ranker("shy-svm", ShySVM, family="pairwise", grid={"C": [0.001, 0.01]})
