"""Generated queries whose truth is of a known kind; a family of its own beside that of ``ar.make_ranking``."""

from __future__ import annotations

import numpy as np

import argrank as ar

KINDS = ("linear", "interactions", "thresholds", "asymmetric trees")
NOISE = "noise"  # linear in three features, under four times as much noise
FRIEDMAN = "Friedman"  # the first function of Friedman (1991), as scikit-learn has it


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
    """Return the sum of ten random trees whose nodes split on random features at random cuts."""

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


def _friedman(X, rng):
    from scipy.special import ndtr

    one, two, three, four, five = ndtr(X[:, :5]).T
    return 10.0 * np.sin(np.pi * one * two) + 20.0 * (three - 0.5) ** 2 + 10.0 * four + 5.0 * five


TRUTHS = {
    "linear": _linear,
    "interactions": _interactions,
    "thresholds": _thresholds,
    "asymmetric trees": _asymmetric,
    NOISE: _few,
    FRIEDMAN: _friedman,
}
