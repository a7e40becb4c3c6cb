"""Checkpoints: the size of the file beside what has to be in it, and the share of a fit that writing takes.

Bars: at most twice the model and the planes, 8 bytes a document (training and validation) where a solver goes on from
scores, and 8 bytes for every number of the trace; less than 1 % of the time of a fit with the usual 600 seconds between
two writings. Sizes are those of the last writing; a writing is timed by its CPU seconds, and ``share`` is that of the
fit while it wrote every second. ``ARGRANK_BENCH_SECONDS`` is about how long each fit takes, 20 by default.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.rankers.checkpoint import Checkpoint, _read, model_state

EVERY = 1.0
PLANES = ("gradients", "offsets", "steps", "changes")
N_QUERIES, N_DOCUMENTS, N_FEATURES = 400, 40, 60
TREES = {"n_trees": 100_000}
ROUNDS = {"n_rounds": 100_000}

#: One ranker for every solver, climb and kind of boosting, with limits that a fit does not reach.
WORK: dict[str, tuple[str, dict[str, Any]]] = {
    "bundle": ("svm-ndcg", {"bound": "convex", "solver": "bundle", "C": 1e4, "tol": 1e-12}),
    "level": ("svm-ndcg", {"bound": "convex", "penalty": "l1", "C": 1e3, "tol": 1e-12}),
    "newton": ("rank-svm", {"C": 1e9, "tol": 1e-15}),
    "l-bfgs": ("log-gain", {"tol": 1e-15, "n_starts": 10_000}),
    "cutting planes": ("svm-map", {"solver": "cutting-plane", "C": 1e3, "tol": 1e-12}),
    "frank-wolfe": ("svm-map", {"solver": "frank-wolfe", "C": 1e3, "tol": 1e-12}),
    "online": ("orm", {"solver": "online", "tol": 1e-15}),
    "convex steps": ("svm-ndcg", {"bound": "tight", "C": 1e5, "tol": 1e-12}),
    "fixed steps": ("lambdarank", {"tol": 1e-15}),
    "direct-rank": ("direct-rank", {"n_starts": 10_000}),
    "coordinate ascent": ("coordinate-ascent", {"n_starts": 10_000}),
    "trees": ("lambda-mart", TREES),
    "trees of several outputs": ("mcrank", TREES),
    "leveraged trees": ("direct-rank-trees", TREES),
    "features": ("adarank", ROUNDS),
    "thresholds by pairs": ("rankboost", ROUNDS),
    "thresholds by fidelity": ("frank", ROUNDS),
}


class Meter:
    """Times the writings of checkpoints, and ends a fit as Ctrl-C does when its time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.cpu, self.writings, self._begin = seconds, 0.0, 0, time.process_time()
        self._write, self._offer = Checkpoint._write, Checkpoint.offer

    def write(self, keeper: Checkpoint, outcome: Any) -> None:
        """Write, and count."""
        begin = time.process_time()
        self._write(keeper, outcome)
        self.cpu, self.writings = self.cpu + time.process_time() - begin, self.writings + 1

    def offer(self, keeper: Checkpoint, state: Any, now: bool = False) -> None:
        """Offer a state, and end the fit when its time is over."""
        self._offer(keeper, state, now)
        if time.process_time() - self._begin > self.seconds:
            raise KeyboardInterrupt

    @property
    def total(self) -> float:
        """CPU seconds so far."""
        return time.process_time() - self._begin


def sizes(state: Any, n_rows: set[int]) -> tuple[float, float]:
    """Return the bytes of scores, which are as long as the data, and of planes or pairs of steps."""
    scores = planes = 0.0
    waiting = [("", state)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list | tuple):
            waiting += ((name, one) for one in value)
        elif isinstance(value, np.ndarray) and value.shape[:1] and value.shape[0] in n_rows:
            scores += value.nbytes
        elif isinstance(value, np.ndarray) and name in PLANES:
            planes += value.nbytes
    return scores, planes


def measure(name: str, data: ar.Dataset, valid: ar.Dataset, seconds: float, folder: Path) -> None:
    """Fit with a checkpoint and print a line."""
    ranker, parameters = WORK[name]
    made = ar.make_ranker(ranker, n_jobs=1, verbose=-1, **parameters)
    if "max_iter" in made.get_params():
        made.set_params(max_iter=10**7)
    path, meter = folder / "fit.ckpt", Meter(seconds)
    before = Checkpoint._write, Checkpoint.offer
    Checkpoint._write = lambda self, outcome: meter.write(self, outcome)  # type: ignore[method-assign]
    Checkpoint.offer = lambda self, state, now=False: meter.offer(self, state, now)  # type: ignore[method-assign]
    try:
        made.fit(data, eval_set=valid, checkpoint=path, every=EVERY)
    except KeyboardInterrupt:
        pass
    finally:
        Checkpoint._write, Checkpoint.offer = before  # type: ignore[method-assign]
    total, size = meter.total, path.stat().st_size
    document = _read(path)
    scores, planes = sizes(document["state"], {data.n_documents, valid.n_documents})
    model = len(json.dumps(model_state(made.model_)))
    trace = 8 * len(made.trace_) * len(made.trace_.columns)
    bar = 2 * (model + planes) + scores + trace
    one = meter.cpu / max(meter.writings, 1)
    print(
        f"{name:26}{size / 1e3:10.1f}{model / 1e3:10.1f}{planes / 1e3:10.1f}{scores / 1e3:9.1f}{trace / 1e3:8.1f}"
        f"{size / bar:7.2f}{total:8.1f}{meter.writings:10}{1e3 * one:8.1f}{meter.cpu / total:8.2%}{one / 600:10.4%}",
        flush=True,
    )
    for left in folder.iterdir():
        left.unlink()


def run(*parts: str) -> None:
    """Print the table, of some kinds of work or of all."""
    seconds = float(os.environ.get("ARGRANK_BENCH_SECONDS", "20"))
    data = ar.make_ranking(N_QUERIES, N_DOCUMENTS, N_FEATURES, random_state=0)
    valid = ar.make_ranking(N_QUERIES // 4, N_DOCUMENTS + 1, N_FEATURES, random_state=1)
    print(
        f"{data.n_documents:,} documents to train on, {valid.n_documents:,} to validate, {N_FEATURES} features; kB, ms"
    )
    head = ("file", "model", "planes", "scores", "trace", "of bar", "fit s", "writings", "each", "share", "at 600 s")
    widths = (10, 10, 10, 9, 8, 7, 8, 10, 8, 8, 10)
    print(f"{'work':26}" + "".join(f"{one:>{width}}" for one, width in zip(head, widths, strict=True)))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in parts or WORK:
            measure(name, data, valid, seconds, Path(folder))
