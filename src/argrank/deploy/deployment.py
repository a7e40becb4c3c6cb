"""A model written for one target, and the target's scores of rows of the model's own features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.deploy.one_hot import Column, computed, options_of, with_numbers_alone
from argrank.deploy.options import Files, Options, names_of
from argrank.deploy.plain import Plain, plain
from argrank.deploy.registry import TARGETS, check_takes, model_of, writer
from argrank.errors import ModelError


@dataclass(frozen=True, eq=False)
class Deployment:
    """The model, its parts on its own features, and the parts written for the target."""

    to: str
    served: Any
    parts: Plain
    written: Plain  # the same in the target's columns
    names: tuple[str, ...]  # of the model's features, in the target
    columns: tuple[Column, ...] | None  # the columns that the target computes, if they are not the model's features
    options: Options
    files: Files

    def score(self, X: NDArray[Any]) -> Floats:
        """Return the target's scores, by its arithmetic, of rows of the model's own features."""
        rows = computed(np.asarray(X, np.float64), self.columns)
        return writer(self.to).simulate(self.files, self.options, rows)

    @property
    def constant(self) -> float:
        """The constant missing from the target's scores, which changes no ranking."""
        return writer(self.to).constant(self.written)

    @property
    def missing(self) -> str:
        """The treatment of missing values in the target."""
        return "zero" if writer(self.to).missing_is_zero else self.options.missing


def deployment(
    model: Any,
    to: str,
    name: str = "argrank",
    missing: str = "as-trained",
    features: Any = None,
    shift: bool = False,
) -> Deployment:
    """Write a model for a target; raise if it cannot express the model."""
    served = model_of(model)
    parts = plain(served, missing, shift)
    check_takes(to, parts)
    names = names_of(served.feature_names, features, parts.n_features)
    if TARGETS[to].sets:
        written, columns = plain(served, missing, shift, sets=True), None
    else:
        written, columns = with_numbers_alone(parts, served, to)
    options = options_of(name, names, missing, served, columns)
    try:
        files = writer(to).write(written, options)
    except RecursionError as error:
        raise ModelError("the trees are nested too deep to be written; train with max_depth") from error
    return Deployment(to, served, parts, written, names, columns, options, files)
