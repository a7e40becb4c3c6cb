"""What is reported: one file per measure, the parser of their names, the conventions of other tools."""

from __future__ import annotations

from argrank.measures.auc import AUC
from argrank.measures.average_precision import AP
from argrank.measures.bpref import Bpref
from argrank.measures.counts import NumRel, NumRelRet, NumRet, SetF, SetP, SetR
from argrank.measures.dcg import DCG
from argrank.measures.err import ERR
from argrank.measures.eru import ERU
from argrank.measures.inferred_ap import InfAP
from argrank.measures.interpolated_precision import IPrec
from argrank.measures.judged import Judged
from argrank.measures.kendall_tau import KendallTau
from argrank.measures.mean_ndcg import MeanNDCG
from argrank.measures.measure import Measure
from argrank.measures.ndcg import NDCG
from argrank.measures.precision import P
from argrank.measures.r_precision import Rprec
from argrank.measures.rbp import RBP
from argrank.measures.recall import R
from argrank.measures.reciprocal_rank import RR
from argrank.measures.success import Success
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
    "Bpref",
    "IPrec",
    "InfAP",
    "Judged",
    "KendallTau",
    "MeanNDCG",
    "Measure",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "R",
    "Rprec",
    "SetF",
    "SetP",
    "SetR",
    "Success",
]

#: Every measure by its name. To add one: a file beside this one, and a line here.
MEASURES: dict[str, type[Measure]] = {
    kind.spelling: kind
    for kind in (
        AP,
        AUC,
        Bpref,
        DCG,
        ERR,
        ERU,
        InfAP,
        IPrec,
        Judged,
        KendallTau,
        MeanNDCG,
        NDCG,
        NumRel,
        NumRelRet,
        NumRet,
        P,
        R,
        RBP,
        RR,
        Rprec,
        SetF,
        SetP,
        SetR,
        Success,
        WTA,
    )
}

ALIASES = {alias: kind.spelling for kind in MEASURES.values() for alias in kind.aliases}
