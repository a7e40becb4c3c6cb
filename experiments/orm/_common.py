"""What the scripts of this folder share: the data as the paper has it, choice on validation data, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import argrank as ar
from argrank.data.folds import Fold
from argrank.evaluation.significance import wilcoxon
from experiments import _common as shared

HERE = Path(__file__).parent
CUTOFFS = tuple(range(1, 11))
MEASURES = tuple(f"ndcg@{k}" for k in CUTOFFS)
#: collection -> the convention in which its published rows are given
CONVENTIONS = {"OHSUMED-LETOR2": "letor3", "OHSUMED-LETOR3": "letor3", "MQ2008": "letor4"}

Floats = NDArray[np.float64]

fit = shared.fit


def read_csv(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of this folder; none if there is no such file."""
    return shared.read_csv(HERE / name)


def write_csv(name: str, rows: shared.Rows) -> None:
    """Write a table of this folder."""
    shared.write_csv(HERE / name, rows)


def save_figure(figure: Any, name: str) -> None:
    """Write a figure of this folder."""
    shared.save_figure(figure, HERE / name)


def folds_of(collection: str) -> list[Fold]:
    """Read the five official folds; LETOR 2.0 has raw features, which are scaled to [0, 1] within queries."""
    steps = ({"normalise": "query-minmax"},) if collection == "OHSUMED-LETOR2" else ()
    return [shared.read_fold(collection, number, steps) for number in range(1, 6)]


def web_set(name: str) -> tuple[ar.Dataset, ar.Dataset, ar.Dataset]:
    """Generate a stand-in of one of the paper's web sets, and split it as the paper does."""
    shares = (0.6, 0.2, 0.2) if name == "orm-web-1" else (1 / 3, 1 / 3, 1 / 3)
    train, valid, test = ar.make_standin(name).split(*shares, random_state=None)
    return train, valid, test


def choose(
    ranker: str, parameters: dict[str, Any], grid: Any, train: ar.Dataset, valid: ar.Dataset, measure: str = "ndcg@10"
) -> Any:
    """Fit at every point of a grid and choose by a measure on the validation part (convention "default")."""
    with shared.quiet():
        made = ar.make_ranker(ranker, **parameters)
        return ar.select(made, grid, train, valid, measure, n_jobs=1, progress=False)


def per_query(scores: Floats, data: ar.Dataset, convention: str = "default") -> Floats:
    """Return NDCG@1 … NDCG@10 of every query, one column per cut-off."""
    found = ar.evaluate(scores, data, list(MEASURES), convention=convention)
    return np.column_stack([found.values[name] for name in MEASURES])


def difference(one: Floats, other: Floats) -> dict[str, float]:
    """Compare two rankers query by query: NDCG@10 with its standard error, Wilcoxon's p of the sums over k.

    The sums of NDCG@1 … NDCG@10 are what the paper tests (section 6.1).
    """
    kept = ~np.isnan(one + other).any(axis=1)
    last = (one - other)[kept, -1]
    sums = (one - other)[kept].sum(axis=1)
    return {
        "queries": float(kept.sum()),
        "ndcg@10": float(last.mean()),
        "standard_error": float(last.std(ddof=1) / np.sqrt(len(last))),
        "sum": float(sums.mean()),
        "wilcoxon_p": float(wilcoxon(sums[:, None])[0]),
    }
