"""Training and validation parts: collections at hand, the shop, and generated data of several kinds. No test part."""

from __future__ import annotations

import numpy as np
from benchmarks.peers.data import load

import argrank as ar
from argrank.errors import ArgrankError

KINDS = ("linear", "interactions", "thresholds", "asymmetric trees")
NOISE = "noise"  # linear in three features, under four times as much noise


def made(kind: str, seed: int, n_queries: int = 500, n: int = 40, n_features: int = 30) -> ar.Dataset:
    """Return generated queries; a fifth of the noise is common to a query, and labels are cut at fixed levels."""
    truths, rng = np.random.default_rng([1, seed]), np.random.default_rng([2, seed, n_queries])
    X = rng.normal(size=(n_queries * n, n_features))
    value = TRUTHS[kind](X, truths)
    noise = rng.normal(size=len(X)) + np.repeat(0.5 * rng.normal(size=n_queries), n)
    score = (value - value.mean()) / value.std() + (3.2 if kind == NOISE else 0.8) * noise
    cuts = np.array((0.5, 1.0, 1.7, 2.4)) * (2.6 if kind == NOISE else 1.0)  # about as many of each label
    return ar.Dataset(X.astype(np.float32), np.digitize(score, cuts), group=[n] * n_queries)


def _linear(X, rng):
    return X @ rng.normal(size=X.shape[1])


def _interactions(X, rng):
    pairs = rng.integers(0, X.shape[1], (12, 2))
    return 0.5 * X[:, :5].sum(axis=1) + (X[:, pairs[:, 0]] * X[:, pairs[:, 1]]) @ rng.normal(size=12)


def _thresholds(X, rng):
    columns, cuts = rng.integers(0, X.shape[1], 20), rng.normal(size=20)
    return (X[:, columns] > cuts) @ rng.normal(size=20)


def _asymmetric(X, rng):
    """Return the sum of ten random trees whose nodes ask whatever they like."""

    def walk(rows, depth):
        if depth == 0 or not len(rows):
            total[rows] += rng.normal()
            return
        column, cut = rng.integers(X.shape[1]), 0.7 * rng.normal()
        yes = X[rows, column] > cut
        for part in (rows[yes], rows[~yes]):
            walk(part, depth - 1 if rng.random() < 0.8 else 0)

    total = np.zeros(len(X))
    for _ in range(10):
        walk(np.arange(len(X)), 5)
    return total


def _few(X, rng):
    return X[:, :3] @ rng.normal(size=3)


TRUTHS = dict(zip((*KINDS, NOISE), (_linear, _interactions, _thresholds, _asymmetric, _few), strict=True))


def parts(name: str) -> tuple[ar.Dataset, ar.Dataset] | None:
    """Return training and validation part of "set | fold" or "kind | seed"; None where it is not at hand."""
    head, number = name.split(" | ")
    if head in TRUTHS:
        train, valid = made(head, int(number)).split(0.6, 0.4)
        return train, valid
    try:
        fold = load(head, int(number))
    except (ArgrankError, OSError):
        return None
    return None if fold is None or fold.valid is None else (fold.train, fold.valid)


SETS: tuple[str, ...] = (
    *(f"{kind} | 1" for kind in KINDS),
    "shop (bundled) | 1",
    "MQ2008 | 1",
    "MSLR-sample | 1",
    "OHSUMED-LETOR3 | 1",
    *(f"{kind} | 2" for kind in KINDS),
    "shop (bundled) | 2",
    "MQ2008 | 2",
    "OHSUMED-LETOR3 | 2",
)
