"""The data sets on which defaults are chosen and shown, features unchanged, and what is kept of a fit.

Missing values of MQ2007-agg (ranks that a system did not give) are filled in with 500, which is worse than all given
ranks; linear rankers refuse missing values. Where a collection has no validation part, a third of the training queries
is one.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold, QueryKFold
from argrank.errors import ArgrankError
from experiments._common import fit, read_csv, read_fold

HERE = Path(__file__).parent
MEASURES = ("ndcg@10", "map", "mrr@10")
MISSING = ({"impute": 500.0},)


def _generated(number: int, truth: str) -> Fold:
    """Return 100 training and 100 test queries of 20 to 60 documents; ``number`` is the seed."""
    parts = ar.make_ranking(230, (20, 60), 20, truth=truth, noise=1.0, random_state=number)
    return Fold(*parts.split(100 / 230, 30 / 230, 100 / 230, random_state=None))


def _bundled(number: int) -> Fold:
    return list(QueryKFold().folds(ar.load_bundled()))[number - 1]


def _sample(number: int) -> Fold:
    """Return MSLR-sample, whose parts are fixed: fold 2 exchanges them."""
    fold = read_fold("MSLR-sample", 1)
    parts = (fold.train, fold.test) if number == 1 else (fold.test, fold.train)
    return Fold(parts[0], None, parts[1])


#: How to read a fold, and how many there are.
SETS: dict[str, tuple[Callable[[int], Fold], int]] = {
    "OHSUMED-LETOR2": (partial(read_fold, "OHSUMED-LETOR2"), 5),
    "OHSUMED-LETOR3": (partial(read_fold, "OHSUMED-LETOR3"), 5),
    "MQ2008": (partial(read_fold, "MQ2008"), 5),
    "MQ2007-agg": (partial(read_fold, "MQ2007-agg", steps=MISSING), 5),
    "MSLR-sample": (_sample, 2),
    "shop (bundled)": (_bundled, 5),
    "td2003": (partial(read_fold, "td2003"), 5),
    "trec2000": (partial(read_fold, "trec2000"), 2),
    "linear": (partial(_generated, truth="linear"), 3),
    "nonlinear": (partial(_generated, truth="nonlinear"), 3),
}


@lru_cache(maxsize=2)
def fold_of(name: str, number: int) -> Fold:
    """Read a fold; its validation part is never empty."""
    fold = SETS[name][0](number)
    if fold.valid is not None:
        return fold
    train, valid = fold.train.split(2 / 3, 1 / 3)
    return Fold(train, valid, fold.test)


def fitted_on(train: ar.Dataset, ranker: str, parameters: Mapping[str, Any]) -> tuple[Any, float]:
    """Return a ranker fitted on one thread, and its CPU seconds."""
    begin = time.process_time()
    fitted = fit(ranker, train, n_jobs=1, **parameters)
    return fitted, time.process_time() - begin


def judged(fitted: Any, data: ar.Dataset) -> tuple[dict[str, np.ndarray], bool]:
    """Return the measures of every query, NaN where undefined, and whether all scores of every query are equal."""
    scores = fitted.predict(data)
    spread = [np.ptp(scores[a:b]) for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)]
    return dict(ar.evaluate(scores, data, list(MEASURES)).values), not any(spread)


class Store:
    """A CSV file to which rows are added, one at a time, so that what was computed stays."""

    def __init__(self, path: Path, key: tuple[str, ...]) -> None:
        self.path, self.key, self.rows = path, key, read_csv(path)
        self._known = {self._key(row) for row in self.rows}

    def _key(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in self.key)

    def has(self, row: Mapping[str, Any]) -> bool:
        """Tell whether there is a row of this key."""
        return self._key(row) in self._known

    def forget(self, which: Callable[[Mapping[str, Any]], bool]) -> None:
        """Remove rows from the file."""
        kept = [row for row in self.rows if not which(row)]
        self.path.unlink(missing_ok=True)
        self.rows, self._known = [], set()
        for row in kept:
            self.add(row)

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row to the file."""
        written = {name: f"{x:.6g}" if isinstance(x, float) else str(x) for name, x in row.items()}
        with self.path.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, list(written), lineterminator="\n")
            if not self.rows:
                writer.writeheader()
            writer.writerow(written)
        self.rows.append(written)
        self._known.add(self._key(written))


__all__ = ["HERE", "MEASURES", "SETS", "ArgrankError", "Store", "fitted_on", "fold_of", "judged"]
