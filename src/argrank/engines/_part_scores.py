"""Scores and measures of a partition, on the worker that holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.outside import scores as predicted_scores
from argrank.engines._part import Part
from argrank.evaluation.evaluate import measure_queries
from argrank.evaluation.systems import in_precision
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure


def of_data(part: Part, function: Callable[[Dataset], Any]) -> Any:
    """Return what a function makes of a partition."""
    return function(part.data)


def kind_of(part: Part, function: Callable[[Dataset], Any]) -> tuple[tuple[int, ...], Any]:
    """Return shape and type of what a function makes of a partition."""
    made = function(part.data)
    return made.shape, made.dtype


def predict(part: Part, model: Any) -> Floats:
    """Return the scores that a model gives to the rows of a partition."""
    return predicted_scores(model, part.data, type(model).__name__)


def measure(
    part: Part, system: Any, measures: Sequence[Measure], convention: Convention
) -> tuple[list[Floats], NDArray[np.bool_]]:
    """Return every measure's values over the queries of a partition, and which queries have ties that matter."""
    data = part.data
    given = predict(part, system) if hasattr(system, "predict") else system
    scores = checks.numbers(given, data.n_documents, "scores", "score")
    return measure_queries(in_precision(scores, convention), data, measures, convention, n_jobs=1)
