"""The same data in another order: boosted trees of any settings, and auto, have the same bits."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import argrank as ar

Case = tuple[str, Callable[[], Any]]
RANKERS = (
    "mart",
    "lambda-mart",
    "pair-mart",
    "query-mart",
    "xendcg-mart",
    "mcrank",
    "direct-rank-trees",
    "symmetric-mart",
    "auto",
)
SETTINGS: dict[str, list[Any]] = {
    "n_trees": [1, 3, 8], "n_leaves": [2, 5, 31], "min_documents": [1, 5], "feature_fraction": [0.3, 1.0],
    "bagging_fraction": [0.2, 0.6, 1.0], "extra_trees": [True, False], "start": [None, "linear"], "n_seeds": [1, 2],
    "normalise": [None, "standard", "query-minmax"], "random_state": [0, 7], "early_stopping": [None, 2],
    "folds": [0, 3], "l2": [0.0, 1.0],
}  # fmt: skip


def order(seed: int, folder: Path) -> Iterator[Case]:
    """Yield fits on data with equal documents, gaps, weights and categories, in the order given and in another."""
    rng = random.Random(seed)
    while True:
        name = rng.choice(RANKERS)
        known = ar.make_ranker(name).get_params()
        settings = {key: rng.choice(values) for key, values in SETTINGS.items() if key in known and rng.random() < 0.5}
        settings |= {"max_trees": 12, "n_folds": 2} if name == "auto" else {"n_trees": settings.get("n_trees", 5)}
        if name == "direct-rank-trees":
            settings.pop("early_stopping", None)
        kind = rng.choice(("plain", "float32", "rounded", "sparse", "missing", "weights", "categories"))
        number = rng.randrange(10**6)
        told = f"{name} {settings} on {kind} data of seed {number}"
        yield told, lambda name=name, settings=settings, kind=kind, number=number: _same(name, settings, kind, number)


def _same(name: str, settings: dict[str, Any], kind: str, number: int) -> None:
    rng = np.random.default_rng(number)
    made = ar.make_ranking(int(rng.integers(2, 40)), (1, 15), 4, truth="nonlinear", random_state=number)
    X, more = np.array(made.X), {}
    if kind == "rounded":
        X = np.round(X)
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "categories":
        X[:, 0] = rng.integers(0, 5, len(X))
        more = {"categorical_features": [0]}
    if kind == "float32":
        X = X.astype(np.float32)
    weight = (
        rng.integers(1, 4, len(X)).astype(float)
        if kind == "weights" and name in ("mart", "mcrank", "symmetric-mart")
        else None
    )
    scores = []
    for rows in (np.arange(len(X)), rng.permutation(len(X))):
        features: Any = sparse.csr_matrix(X[rows]) if kind == "sparse" else X[rows]
        own = {} if weight is None else {"sample_weight": weight[rows]}
        data = ar.Dataset(features, made.y[rows], qid=made.qid[rows], **own)
        ranker = ar.make_ranker(name, **settings, **more, n_jobs=1, verbose=-1)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ranker.fit(data)
        if any("interrupted" in str(one.message) for one in told):
            raise KeyboardInterrupt  # it took too long, and kept the trees before
        scores.append(ranker.predict(made.X, qid=made.qid))
    if scores[0].tobytes() != scores[1].tobytes():
        raise AssertionError(f"scores differ by {np.abs(scores[0] - scores[1]).max()} of {np.ptp(scores[0])}")
