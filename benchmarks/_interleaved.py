"""Time several functions in turn, so that a change in the machine's load affects all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def medians(
    functions: Mapping[str, Callable[[], object]], repeats: int = 25, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the median seconds of every function over interleaved repeats, after one call to warm up."""
    for function in functions.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            begin = clock()
            function()
            seconds[name].append(clock() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}
