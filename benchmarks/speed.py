"""Speed that users notice: serving, training, start-up, the first run, memory; with peers in the same run.

Rows that take a process of their own (start-up, first run, memory) are aims; the others are bars. All on one thread,
CPU seconds, median of interleaved repeats. A peer that is not installed leaves its column empty.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np

import argrank as ar
from argrank.models.linear import LinearModel
from argrank.models.trees import TreesModel
from benchmarks._interleaved import medians

SHARE = float(os.environ.get("ARGRANK_BENCH_SHARE", "1"))  # below 1: fewer rows, for a busy machine
MANY = round(1_000_000 * SHARE)
QUIET = {"verbosity": -1, "num_threads": 1}

LIGHTGBM_SCRIPT = """
import sys, numpy as np, lightgbm as lgb
from sklearn.datasets import load_svmlight_file
X, y, qid = load_svmlight_file(sys.argv[1], query_id=True)
sizes = np.unique(qid, return_counts=True)[1]
model = lgb.LGBMRanker(verbosity=-1, n_jobs=1).fit(X.toarray(), y, group=sizes)
model.booster_.save_model(sys.argv[2])
"""


class Row(NamedTuple):
    """One line of the table; ``bar`` is the greatest ratio to the peer, or the greatest number of its unit."""

    what: str
    ours: float
    peer: float | None
    unit: str
    bar: str

    def __str__(self) -> str:
        peer = "" if self.peer is None else f"{self.peer:.3g} {self.unit}"
        ratio = "" if not self.peer else f"{self.ours / self.peer:.2f}"
        return f"{self.what:<46}{f'{self.ours:.3g} {self.unit}':>12}{peer:>14}{ratio:>8}   {self.bar}"


def together(ours: Callable[[], object], peer: Callable[[], object], repeats: int) -> tuple[float, float]:
    found = medians({"ours": ours, "peer": peer}, repeats, time.process_time)
    return found["ours"], found["peer"]


def serving() -> list[Row]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 136))
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + rng.standard_normal(len(X))
    booster = lgb.train({"num_leaves": 31, **QUIET}, lgb.Dataset(X, y), 100)
    model, query = TreesModel.from_lightgbm(booster), X[:100].copy()
    small = together(lambda: model.predict(query), lambda: booster.predict(query, num_threads=1), 200)
    many = np.resize(X, (MANY, 136))
    large = together(lambda: model.predict(many), lambda: booster.predict(many, num_threads=1), 3)
    singles, weights = many.astype(np.float32), rng.standard_normal(136)
    linear, halves = LinearModel(weights), weights.astype(np.float32)
    flat = together(lambda: linear.predict(singles), lambda: singles @ halves, 5)
    title = f"{MANY:,} rows"
    return [
        Row("forest 100 x 31, a query of 100 documents", 1e3 * small[0], 1e3 * small[1], "ms", "1.0 x LightGBM"),
        Row(f"forest 100 x 31, {title}", *large, "s", "1.0 x LightGBM"),
        Row(f"linear, {title} x 136, float32", *flat, "s", "1.5 x NumPy"),
    ]


def training() -> list[Row]:
    data = ar.make_ranking(470, (5, 35), 46, truth="nonlinear", random_state=3)  # the size of an MQ2008 fold
    defaults = ar.make_ranker("lambda-mart", n_jobs=1, verbose=-1)
    parameters = {
        "objective": "lambdarank", "lambdarank_norm": False, "learning_rate": defaults.learning_rate,
        "num_leaves": defaults.n_leaves, "feature_fraction": defaults.feature_fraction, "bagging_freq": 1,
        "bagging_fraction": defaults.bagging_fraction, "extra_trees": True, "metric": "None", **QUIET,
    }  # fmt: skip

    def peer() -> None:
        lgb.train(parameters, lgb.Dataset(data.X, data.y, group=data.sizes), defaults.n_trees)

    mart = together(lambda: defaults.fit(data), peer, 5)
    plain = {"objective": "lambdarank", "metric": "None", **QUIET}
    default = together(
        lambda: ar.make_ranker("query-mart", n_jobs=1, verbose=-1).fit(data),
        lambda: lgb.train(plain, lgb.Dataset(data.X, data.y, group=data.sizes), 100),
        3,
    )
    rows = [
        Row("lambda-mart fit, size of MQ2008, equal settings", *mart, "s", "1.1 x LightGBM"),
        Row("query-mart fit, size of MQ2008", *default, "s", "3.0 x LightGBM's default lambdarank"),
    ]
    return [*rows, *_svm_auc(), _climb(data)]


def _svm_auc() -> list[Row]:
    """Return svm-auc beside dlib's ranking SVM on the same problem, both stopped at the same objective.

    All queries have as many pairs, so dlib's mean over all pairs is our mean over queries; our hinge has margin 1/2,
    so its C is four times ours.
    """
    graded = ar.make_ranking(400, 50, 46, random_state=1)
    data = ar.Dataset(graded.X, (graded.y > 0).astype(float), group=graded.sizes)
    ranker = ar.make_ranker("svm-auc", C=2.5, tol=0.01, n_jobs=1, verbose=-1)
    try:
        import dlib
    except ImportError:
        ours = medians({"ours": lambda: ranker.fit(data)}, 5, time.process_time)["ours"]
        return [Row("svm-auc fit (dlib is not installed)", ours, None, "s", "1.0 x dlib at an equal objective")]
    pairs = dlib.ranking_pairs()
    for begin, end in itertools.pairwise(data.indptr.tolist()):
        pair = dlib.ranking_pair()
        for row in range(begin, end):
            (pair.relevant if data.y[row] > 0 else pair.nonrelevant).append(dlib.vector(data.X[row].tolist()))
        pairs.append(pair)
    trainer, ours = dlib.svm_rank_trainer(), ranker.fit(data).objective_
    trainer.c = 4.0 * ranker.C
    for epsilon in (1e-3, 5e-4, 2e-4, 1e-4, 1e-5):  # until dlib is as near to the optimum
        trainer.epsilon = epsilon
        weights = 0.5 * np.array(list(trainer.train(pairs).weights))
        theirs = 0.5 * float(weights @ weights) / ranker.C + ranker.risk(data).value_and_gradient(weights)[0]
        if theirs < (1 + 2e-4) * ours:
            break
    found = together(lambda: ranker.fit(data), lambda: trainer.train(pairs), 9)
    return [Row(f"svm-auc fit; objectives {ours:.5f}, {theirs:.5f}", *found, "s", "1.0 x dlib")]


def _climb(data: ar.Dataset) -> Row:
    climb = ar.make_ranker("coordinate-ascent", n_starts=1, n_jobs=1, verbose=-1)
    direct = ar.make_ranker("direct-rank", n_jobs=1, verbose=-1)
    found = together(lambda: climb.fit(data), lambda: direct.fit(data), 1)
    return Row("coordinate-ascent, one start; peer direct-rank", *found, "s", "3 s")


def processes() -> list[Row]:
    """Start-up, the first run ever and peak memory, each in fresh processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        ar.dump(ar.make_ranking(60, 20, 10, random_state=1), path / "train.txt")
        (path / "peer.py").write_text(LIGHTGBM_SCRIPT)
        train = [sys.executable, "-m", "argrank", "train", "train.txt", "-q", "-o", "m.json", "-r"]
        commands = {
            "argrank train -r rank-svm": [*train, "rank-svm"],
            "LightGBM script": [sys.executable, "peer.py", "train.txt", "m.txt"],
        }
        turns = [{name: _cost(command, path) for name, command in commands.items()} for _ in range(3)]
        costs = {name: [turn[name] for turn in turns] for name in commands}
        (ours, megabytes), (theirs, others) = (
            tuple(statistics.median(column) for column in zip(*cost, strict=True)) for cost in costs.values()
        )
        rows = [
            Row("argrank train -r rank-svm, small file", ours, theirs, "s", "aim 1.5 s"),
            Row("its peak memory", megabytes, others, "MB", "aim 200 MB"),
        ]
        for name, aim in (("rank-svm", 6), ("direct-rank", 10)):
            cold = {"NUMBA_CACHE_DIR": str(path / f"cold-{name}")}
            rows.append(
                Row(f"the first run ever, {name}", _cost([*train, name], path, cold)[0], None, "s", f"aim {aim} s")
            )
    return rows


def _cost(command: list[str], folder: Path, more: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Return CPU seconds and peak megabytes of a command."""
    code = (
        "import json, resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **(more or {})}
    done = subprocess.run(
        [sys.executable, "-c", code, *command], check=True, capture_output=True, text=True, cwd=folder, env=environment
    )
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def run() -> dict[str, Any]:
    """Print the table and return its figures."""
    print(f"{'':46}{'argrank':>12}{'peer':>14}{'ratio':>8}   bar")
    figures = {}
    for part in (serving, training, processes):
        for row in part():
            figures[row.what] = (row.ours, row.peer)
            print(row, flush=True)
    return figures
