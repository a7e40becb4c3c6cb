"""Learners as scikit-learn estimators: an objective, a model and a solver put together; one file per family."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, cast

from argrank.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from argrank.rankers._base import BaseRanker

#: Registered learners: name -> module and class. The command line, the contract tests and the docs follow from it.
RANKERS = {
    "adarank": ("argrank.rankers.adarank", "AdaRank"),
    "coordinate-ascent": ("argrank.rankers.coordinate_ascent", "CoordinateAscent"),
    "direct-rank": ("argrank.rankers.direct_rank", "DirectRank"),
    "direct-rank-trees": ("argrank.rankers.direct_rank_trees", "DirectRankTrees"),
    "dorm": ("argrank.rankers.dorm", "DORM"),
    "factor-rank": ("argrank.rankers.factor_rank", "FactorRank"),
    "frank": ("argrank.rankers.frank", "FRank"),
    "lambda-mart": ("argrank.rankers.lambda_mart", "LambdaMART"),
    "lambdarank": ("argrank.rankers.lambdarank", "LambdaRank"),
    "listnet": ("argrank.rankers.listwise", "ListNet"),
    "log-combined": ("argrank.rankers.log_rank", "LogCombined"),
    "log-convex": ("argrank.rankers.log_rank", "LogConvex"),
    "log-gain": ("argrank.rankers.log_rank", "LogGain"),
    "log-loss": ("argrank.rankers.log_rank", "LogLoss"),
    "log-mle": ("argrank.rankers.log_rank", "LogMLE"),
    "mart": ("argrank.rankers.mart", "MART"),
    "mcrank": ("argrank.rankers.mcrank", "McRank"),
    "orm": ("argrank.rankers.orm", "ORM"),
    "position-match": ("argrank.rankers.position_match", "PositionMatch"),
    "rank-cosine": ("argrank.rankers.listwise", "RankCosine"),
    "rank-svm": ("argrank.rankers.rank_svm", "RankSVM"),
    "rankboost": ("argrank.rankers.rankboost", "RankBoost"),
    "regression": ("argrank.rankers.regression", "Regression"),
    "smooth-grad": ("argrank.rankers.smooth_grad", "SmoothGrad"),
    "softrank": ("argrank.rankers.softrank", "SoftRank"),
    "svm-auc": ("argrank.rankers.svm_auc", "SVMauc"),
    "svm-combo": ("argrank.rankers.svm_combo", "SVMcombo"),
    "svm-map": ("argrank.rankers.svm_map", "SVMmap"),
    "svm-mrr": ("argrank.rankers.svm_mrr", "SVMmrr"),
    "svm-ndcg": ("argrank.rankers.svm_ndcg", "SVMndcg"),
    "svm-ndcg-nc": ("argrank.rankers.svm_ndcg_nc", "SVMndcgNC"),
}


#: Learners that take other data than judged documents, by what they take; all others are for "ranking".
TASKS = {
    "factor-rank": "factors",  # (user, item, rating) triples
    "position-match": "slots",  # documents, and what each is worth at each slot
}


def ranker_names(task: str | None = "ranking") -> list[str]:
    """Return the names of the registered learners of a task: "ranking", "factors" or "slots"; None for all."""
    return sorted(name for name in RANKERS if task is None or TASKS.get(name, "ranking") == task)


def ranker_class(name: str) -> type[BaseRanker]:
    """Return the class of a registered learner."""
    if name not in RANKERS:
        raise unknown_name("ranker", name, RANKERS)
    module, attribute = RANKERS[name]
    return cast("type[BaseRanker]", getattr(importlib.import_module(module), attribute))


def make_ranker(name: str, **parameters: Any) -> BaseRanker:
    """Make a learner by its registered name: ``ar.make_ranker("rank-svm", C=0.1)``."""
    cls = ranker_class(name)
    try:
        return cls(**parameters)
    except TypeError as error:
        known = cls._get_param_names()
        unknown = next((parameter for parameter in parameters if parameter not in known), None)
        if unknown is None:
            raise
        raise OptionError(f"{name} has no parameter {unknown!r}; it has {', '.join(known)}") from error
