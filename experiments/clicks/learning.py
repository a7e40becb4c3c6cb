"""Rankers from simulated clicks against rankers from labels, as clicks grow.

    python -m experiments.clicks.learning            # resumes; writes learning.csv, learning.md and the guide's plot
    python -m experiments.clicks.learning --tables   # writes the tables and the plot of what is done

MQ2008, OHSUMED (LETOR 3.0), MSLR-sample and the bundled shop; every seed draws anew which queries train (60 %) and test
(40 %), the production ranker's queries and the log. The production ranker is rank-svm on 1 % of the training queries,
at least three; readers follow the position-based model. Every ranker has its defaults and learns from the same clicks:
*naive* (a row's gain is its rate of clicks), *ips* (the mean of clicks over the examination of their rank),
*examinations* (clicks over examinations, ``ar.from_clicks``; the curve is harvested from the log), *labels* (the
judgements of all training queries, as a skyline). LightGBM's lambdarank with ``position`` and XGBoost's with
``lambdarank_unbiased`` get a query for each session with a click; with a million clicks, equal lists are one list with
a weight (unbiased_lambdas.py). NDCG@10 of test queries; differences are paired over seeds, with t intervals.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import argrank as ar
from experiments.clicks._logs import Drawn, K, draw, gained, ndcg, numbered, production_scores
from experiments.clicks.learning_tables import PEERS, write
from experiments.clicks.unbiased_lambdas import Unbiased

HERE = Path(__file__)
TABLE = HERE.with_name("learning.csv")
DATA = HERE.resolve().parents[2].parent / "shared" / "data"
NAMES = ("shop", "MQ2008", "OHSUMED", "MSLR")
CLICKS = (1_000, 10_000, 100_000, 1_000_000)
N_SEEDS = 10
AUTO_CLICKS = 100_000
RANKERS = ("rank-svm", "orm", "lambda-mart", "direct-rank")
METHODS = ("naive", "ips", "examinations")
DISTINCT_FROM = 1_000_000  # clicks from which equal lists of LightGBM and XGBoost are one list with a weight
OTHERS = ((0.5, 0.1), (2.0, 0.1), (1.0, 0.0), (1.0, 0.3))  # eta, noise
FIELDS = ("data", "eta", "noise", "clicks", "seed", "method", "ranker", "ndcg")
TREES = {"learning_rate": 0.05, "n_trees": 180, "n_leaves": 31}  # as lambda-mart has them


class Job(NamedTuple):
    """One log, and the rankers that learn from it."""

    data: str
    eta: float
    noise: float
    clicks: int
    seed: int
    rankers: tuple[str, ...]


def plan() -> Iterator[Job]:
    """Yield the logs, the most expensive last."""
    for seed in range(N_SEEDS):
        for clicks in CLICKS:
            yield from (Job(name, 1.0, 0.1, clicks, seed, RANKERS) for name in NAMES)
        for eta, noise in OTHERS:
            yield from (Job(name, eta, noise, 100_000, seed, ("rank-svm", "lambda-mart")) for name in NAMES)
    for clicks in CLICKS:
        for seed in range(N_SEEDS):
            yield from (Job(name, 1.0, 0.1, clicks, seed, PEERS) for name in NAMES)
        if clicks == AUTO_CLICKS:
            for seed in range(N_SEEDS):
                yield from (Job(name, 1.0, 0.1, clicks, seed, ("auto",)) for name in NAMES)


@cache
def whole(name: str) -> ar.Dataset:
    """Return all queries of a data set with features on one scale."""
    if name == "shop":
        shop = ar.load_bundled()
        kept = [place for place, one in enumerate(shop.feature_names or ()) if one != "click_rate"]
        X = shop.X[:, kept]
        return numbered(shop, (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))
    if name == "MSLR":
        parts = [ar.load(DATA / "MSLR-sample" / f"{part}.txt.xz") for part in ("train", "test")]
    else:
        known = {"OHSUMED": "OHSUMED-LETOR3"}.get(name, name)
        fold = ar.load_collection(known, DATA / known)
        parts = [fold.train, fold.valid, fold.test]
    data = ar.normalise(ar.Dataset.concatenate([_bare(part) for part in parts]), "query-minmax")
    return numbered(data, data.X)


def _bare(data: ar.Dataset) -> ar.Dataset:
    return ar.Dataset(data.X, data.y, qid=data.query_ids[data.query_of_row])


@cache
def parts_of(name: str, seed: int) -> tuple[ar.Dataset, ar.Dataset]:
    """Return training and test queries of a seed."""
    train, test = whole(name).split(0.6, 0.4, random_state=seed)
    return numbered(train, train.X), test


@cache
def skyline(name: str, seed: int, ranker: str) -> float:
    """Return NDCG@10 of a ranker on labels."""
    train, test = parts_of(name, seed)
    return ndcg(ar.make_ranker(ranker, verbose=-1).fit(train), test)


def draw_log(train: ar.Dataset, n_clicks: int, seed: int, eta: float = 1.0, noise: float = 0.1) -> tuple[Any, Drawn]:
    """Return the production ranker and the log of a seed."""
    rng = np.random.default_rng(seed)
    production, scores = production_scores(train, rng)
    return production, draw(train, scores, n_clicks, rng, eta, noise)


def lightgbm_scores(drawn: Drawn, train: ar.Dataset, test: ar.Dataset, distinct: bool) -> NDArray[Any]:
    """Return test scores of LightGBM's lambdarank with positions; equal lists once, with weights, if distinct."""
    import lightgbm

    lists = drawn.clicked_sessions(distinct)
    weights = np.repeat(lists.times, lists.sizes)
    data = lightgbm.Dataset(
        train.X[lists.rows].astype(np.float32), lists.click, group=lists.sizes, position=lists.position, weight=weights
    )
    settings = {"objective": "lambdarank", "verbose": -1, "num_threads": 1, "learning_rate": TREES["learning_rate"],
                "num_leaves": TREES["n_leaves"]}  # fmt: skip
    settings["min_data_in_leaf"] = max(1, round(20 / weights.mean()))  # the default of 20, counted in sessions
    return np.asarray(lightgbm.train(settings, data, int(TREES["n_trees"])).predict(test.X))


