"""Parameters are of the kind that their class declares and in range: one check for all rankers, before they learn."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from argrank._threads import count_jobs
from argrank.errors import OptionError, check_positive, shown

#: The least values of parameters that mean the same in every ranker that has them.
LEAST = {"tol": 0, "random_state": 0, "reweighting_rounds": 0}
LEAST |= dict.fromkeys(("max_iter", "n_starts", "early_stopping", "batch_size", "degree"), 1)
POSITIVE = ("learning_rate", "step_base", "gamma")
KINDS = {"bool": "True or False", "int": "a whole number", "float": "a finite number", "str": "a name", "None": "None"}


def check_parameters(ranker: Any) -> None:
    """Raise where a parameter is not of a declared kind or out of range; other kinds are checked where they matter."""
    declared: dict[str, str] = {}
    for ancestor in reversed(type(ranker).__mro__):
        declared |= vars(ancestor).get("__annotations__", {})
    for name, value in ranker.get_params(deep=False).items():
        kinds = [kind.strip() for kind in str(declared.get(name, "Any")).split("|")]
        if set(kinds) <= set(KINDS) and not any(_is(value, kind) for kind in kinds):
            expected = " or ".join(KINDS[kind] for kind in kinds)
            raise OptionError(f"{name}: expected {expected}, got {shown(value)}")
        if value is not None and name in LEAST and value < LEAST[name]:
            kind = "a whole number" if "int" in kinds else "a number"
            raise OptionError(f"{name}: expected {kind} from {LEAST[name]} up, got {shown(value)}")
        if value is not None and name in POSITIVE:
            check_positive(name, value)
    count_jobs(getattr(ranker, "n_jobs", None))


def _is(value: Any, kind: str) -> bool:
    if kind == "None":
        return value is None
    if kind == "str":
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1))
    if isinstance(value, bool):
        return False
    if kind == "int":
        return isinstance(value, Integral)
    if isinstance(value, Integral):
        return abs(int(value)) < 2**1023
    return isinstance(value, Real) and not math.isnan(float(value)) and abs(float(value)) < 2.0**1023


def rules_of(ranker: Any) -> dict[str, Any]:
    """Return how the measure that is optimised counts labels and ranks, where ``score`` reports that measure."""
    if ranker.scoring is not None or not hasattr(ranker, "measure"):
        return {}
    return {name: getattr(ranker, name) for name in ("gain", "discount", "relevant_at") if hasattr(ranker, name)}
