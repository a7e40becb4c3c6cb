"""What a selection of parameters found, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.errors import unknown_name
from argrank.evaluation.rendering import Cell, Table, to_text
from argrank.trials.grid import Params, is_number


@dataclass(frozen=True)
class Point:
    """One point of a grid: its value on the validation data, or the error that stopped it (then NaN)."""

    params: Params
    value: float
    objective: float
    seconds: float
    error: str | None = None


@dataclass(frozen=True, repr=False)
class Selection:
    """The best point of a grid and all others; made by ``ar.select``.

    Attributes
    ----------
    ranker : fitted estimator
        Trained on the training data with the chosen parameters.
    params : dict
    value : float
        Of ``measure`` on the validation data.
    points : tuple of Point
        Every point in the order of the grid.
    on_border : dict
        Chosen parameters at an end of their values -> "below" or "above", where the grid should be extended.
    """

    ranker: Any
    params: Params
    value: float
    points: tuple[Point, ...]
    on_border: dict[str, str]
    measure: str
    convention: str

    def curve(self, parameter: str) -> tuple[NDArray[Any], Floats]:
        """Return the values tried of a parameter and the best value of the measure at each, over all others."""
        names = dict.fromkeys(name for point in self.points for name in point.params)
        if parameter not in names:
            raise unknown_name("parameter of this grid", parameter, names)
        best: dict[Any, tuple[Any, float]] = {}
        for point in self.points:
            if parameter in point.params:
                value = point.params[parameter]
                key = value if is_number(value) else repr(value)  # lists, too: weights of several measures
                best[key] = (value, float(np.fmax(best.get(key, (value, np.nan))[1], point.value)))
        keys = sorted(best) if all(is_number(key) for key in best) else list(best)
        return np.array([best[key][0] for key in keys]), np.array([best[key][1] for key in keys])

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for point in self.points for name in point.params))
        rows = [
            (
                *(Cell(_short(point.params[name]) if name in point.params else "-") for name in names),
                Cell("failed" if point.error else f"{point.value:.4f}", best=point.params == self.params),
                Cell(f"{point.objective:.6g}"),
                Cell(f"{point.seconds:.2f}"),
            )
            for point in self.points
        ]
        table = Table((*names, self.measure, "objective", "seconds"), tuple(rows), 0)
        return to_text(
            [table], [f"* chosen by {self.measure} on validation data, convention {self.convention}", *self.notes]
        )

    @property
    def notes(self) -> list[str]:
        """What should be known about this choice."""
        notes = [
            f"{name} = {_short(self.params[name])} lies on the border of the grid; try values {side} it too"
            for name, side in self.on_border.items()
        ]
        failed = [point for point in self.points if point.error is not None]
        if failed:
            notes.append(f"{len(failed)} of {len(self.points)} points failed, the first: {failed[0].error}")
        return notes


def _short(value: Any) -> str:
    return f"{value:.4g}" if is_number(value) else str(value)
