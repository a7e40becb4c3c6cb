"""Data that break rankers, and the rule for every ranker on each of them.

A fit ends in one of our errors, or in a model that gives finite scores, can be saved and loads to the same scores.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import argrank as ar
from argrank.errors import ArgrankError
from argrank.rankers.registry import ranker_names

N_ROWS = 24


def _features(kind: str) -> Any:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N_ROWS, 3))
    scales = {
        f"scale {power}": 10.0**power for power in (-320, -310, -300, -200, -150, -30, 30, 100, 150, 200, 300, 307)
    }
    if kind in scales:
        return X * scales[kind]
    return {
        "ordinary": lambda: X,
        "float32": lambda: X.astype(np.float32),
        "zero": lambda: np.zeros((N_ROWS, 3)),
        "constant": lambda: np.full((N_ROWS, 3), 7.0),
        "constant within queries": lambda: np.repeat(X[:4], N_ROWS // 4, axis=0),
        "one column": lambda: X[:, :1],
        "many columns": lambda: rng.standard_normal((N_ROWS, 60)),
        "equal columns": lambda: np.repeat(X[:, :1], 3, axis=1),
        "mixed scales": lambda: X * np.array([1e-200, 1.0, 1e200]),
        "an outlier": lambda: np.where(np.arange(N_ROWS)[:, None] == 3, 1e300, X),
        "largest float": lambda: np.where(np.arange(N_ROWS)[:, None] == 3, np.finfo(float).max, X),
        "both largest floats": lambda: np.sign(X) * np.finfo(float).max,
        "largest float32": lambda: (np.sign(X) * np.finfo(np.float32).max).astype(np.float32),
        "negative zeros": lambda: -np.zeros((N_ROWS, 3)),
        "whole numbers": lambda: rng.integers(-3, 4, (N_ROWS, 3)),
        "booleans": lambda: X > 0,
        "missing": lambda: np.where(X > 1, np.nan, X),
        "all missing": lambda: np.full((N_ROWS, 3), np.nan),
        "sparse": lambda: sparse.csr_matrix(np.where(X > 0, X, 0)),
        "sparse and empty": lambda: sparse.csr_matrix((N_ROWS, 3)),
        "sparse and wide": lambda: sparse.csr_matrix(
            (X[:, 0], (np.arange(N_ROWS), np.arange(N_ROWS) * 12)), shape=(N_ROWS, 300)
        ),
        "float16": lambda: X.astype(np.float16),
        "long doubles": lambda: X.astype(np.longdouble),
        "Fortran order": lambda: np.asfortranarray(X),
    }[kind]()


FEATURES = [
    "ordinary", "float32", "zero", "constant", "constant within queries", "one column", "many columns", "equal columns",
    "mixed scales", "an outlier", "largest float", "both largest floats", "largest float32", "negative zeros",
    "whole numbers", "booleans", "missing", "all missing", "sparse", "sparse and empty", "sparse and wide", "float16",
    "long doubles", "Fortran order",
    *(f"scale {power}" for power in (-320, -310, -300, -200, -150, -30, 30, 100, 150, 200, 300, 307)),
]  # fmt: skip

_GRADES = np.arange(N_ROWS) % 3
LABELS: dict[str, Callable[[], Any]] = {
    "grades": lambda: _GRADES,
    "zero": lambda: np.zeros(N_ROWS),
    "one": lambda: np.ones(N_ROWS),
    "one good": lambda: (np.arange(N_ROWS) == 5).astype(float),
    "one bad": lambda: (np.arange(N_ROWS) != 5).astype(float),
    "different": lambda: np.arange(N_ROWS),
    "tiny": lambda: _GRADES * 5e-324,
    "small": lambda: _GRADES * 1e-200,
    "near one another": lambda: 1 + _GRADES * 2.0**-52,
    "large": lambda: _GRADES * 40,
    "huge": lambda: _GRADES * 1e6,
    "enormous": lambda: _GRADES * 1e100,
    "beyond": lambda: _GRADES * 8e307,
    "negative": lambda: _GRADES - 1.0,
    "missing": lambda: np.where(_GRADES == 1, np.nan, _GRADES),
    "infinite": lambda: np.where(_GRADES == 1, np.inf, _GRADES),
    "booleans": lambda: _GRADES > 0,
    "fractions": lambda: _GRADES / 7,
}

QUERIES: dict[str, Callable[[], Any]] = {
    "four": lambda: np.repeat(np.arange(4), N_ROWS // 4),
    "one": lambda: np.zeros(N_ROWS, int),
    "single documents": lambda: np.arange(N_ROWS),
    "mixed up": lambda: np.arange(N_ROWS) % 4,
    "one large": lambda: np.where(np.arange(N_ROWS) < 21, 0, np.arange(N_ROWS)),
    "pairs": lambda: np.arange(N_ROWS) // 2,
    "words": lambda: [["a", "b\n", "\x1b[1m", ""][i % 4] for i in range(N_ROWS)],
    "objects": lambda: [(i % 3, "x") for i in range(N_ROWS)],
}

#: Names of cases: features | labels | queries | weights | rows.
CASES = [
    *(f"{features}|grades|four||" for features in FEATURES),
    *(f"ordinary|{labels}|four||" for labels in LABELS),
    *(f"ordinary|grades|{queries}||" for queries in QUERIES),
    *(f"{features}|{labels}|four||" for features in ("zero", "constant") for labels in ("zero", "one", "one good")),
    *(f"{features}|zero|single documents||" for features in ("ordinary", "zero")),
    *(f"ordinary|grades|four|{weights}|" for weights in ("tiny", "huge", "uneven", "some zero", "one only")),
    *(f"{features}|grades|four||{rows}" for features in ("ordinary", "zero") for rows in (1, 2, 3)),
    *(f"scale {power}|enormous|four||" for power in (-300, 150)),
    *(f"scale {power}|grades|one||" for power in (-310, 300)),
    *(f"scale {power}|tiny|pairs||" for power in (-310, 300)),
]


def case(name: str) -> tuple[Any, Any, Any, Any]:
    """Return features, labels, query ids and weights of the queries."""
    features, labels, queries, weights, rows = name.split("|")
    X, y, qid = _features(features), np.asarray(LABELS[labels]()), QUERIES[queries]()
    n_rows = int(rows) if rows else N_ROWS
    X, y, qid = X[:n_rows], y[:n_rows], qid[:n_rows]
    weight = {
        "": None, "tiny": [1e-320] * 4, "huge": [1e307] * 4, "uneven": [1e-300, 1e300, 1, 1], "some zero": [0, 1, 0, 2],
        "one only": [0, 0, 0, 1e-300],
    }[weights]  # fmt: skip
    return X, y, qid, weight


SMALL = {
    "n_trees": 2, "n_leaves": 3, "min_documents": 1, "n_rounds": 3, "max_iter": 15, "n_starts": 1, "n_jobs": 1,
    "verbose": -1, "time_limit": 2.0, "max_trees": 12, "n_folds": 2,
}  # fmt: skip


def attempt(ranker: str, name: str, folder: Path) -> str | None:
    """Fit a ranker on a case; return what went wrong, None if nothing did."""
    made = ar.make_ranker(ranker)
    known = made.get_params()
    made.set_params(**{parameter: value for parameter, value in SMALL.items() if parameter in known})
    X, y, qid, weight = case(name)
    try:
        made.fit(X, y, qid=qid, query_weight=weight)
        scores = made.predict(X, qid=qid)
        if not np.isfinite(scores).all():
            return "a score that is no number"
        made.save(folder / "model.json")
        again = ar.load_model(folder / "model.json").predict(X, qid=qid)
    except ArgrankError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if np.array_equal(scores, again) else "other scores after loading"


def main(arguments: list[str]) -> int:
    """Try cases (all by default) with rankers (all by default); print what fails, return how many did."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    chosen = [name for name in arguments if name in ranker_names()] or ranker_names()
    cases = [name for name in arguments if name in CASES] or CASES
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for ranker in chosen:
            begin, slowest = time.process_time(), ("", 0.0)
            for name in cases:
                started = time.process_time()
                print(f"trying {ranker} | {name}", file=sys.stderr, flush=True)
                wrong = attempt(ranker, name, Path(folder))
                if wrong is not None:
                    failures += 1
                    print(f"FAILED {ranker} | {name}: {wrong}", flush=True)
                slowest = max(slowest, (name, time.process_time() - started), key=lambda found: found[1])
            print(f"{ranker}: {len(cases)} cases, {time.process_time() - begin:.1f} s, slowest {slowest}", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
