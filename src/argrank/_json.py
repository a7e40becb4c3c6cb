"""Convert results to plain data for JSON, and parse JSON of others within the memory limit."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._memory import check_memory

#: Upper bounds on the bytes that Python needs per character: of a list, an object, a value, half a string.
COSTS = {b"[": 96, b"{": 240, b",": 44, b'"': 30}


def json_value(value: Any) -> Any:
    """Convert a value to what JSON can hold.

    NumPy's numbers become Python's, non-finite numbers become None, arrays and tuples lists, anything else its repr.
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
    """Parse a JSON text; raise if its lists and numbers would exceed the memory limit."""
    needed = 2.0 * len(text) + sum(cost * text.count(sign) for sign, cost in COSTS.items())
    check_memory(what, needed, "take a smaller file")
    return json.loads(text, **hooks)
