"""Thousands of queries whose true means are known: values per query of two systems on generated rankings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import argrank as ar
from argrank._types import Floats

N_QUERIES, N_DOCUMENTS = 20_000, 20
MEASURES = {"NDCG@10": "ndcg@10", "MAP": "map", "MRR@10": "mrr@10", "P@10": "p@10"}
COLLECTIONS = {"MQ2008": (24, 39), "OHSUMED-LETOR3": (10, 20)}  # columns of two features
RARE = "P@1, p = .1"


class Population(NamedTuple):
    """The values of two systems, a and b, on every query there is; samples are drawn from it with replacement."""

    a: Floats
    b: Floats


def populations(seed: int = 0) -> dict[str, Population]:
    """Two systems of unequal quality on queries of unequal difficulty, by each measure; then the hard quarter alone.

    In the population of P@1 the systems are right on 10 and 7 % of the queries, mostly on the same ones.
    """
    rng, shape = np.random.default_rng(seed), (N_QUERIES, N_DOCUMENTS)
    share = rng.beta(0.7, 1.5, (N_QUERIES, 1))  # of relevant documents
    labels = np.minimum(rng.geometric(0.45, shape) - 1, 4) * (rng.random(shape) < share)
    noise, common = rng.gamma(1.5, 1.5, (N_QUERIES, 1)), rng.standard_normal(shape)
    a = labels + noise * (0.8 * common + 0.6 * rng.standard_normal(shape))
    b = 0.9 * labels + noise * (0.8 * common + 0.6 * rng.standard_normal(shape))
    data = ar.Dataset(np.ones((labels.size, 1)), labels.ravel(), np.repeat(np.arange(N_QUERIES), N_DOCUMENTS))
    names = list(MEASURES.values())
    found = [ar.evaluate(scores.ravel(), data, names).values for scores in (a, b)]
    defined = ~np.isnan(found[0]["map"])
    hard = noise[:, 0] > np.quantile(noise, 0.75)
    first = rng.random(N_QUERIES)
    second = np.where(rng.random(N_QUERIES) < 0.7, first, rng.random(N_QUERIES))
    rare = Population((first < 0.1).astype(float), (second < 0.07).astype(float))
    every = {title: Population(found[0][n][defined], found[1][n][defined]) for title, n in MEASURES.items()}
    part = {title: Population(*(values[hard[defined]] for values in one)) for title, one in every.items()}
    kept = Population(*(values[hard] for values in rare))
    return every | {RARE: rare} | {f"{title}, hard queries": one for title, one in (part | {RARE: kept}).items()}


def real_queries() -> dict[str, Population]:
    """Two single features that rank the queries of known collections; none of them was used to choose intervals."""
    found: dict[str, Population] = {}
    for name, (one, other) in COLLECTIONS.items():
        fold = ar.load_collection(name, fold=1)
        data = ar.Dataset.concatenate([part for part in (fold.train, fold.valid, fold.test) if part is not None])
        X = np.asarray(data.X)
        values = [ar.evaluate(data.to_caller(X[:, i]), data, [*MEASURES.values(), "p@1"]).values for i in (one, other)]
        for title, measure in {**MEASURES, "P@1": "p@1"}.items():
            defined = ~np.isnan(values[0][measure]) & ~np.isnan(values[1][measure])
            found[f"{name}, {title}"] = Population(*(own[measure][defined] for own in values))
    return found


def hard_cases(seed: int = 0) -> dict[str, Population]:
    """Populations harder than those in a comparison of two rankers: long tails, and one system never worse."""
    rng, n = np.random.default_rng(seed), N_QUERIES
    low = rng.beta(0.3, 4, n)
    first = np.where(rng.random(n) < 0.8, 0.0, 1 / rng.integers(1, 11, n))
    good = (rng.random(n) < 0.3).astype(float)
    gained = np.where(rng.random(n) < 0.1, 1.0, good)
    return {
        "MAP of .07, long tail": Population(low, low * rng.beta(9, 1, n)),
        "MRR@10 of .06": Population(first, np.where(rng.random(n) < 0.5, first, rng.permutation(first))),
        "P@1, never worse, better on 7 %": Population(np.maximum(gained, good), good),
    }
