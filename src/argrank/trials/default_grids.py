"""The grid that is tried for a learner when the user names none."""

from __future__ import annotations

from typing import Any

from argrank.rankers import RANKERS, make_ranker

#: For LogRank's: a sum over all pairs, or over a sample of rankings, which is far smaller and wants a greater C.
SUM_C_VALUES = {"values": [1.0, 30.0, 1e3, 3e4, 1e6], "divide_by": "pairs"}

#: For learners of trees with one weight for all of them.
TREES: dict[str, Any] = {"n_leaves": [10, 31], "learning_rate": [0.05, 0.1, 0.3]}

#: Where a learner's parameters have another scale than others' of the same name.
GRIDS: dict[str, dict[str, Any]] = {
    "adarank": {"n_rounds": [1, 3, 10, 30, 100]},
    "direct-rank-trees": {"n_leaves": [10, 31], "weight_range": [(0.05, 0.1), (0.1, 0.2), (0.1, 0.5)]},
    "frank": {"n_rounds": [3, 10, 30, 100, 300]},
    "lambda-mart": TREES,
    "lambdarank": {"learning_rate": [0.0003, 0.001, 0.003, 0.01]},
    "log-combined": {"C": SUM_C_VALUES},
    "log-convex": {"C": SUM_C_VALUES},
    "log-mle": {"C": SUM_C_VALUES},
    "mart": TREES,
    "mcrank": TREES,
    "rank-svm": {"C": {"values": [0.005, 0.05, 0.5, 5.0, 50.0], "divide_by": "pairs"}},
    "rankboost": {"n_rounds": [10, 30, 100, 300]},
    "regression": {"ridge": [0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0]},
    "softrank": {"C": [1.0, 10.0, 100.0, 1e3, 1e4]},
}

#: For every learner that has C, whose risk is a mean over queries.
C_VALUES = [0.01, 0.1, 1.0, 10.0, 100.0]


def default_grid(ranker: Any) -> dict[str, Any]:
    """Return the grid of a learner, given by name or as an estimator; empty where there is nothing to choose."""
    name = ranker if isinstance(ranker, str) else registered_name(ranker)
    if name in GRIDS:
        return GRIDS[name]
    parameters = make_ranker(name) if isinstance(ranker, str) else ranker
    return {"C": C_VALUES} if "C" in parameters.get_params() else {}


def registered_name(ranker: Any) -> str:
    """Return the name under which an estimator's class is registered, else the name of the class."""
    cls = type(ranker)
    for name, (module, attribute) in RANKERS.items():
        if (cls.__module__, cls.__name__) == (module, attribute):
            return name
    return cls.__name__
