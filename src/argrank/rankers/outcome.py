"""What a ranker's training ends with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from argrank.models.linear import LinearModel
from argrank.models.model import Model
from argrank.models.stayed import Stayed
from argrank.solvers.problem import Result, Stop

PRECISE = 1e-3  # relative gap that float32 features may leave at the limit of their precision


class Outcome(NamedTuple):
    """What a ranker's solver hands back: a model of the (normalised) features and how it got there."""

    model: Model
    objective: float
    gap: float
    n_iter: int
    stop: Stop = Stop.DONE
    note: str | None = None  # the reason in words, where the fit ended early; for people alone
    stayed: Stayed | None = None  # near another method's model

    @classmethod
    def of(cls, result: Result) -> Outcome:
        """Take over what a solver of linear models found. To stop at the limit of precision is to be done."""
        precise = result.reason is Stop.PRECISION and result.gap <= PRECISE * abs(result.objective)
        stop = Stop.DONE if precise else result.reason
        note = None if stop.is_done else result.message
        return cls(LinearModel(result.w), result.objective, result.gap, result.n_iter, stop, note)

    def numbers(self) -> dict[str, Any]:
        """Return all but the model, as a checkpoint can hold it."""
        return {**self._asdict(), "stop": self.stop.value, "model": None}

    @classmethod
    def restored(cls, model: Model, numbers: Mapping[str, Any]) -> Outcome:
        """Return the outcome that a checkpoint holds."""
        values = {name: numbers[name] for name in cls._fields}
        stayed = None if numbers["stayed"] is None else Stayed(*numbers["stayed"])
        return cls(**{**values, "stop": Stop(numbers["stop"]), "model": model, "stayed": stayed})
