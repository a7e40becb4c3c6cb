"""What the scripts of this folder share: the paper's data and rankers, and where files go."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import argrank as ar
from argrank.data.folds import Fold
from experiments import _common as shared

HERE = Path(__file__).parent
STEPS: tuple[dict[str, Any], ...] = ({"binarise": 1}, {"normalise": "query-minmax"}, {"clean": "kdd2008"})
DISCOUNTED = {"discount": "letor", "gain": "binary"}

CONVEX = {"bound": "convex"}
FIRST = {"feature_map": "first", **CONVEX}

#: The paper's rankers as it has them.
RANKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SVMauc": ("svm-auc", CONVEX),
    "SVMmap": ("svm-map", CONVEX),
    "SVMndcg": ("svm-ndcg", DISCOUNTED | CONVEX),
    "SVMndcg-nc": ("svm-ndcg-nc", DISCOUNTED | CONVEX),
    "SVMmrr": ("svm-mrr", FIRST),
    "DORM": ("dorm", DISCOUNTED | CONVEX),
}

fit, quiet, title = shared.fit, shared.quiet, shared.title


def fold_of(name: str, number: int = 1, steps: tuple[dict[str, Any], ...] = STEPS) -> Fold:
    """Read a fold of a collection, prepared as in the paper."""
    return shared.read_fold(name, number, steps)


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
