"""Structured hinges: the exact most violated ranking for every feature map and kind of measure, one file each.

To add one: a file, and a line below. From another package: ``register``.
"""

from __future__ import annotations

from argrank.objectives.structured import first as first_good
from argrank.objectives.structured.hinge import GIVEN_TERMS, ORACLES, REFERENCE_PARTS, StructuredHinge, register
from argrank.objectives.structured.pairs import auc, discounted, ndcg, staircase, suffixes
from argrank.objectives.structured.positions import oracle as positions

__all__ = ["ORACLES", "StructuredHinge", "register"]

REFERENCE_PARTS["discounted-pairs"] = discounted.prepare_reference
REFERENCE_PARTS["first"] = first_good.prepare_reference
REFERENCE_PARTS["pairs"] = auc.prepare_reference
REFERENCE_PARTS["positions"] = positions.prepare_reference

register("discounted-pairs", "additive", discounted.prepare)
register("discounted-pairs", "precision", discounted.prepare)
register("first", "first", first_good.prepare)
register("pairs", "additive", ndcg.prepare)
register("pairs", "cascade", staircase.prepare)
register("pairs", "first", ndcg.prepare_reciprocal_rank)
register("pairs", "pairs", auc.prepare)
register("pairs", "precision", suffixes.prepare_average_precision)
register("pairs", GIVEN_TERMS, staircase.prepare)
register("positions", "additive", positions.prepare)
