"""What the scripts of this folder share: the paper's data, its rankers, and files for figures."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import ArgrankWarning
from argrank.trials.config import DataSpec
from argrank.trials.data_sets import read_data

HERE = Path(__file__).parent
STEPS: tuple[dict[str, Any], ...] = ({"binarise": 1}, {"normalise": "query-minmax"}, {"clean": "kdd2008"})
DISCOUNTED = {"discount": "letor", "gain": "binary"}

#: The paper's rankers as it has them.
RANKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SVMauc": ("svm-auc", {}),
    "SVMmap": ("svm-map", {}),
    "SVMndcg": ("svm-ndcg", DISCOUNTED),
    "SVMndcg-nc": ("svm-ndcg-nc", DISCOUNTED),
    "SVMmrr": ("svm-mrr", {}),
    "DORM": ("dorm", DISCOUNTED),
}


def fold_of(name: str, number: int = 1, steps: tuple[dict[str, Any], ...] = STEPS) -> Fold:
    """Read a fold of a collection, prepared as the paper does it; lower-case names are stand-ins, left as they are."""
    if name.islower():
        return read_data(DataSpec(name, (number,), standin=name), number)
    return read_data(DataSpec(name, (number,), collection=name, preprocess=steps), number)


def fit(ranker: str, train: ar.Dataset, **parameters: Any) -> Any:
    """Fit without a progress bar and without warnings: the figures say what they would."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        return ar.make_ranker(ranker, verbose=-1, **parameters).fit(train)


def measured(fitted: Any, data: ar.Dataset, measures: Iterable[str]) -> dict[str, float]:
    """Return the means of measures as the paper defines them."""
    return ar.evaluate(fitted.predict(data), data, list(measures), convention="kdd2008").means


def write_csv(name: str, rows: list[Mapping[str, Any]], folder: Path = HERE) -> None:
    """Write the data of a figure beside it."""
    with (folder / name).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()})
        print(f"{name}: {len(rows)} rows", flush=True)


def save_figure(figure: Any, name: str, folder: Path = HERE) -> None:
    """Write a figure as PNG, the same bytes for the same figure."""
    figure.savefig(folder / name, format="png", dpi=100, metadata={"Software": None})
