"""The data sets: collections at hand, the bundled shop, generated ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import ArgrankError
from benchmarks.peers.kinds import FRIEDMAN, KINDS, made

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FOLDS = (1, 2, 3, 4, 5)


def collection(name: str, fold: int) -> Fold:
    """Return a fold; a missing rank is the worst of its query, and a lacking validation part is cut off."""
    home = os.environ.get("ARGRANK_DATA", str(SHARED))
    found = ar.load_collection(name, Path(home) / name, fold)
    if found.valid is None:
        train, valid = found.train.split(0.8, 0.2)
        found = Fold(train, valid, found.test)
    if name == "MQ2007-agg":
        found = Fold(*(ar.normalise(ar.impute(part, with_="query-max"), "query-minmax") for part in found if part))
    return found


def bundled(fold: int) -> Fold:
    """Return a fold of the shop."""
    return list(ar.QueryKFold(5).folds(ar.load_bundled()))[fold - 1]


def generated(truth: str) -> Callable[[int], Fold]:
    """Return a maker of 2,000 queries x 100 documents x 136 features, split once."""

    def make(fold: int) -> Fold:
        return Fold(*ar.make_ranking(2000, 100, 136, truth=truth, random_state=1).split(0.6, 0.2, 0.2))

    return make


def of_kind(kind: str) -> Callable[[int], Fold]:
    """Return a maker of 1,250 training, 100 validation and 600 test queries x 40 documents x 30 features."""

    def make(fold: int) -> Fold:
        data = made(kind, 70 + fold, 1950)
        ends = (range(1250), range(1250, 1350), range(1350, 1950))
        return Fold(*(data.select(list(one)) for one in ends))

    return make


def of_collection(name: str) -> Callable[[int], Fold]:
    """Return the maker of a collection's folds."""
    return lambda fold: collection(name, fold)


#: Name -> folds, maker of a fold.
SETS: dict[str, tuple[tuple[int, ...], Callable[[int], Fold]]] = {
    "MQ2008": (FOLDS, of_collection("MQ2008")),
    "OHSUMED-LETOR2": (FOLDS, of_collection("OHSUMED-LETOR2")),
    "OHSUMED-LETOR3": (FOLDS, of_collection("OHSUMED-LETOR3")),
    "MQ2007-agg": (FOLDS, of_collection("MQ2007-agg")),
    "MSLR-sample": ((1,), of_collection("MSLR-sample")),
    "shop (bundled)": (FOLDS, bundled),
    "generated, linear": ((1,), generated("linear")),
    "generated, nonlinear": ((1,), generated("nonlinear")),
    **{f"generated, {kind}": ((1,), of_kind(kind)) for kind in (*KINDS[1:], FRIEDMAN)},
}


def load(name: str, fold: int) -> Fold | None:
    """Return a fold of a set, None where the collection is not at hand."""
    try:
        return SETS[name][1](fold)
    except ArgrankError as error:
        print(f"{name}: {error}", flush=True)
        return None
