"""What is reported: one file per measure, the parser of their names, the conventions of other tools."""

from __future__ import annotations

from argrank.measures.auc import AUC as AUC
from argrank.measures.average_precision import AP as AP
from argrank.measures.bpref import Bpref as Bpref
from argrank.measures.counts import NumRel as NumRel
from argrank.measures.counts import NumRelRet as NumRelRet
from argrank.measures.counts import NumRet as NumRet
from argrank.measures.counts import SetF as SetF
from argrank.measures.counts import SetP as SetP
from argrank.measures.counts import SetR as SetR
from argrank.measures.dcg import DCG as DCG
from argrank.measures.err import ERR as ERR
from argrank.measures.eru import ERU as ERU
from argrank.measures.inferred_ap import InfAP as InfAP
from argrank.measures.interpolated_precision import IPrec as IPrec
from argrank.measures.judged import Judged as Judged
from argrank.measures.kendall_tau import KendallTau as KendallTau
from argrank.measures.mean_ndcg import MeanNDCG as MeanNDCG
from argrank.measures.measure import Measure as Measure
from argrank.measures.ndcg import NDCG as NDCG
from argrank.measures.precision import P as P
from argrank.measures.r_precision import Rprec as Rprec
from argrank.measures.rbp import RBP as RBP
from argrank.measures.recall import R as R
from argrank.measures.reciprocal_rank import RR as RR
from argrank.measures.success import Success as Success
from argrank.measures.wta import WTA as WTA

#: Every measure by its name. To add one: a file beside this one, and its line above.
MEASURES: dict[str, type[Measure]] = {
    kind.spelling: kind
    for _, kind in sorted(globals().items())
    if isinstance(kind, type) and issubclass(kind, Measure) and kind is not Measure
}

ALIASES = {alias: kind.spelling for kind in MEASURES.values() for alias in kind.aliases}
