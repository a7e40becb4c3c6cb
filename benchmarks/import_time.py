"""How long ``import argrank`` takes, against importing NumPy and SciPy's sparse matrices, in fresh processes."""

from __future__ import annotations

import statistics
import subprocess
import sys

REPEATS = 7
WAYS = {
    "numpy and scipy.sparse": "import numpy, scipy.sparse",
    "argrank": "import argrank",
    "argrank, first Dataset": "import argrank; argrank.Dataset",
}


def seconds(code: str) -> float:
    program = f"import time; begin = time.perf_counter(); {code}; print(time.perf_counter() - begin)"
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


def run() -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(REPEATS):
        for name, code in WAYS.items():
            taken[name].append(seconds(code))
    medians = {name: statistics.median(values) for name, values in taken.items()}
    for name, value in medians.items():
        print(f"{name:<26} {1000 * value:7.0f} ms   {value / medians['numpy and scipy.sparse']:5.2f}")
    return medians


if __name__ == "__main__":
    run()
