"""Rankers from simulated clicks against rankers from labels, as clicks grow.

    python -m experiments.clicks.learning            # resumes; writes learning.csv, learning.md and the guide's plot
    python -m experiments.clicks.learning --tables   # writes the tables and the plot of what is done

MQ2008, OHSUMED (LETOR 3.0), MSLR-sample and the bundled shop; every seed draws anew which queries train (60 %) and test
(40 %), the production ranker's queries and the log. The production ranker is rank-svm on 1 % of the training queries,
at least three; readers follow the position-based model. Every ranker has its defaults and learns from the same clicks:
*naive* (a row's gain is its rate of clicks), *ips* (the mean of clicks over the examination of their rank),
*examinations* (clicks over examinations, ``ar.from_clicks``; the curve is harvested from the log), *labels* (the
judgements of all training queries, as a skyline). LightGBM's lambdarank with ``position`` and XGBoost's with
``lambdarank_unbiased`` get a query for each session with a click. NDCG@10 of test queries; differences are paired over
seeds, with t intervals.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import argrank as ar
from experiments.clicks._logs import Drawn, draw, gained, ndcg, numbered, production_scores
from experiments.clicks.learning_tables import PEERS, write

HERE = Path(__file__)
TABLE = HERE.with_name("learning.csv")
DATA = HERE.resolve().parents[2].parent / "shared" / "data"
NAMES = ("shop", "MQ2008", "OHSUMED", "MSLR")
CLICKS = (1_000, 10_000, 100_000, 1_000_000)
N_SEEDS = 10
AUTO_CLICKS = 100_000
RANKERS = ("rank-svm", "orm", "lambda-mart", "direct-rank")
METHODS = ("naive", "ips", "examinations")
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


def lightgbm_position(drawn: Drawn, train: ar.Dataset, test: ar.Dataset) -> float:
    """Return NDCG@10 of LightGBM's lambdarank with positions."""
    import lightgbm

    rows, click, position, sizes = drawn.clicked_sessions()
    data = lightgbm.Dataset(train.X[rows].astype(np.float32), click, group=sizes, position=position)
    settings = {"objective": "lambdarank", "verbose": -1, "num_threads": 1, "learning_rate": TREES["learning_rate"],
                "num_leaves": TREES["n_leaves"]}  # fmt: skip
    booster = lightgbm.train(settings, data, int(TREES["n_trees"]))
    scores = test.to_caller(np.asarray(booster.predict(test.X)))
    return float(ar.evaluate(scores, test, "ndcg@10").means["ndcg@10"])


def xgboost_unbiased(drawn: Drawn, train: ar.Dataset, test: ar.Dataset) -> float:
    """Return NDCG@10 of XGBoost's lambdarank with its correction of positions, which takes rows in the shown order."""
    import xgboost

    rows, click, _, sizes = drawn.clicked_sessions()
    settings = {"objective": "rank:ndcg", "lambdarank_unbiased": True, "lambdarank_pair_method": "topk",
                "lambdarank_num_pair_per_sample": 10, "tree_method": "hist", "nthread": 1, "verbosity": 0,
                "learning_rate": TREES["learning_rate"], "max_leaves": TREES["n_leaves"],
                "grow_policy": "lossguide", "max_depth": 0}  # fmt: skip
    data = xgboost.QuantileDMatrix(train.X[rows].astype(np.float32), click, group=sizes, nthread=1)
    found = xgboost.train(settings, data, int(TREES["n_trees"]))
    scores = test.to_caller(found.predict(xgboost.DMatrix(test.X.astype(np.float32))))
    return float(ar.evaluate(scores, test, "ndcg@10").means["ndcg@10"])


def results(job: Job, lacks: set[tuple[str, str]]) -> Iterator[tuple[str, str, float]]:
    """Yield method, ranker and NDCG@10 of what is missing of a log."""
    train, test = parts_of(job.data, job.seed)
    rng = np.random.default_rng(job.seed)
    production, scores = production_scores(train, rng)
    drawn = draw(train, scores, job.clicks, rng, job.eta, job.noise)
    if job.rankers == PEERS:
        for name, learn in zip(PEERS, (lightgbm_position, xgboost_unbiased), strict=True):
            if (name, "lambda-mart") in lacks:
                yield name, "lambda-mart", learn(drawn, train, test)
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
