"""What learners share that climb the measure itself: several starts, rounds, and the choice of the best iterate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank.errors import OptionError
from argrank.models.linear import LinearModel
from argrank.rankers._base import Outcome
from argrank.rankers._trace import Watcher

Floats = NDArray[np.float64]


class Iterate(NamedTuple):
    """Weights after a round, and the training measure there."""

    weights: Floats
    value: float


def climb(
    starts: Iterable[Floats],
    rounds: Callable[[Floats], Iterator[Iterate]],
    watcher: Watcher,
    tol: float,
    max_iter: int,
    early_stopping: int | None,
) -> Outcome:
    """Climb from every start, round by round, and return the best iterate of all.

    A climb ends when a round adds no more than ``tol`` to the training measure, after ``max_iter`` rounds, or after
    ``early_stopping`` rounds without a better validation measure. With validation data the best iterate is the one of
    the greatest validation measure (as in the DirectRank paper), else of the greatest training measure. Ctrl-C ends the
    training with the best so far.
    """
    best: Iterate | None = None
    greatest, rounds_done, unfinished, trace_row, best_start = -np.inf, 0, False, -1, 0

    def record(iterate: Iterate, start: int) -> float:
        watcher(iterate.weights, {"objective": 1.0 - iterate.value, "measure": iterate.value, "start": start})
        return float(watcher.trace[-1].get("validation", iterate.value))  # type: ignore[union-attr]

    try:
        for start, weights in enumerate(starts):
            here, since, before = -np.inf, 0, -np.inf
            unfinished_here = True
            for number, iterate in enumerate(rounds(weights)):
                chosen_by = record(iterate, start)
                rounds_done += 1 if number > 0 else 0
                since = 0 if chosen_by > here else since + 1
                here = max(here, chosen_by)
                if best is None or chosen_by > greatest:
                    best, greatest, trace_row, best_start = iterate, chosen_by, len(watcher.trace), start
                if (number > 0 and iterate.value - before <= tol) or (
                    early_stopping is not None and since >= early_stopping
                ):
                    unfinished_here = False
                    break
                before = iterate.value
                if number >= max_iter:
                    break
            unfinished = unfinished or unfinished_here
    except KeyboardInterrupt:
        if best is None:
            raise
        return Outcome(LinearModel(best.weights), 1.0 - best.value, np.nan, rounds_done, "interrupted")
    if best is None:
        raise OptionError("restarts: expected a number from 1 up")
    if trace_row != len(watcher.trace):
        record(best, best_start)  # the last row is that of the model
    complaint = f"a climb was still rising after max_iter={max_iter} rounds" if unfinished else None
    return Outcome(LinearModel(best.weights), 1.0 - best.value, np.nan, rounds_done, complaint)
