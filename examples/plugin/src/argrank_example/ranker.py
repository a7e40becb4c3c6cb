"""An example ranker: RankSVM with strong regularisation."""

from __future__ import annotations

from dataclasses import dataclass

import argrank as ar
from argrank.rankers import RankSVM


@dataclass(eq=False, repr=False, kw_only=True)
class ShySVM(RankSVM):
    """RankSVM that keeps its weights small."""

    C: float = 0.01


# What the entry point cannot say: where comparisons show the ranker, and what selection tries.
ar.register_ranker("shy-svm", ShySVM, family="pairwise", grid={"C": [0.001, 0.01]})
