"""What the scripts of this folder share: data, quiet fits with their CPU time, and tables that resume."""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import argrank as ar
from argrank.data.folds import Fold
from experiments import _common as shared

HERE = Path(__file__).parent
WORK = "work"  # folder for values query by query, which are not kept with the code
#: MQ2007-agg gives ranks up to 494, or nothing for documents that a system did not find: those come after all others.
STEPS: dict[str, tuple[dict[str, Any], ...]] = {
    "MQ2007-agg": ({"impute": 500.0}, {"normalise": "query-minmax"}),
    "MSLR-sample": ({"normalise": "query-minmax"},),
}


def fold_of(name: str, number: int = 1) -> Fold:
    """Read a fold of a collection or stand-in; one without a validation part gets a quarter of the training queries."""
    fold = shared.read_fold(name, number, STEPS.get(name, ()))
    if fold.valid is None:
        train, valid = fold.train.split(0.75, 0.25, random_state=0)
        fold = Fold(train, valid, fold.test)
    return fold


def mslr_shape(n_queries: int, truth: str, random_state: int = 1) -> Fold:
    """Generate queries of MSLR's shape, 120 documents x 136 features, with as much noise as truth.

    Three tenths train, one tenth validates, and the rest, which costs next to nothing, tests.
    """
    data = ar.make_ranking(n_queries, 120, 136, truth=truth, noise=1.0, random_state=random_state)
    return Fold(*data.split(0.3, 0.1, 0.6, random_state=random_state))


def nonlinear(n_queries: int = 2000) -> Fold:
    """Generate the queries of ``python -m benchmarks trees``, or their first ones, by its split: 60, 20 and 20 %.

    No linear model can express their truth; the noise is half as large as it.
    """
    data = ar.make_ranking(n_queries, 120, 136, truth="nonlinear", random_state=1)
    return Fold(*data.split(0.6, 0.2, 0.2))


def fit(ranker: str, train: ar.Dataset, valid: ar.Dataset | None = None, **parameters: Any) -> tuple[Any, float]:
    """Fit on one thread; return the ranker and the CPU seconds it took."""
    begin = time.process_time()
    fitted = shared.fit(ranker, train, valid, n_jobs=1, **parameters)
    return fitted, time.process_time() - begin


def mean(fitted: Any, data: ar.Dataset, measure: str, convention: str = "default") -> float:
    """Return one mean measure of a fitted ranker."""
    (value,) = ar.evaluate(fitted.predict(data), data, measure, convention=convention).means.values()
    return float(value)


class Table:
    """A CSV file beside the scripts, a row for every finished piece of work; what is there is not computed again."""

    def __init__(self, name: str, *keys: str) -> None:
        self.path, self.keys = HERE / name, keys
        self.rows: list[dict[str, str]] = shared.read_csv(self.path)
        self._done = {tuple(row[key] for key in keys) for row in self.rows}

    def has(self, *values: Any) -> bool:
        """Tell whether there is a row of these values of the keys."""
        return tuple(map(str, values)) in self._done

    def add(self, row: Mapping[str, Any], quiet: bool = False) -> None:
        """Append a row and, unless ``quiet``, print it."""
        shown = {key: f"{value:.6g}" if isinstance(value, float) else str(value) for key, value in row.items()}
        self.path.parent.mkdir(exist_ok=True)
        with self.path.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, list(shown), lineterminator="\n")
            if not self.rows:
                writer.writeheader()
            writer.writerow(shown)
        self.rows.append(shown)
        self._done.add(tuple(shown[key] for key in self.keys))
        if not quiet:
            print(", ".join(f"{key} {value}" for key, value in shown.items()), flush=True)


def save_figure(figure: Any, name: str) -> None:
    """Write a figure of this folder."""
    shared.save_figure(figure, HERE / name)
