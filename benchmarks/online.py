"""Online training from a LETOR file larger than memory: memory and objective against the batch solver.

Bars, for a generated file of 2 GB (BYTES in the environment changes it; the file is deleted after): the peak of memory
stays under 1 GB, and the objective, taken by streaming the same file, is within 1 % of the batch solver's, whose every
pass streams the file as well.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import argrank as ar
from argrank.data.letor_stream import stream_letor
from argrank.engines.local import LocalRisk
from argrank.solvers.online import objective_of

N_FEATURES = 136


def write_file(path: Path, n_bytes: int) -> int:
    """Write queries until the file has the size; return their number."""
    truth, number = np.random.default_rng(0).standard_normal(N_FEATURES), 0
    with path.open("wb") as stream:
        while stream.tell() < n_bytes:
            rng = np.random.default_rng(number + 1)
            X = np.round(rng.standard_normal((100, N_FEATURES)), 4)
            level = X @ truth / np.sqrt(N_FEATURES) + 0.5 * rng.standard_normal(100)
            for label, row in zip(np.digitize(level, [1.0, 1.5, 2.0, 2.5]).tolist(), X.tolist(), strict=True):
                cells = " ".join(f"{column}:{value}" for column, value in enumerate(row, 1))
                stream.write(f"{label} qid:{number} {cells}\n".encode())
            number += 1
    return number


def batch_weights(risks: Callable[[], Iterator[LocalRisk]], C: float, steps: int) -> np.ndarray:
    """Return weights of L-BFGS whose every evaluation streams the file."""
    from scipy.optimize import minimize

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, n_queries = 0.0, np.zeros(N_FEATURES), 0
        for risk in risks():
            here, slope = risk.value_and_gradient(w)
            value, gradient = value + risk.n_queries * here, gradient + risk.n_queries * slope
            n_queries += risk.n_queries
        return value / n_queries + w @ w / (2 * C), gradient / n_queries + w / C

    return minimize(value_and_gradient, np.zeros(N_FEATURES), jac=True, method="L-BFGS-B", options={"maxfun": steps}).x


def run() -> dict[str, float]:
    """Print memory and objectives and return them."""
    n_bytes, C = int(os.environ.get("BYTES", 2_000_000_000)), 1.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        n_queries = write_file(path, n_bytes)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        ranker = ar.make_ranker("orm", C=C, decay="measure", verbose=-1)
        ranker.fit_stream(path, epochs=-(-20_000 // n_queries))  # about 20,000 steps at least
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6

        def risks() -> Iterator[LocalRisk]:
            return (LocalRisk(part, ranker._objective()) for part in stream_letor(path))

        batch = objective_of(risks, batch_weights(risks, C, 20), C)
    ratio = ranker.objective_ / batch
    print(f"{n_bytes / 1e6:,.0f} MB, {n_queries:,} queries: peak {peak:.2f} GB (before {before:.2f}; bar 1)")
    print(f"online {ranker.objective_:.6f}, batch {batch:.6f}: {100 * (ratio - 1):+.2f} % (bar 1)")
    return {"peak GB": peak, "online / batch": ratio}


if __name__ == "__main__":
    run()
