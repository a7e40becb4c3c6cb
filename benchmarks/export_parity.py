"""Is the deployed score the trained score? Every ranker that can be exported, to every target that takes its model.

Bar: no query reordered beyond rounding. The test rows have the features that an engine has, rounded to float32, so that
any difference comes from the target. Collections are looked for in $ARGRANK_DATA, else in ../shared/data, and those
that are not there are named. Rankers train for a few rounds on some of the queries: scores must agree here, they need
not be good. ``ARGRANK_PARITY_QUERIES`` sets how many queries train (60), and ``ARGRANK_PARITY_RANKERS`` which rankers.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.errors import ArgrankError

COLLECTIONS = ("MSLR-sample", "OHSUMED-LETOR3", "MQ2008")
FEW = {"n_trees": 30, "n_rounds": 30, "max_iter": 15, "n_starts": 1, "n_samples": 50}
NORMALISERS = (None, "standard")


def parts() -> dict[str, tuple[ar.Dataset, ar.Dataset]]:
    """Return a training part and a test part with float32 features of each data set that is there."""
    n_queries = int(os.environ.get("ARGRANK_PARITY_QUERIES", "60"))
    bundled = ar.load_bundled()
    found = {"bundled": bundled.split(0.7, 0.3)}
    root = Path(os.environ.get("ARGRANK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    for name in COLLECTIONS:
        try:
            fold = ar.load_collection(name, root / name)
        except (ArgrankError, OSError) as error:
            print(f"{name} is left out: {error}")
            continue
        found[name] = (fold.train, fold.test)
    return {
        name: (single(train.select(np.arange(min(n_queries, train.n_queries)))), single(test))
        for name, (train, test) in found.items()
    }


def single(data: ar.Dataset) -> ar.Dataset:
    """Return the data with features as an engine has them."""
    return data.with_features(data.X.astype(np.float32).astype(np.float64))


def fitted(name: str, normalise: str | None, train: ar.Dataset) -> Any:
    """Return a ranker after a few rounds."""
    known = ar.make_ranker(name).get_params()
    few = {option: value for option, value in FEW.items() if option in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged
        return ar.make_ranker(name, normalise=normalise, verbose=-1, **few).fit(train)


def run() -> None:
    """Print a line for each ranker: queries reordered beyond rounding and the largest difference, by data set."""
    data = parts()
    asked = os.environ.get("ARGRANK_PARITY_RANKERS")
    names = asked.split(",") if asked else [name for name in ar.ranker_names() if name != "auto"]
    print("queries reordered beyond rounding / queries (largest relative difference), over all targets of the model")
    print(f"{'ranker':22}{'normaliser':12}{'targets':9}" + "".join(f"{name:>26}" for name in data) + "   seconds")
    total = failures = 0
    for name in names:
        for normalise in NORMALISERS:
            begin, cells, n_targets = time.perf_counter(), [], 0
            for train, test in data.values():
                try:
                    ranker = fitted(name, normalise, train)
                except ArgrankError as error:
                    cells.append(f"not trained: {error}"[:25])
                    continue
                found = {to: ar.export(ranker, to, check=test, missing="zero").parity for to in ar.targets(ranker)}
                n_targets = max(n_targets, len(found))
                if not found:
                    cells.append("not exportable")
                    continue
                worst = max(parity.reordered_beyond_rounding for parity in found.values())
                broken = sorted(to for to, parity in found.items() if not parity.holds)
                total, failures = total + len(found), failures + len(broken)
                relative = max(parity.relative for parity in found.values())
                cells.append(
                    f"{worst} / {test.n_queries} ({relative:.1e})" + (f" {','.join(broken)}" if broken else "")
                )
            line = "".join(f"{cell:>26}" for cell in cells)
            print(f"{name:22}{normalise or '-':12}{n_targets:<9}{line}{time.perf_counter() - begin:10.1f}", flush=True)
    print(f"{failures} of {total} exports reorder a query beyond rounding or misscore a generated row (bar: 0)")
