"""The regulariser that a ranker's parameters ask for: squares or absolute weights, with or without signs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, check_name, shown, unknown_name
from argrank.solvers import Absolute, Regulariser, Squared

PENALTIES: dict[str, type[Regulariser]] = {"l1": Absolute, "l2": Squared}


def regulariser_for(penalty: str, signs: Any, data: Dataset, centre: Floats | None = None) -> Regulariser:
    """Return the regulariser of a fit; ``signs`` limits the weights of features to one side of 0."""
    check_name("penalty", penalty, PENALTIES)
    if signs is None:
        return PENALTIES[penalty](centre=centre)
    direction = sign_vector(signs, data)
    return PENALTIES[penalty](np.where(direction > 0, 0.0, -np.inf), np.where(direction < 0, 0.0, np.inf), centre)


def sign_vector(signs: Any, data: Dataset) -> Floats:
    """Return +1, -1 or 0 (any sign) for every feature, from such a vector or a mapping from names of features."""
    named = _by_name(signs, data) if isinstance(signs, Mapping) else signs
    try:
        vector: Floats = np.array(named, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"signs: expected -1, 0 or 1 for every feature, got {shown(signs)}") from error
    if vector.shape != (data.n_features,):
        raise OptionError(f"signs: expected one for each of {data.n_features} features, got shape {vector.shape}")
    if not np.isin(vector, (-1.0, 0.0, 1.0)).all():
        raise OptionError(f"signs: expected -1, 0 or 1 for every feature, got {shown(signs)}")
    return vector


def _by_name(signs: Mapping[Any, Any], data: Dataset) -> list[Any]:
    names = data.feature_names
    if names is None:
        raise OptionError("signs: expected a vector, since the features have no names, got a mapping")
    unknown = [name for name in signs if name not in names]
    if unknown:
        raise unknown_name("feature in signs", unknown[0], names)
    return [signs.get(name, 0) for name in names]
