"""The cost of one risk evaluation against the two products that it requires, and of a whole RankSVM fit.

Bars: at most 2.0 times the products in float64 and 3.0 in float32, on 2,000 queries of 40 to 160 documents and 136
features; a fit's peak memory at most 1.3 times the features in all.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from argrank import Dataset, objective
from argrank.engines import make_risk
from argrank.solvers import minimise
from benchmarks._interleaved import medians

N_QUERIES, N_FEATURES = 2000, 136


def generate(sizes: np.ndarray, dtype: type, seed: int = 0) -> Dataset:
    """Return linear truth with noise and five grades; the features are made in place, so they are not held twice."""
    rng = np.random.default_rng(seed)
    n_rows = int(sizes.sum())
    X = np.empty((n_rows, N_FEATURES), dtype)
    for start in range(0, n_rows, 10_000):
        X[start : start + 10_000] = rng.standard_normal((min(10_000, n_rows - start), N_FEATURES))
    truth = X @ rng.standard_normal(N_FEATURES).astype(dtype) / np.sqrt(N_FEATURES) + rng.standard_normal(n_rows)
    return Dataset(X, np.digitize(truth, [0.5, 1.2, 2.0, 2.8]).astype(float), group=sizes)


def list_sizes(kind: str) -> np.ndarray:
    return np.full(N_QUERIES, 100) if kind == "even" else np.random.default_rng(1).integers(40, 161, N_QUERIES)


def evaluation(kind: str, dtype: type, repeats: int = 25) -> dict[str, float]:
    """Time one value_and_gradient and one Hessian product against ``X @ w`` and ``X.T @ g``."""
    data = generate(list_sizes(kind), dtype)
    risk = make_risk(data, objective("rank-svm"))
    rng = np.random.default_rng(2)
    w = 0.3 * rng.standard_normal(N_FEATURES)
    same, g = w.astype(dtype), rng.standard_normal(data.n_documents).astype(dtype)
    seconds = medians(
        {
            "products": lambda: (data.X @ same, data.X.T @ g),
            "risk": lambda: risk.value_and_gradient(w),
            "hessian": lambda: risk.hessian_product(w),
        },
        repeats,
    )
    return {
        "products_ms": 1e3 * seconds["products"],
        "ratio": seconds["risk"] / seconds["products"],
        "hessian_ratio": seconds["hessian"] / seconds["products"],
    }


def whole_fit(dtype: type) -> dict[str, float]:
    """Fit RankSVM at its defaults; memory counts the features and all that comes on top.

    To be run in a new process: memory that earlier work gave back would hide what this one takes.
    """
    small = Dataset(np.eye(4, N_FEATURES, dtype=dtype), [1, 0, 1, 0], group=[4])
    minimise(make_risk(small, objective("rank-svm")))  # loads the kernels
    before = anonymous_memory()
    with PeakMemory() as peak:
        data = generate(list_sizes("ragged"), dtype)
        begin = time.perf_counter()
        result = minimise(make_risk(data, objective("rank-svm")), C=10.0)
        seconds = time.perf_counter() - begin
    return {
        "seconds": seconds,
        "passes": result.n_passes,
        "iterations": result.n_iter,
        "converged": result.converged,
        "memory_ratio": (peak.bytes - before) / data.X.nbytes,
    }


def anonymous_memory() -> int:
    """Return the bytes of memory this process holds that no file backs."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this benchmark needs Linux: no RssAnon in /proc/self/status")


class PeakMemory:
    """Sample anonymous memory while a block of code runs."""

    def __enter__(self) -> PeakMemory:
        self.bytes, self._done = anonymous_memory(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.002):
            self.bytes = max(self.bytes, anonymous_memory())

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self.bytes = max(self.bytes, anonymous_memory())


def run() -> dict[str, float]:
    """Print the table and return its figures."""
    figures: dict[str, float] = {}
    print(f"rank-svm on {N_QUERIES:,} queries x {N_FEATURES} features, against X @ w and X.T @ g (BLAS)")
    print(f"{'lists':8}{'dtype':9}{'products':>10}{'risk':>8}{'Hessian':>9}   bar")
    for dtype, bar in ((np.float64, 2.0), (np.float32, 3.0)):
        for kind in ("ragged", "even"):
            row = evaluation(kind, dtype)
            figures |= {f"{kind}_{dtype.__name__}_{name}": value for name, value in row.items()}
            print(
                f"{kind:8}{dtype.__name__:9}{row['products_ms']:7.1f} ms{row['ratio']:7.2f}x"
                f"{row['hessian_ratio']:8.2f}x   {bar:.1f}x"
            )
    print(f"\nwhole fit, C = 10\n{'dtype':9}{'seconds':>9}{'passes':>9}{'iterations':>12}{'memory':>9}   bar 1.3x X")
    for dtype in (np.float64, np.float32):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            row = process.submit(whole_fit, dtype).result()
        figures |= {f"fit_{dtype.__name__}_{name}": value for name, value in row.items()}
        print(
            f"{dtype.__name__:9}{row['seconds']:9.2f}{row['passes']:9.1f}{row['iterations']:12d}"
            f"{row['memory_ratio']:8.2f}x   {'converged' if row['converged'] else 'NOT converged'}"
        )
    return figures


if __name__ == "__main__":
    run()
