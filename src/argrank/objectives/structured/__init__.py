"""Structured hinges: for every feature map and measure the exact most violated ranking, one file each.

To add one: a file, and a line below. To add one from outside: ``register``.
"""

from __future__ import annotations

from argrank.objectives.structured import first as reciprocal_rank
from argrank.objectives.structured.hinge import ORACLES, REFERENCE_PARTS, StructuredHinge, register
from argrank.objectives.structured.pairs import auc, average_precision, ndcg, staircase
from argrank.objectives.structured.pairs import by_score as sorted_pairs
from argrank.objectives.structured.pairs import discounted as discounted_pairs
from argrank.objectives.structured.pairs import reciprocal_rank as reciprocal_rank_pairs
from argrank.objectives.structured.positions import oracle as positions
from argrank.objectives.structured.problem import Problem

__all__ = ["ORACLES", "Problem", "StructuredHinge", "register"]

REFERENCE_PARTS["discounted-pairs"] = discounted_pairs.prepare_reference
REFERENCE_PARTS["first"] = reciprocal_rank.prepare_reference
REFERENCE_PARTS["pairs"] = sorted_pairs.prepare
REFERENCE_PARTS["positions"] = positions.prepare_reference

register("discounted-pairs", "AP", discounted_pairs.prepare)
register("discounted-pairs", "nDCG", discounted_pairs.prepare)
register("first", "RR", reciprocal_rank.prepare)
register("pairs", "AP", average_precision.prepare)
register("pairs", "AUC", auc.prepare)
register("pairs", "DCG", ndcg.prepare)
register("pairs", "ERR", staircase.prepare)
register("pairs", "P", ndcg.prepare)
register("pairs", "RR", reciprocal_rank_pairs.prepare)
register("pairs", "WTA", ndcg.prepare)
register("pairs", "nDCG", ndcg.prepare)
register("pairs", "terms", staircase.prepare)
register("positions", "DCG", positions.prepare)
register("positions", "P", positions.prepare)
register("positions", "RR", positions.prepare)
register("positions", "WTA", positions.prepare)
register("positions", "nDCG", positions.prepare)
