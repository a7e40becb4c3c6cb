"""What is reported: one file per measure, the parser of their names, the conventions of other tools."""

from __future__ import annotations

from argrank.measures.auc import AUC
from argrank.measures.average_precision import AP
from argrank.measures.dcg import DCG
from argrank.measures.err import ERR
from argrank.measures.eru import ERU
from argrank.measures.kendall_tau import KendallTau
from argrank.measures.mean_ndcg import MeanNDCG
from argrank.measures.measure import Measure
from argrank.measures.ndcg import NDCG
from argrank.measures.precision import P
from argrank.measures.rbp import RBP
from argrank.measures.recall import R
from argrank.measures.reciprocal_rank import RR
from argrank.measures.wta import WTA

__all__ = [
    "ALIASES",
    "AP",
    "AUC",
    "DCG",
    "ERR",
    "ERU",
    "MEASURES",
    "NDCG",
    "RBP",
    "RR",
    "WTA",
    "KendallTau",
    "MeanNDCG",
    "Measure",
    "P",
    "R",
]

#: Every measure by its name. To add one: a file beside this one, and a line here.
MEASURES: dict[str, type[Measure]] = {
    kind.spelling: kind
    for kind in (
        AP,
        AUC,
        DCG,
        ERR,
        ERU,
        KendallTau,
        MeanNDCG,
        NDCG,
        P,
        R,
        RBP,
        RR,
        WTA,
    )
}

ALIASES = {alias: kind.spelling for kind in MEASURES.values() for alias in kind.aliases}
