"""A regularisation path: a sequence of fits, each started at the previous solution."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._declared import checked
from argrank._progress import Progress
from argrank._tables import Cell, measure_text, table, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.evaluation.evaluate import mean_of
from argrank.measures.conventions import Convention
from argrank.rankers import make_ranker
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.training_data import check_training
from argrank.trials.select import quiet


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The solution at one C.

    ``n_passes`` over the data is NaN if the ranker does not count them; ``value`` is the measure on validation data,
    NaN without any; ``average_slack`` and ``objective_at_zero`` are NaN if the ranker has none.
    """

    C: float
    coef: Floats
    objective: float
    norm: float
    n_iter: int
    n_passes: float
    seconds: float
    value: float
    average_slack: float = np.nan
    objective_at_zero: float = np.nan


@dataclass(frozen=True, repr=False)
class Path:
    """Solutions for growing C; made by ``ar.regularisation_path``."""

    points: tuple[PathPoint, ...]
    measure: str | None

    @property
    def C(self) -> Floats:  # noqa: N802 (the parameter's name everywhere)
        """The values of C, ascending."""
        return np.array([point.C for point in self.points])

    @property
    def coefs(self) -> Floats:
        """The weights, one row for each C."""
        return np.array([point.coef for point in self.points])

    @property
    def n_passes(self) -> float:
        """Passes over the data of all fits together."""
        return sum(point.n_passes for point in self.points)

    def __repr__(self) -> str:
        values = [point.value for point in self.points]
        best = None if np.isnan(values).all() else int(np.nanargmax(values))  # the first: the smallest C
        rows = [
            (
                f"{point.C:.4g}",
                f"{point.objective:.8g}",
                f"{point.norm:.4g}",
                str(point.n_iter),
                "-" if np.isnan(point.n_passes) else f"{point.n_passes:g}",
                f"{point.seconds:.2f}",
                *([] if self.measure is None else [Cell(measure_text(point.value), best=number == best)]),
            )
            for number, point in enumerate(self.points)
        ]
        measure = [] if self.measure is None else [self.measure]
        return to_text([table(("C", "objective", "|w|", "iterations", "passes", "seconds", *measure), rows, 0)])


@checked
def regularisation_path(
    ranker: Any,
    values: Sequence[float],
    train: Dataset,
    valid: Dataset | None = None,
    measure: Any = None,
    *,
    convention: str | Convention = "default",
    progress: bool = True,
) -> Path:
    """Train for every C in ascending order, each fit started at the last solution.

    A solution for the next C is near, so the whole path costs fewer passes than separate fits; the solutions are
    the same within the ranker's ``tol``. Rankers that cannot use a start are trained from scratch.

    Parameters
    ----------
    ranker : estimator with a parameter C, or registered name
        Its model is linear. It is not changed.
    values : sequence of float
        Values of C, in any order.
    train : Dataset
    valid : Dataset, optional
    measure : str, optional
        Measured on ``valid`` at every point, by default the ranker's own; with its ``convention``.
    """
    from sklearn.base import clone

    ranker = make_ranker(ranker) if isinstance(ranker, str) else ranker
    known = ranker.get_params() if isinstance(ranker, BaseRanker) else {}
    if "C" not in known:
        raise OptionError(f"regularisation_path: expected a ranker with a parameter C, got {type(ranker).__name__}")
    if not len(values):
        raise OptionError(f"values: expected numbers, got {shown(values)}")
    if valid is None or measure is None:
        measure = None if valid is None else ranker._reported
    points: list[PathPoint] = []
    start = None
    with Progress("path", len(values), enabled=progress) as bar:
        for C in sorted({float(value) for value in values}):
            fitted = clone(ranker).set_params(C=C, **quiet(known))
            begin = time.perf_counter()
            check_training(fitted, train)
            fitted._remember_features(train, train)
            fitted._fit(train, [], start)
            seconds = time.perf_counter() - begin
            start = fitted.coef_
            value = np.nan if valid is None else mean_of(fitted.predict(valid), valid, measure, convention=convention)
            norm = float(np.linalg.norm(start))
            last = fitted.trace_[-1] if len(fitted.trace_) else {}
            points.append(
                PathPoint(
                    C,
                    start,
                    fitted.objective_,
                    norm,
                    fitted.n_iter_,
                    last.get("n_passes", np.nan),
                    seconds,
                    value,
                    last.get("average_slack", np.nan),
                    getattr(fitted, "objective_at_zero_", np.nan),
                )
            )
            bar.advance(1, f"C = {C:.4g}")
    return Path(tuple(points), None if measure is None else str(measure))
