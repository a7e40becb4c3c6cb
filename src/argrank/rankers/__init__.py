"""Rankers as scikit-learn estimators: an objective, a model and a solver put together.

Every registered ranker is made by name, ``make_ranker("svm-map")``, or imported as a class,
``from argrank.rankers import SVMmap``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argrank.errors import OptionError
from argrank.rankers.registry import RANKERS, ranker_class, ranker_names

if TYPE_CHECKING:
    from argrank.objectives.objective import Objective
    from argrank.rankers.base_ranker import BaseRanker
    from argrank.rankers.boosted.adarank import AdaRank
    from argrank.rankers.boosted.direct_rank_trees import DirectRankTrees
    from argrank.rankers.boosted.frank import FRank
    from argrank.rankers.boosted.lambda_mart import LambdaMART
    from argrank.rankers.boosted.mart import MART
    from argrank.rankers.boosted.mcrank import McRank
    from argrank.rankers.boosted.query_mart import QueryMART
    from argrank.rankers.boosted.rankboost import RankBoost
    from argrank.rankers.boosted.xendcg_mart import XendcgMART
    from argrank.rankers.climbing.coordinate_ascent import CoordinateAscent
    from argrank.rankers.climbing.direct_rank import DirectRank
    from argrank.rankers.factors.factor_rank import FactorRank
    from argrank.rankers.factors.position_match import PositionMatch
    from argrank.rankers.linear.dorm import DORM
    from argrank.rankers.linear.lambdarank import LambdaRank
    from argrank.rankers.linear.listwise import ListNet, RankCosine
    from argrank.rankers.linear.log_rank import LogCombined, LogConvex, LogGain, LogLoss, LogMLE
    from argrank.rankers.linear.orm import ORM
    from argrank.rankers.linear.rank_svm import RankSVM
    from argrank.rankers.linear.regression import Regression
    from argrank.rankers.linear.smooth_grad import SmoothGrad
    from argrank.rankers.linear.softrank import SoftRank
    from argrank.rankers.linear.svm_auc import SVMauc
    from argrank.rankers.linear.svm_combo import SVMcombo
    from argrank.rankers.linear.svm_map import SVMmap
    from argrank.rankers.linear.svm_mrr import SVMmrr
    from argrank.rankers.linear.svm_ndcg import SVMndcg
    from argrank.rankers.linear.svm_ndcg_nc import SVMndcgNC
    from argrank.trials.auto.ranker import Auto

__all__ = [  # noqa: RUF022 (the functions first)
    "make_ranker",
    "objective",
    "ranker_names",
    "AdaRank",
    "Auto",
    "BaseRanker",
    "CoordinateAscent",
    "DORM",
    "DirectRank",
    "DirectRankTrees",
    "FRank",
    "FactorRank",
    "LambdaMART",
    "LambdaRank",
    "ListNet",
    "LogCombined",
    "LogConvex",
    "LogGain",
    "LogLoss",
    "LogMLE",
    "MART",
    "McRank",
    "ORM",
    "PositionMatch",
    "QueryMART",
    "RankBoost",
    "RankCosine",
    "RankSVM",
    "Regression",
    "SVMauc",
    "SVMcombo",
    "SVMmap",
    "SVMmrr",
    "SVMndcg",
    "SVMndcgNC",
    "SmoothGrad",
    "SoftRank",
    "XendcgMART",
]


def make_ranker(name: str, **parameters: Any) -> BaseRanker:
    """Make a ranker by its registered name: ``ar.make_ranker("rank-svm", C=0.1)``."""
    cls = ranker_class(name)
    try:
        return cls(**parameters)
    except TypeError as error:
        known = cls._get_param_names()
        unknown = next((parameter for parameter in parameters if parameter not in known), None)
        if unknown is None:
            raise
        raise OptionError(f"{name} has no parameter {unknown!r}; it has {', '.join(known)}") from error


def objective(name: str, **parameters: Any) -> Objective:
    """Return what ``make_ranker(name, **parameters)`` minimises, as a function of scores.

    ``objective(name)(scores, data) -> (value, gradient)`` works with anybody's scores. They and the gradient are in the
    caller's row order; the value is the mean over all queries of the query's loss, or, for the losses that count every
    pair alike (``rank-svm``, ``log-mle``, ``log-combined``, ``log-convex``), over all pairs, in both cases weighted by
    ``query_weight`` where given. Rankers that minimise no function of scores have none.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[1.0], [0.0], [3.0]], [1, 0, 0], qid=["a", "a", "a"])
    >>> value, gradient = ar.objective("rank-svm")([0.5, 0.0, 1.0], data)
    >>> value, gradient.tolist()
    (1.25, [-2.0, 0.5, 1.5])
    """
    return make_ranker(name, **parameters)._objective()


def __getattr__(name: str) -> Any:
    """Import the class of a registered ranker when it is first asked for."""
    for registered, line in RANKERS.items():
        if line.home.endswith(f":{name}"):
            return ranker_class(registered)
    if name == "BaseRanker":
        from argrank.rankers.base_ranker import BaseRanker

        return BaseRanker
    raise AttributeError(f"module 'argrank.rankers' has no attribute {name!r}")
