"""A system that ranks: its scores, and its models and training if known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.foreign_models import scores as scores_of
from argrank.models.model import Model, fitted_model


@dataclass(frozen=True, eq=False)
class System:
    """One system's scores (in stored row order), its models with the queries each of them scored, and its training.

    ``validated`` holds pairs of a C that was tried and the measure it gave on the validation data.
    """

    name: str
    scores: Floats
    models: tuple[tuple[Model, Integers], ...] = ()
    trace: Mapping[str, list[float]] | None = None
    seconds: float | None = None
    validated: tuple[tuple[float, float], ...] = ()

    @property
    def model(self) -> Model | None:
        """The model, if it is the same for all queries."""
        return self.models[0][0] if len(self.models) == 1 else None


def system_of(name: str, given: Any, data: Dataset, seconds: float | None = None) -> System:
    """Return the system of scores, of a model, or of a fitted ranker; a System is returned unchanged."""
    if isinstance(given, System):
        return given
    model = fitted_model(given)
    if not isinstance(model, Model):
        if hasattr(given, "predict"):
            return System(name, data.from_caller(scores_of(given, data, name)), seconds=seconds)
        scores = checks.numbers(given, data.n_documents, f"scores of {name!r}", "score")
        return System(name, data.from_caller(scores), seconds=seconds)
    trace = getattr(given, "trace_", None)
    columns = trace.to_dict() if trace is not None and len(trace) else None
    if seconds is None and columns is not None and "seconds" in columns:
        seconds = columns["seconds"][-1]
    everything = np.arange(data.n_queries)
    return System(name, data.from_caller(model.predict(data)), ((model, everything),), columns, seconds)
