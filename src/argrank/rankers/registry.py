"""The registered rankers, one line each: class, family, default grid, and the data it accepts.

The command line, the contract tests, the documentation, cross-validation and benchmarks follow from these lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from argrank._declared import checked
from argrank._registry import Registry, imported
from argrank.errors import OptionError, check_choice, shown

if TYPE_CHECKING:
    from argrank.objectives.objective import Objective
    from argrank.rankers.base_ranker import BaseRanker

#: Families in the order in which comparisons show them.
FAMILIES = ("blend", "pointwise", "pairwise", "structured", "conditional", "listwise", "direct", "trees", "factors")

#: Kinds of training data: judged documents; (user, item, rating); documents and slots.
Task = Literal["factors", "ranking", "slots"]

C_VALUES = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
CONVEX_C = {"C": [0.1, 1.0, 10.0, 100.0, 1e3]}
TIGHT_C = {"C": [10.0, 100.0, 1e3, 1e4, 1e5]}  # tight bounds on the pairs map
POSITIONS_C = {"C": [1.0, 10.0, 100.0, 1e3, 1e4]}  # and on positions
LISTWISE_C = {"C": [1.0, 10.0, 100.0, 1e3, 1e4]}
SUMS_C = {"C": [0.1, 1.0, 15.0, 500.0, 1.5e4]}  # the feature map is a sum over pairs
RIDGES = {"ridge": [0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0]}
RATES = {"learning_rate": [0.03, 0.05, 0.1]}
TREES = {"n_leaves": [10, 31], **RATES}


class Registered(NamedTuple):
    """Facts about a ranker, known before it is imported."""

    home: str | type[BaseRanker]  # the class, or its module and name, ".module" below argrank.rankers
    family: str
    grid: Mapping[str, Any]  # the default grid of a selection
    scale_free: bool = False  # whether features need no scaling: trees ignore it, and a linear start nearly ignores it
    takes: Task = "ranking"
    first: bool = False  # whether it is part of a first comparison
    distributed: bool = False  # whether it learns from a DistributedDataset, on a cluster

    @property
    def place(self) -> str:
        """Module and name of the class, in full."""
        if isinstance(self.home, str):
            return f"argrank.rankers{self.home}" if self.home.startswith(".") else self.home
        return f"{self.home.__module__}:{self.home.__qualname__}"


#: To add a ranker: a file with its class, and a line here.
_OWN = {
    "adarank": Registered(".boosted.stumps.adarank:AdaRank", "listwise", {"n_rounds": [1, 3, 10, 30, 100]}),
    "coordinate-ascent": Registered(".climbing.coordinate_ascent:CoordinateAscent", "direct", {}),
    "custom": Registered(".custom:Custom", "listwise", LISTWISE_C, distributed=True),
    "direct-rank": Registered(".climbing.direct_rank:DirectRank", "direct", {}, first=True),
    "direct-rank-trees": Registered(
        ".boosted.trees.direct_rank_trees:DirectRankTrees",
        "trees",
        {"n_leaves": [10, 31], "weight_range": [(0.05, 0.1), (0.1, 0.2), (0.1, 0.5)]},
        scale_free=True,
    ),
    "dorm": Registered(".linear.svm:DORM", "structured", POSITIONS_C, distributed=True),
    "factor-rank": Registered(
        ".factors.factor_rank:FactorRank", "factors", {"C": [0.001, 0.003, 0.01, 0.03, 0.1]}, takes="factors"
    ),
    "factor-regression": Registered(
        ".factors.factor_regression:FactorRegression", "factors", {"ridge": [5.0, 10.0, 15.0, 20.0]}, takes="factors"
    ),
    "frank": Registered(
        ".boosted.stumps.frank:FRank", "pairwise", {"n_rounds": [3, 10, 30, 100, 300]}, scale_free=True
    ),
    "lambda-mart": Registered(
        ".boosted.trees.lambda_mart:LambdaMART", "trees", TREES, scale_free=True, first=True, distributed=True
    ),
    "lambdarank": Registered(
        ".linear.lambdarank:LambdaRank", "listwise", {"learning_rate": [0.0003, 0.001, 0.003, 0.01]}, distributed=True
    ),
    "listnet": Registered(".linear.listwise:ListNet", "listwise", LISTWISE_C, first=True, distributed=True),
    "log-combined": Registered(".linear.log_rank:LogCombined", "conditional", SUMS_C, distributed=True),
    "log-convex": Registered(".linear.log_rank:LogConvex", "conditional", SUMS_C, distributed=True),
    "log-gain": Registered(".linear.log_rank:LogGain", "conditional", LISTWISE_C, distributed=True),
    "log-loss": Registered(".linear.log_rank:LogLoss", "conditional", LISTWISE_C, distributed=True),
    "log-mle": Registered(".linear.log_rank:LogMLE", "conditional", CONVEX_C, first=True, distributed=True),
    "mart": Registered(".boosted.trees.mart:MART", "trees", TREES, scale_free=True, distributed=True),
    "mcrank": Registered(".boosted.trees.mcrank:McRank", "pointwise", TREES, scale_free=True),
    "orm": Registered(".linear.orm:ORM", "structured", POSITIONS_C, distributed=True),
    "pair-mart": Registered(".boosted.trees.pair_mart:PairMART", "trees", TREES, scale_free=True),
    "position-match": Registered(".factors.position_match:PositionMatch", "factors", C_VALUES, takes="slots"),
    "query-mart": Registered(
        ".boosted.trees.mart:QueryMART", "trees", RATES, scale_free=True, first=True, distributed=True
    ),
    "rank-cosine": Registered(".linear.listwise:RankCosine", "listwise", LISTWISE_C, distributed=True),
    "rank-svm": Registered(
        ".linear.rank_svm:RankSVM", "pairwise", {"C": [0.05, 0.5, 5.0, 50.0, 500.0]}, first=True, distributed=True
    ),
    "rankboost": Registered(
        ".boosted.stumps.rankboost:RankBoost", "pairwise", {"n_rounds": [10, 30, 100, 300]}, scale_free=True
    ),
    "regression": Registered(".linear.regression:Regression", "pointwise", RIDGES, first=True, distributed=True),
    "smooth-grad": Registered(".linear.smoothed:SmoothGrad", "listwise", C_VALUES, distributed=True),
    "softrank": Registered(
        ".linear.smoothed:SoftRank", "listwise", {"C": [100.0, 1e3, 1e4, 1e5, 1e6]}, distributed=True
    ),
    "svm-auc": Registered(".linear.svm:SVMauc", "structured", CONVEX_C, first=True, distributed=True),
    "svm-combo": Registered(".linear.svm:SVMcombo", "structured", TIGHT_C, distributed=True),
    "svm-map": Registered(".linear.svm:SVMmap", "structured", CONVEX_C, first=True, distributed=True),
    "svm-mrr": Registered(".linear.svm:SVMmrr", "structured", TIGHT_C, distributed=True),
    "svm-ndcg": Registered(".linear.svm:SVMndcg", "structured", TIGHT_C, first=True, distributed=True),
    "svm-ndcg-nc": Registered(".linear.svm:SVMndcgNC", "structured", TIGHT_C, distributed=True),
    "symmetric-mart": Registered(
        ".boosted.symmetric.symmetric_mart:SymmetricMART", "trees", RATES, scale_free=True, first=True
    ),
    "xendcg-mart": Registered(".boosted.trees.xendcg_mart:XendcgMART", "trees", TREES, scale_free=True),
}


@checked
def register_ranker(
    name: str,
    cls: type[BaseRanker],
    *,
    family: str | None = None,
    grid: Mapping[str, Any] | None = None,
    scale_free: bool = False,
    takes: Task = "ranking",
    distributed: bool = False,
) -> None:
    """Register your own ranker for `make_ranker`, the command line, cross-validation and auto's ``members``.

    Another package can do the same with an entry point of the group ``argrank.rankers``.

    Parameters
    ----------
    name : str
        A name that argrank does not have itself.
    cls : type
        A class that derives from `ar.LinearRanker` or `ar.BaseRanker`.
    family : str, optional
        Where comparisons show it: "pointwise", "pairwise", "structured", "conditional", "listwise", "direct", "trees",
        "factors"; by default "trees" for models with thresholds, else "listwise".
    grid : mapping of str to list, optional
        The default grid of a selection; by default values of C, if the class has one.
    scale_free : bool
        Whether features need no scaling.
    takes : "ranking", "factors" or "slots"
        Whether it learns from judged documents, from ratings, or from documents and slots.
    distributed : bool
        Whether it learns from a ``DistributedDataset``, on a cluster.

    Examples
    --------
    >>> import argrank as ar
    >>> from argrank.rankers import RankSVM
    >>> class Cautious(RankSVM):
    ...     pass
    >>> ar.register_ranker("cautious", Cautious, family="pairwise", grid={"C": [0.01, 0.1]})
    >>> "cautious" in ar.ranker_names(), ar.make_ranker("cautious", C=0.1)
    (True, Cautious(C=0.1))
    """
    from argrank.rankers.base_ranker import BaseRanker

    if not isinstance(cls, type) or not issubclass(cls, BaseRanker):
        raise OptionError(f"ranker {name!r}: expected a class that derives from BaseRanker, got {shown(cls)}")
    where = family or ("trees" if cls.compares else "listwise")
    check_choice("family", where, FAMILIES)
    known = cls._get_param_names()
    tried = grid if grid is not None else C_VALUES if "C" in known else {}
    for parameter in tried:
        check_choice(f"grid of {name!r}", parameter, known)
    RANKERS.register(name, Registered(cls, where, tried, scale_free, takes, distributed=distributed))


RANKERS = Registry("ranker", _OWN, "argrank.rankers", register_ranker)


def ranker_class(name: str) -> type[BaseRanker]:
    """Return the class of a registered name."""
    home = RANKERS[name].home
    cls: type[BaseRanker] = imported(home, "argrank.rankers") if isinstance(home, str) else home
    return cls


@checked
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


def make_judged(name: str, **parameters: Any) -> BaseRanker:
    """Make a ranker of judged documents, for its objective; raise for rankers of other data."""
    if RANKERS[name].takes != "ranking":
        raise OptionError(f"{name} has no objective for judged documents: it learns from other data")
    return make_ranker(name, **parameters)


@checked
def objective(name: str, **parameters: Any) -> Objective:
    """Return the function of scores that ``make_ranker(name, **parameters)`` minimises.

    ``objective(name)(scores, data) -> (value, gradient)`` works with the scores of any model. Scores and gradient are
    in the caller's row order; the value is the mean over all queries of the query's loss, or, for the losses that
    weight all pairs equally (``rank-svm``, ``log-mle``, ``log-combined``, ``log-convex``), over all pairs, in both
    cases weighted by ``query_weight`` if given. Rankers that minimise no function of scores have none.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[1.0], [0.0], [3.0]], [1, 0, 0], qid=["a", "a", "a"])
    >>> value, gradient = ar.objective("rank-svm")([0.5, 0.0, 1.0], data)
    >>> value, gradient.tolist()
    (1.25, [-2.0, 0.5, 1.5])
    """
    return make_judged(name, **parameters)._objective()


def registered_name(ranker: Any) -> str:
    """Return the name under which an estimator's class is registered, else the name of the class."""
    place = f"{type(ranker).__module__}:{type(ranker).__qualname__}"
    return RANKERS.find(lambda line: line.place == place) or type(ranker).__name__


def default_grid(ranker: Any) -> Mapping[str, Any]:
    """Return the grid of a ranker, given by name or as an estimator; empty if there is nothing to tune.

    Parameters that an estimator has set to a non-default value are not tuned.
    """
    if isinstance(ranker, str):
        return RANKERS[ranker].grid
    name, current = registered_name(ranker), ranker.get_params() if hasattr(ranker, "get_params") else {}
    if name not in RANKERS:  # a user's own class
        return C_VALUES if "C" in current else {}
    defaults = type(ranker)().get_params()
    return {key: values for key, values in RANKERS[name].grid.items() if current[key] == defaults[key]}


@checked
def ranker_names(task: Task | None = "ranking") -> list[str]:
    """Return the names of the registered rankers of a task: "ranking", "factors" or "slots"; None for all."""
    return [name for name, line in RANKERS.items() if task is None or line.takes == task]


def first_comparison() -> list[str]:
    """Return the rankers of a first comparison, one or more from every family, family by family."""
    return [name for family in FAMILIES for name, line in RANKERS.items() if line.family == family and line.first]
