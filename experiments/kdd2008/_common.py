"""What the scripts of this folder share: the paper's data and rankers, and where files go."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from experiments import _common as shared

HERE = Path(__file__).parent
STEPS: tuple[dict[str, Any], ...] = ({"binarise": 1}, {"normalise": "query-minmax"}, {"clean": "kdd2008"})
DISCOUNTED = {"discount": "letor", "gain": "binary"}

CONVEX = {"bound": "convex"}
FIRST = {"feature_map": "first", **CONVEX}

#: The paper's rankers, as the paper defines them.
RANKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SVMauc": ("svm-auc", CONVEX),
    "SVMmap": ("svm-map", CONVEX),
    "SVMndcg": ("svm-ndcg", DISCOUNTED | CONVEX),
    "SVMndcg-nc": ("svm-ndcg-nc", DISCOUNTED | CONVEX),
    "SVMmrr": ("svm-mrr", FIRST),
    "DORM": ("dorm", DISCOUNTED | CONVEX),
}

#: The sizes of the paper's sets of one document ratio, 1 : 3 : 4.6 -> queries, documents each, share of good ones.
SIZES = {"OHSUMED": (106, 152, 0.05), "TD2003": (50, 983, 0.0105), "TD2004": (75, 989, 0.006)}
#: The set on which the paper's McRank ran out of memory.
TREC = {"TREC 2000": (50, 4418, 0.0096)}

fit, quiet, title = shared.fit, shared.quiet, shared.title


def fold_of(name: str, number: int = 1, steps: tuple[dict[str, Any], ...] = STEPS) -> Fold:
    """Read a fold of a collection, prepared as in the paper."""
    return shared.read_fold(name, number, steps)


def learnable(size: str, n_features: int = 44) -> ar.Dataset:
    """Generate a set of the size of one of the paper's on which all its convex bounds learn, for timing.

    Four features are the label plus a tenth of normal noise, the others noise. DORM's bound compares with the average
    ideal ranking and asks that scores vary little between documents of one label; it stays at w = 0 where the truth
    is linear, even without noise.
    """
    n_queries, n, share = (SIZES | TREC)[size]
    rng = np.random.default_rng(1)
    y = np.zeros((n_queries, n))
    y[:, : round(share * n)] = 1.0
    y = rng.permuted(y, axis=1).ravel()
    X = rng.standard_normal((len(y), n_features))
    X[:, :4] = 0.1 * X[:, :4] + y[:, None]
    return ar.Dataset(X, y, group=np.full(n_queries, n))


def measured(fitted: Any, data: ar.Dataset, measures: Iterable[str]) -> dict[str, float]:
    """Return the means of measures as the paper defines them."""
    return ar.evaluate(fitted.predict(data), data, list(measures), convention="kdd2008").means


def read_csv(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of this folder."""
    return shared.read_csv(HERE / name)


def write_csv(name: str, rows: shared.Rows) -> None:
    """Write the data of a figure beside it."""
    shared.write_csv(HERE / name, rows)


def save_figure(figure: Any, name: str) -> None:
    """Write a figure of this folder."""
    shared.save_figure(figure, HERE / name)
