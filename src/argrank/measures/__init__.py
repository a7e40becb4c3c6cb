"""What is reported: one file per measure, the parser of their names, the conventions of other tools."""

from __future__ import annotations

from argrank.measures.average_precision import AP
from argrank.measures.dcg import DCG
from argrank.measures.measure import Measure
from argrank.measures.ndcg import NDCG
from argrank.measures.reciprocal_rank import RR

#: Every measure by its name. To add one: a file beside this one, and a line here.
MEASURES: dict[str, type[Measure]] = {
    kind.spelling: kind
    for kind in (
        AP,
        DCG,
        NDCG,
        RR,
    )
}

ALIASES = {alias: kind.spelling for kind in MEASURES.values() for alias in kind.aliases}
