"""Fitting of symmetric trees beside LightGBM's: equal depth, trees, bins, rate and shares of rows and columns.

LightGBM minimises its own squared error, whose gradients cost less than those of differences within queries. Both
begin with the features in memory, on one thread; CPU seconds, medians of interleaved repeats.
``python -m benchmarks symmetric:20000`` for one size.
"""

from __future__ import annotations

import time

import lightgbm as lgb
import numpy as np

import argrank as ar
from benchmarks._interleaved import medians

SIZES = {20_000: (100, 5), 200_000: (100, 3), 1_000_000: (50, 3)}  # rows: trees, repeats
N_FEATURES = 136
SHARES = {"all rows and columns": (1.0, 1.0), "60 % of rows, half of columns": (0.6, 0.5)}


def run(*sizes: str) -> None:
    """Print the table."""
    print(f"{'rows':>10}{'trees':>7}  {'drawn':<32}{'symmetric-mart':>15}{'LightGBM':>12}{'ratio':>8}   bar")
    for n_rows, (n_trees, repeats) in SIZES.items():
        if sizes and str(n_rows) not in sizes:
            continue
        data = made(n_rows)
        for name, (bagging, features) in SHARES.items():
            shares = {"bagging_fraction": bagging, "feature_fraction": features}
            ranker = ar.make_ranker("symmetric-mart", n_trees=n_trees, start=None, n_jobs=1, verbose=-1, **shares)
            parameters = {
                "objective": "regression", "learning_rate": ranker.learning_rate, "lambda_l2": ranker.l2,
                "num_leaves": 1 << ranker.depth, "max_depth": ranker.depth, "max_bin": ranker.n_bins,
                "bagging_freq": int(bagging < 1), "num_threads": 1, "verbosity": -1, **shares,
            }  # fmt: skip

            def ours(ranker=ranker, data=data):
                return ranker.fit(data)

            def theirs(parameters=parameters, n_trees=n_trees, data=data):
                return lgb.train(parameters, lgb.Dataset(data.X, data.y), n_trees)

            found = medians({"ours": ours, "theirs": theirs}, repeats, time.process_time)
            ratio = found["ours"] / found["theirs"]
            line = f"{n_rows:>10,}{n_trees:>7}  {name:<32}{found['ours']:>13.2f} s{found['theirs']:>10.2f} s"
            print(f"{line}{ratio:>8.2f}   1.0", flush=True)


def made(n_rows: int) -> ar.Dataset:
    """Return queries of 100 documents; of every other feature half of the values are 0, as in search logs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_FEATURES), np.float32)
    X[:, ::2] *= rng.random((n_rows, N_FEATURES // 2)) < 0.5
    truth = X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 2] + X[:, 3] * (X[:, 4] > 0) + rng.standard_normal(n_rows)
    return ar.Dataset(X, np.clip(np.floor(truth), 0, 4), group=[100] * (n_rows // 100))
