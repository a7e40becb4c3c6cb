"""DirectRank's rivals: every other ranker of the library, its parameters and the grid from which validation chooses.

Where the choice lies at an end of its grid, up to three further values are tried beyond it, so that the range of
the grid does not limit it (no step goes beyond a thousand rounds now, but rows of an earlier run have more). Where
w = 0 is proven to be the optimum for one C, it is for all, and the others are not tried. Where the convex bound of a
structured ranker may collapse to w = 0, the tight bound has a row of its own. Trees and coordinate ascent see the
validation part while they train, as DirectRank does: they keep the best round on it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from argrank.data.folds import Fold
from experiments._common import collapsed
from experiments.directrank._common import fit, mean

PAIRS = {"C": [1.0, 10.0, 100.0, 1e3, 1e4]}  # the map is divided by the number of pairs
COMBINED = {"C": [0.1, 1.0, 10.0, 100.0]}  # slow
RANKS = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
SUMS = {"C": [0.5, 15.0, 500.0, 1.5e4]}  # the feature map is a sum over pairs
WIDE = {"C": [10.0, 100.0, 1e3, 1e4, 1e5]}
SAMPLES = {"C": [0.1, 1.0, 10.0, 100.0, 1e3]}
CONVEX: dict[str, Any] = {"bound": "convex"}
FIRST: dict[str, Any] = {"feature_map": "first"}  # MRR on the paper's own map
TIGHT: dict[str, Any] = {"bound": "tight", "tol": 1e-2, "max_iter": 200}
SAMPLED: dict[str, Any] = {"n_starts": 2, "max_iter": 200}
STOPPED: dict[str, Any] = {"n_trees": 300, "early_stopping": 30, "learning_rate": 0.05}
LEAVES = {"n_leaves": [4, 10, 31]}
FURTHER = 3  # values beyond the ends of a grid
LEAST, MOST = {"n_leaves": 2, "n_rounds": 1}, {"n_rounds": 1000}


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
        "rank-svm": Rival("rank-svm", {}, {"C": [0.5, 5.0, 50.0, 500.0]}),
        "rankboost": Rival("rankboost", {}, {"n_rounds": [10, 30, 100, 300]}),
        "frank": Rival("frank", {}, {"n_rounds": [10, 30, 100]}),
        "adarank-map": Rival("adarank", {"measure": "map"}, {"n_rounds": [3, 10, 30, 100]}),
        "adarank-ndcg": Rival("adarank", ndcg, {"n_rounds": [3, 10, 30, 100]}),
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


def tune(rival: Rival, fold: Fold, measure: str, convention: str, further: int = FURTHER) -> tuple[Any, dict[str, Any]]:
    """Fit at every point of the grid; return the best by a measure on validation data, and what is known of it."""
    if fold.valid is None:
        raise ValueError("expected a validation part")
    begin, watched = time.process_time(), fold.valid if rival.watched else None
    name, values = next(iter(rival.grid.items()), ("", [0]))
    found: dict[float, tuple[float, Any]] = {}  # value -> measure, fitted ranker; of equal ones the first is taken
    waiting = [values[len(values) // 2], *values]
    while waiting:
        value = waiting.pop(0)
        if value not in found:
            point = {name: value} if name else {}
            fitted, _ = fit(rival.ranker, fold.train, watched, **rival.parameters, **point)
            found[value] = mean(fitted, fold.valid, measure, convention), fitted
            if getattr(fitted, "collapsed_", None) is not None:
                break
        if not waiting and len(found) < len(values) + further:
            waiting = beyond(best(found), found, LEAST.get(name, 0), MOST.get(name, math.inf))
    chosen = best(found)
    ranker, seconds = found[chosen][1], time.process_time() - begin
    setting = f"{name}={chosen:.3g}" if name else ""
    convex = rival.parameters.get("bound") != "tight"  # a tight bound of no slope ranks as its start does
    if len(found) > 2 and chosen in (min(found), max(found)) and chosen != LEAST.get(name):
        setting += " end"
    return ranker, {
        "fits": len(found),
        "setting": setting + (" collapsed" if convex and collapsed(ranker) else ""),
        "cpu_seconds": seconds,
    }


def best(found: dict[float, tuple[float, Any]]) -> float:
    """Return the value of the best measure, of equal ones the first that was tried."""
    return max(found, key=lambda value: found[value][0])


def beyond(chosen: float, tried: Iterable[float], least: float, most: float) -> list[float]:
    """Return the value that continues a grid where the chosen one lies at an end of it, by the ratio that leads there.

    >>> beyond(100, [10, 30, 100], 1, 1000), beyond(4, [4, 10, 31], 2, 100), beyond(30, [10, 30, 100], 1, 1000)
    ([333], [2], [])
    """
    values = sorted(tried)
    if len(values) < 3 or chosen not in (values[0], values[-1]) or chosen <= least:
        return []
    further = chosen * chosen / (values[1] if chosen == values[0] else values[-2])
    if further > most:
        return []
    return [max(int(least), round(further)) if isinstance(chosen, int) else float(f"{further:.3g}")]
