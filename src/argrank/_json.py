"""Results as plain data that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def json_value(value: Any) -> Any:
    """Return a value as JSON can hold it.

    NumPy's numbers become Python's, numbers that are not finite None, arrays and tuples lists, anything else its repr.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {key: json_value(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [json_value(one) for one in value]
    return repr(value)
