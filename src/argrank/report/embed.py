"""Data inside a page: JSON that no string can break out of, and numbers packed as base64."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

#: Characters that mean something to HTML, or end a line in scripts, written so that only JSON understands them.
_UNSAFE = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def embedded_json(value: Any) -> str:
    """Return JSON for the inside of a script element: it can hold neither ``</script>`` nor ``<!--``."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character, escape in _UNSAFE.items():
        text = text.replace(character, escape)
    return text


def packed(values: Any, dtype: str) -> dict[str, str]:
    """Return numbers as the page's script unpacks them: the bytes of a little-endian array as base64."""
    array = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"type": dtype, "base64": base64.b64encode(array.tobytes()).decode("ascii")}
