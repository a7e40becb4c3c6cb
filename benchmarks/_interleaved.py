"""Time several functions in turn, so that a change of the machine's mood meets all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

REST = 0.05  # seconds


def medians(functions: Mapping[str, Callable[[], object]], repeats: int = 25) -> dict[str, float]:
    """Return the median seconds of every function over interleaved repeats, after one call to warm up.

    Before each it rests: the threads of a BLAS product go on spinning for a while after it, and would take a core from
    whatever is timed next.
    """
    for function in functions.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            time.sleep(REST)
            begin = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}
