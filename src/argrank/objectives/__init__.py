"""What is optimised: functions of the scores of one query, by name. To add one: a file and a line here."""

from __future__ import annotations

import inspect
from typing import Any

from argrank.errors import OptionError, unknown_name
from argrank.objectives.conditional.likelihoods import LogCombined, LogConvex, LogGain, LogLoss, LogMLE
from argrank.objectives.expected_measure import SoftRank
from argrank.objectives.fidelity import FRank
from argrank.objectives.lambda_forces import LambdaRank
from argrank.objectives.listwise import ListNet, RankCosine
from argrank.objectives.objective import Objective
from argrank.objectives.pairwise_hinge import PairwiseHinge
from argrank.objectives.pointwise import SquaredError
from argrank.objectives.smooth import SmoothGrad
from argrank.objectives.structured.combo import SVMcombo
from argrank.objectives.structured.positions.bounds import ORM
from argrank.objectives.structured.presets import DORM, SVMauc, SVMmap, SVMmrr, SVMndcg, SVMndcgNoClip

OBJECTIVES: dict[str, type[Objective]] = {
    "dorm": DORM,
    "frank": FRank,
    "lambdarank": LambdaRank,
    "listnet": ListNet,
    "log-combined": LogCombined,
    "log-convex": LogConvex,
    "log-gain": LogGain,
    "log-loss": LogLoss,
    "log-mle": LogMLE,
    "orm": ORM,
    "rank-cosine": RankCosine,
    "rank-svm": PairwiseHinge,
    "regression": SquaredError,
    "smooth-grad": SmoothGrad,
    "softrank": SoftRank,
    "svm-auc": SVMauc,
    "svm-combo": SVMcombo,
    "svm-map": SVMmap,
    "svm-mrr": SVMmrr,
    "svm-ndcg": SVMndcg,
    "svm-ndcg-nc": SVMndcgNoClip,
}


def objective(name: str, **parameters: Any) -> Objective:
    """Return the objective of a registered name: ``objective("rank-svm")(scores, data) -> (value, gradient)``.

    Works with anybody's scores. They and the gradient are in the caller's row order; the value is the mean over all
    queries of the query's loss, weighted by ``query_weight`` where given.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[1.0], [0.0], [3.0]], [1, 0, 0], qid=["a", "a", "a"])
    >>> value, gradient = ar.objective("rank-svm")([0.5, 0.0, 1.0], data)
    >>> value, gradient.tolist()
    (2.5, [-4.0, 1.0, 3.0])
    """
    if name not in OBJECTIVES:
        raise unknown_name("objective", name, OBJECTIVES)
    kind = OBJECTIVES[name]
    known = inspect.signature(kind).parameters
    for parameter in parameters:
        if parameter not in known:
            listing = ", ".join(known) or "none"
            raise OptionError(f"objective {name!r}: unknown parameter {parameter!r}; known: {listing}")
    return kind(**parameters)
