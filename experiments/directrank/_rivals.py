"""DirectRank's rivals: every other ranker of the library, its parameters and the grid from which validation chooses.

Grids are small, three to five values around those that serve LETOR. Where the convex bound of a structured ranker
may collapse to w = 0, the tight bound has a row of its own. Trees and coordinate ascent see the validation part while
they train, as DirectRank does: they keep the best round on it.

In the stored tables the grids of listnet, rank-cosine, softrank, log-gain and log-loss grew with the number of training
queries. The grids here cover the same range in other steps; the column "setting" has the C that was chosen then.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from argrank.data.folds import Fold
from argrank.rankers import make_ranker
from argrank.trials.grid import points_of
from argrank.trials.select import search
from experiments._common import collapsed, quiet
from experiments.directrank._common import fit, mean

PAIRS = {"C": [1.0, 10.0, 100.0, 1e3, 1e4]}  # the map is divided by the number of pairs
COMBINED = {"C": [1.0, 10.0, 100.0]}  # slow
RANKS = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
SUMS = {"C": [15.0, 500.0, 1.5e4, 5e5]}  # the feature map is a sum over pairs
WIDE = {"C": [10.0, 100.0, 1e3, 1e4, 1e5]}
SAMPLES = {"C": [1.0, 10.0, 100.0, 1e3, 1e4]}
CONVEX: dict[str, Any] = {"bound": "convex"}
FIRST: dict[str, Any] = {"feature_map": "first"}  # MRR on the paper's own map
TIGHT: dict[str, Any] = {"bound": "tight", "tol": 1e-2, "max_iter": 200}
SAMPLED: dict[str, Any] = {"n_starts": 2, "max_iter": 200}
STOPPED: dict[str, Any] = {"n_trees": 300, "early_stopping": 30, "learning_rate": 0.05}
LEAVES = {"n_leaves": [4, 10, 31]}


class Rival(NamedTuple):
    """A ranker, what is fixed and what is chosen; ``watched`` if it keeps the round that is best on validation."""

    ranker: str
    parameters: dict[str, Any]
    grid: dict[str, Any]
    watched: bool = False


def linear(k: int) -> dict[str, Rival]:
    """Return the linear rivals; those trained on a measure take NDCG@k unless they are for another."""
    ndcg = {"measure": f"ndcg@{k}"}
    combination = {"measures": ("map", f"ndcg@{k}", "mrr@10"), **FIRST}
    return {
        "regression": Rival("regression", {}, {}),
        "rank-svm": Rival("rank-svm", {}, {"C": [0.05, 0.5, 5.0, 50.0]}),
        "rankboost": Rival("rankboost", {}, {"n_rounds": [30, 100, 300]}),
        "frank": Rival("frank", {}, {"n_rounds": [30, 100]}),
        "adarank-map": Rival("adarank", {"measure": "map"}, {"n_rounds": [3, 30, 100]}),
        "adarank-ndcg": Rival("adarank", ndcg, {"n_rounds": [3, 30, 100]}),
        "listnet": Rival("listnet", {}, WIDE),
        "lambdarank": Rival("lambdarank", {"C": 1e4}, {"learning_rate": [0.001, 0.003, 0.01, 0.03]}),
        "rank-cosine": Rival("rank-cosine", {}, WIDE),
        "smooth-grad": Rival("smooth-grad", ndcg, {"C": [1.0, 10.0, 100.0, 1e3]}),
        "softrank": Rival("softrank", {**ndcg, "n_starts": 1}, WIDE),
        "svm-auc": Rival("svm-auc", {}, PAIRS),
        "svm-map": Rival("svm-map", CONVEX, PAIRS),
        "svm-ndcg-nc": Rival("svm-ndcg-nc", CONVEX, PAIRS),
        "svm-ndcg": Rival("svm-ndcg", {"k": k, **CONVEX}, PAIRS),
        "svm-ndcg, tight": Rival("svm-ndcg", {"k": k, **TIGHT}, PAIRS),
        "svm-mrr": Rival("svm-mrr", FIRST | CONVEX, RANKS),
        "svm-mrr, tight": Rival("svm-mrr", FIRST | TIGHT, RANKS),
        "svm-combo": Rival("svm-combo", combination | CONVEX, COMBINED),
        "svm-combo, tight": Rival("svm-combo", combination | TIGHT, COMBINED),
        "dorm": Rival("dorm", {"k": k, **CONVEX}, RANKS),
        "dorm, tight": Rival("dorm", {"k": k, **TIGHT}, RANKS),
        "orm, tight": Rival("orm", {**ndcg, "decay": "measure", **TIGHT}, RANKS),
        "log-mle": Rival("log-mle", {}, SUMS),
        "log-gain": Rival("log-gain", ndcg | SAMPLED, SAMPLES),
        "log-loss": Rival("log-loss", ndcg | SAMPLED, SAMPLES),
        "log-combined": Rival("log-combined", ndcg | SAMPLED, SUMS),
        "log-convex": Rival("log-convex", ndcg, SUMS),
        "coordinate-ascent": Rival("coordinate-ascent", {**ndcg, "n_starts": 1}, {}, watched=True),
    }


def trees(k: int) -> dict[str, Rival]:
    """Return the rankers of trees; they stop on NDCG@k of the validation part."""
    reported, ndcg = {"scoring": f"ndcg@{k}"} | STOPPED, {"measure": f"ndcg@{k}"} | STOPPED
    plain = {"start": None, "feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
    alone = {"start": None, "folds": 0, "feature_fraction": 1.0, "extra_trees": False}
    ours = {**ndcg, **alone, "weight_range": (0.05, 0.1)}
    return {
        "mart": Rival("mart", reported | plain, LEAVES, watched=True),
        "lambda-mart": Rival("lambda-mart", ndcg | plain | {"lambda_norm": True}, LEAVES, watched=True),
        "mcrank": Rival("mcrank", reported | plain, LEAVES, watched=True),
        "direct-rank-trees": Rival("direct-rank-trees", ours, LEAVES, watched=True),
    }


def tune(rival: Rival, fold: Fold, measure: str, convention: str) -> tuple[Any, dict[str, Any]]:
    """Fit at every point of the grid; return the best by a measure on validation data, and what is known of it."""
    if fold.valid is None:
        raise ValueError("expected a validation part")
    begin = time.process_time()
    if rival.watched:
        points = points_of(rival.grid, fold.train)
        fits = [(fit(rival.ranker, fold.train, fold.valid, **rival.parameters, **point)[0], point) for point in points]
        ranker, chosen = max(fits, key=lambda pair: mean(pair[0], fold.valid, measure, convention))
    else:
        with quiet():
            found = search(
                make_ranker(rival.ranker, n_jobs=1, **rival.parameters), rival.grid, fold.train, fold.valid, measure,
                convention=convention, n_jobs=1, progress=False, fits=None,
            )  # fmt: skip
        ranker, chosen, points = found.ranker, found.params, [point.params for point in found.points]
    seconds = time.process_time() - begin
    setting = " ".join(f"{name}={value:.3g}" for name, value in chosen.items())
    return ranker, {
        "fits": len(points),
        "setting": setting + (" collapsed" if collapsed(ranker) else ""),
        "cpu_seconds": seconds,
    }
