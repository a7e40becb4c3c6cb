"""Online training from a LETOR file larger than memory: memory and objective against the batch optimum.

Bars, for a generated file of 2 GB (BYTES in the environment changes it; the file is deleted after): the peak of memory
stays under 1 GB, and the objective, taken by streaming the same file, is within 1 % of the batch optimum. That is
bracketed by cutting planes, each from a pass that streams the file as well: the lower bound holds wherever the
planes were taken, so they begin near the optimum, at the online weights, which saves passes.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import argrank as ar
from argrank.data.io.letor.stream import stream_letor
from argrank.engines.local import LocalRisk
from argrank.solvers.planes import FreePlanes
from argrank.solvers.regularisers import Squared

N_FEATURES, N_DOCUMENTS = 136, 100
STEPS = 10_000  # of the online solver, at least
GAP, MOST_PLANES, TOWARDS = 2e-3, 30, 0.1  # of the batch bracket; TOWARDS: step from best to lowest


def write_file(path: Path, n_bytes: int, block: int = 50) -> int:
    """Write queries until the file has the size; return their number.

    Every line has the same width ("02.1234", "-0.5678"), so that a block of queries is filled in digit by digit.
    """
    truth, number = np.random.default_rng(0).standard_normal(N_FEATURES), 0
    names = [f" {column}:" for column in range(1, N_FEATURES + 1)]
    line = "0 qid:0000000" + "".join(name + "00.0000" for name in names) + "\n"
    starts = len("0 qid:0000000") + np.cumsum([len(name) for name in names]) + 7 * np.arange(N_FEATURES)
    text = np.tile(np.frombuffer(line.encode(), np.uint8), (block * N_DOCUMENTS, 1))
    with path.open("wb") as stream:
        while stream.tell() < n_bytes:
            rng = np.random.default_rng(number + 1)
            X = np.clip(np.rint(1e4 * rng.standard_normal((len(text), N_FEATURES))), -99_999, 99_999).astype(np.int32)
            level = 1e-4 * (X @ truth) / np.sqrt(N_FEATURES) + 0.5 * rng.standard_normal(len(text))
            text[:, 0] = ord("0") + np.digitize(level, [1.0, 1.5, 2.0, 2.5])
            _fill(text, 6 + np.arange(7), number + np.repeat(np.arange(block), N_DOCUMENTS))
            text[:, starts] = np.where(X < 0, ord("-"), ord("0"))
            size = np.abs(X)
            for place, power in zip((1, 3, 4, 5, 6), (10_000, 1_000, 100, 10, 1), strict=True):
                text[:, starts + place] = ord("0") + size // power % 10
            stream.write(text.tobytes())
            number += block
    return number


def _fill(text: np.ndarray, columns: np.ndarray, numbers: np.ndarray) -> None:
    for column, power in zip(columns, 10 ** np.arange(len(columns))[::-1], strict=True):
        text[:, column] = ord("0") + numbers // power % 10


def batch_bracket(risks: Callable[[], Iterator[LocalRisk]], w: np.ndarray, C: float) -> tuple[float, float]:
    """Return a lower and an upper bound of the batch optimum; every plane streams the file once."""
    planes, best, best_w = FreePlanes(len(w), C, Squared()), np.inf, w
    for _ in range(MOST_PLANES):
        value, gradient, n_queries = 0.0, np.zeros(len(w)), 0
        for risk in risks():
            here, slope = risk.value_and_gradient(w)
            value, gradient = value + risk.n_queries * here, gradient + risk.n_queries * slope
            n_queries += risk.n_queries
        value, gradient = value / n_queries, gradient / n_queries
        planes.add(gradient, value - float(gradient @ w))
        objective = value + float(w @ w) / (2 * C)
        if objective < best:
            best, best_w = objective, w
        lowest, bound = planes.minimise(0.1 * GAP * best)
        if best - bound <= GAP * best:
            break
        w = best_w + TOWARDS * (lowest - best_w)
    return bound, best


def run() -> dict[str, float]:
    """Print memory and objectives and return them."""
    n_bytes, C = int(os.environ.get("BYTES", 2_000_000_000)), 1.0
    with tempfile.TemporaryDirectory() as folder:
        path, begin = Path(folder) / "train.txt", time.perf_counter()
        n_queries = write_file(path, n_bytes)
        written, before = time.perf_counter() - begin, peak_gigabytes()
        epochs, begin = -(-STEPS // n_queries), time.perf_counter()
        ranker = ar.make_ranker("orm", C=C, bound="convex", decay="measure", verbose=-1).fit_stream(path, epochs=epochs)
        trained, peak = time.perf_counter() - begin, peak_gigabytes()

        def risks() -> Iterator[LocalRisk]:
            return (LocalRisk(part, ranker._objective()) for part in stream_letor(path))

        begin = time.perf_counter()
        bound, batch = batch_bracket(risks, ranker.coef_, C)
        bracketed = time.perf_counter() - begin
    print(f"{n_bytes / 1e6:,.0f} MB, {n_queries:,} queries, written in {written:.0f} s")
    print(f"online, {epochs} epochs and one for the objective: {trained:.0f} s, peak of memory {peak:.2f} GB")
    print(f"  (before {before:.2f}; bar 1)")
    ratio = ranker.objective_ / bound
    print(f"objective {ranker.objective_:.6f}, batch between {bound:.6f} and {batch:.6f} ({bracketed:.0f} s):")
    print(f"  at most {100 * (ratio - 1):.2f} % above (bar 1)")
    return {"peak GB": peak, "online / batch": ratio}


def peak_gigabytes() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    run()
