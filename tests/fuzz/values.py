"""Values for arguments: perverse ones of every kind, and those at the borders of what a declaration allows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from argrank._declared import Declared
from argrank.errors import InputError, OptionError


class TheirOwnError(Exception):
    """Raised by a function that the caller hands over; it reaches the caller as it is."""


class Anything:
    """A class that accepts any arguments and does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


def failing(*_: Any, **__: Any) -> None:
    """Fail as a caller's own function may."""
    raise TheirOwnError


PERVERSE: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, -2, 1.5, -0.5, 0.0, 1e-300, 1e300, 2**31, 2**63, -(2**63) - 1, 10**400),
    *(float("nan"), float("inf"), -float("inf"), 1 + 2j, Decimal("0.5"), Fraction(1, 3), dt.date(2020, 1, 1)),
    *("", "nonsense", "1", "a\0b", "\ud800", "\u202e", "x" * 10_000, b"bytes"),
    *([], (), {}, set(), [1], ["a"], [None], {"a": 1}, {1: "a"}, {"a": None}, [[1, 2], [3]], range(3), slice(1)),
    *(np.int8(3), np.uint64(2**63), np.float32("nan"), np.float16(1), np.bool_(True), np.str_("map")),
    *(np.array(3), np.array([1, 2]), np.array(["a"]), np.zeros((2, 2)), np.datetime64("2020-01-01"), np.zeros(0)),
    *(np.ma.masked_array([1.0, 2.0], [True, False]), np.array([1j]), np.array([None, 1], object), np.zeros((48, 2, 2))),
    *(object(), Anything, Anything(), Ellipsis, NotImplemented, failing, lambda *_, **__: "x", lambda *_, **__: 1.0),
]


def fits(declared: Declared, value: Any) -> bool:
    """Tell whether a declaration allows a value."""
    try:
        declared.check("it", value)
    except (OptionError, InputError):
        return False
    return True


def wrong(declared: Declared) -> list[Any]:
    """Return values that a declaration does not allow: perverse ones, and numbers just beyond its bounds."""
    return [value for value in (*PERVERSE, *borders(declared)) if not fits(declared, value)]


def right(declared: Declared) -> list[Any]:
    """Return values that a declaration allows: choices, numbers at its bounds, and whatever else is allowed."""
    choices = [choice for kind in declared.kinds for choice in kind.choices]
    return [value for value in (*choices, *borders(declared), *PERVERSE) if fits(declared, value)]


def borders(declared: Declared) -> list[float]:
    """Return numbers at the bounds of a declaration and just beside them."""
    limits = [bound.limit for kind in declared.kinds for bound in kind.bounds]
    return [limit + step for limit in limits for step in (-1, 0, 1, -1e-9, 1e-9)]
