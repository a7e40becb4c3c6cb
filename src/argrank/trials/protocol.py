"""LETOR's protocol for one fold: train, choose by the validation part, judge on the test part."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.folds import Fold
from argrank.errors import InputError
from argrank.evaluation.evaluate import evaluate
from argrank.evaluation.result import Evaluation
from argrank.measures.conventions import Convention
from argrank.trials.grid import Grid, Params
from argrank.trials.select import search
from argrank.trials.selection import Point


@dataclass(frozen=True, eq=False)
class Run:
    """What one ranker did in one fold; ``scores`` are those of the test rows, in the caller's order."""

    ranker: Any
    params: Params
    validation: float
    points: tuple[Point, ...]
    scores: Floats
    test: Evaluation
    notes: tuple[str, ...]
    seconds: float


def run_fold(
    ranker: Any,
    grid: Grid | None,
    fold: Fold,
    measures: Any,
    select_by: Any,
    *,
    convention: str | Convention,
    n_jobs: int | None = None,
) -> Run:
    """Train on ``fold.train`` at every point of the grid, choose by ``fold.valid``, evaluate on ``fold.test``.

    Without a grid the validation part only gives a value; training never sees it, so that rankers with and without a
    grid learn from the same documents.
    """
    begin = time.perf_counter()
    if fold.valid is None and grid:
        raise InputError("a grid needs a validation part to choose by, got a fold without one")
    valid = fold.test if fold.valid is None else fold.valid  # without a grid there is nothing to choose
    found = search(
        ranker, grid or {}, fold.train, valid, select_by, convention=convention, n_jobs=n_jobs, progress=False
    )
    scores = found.ranker.predict(fold.test)
    return Run(
        ranker=found.ranker,
        params=found.params,
        validation=np.nan if fold.valid is None else found.value,
        points=found.points,
        scores=scores,
        test=evaluate(scores, fold.test, measures, convention=convention),
        notes=tuple(found.notes),
        seconds=time.perf_counter() - begin,
    )
