"""A process that walks lines with the argrank on its PYTHONPATH; ``linesearch_growth`` runs one for each version.

It reads requests from standard input, one JSON object a line, and answers each with one. It imports nothing from
this folder, so that it runs with any version of argrank.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from argrank import Dataset
from argrank.linesearch.landscape import Landscape

N_QUERIES = 20
RELEVANT = 0.2  # share of the documents, with grades 1 to 4
NOBODY = np.empty(0, np.intp)
WIDE = 1e-9  # intervals narrower than this share of |t| are not evaluated


class Lines:
    """The lines of one instance: 20 queries of n documents, normal scores and slopes."""

    def __init__(self, measure: str, n: int) -> None:
        rng, rows = np.random.default_rng(0), N_QUERIES * n
        labels = (rng.random(rows) < RELEVANT) * rng.integers(1, 5, rows)
        self.scores, self.slopes = rng.standard_normal((2, rows))
        data = Dataset(np.ones((rows, 1)), labels, group=np.full(N_QUERIES, n))
        self.landscape, self.random = Landscape(data, measure, "row", n_jobs=1), rng

    def walk(self) -> Any:
        """Return the step function of the whole line."""
        return self.landscape.walk(self.scores, self.slopes, -np.inf, np.inf, NOBODY)

    def dense(self, points: int) -> dict[str, float]:
        """Evaluate the measure inside some intervals: how far the walk's values are off, and seconds of one."""
        walked = self.walk()
        left, right = walked.breakpoints[:-1], walked.breakpoints[1:]
        wide = np.flatnonzero(right - left > WIDE * np.maximum(np.abs(left), np.abs(right)))
        chosen = self.random.choice(wide, min(points, len(wide)), replace=False)
        worst, seconds = 0.0, []
        for number in chosen.tolist():
            scores = self.scores + (left[number] + right[number]) / 2 * self.slopes
            begin = time.process_time()
            value = self.landscape.value(scores).mean
            seconds.append(time.process_time() - begin)
            worst = max(worst, abs(value - walked.values[number + 1]))
        return {"difference": worst, "seconds": float(np.median(seconds))}


def timed(function: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    begin = time.process_time()
    function()
    return time.process_time() - begin


def main() -> None:
    """Answer requests until there are no more."""
    lines, numbers = None, NOBODY
    for text in sys.stdin:
        asked = json.loads(text)
        if asked["do"] == "prepare":
            lines = Lines(asked["measure"], asked["documents"])
            begin = time.process_time()
            found = len(lines.walk().breakpoints)
            numbers = np.random.default_rng(1).standard_normal(found)
            answer: dict[str, float] = {"breakpoints": found, "seconds": time.process_time() - begin}
        elif lines is None:
            sys.exit("expected an instance first")
        elif asked["do"] == "walk":
            answer = {"seconds": timed(lines.walk)}
        elif asked["do"] == "sort":
            answer = {"seconds": timed(functools.partial(np.argsort, numbers))}
        else:
            answer = lines.dense(asked["points"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
