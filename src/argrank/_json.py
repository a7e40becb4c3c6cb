"""Results as plain data that JSON can hold, and JSON of others, read in no more memory than is allowed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._memory import check_memory

#: Bytes that Python needs for each of these in a text, at most: a list, an object, a value, half a string.
COSTS = {b"[": 96, b"{": 240, b",": 44, b'"': 30}


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


def parse_json(text: bytes | bytearray, what: str, **hooks: Any) -> Any:
    """Return what a JSON text says, unless its lists and numbers would take more memory than is allowed."""
    needed = 2.0 * len(text) + sum(cost * text.count(sign) for sign, cost in COSTS.items())
    check_memory(what, needed, "take a smaller file")
    return json.loads(text, **hooks)
