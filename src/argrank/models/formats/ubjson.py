"""UBJSON, the binary form of JSON that XGBoost saves: objects, arrays (also of one type), texts and numbers."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from argrank._memory import check_memory
from argrank.errors import ModelError

NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
PLAIN = {b"Z": None, b"T": True, b"F": False}
DEEPEST = 100
COSTS = {b"[": 96, b"{": 240, b"S": 60}  # bytes that Python needs for each, in addition to 10 per byte of the file


def loads(content: bytes) -> Any:
    """Return the value of a document; raise if it is damaged or would not fit into memory."""
    n_values = sum(cost * content.count(mark) for mark, cost in COSTS.items())
    check_memory("model", 10.0 * len(content) + n_values, "take a smaller file")
    try:
        value, _ = _value(content, 0, 0)
    except (IndexError, struct.error, UnicodeDecodeError, ValueError) as error:
        raise ModelError(f"expected JSON or UBJSON, got bytes that are neither: {error}") from error
    return value


def _value(content: bytes, at: int, depth: int) -> tuple[Any, int]:
    return _typed(content, at + 1, content[at : at + 1], depth)


def _typed(content: bytes, at: int, mark: bytes, depth: int) -> tuple[Any, int]:
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    if mark in PLAIN:
        return PLAIN[mark], at
    if mark in NUMBERS:
        kind = np.dtype(NUMBERS[mark])
        if at + kind.itemsize > len(content):
            raise ValueError("the end is missing")
        return np.frombuffer(content, kind, 1, at)[0].item(), at + kind.itemsize
    if mark == b"S":
        return _text(content, at)
    if mark == b"[":
        return _array(content, at, depth)
    if mark == b"{":
        return _object(content, at, depth)
    raise ValueError(f"unknown mark {mark!r}")


def _length(content: bytes, at: int) -> tuple[int, int]:
    length, at = _value(content, at, DEEPEST)
    if type(length) is not int or not 0 <= length <= len(content):
        raise ValueError("a length beyond the end")
    return length, at


def _text(content: bytes, at: int) -> tuple[str, int]:
    length, at = _length(content, at)
    if at + length > len(content):
        raise ValueError("a text beyond the end")
    return content[at : at + length].decode("utf-8"), at + length


def _array(content: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    mark = b""
    if content[at : at + 1] == b"$":
        mark, at = content[at + 1 : at + 2], at + 2
    if content[at : at + 1] == b"#":
        length, at = _length(content, at + 1)
        if mark in NUMBERS:
            kind = np.dtype(NUMBERS[mark])
            return np.frombuffer(content, kind, length, at).tolist(), at + length * kind.itemsize
        if mark in PLAIN:
            raise ValueError("a list of values that take no space")
        values = []
        for _ in range(length):
            value, at = _typed(content, at, mark, depth + 1) if mark else _value(content, at, depth + 1)
            values.append(value)
        return values, at
    values = []
    while content[at : at + 1] != b"]":
        value, at = _value(content, at, depth + 1)
        values.append(value)
    return values, at + 1


def _object(content: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    while content[at : at + 1] != b"}":
        name, at = _text(content, at)
        fields[name], at = _value(content, at, depth + 1)
    return fields, at + 1
