"""Arrays in a model file: base64 of the numbers' bytes, with their kind and shape, which load much faster than lists.

::

    {"float64": "AAAAAAAA8D8AAAAAAAAAQA==", "shape": [2]}

The bytes are little-endian, in C order.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.errors import ModelError


def stored_array(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array as plain data for a model file; no bit is lost."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {array.dtype.name: base64.b64encode(little.tobytes()).decode("ascii"), "shape": list(array.shape)}


def stored_finite(array: NDArray[Any], name: str) -> dict[str, Any]:
    """Return an array of finite numbers as plain data for a model file."""
    if not np.isfinite(array).all():
        raise ModelError(f"expected a model of finite numbers, got NaN or infinity in {name}")
    return stored_array(array)


def read_array(fields: Mapping[str, Any], name: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Read an array of a kind and a shape from the plain data of a model file; None allows any length of an axis."""
    given = fields.get(name)
    text, lengths = (given.get(kind), given.get("shape")) if isinstance(given, dict) else (None, None)
    if not isinstance(text, str) or not isinstance(lengths, list):
        raise ModelError(f"{name}: expected an array of {kind}")
    right = len(lengths) == len(shape) and all(type(length) is int and length >= 0 for length in lengths)
    if not right or any(wanted not in (None, length) for wanted, length in zip(shape, lengths, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ModelError(f"{name}: expected the shape [{wanted}], got {lengths!r:.60}")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ModelError(f"{name}: expected base64: {error}") from error
    dtype = np.dtype(kind).newbyteorder("<")
    count = 1
    for length in lengths:
        count *= length
    if len(content) != count * dtype.itemsize:
        raise ModelError(f"{name}: expected {count:,} numbers of {dtype.itemsize} bytes, got {len(content):,} bytes")
    if kind == "bool" and content.translate(None, b"\0\1"):
        raise ModelError(f"{name}: expected 0 or 1")
    return np.frombuffer(content, dtype).reshape(lengths).astype(kind)


def read_finite(fields: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Read an array of finite float64 from the plain data of a model file."""
    array = read_array(fields, name, "float64", shape)
    if not np.isfinite(array).all():
        raise ModelError(f"{name}: expected finite numbers")
    return array


def read_within(
    fields: Mapping[str, Any], name: str, kind: str, shape: tuple[int | None, ...], least: int, greatest: int
) -> NDArray[Any]:
    """Read an array of whole numbers between two from the plain data of a model file."""
    array = read_array(fields, name, kind, shape)
    if array.size and not least <= array.min() <= array.max() <= greatest:
        raise ModelError(f"{name}: expected whole numbers from {least} to {greatest}")
    return array
