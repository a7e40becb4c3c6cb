"""Measures: one file per measure, the parser of their names, the conventions of other tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from argrank._declared import checked
from argrank._registry import Registry
from argrank.errors import OptionError, shown
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
from argrank.measures.function import FunctionMeasure, function_measure
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


def _add(name: str, kind: Any) -> None:
    register_measure(kind, name)


#: Every measure by its name. To add one: a file beside this one, and its line above.
MEASURES: Registry[type[Measure]] = Registry(
    "measure",
    {
        kind.spelling: kind
        for kind in list(globals().values())
        if isinstance(kind, type) and issubclass(kind, Measure) and kind.aliases
    },
    "argrank.measures",
    _add,
)


@checked
def register_measure(kind: type[Measure] | Measure | Callable[..., Any], name: str | None = None) -> None:
    """Register your own measure, so that its name works wherever measures are named.

    Another package can do the same with an entry point of the group ``argrank.measures``, whose name is the spelling.

    Parameters
    ----------
    kind : type, or function
        A frozen dataclass that derives from `ar.Measure`, with its ``spelling`` and ``aliases``, in lower case; or a
        function of the labels of a ranking, plain or decorated with `ar.measure`.
    name : str, optional
        The name that the class is expected to have.
    """
    if not isinstance(kind, type | Measure) and callable(kind):
        kind = function_measure(kind)
    if isinstance(kind, FunctionMeasure):
        kind = type(kind)
    if not isinstance(kind, type) or not issubclass(kind, Measure):
        raise OptionError(f"measure: expected a class that derives from Measure, or a function, got {shown(kind)}")
    if name not in (None, kind.spelling):
        raise OptionError(f"measure: expected a class whose spelling is {name!r}, got {kind.spelling!r}")
    if kind.spelling.lower() not in kind.aliases or any(alias != alias.lower() for alias in kind.aliases):
        raise OptionError(
            f"measure {kind.spelling!r}: expected aliases in lower case, {kind.spelling.lower()!r} among them, "
            f"got {shown(kind.aliases)}"
        )
    for spelling, other in MEASURES.own().items():
        if taken := sorted({*kind.aliases} & {*other.aliases}):
            raise OptionError(f"measure {kind.spelling!r}: the alias {taken[0]!r} already belongs to {spelling}")
    MEASURES.register(kind.spelling, kind)