def xgboost_scores(drawn: Drawn, train: ar.Dataset, test: ar.Dataset, distinct: bool) -> NDArray[Any]:
    """Return test scores of XGBoost's lambdarank with its correction of positions, which takes rows in the shown order.

    XGBoost weighs lists in the gradient, but not in its estimate of the biases: distinct lists get our copy of its
    gradient, which weighs them in both.
    """
    import xgboost

    lists = drawn.clicked_sessions(distinct)
    settings = {"tree_method": "hist", "nthread": 1, "verbosity": 0, "learning_rate": TREES["learning_rate"],
                "max_leaves": TREES["n_leaves"], "grow_policy": "lossguide", "max_depth": 0}  # fmt: skip
    X, n_trees = train.X[lists.rows].astype(np.float32), int(TREES["n_trees"])
    if distinct:
        weights = np.repeat(lists.times, lists.sizes)
        data = xgboost.QuantileDMatrix(X, lists.click, weight=weights, nthread=1)
        found = xgboost.train(settings, data, n_trees, obj=Unbiased(lists.click, lists.sizes, lists.times))
    else:
        settings |= {"objective": "rank:ndcg", "lambdarank_unbiased": True, "lambdarank_pair_method": "topk",
                     "lambdarank_num_pair_per_sample": K}  # fmt: skip
        data = xgboost.QuantileDMatrix(X, lists.click, group=lists.sizes, nthread=1)
        found = xgboost.train(settings, data, n_trees)
    return found.predict(xgboost.DMatrix(test.X.astype(np.float32)))


def results(job: Job, lacks: set[tuple[str, str]]) -> Iterator[tuple[str, str, float]]:
    """Yield method, ranker and NDCG@10 of what is missing of a log."""
    train, test = parts_of(job.data, job.seed)
    production, drawn = draw_log(train, job.clicks, job.seed, job.eta, job.noise)
    if job.rankers == PEERS:
        for name, learn in zip(PEERS, (lightgbm_scores, xgboost_scores), strict=True):
            if (name, "lambda-mart") in lacks:
                scores = test.to_caller(learn(drawn, train, test, job.clicks >= DISTINCT_FROM))
                yield name, "lambda-mart", float(ar.evaluate(scores, test, "ndcg@10").means["ndcg@10"])
        return
    if ("production", "rank-svm") in lacks:
        yield "production", "rank-svm", ndcg(production, test)
    theta = ar.propensities(drawn.counts)
    for method in METHODS:
        data = gained(drawn.counts, train, method, theta)
        for ranker in job.rankers:
            if (method, ranker) in lacks:
                yield method, ranker, ndcg(ar.make_ranker(ranker, verbose=-1).fit(data), test)
    for ranker in job.rankers:
        if ("labels", ranker) in lacks:
            yield "labels", ranker, skyline(job.data, job.seed, ranker)


def wanted(job: Job) -> set[tuple[str, str]]:
    """Return the methods and rankers of a log."""
    if job.rankers == PEERS:
        return {(name, "lambda-mart") for name in PEERS}
    found = {(method, ranker) for method in (*METHODS, "labels") for ranker in job.rankers}
    return found if job.rankers == ("auto",) else found | {("production", "rank-svm")}


def main() -> None:
    """Run what is missing."""
    done = list(csv.reader(TABLE.open())) if TABLE.exists() else []
    known = {tuple(row[:-1]) for row in done}
    with TABLE.open("a", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if not done:
            writer.writerow(FIELDS)
        for job in plan():
            cell = (job.data, f"{job.eta:g}", f"{job.noise:g}", str(job.clicks), str(job.seed))
            lacks = {one for one in wanted(job) if (*cell, *one) not in known}
            if not lacks:
                continue
            try:
                for method, ranker, value in results(job, lacks):
                    writer.writerow((*cell, method, ranker, f"{value:.5f}"))
                    stream.flush()
            except ar.errors.InputError as error:  # a log that links no ranks
                print(*cell, error, flush=True)
            print(*cell, *job.rankers, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--tables" not in sys.argv:
        main()
    write(TABLE)
