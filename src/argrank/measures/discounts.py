"""Discounts of ranks, in the floating-point arithmetic of the chosen tool."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from argrank._types import Floats
from argrank.data.checks import as_array
from argrank.errors import InputError, OptionError, check_name, shown

DISCOUNTS = ("letor", "log2", "reciprocal")

#: How a term gain(y) / log2(x) is computed. The value is the same up to the last digit, except for "natural", which
#: leaves out the constant ln 2 (it cancels in NDCG): gain * (1 / log2 x), gain / log2 x, gain * (1 / (ln x / ln 2)),
#: gain * ln 2 / ln x, gain / ln x.
LOGARITHMS = ("log2", "divided", "ratio", "scaled", "natural")

Discount: TypeAlias = str | Callable[[Floats], Any]


def check_discount(discount: Any) -> Discount:
    """Return a discount as one that ``discounts`` takes: a known name or a callable of the ranks 1, 2, …."""
    if isinstance(discount, str):
        check_name("discount", discount, DISCOUNTS)
        return discount
    if callable(discount) and not isinstance(discount, type):
        return cast(Discount, discount)
    raise OptionError(f"discount: expected one of {', '.join(DISCOUNTS)} or a callable, got {shown(discount)}")


def discounts(n: int, discount: Discount = "log2") -> Floats:
    """Return the discounts of the ranks 1 to n: 1/log2(i + 1), LETOR's 1, 1, 1/log2(i), or 1/i.

    >>> discounts(4, "letor")
    array([1.        , 1.        , 0.63092975, 0.5       ])
    """
    factor, divisor = parts(n, discount, "log2")
    return factor / divisor


def parts(n: int, discount: Discount, logarithm: str) -> tuple[Floats, Floats]:
    """Return factors and divisors: the term of rank i is ``gain * factor[i] / divisor[i]``, in this order."""
    ranks = np.arange(1.0, n + 1.0)
    ones = np.ones(n)
    check_discount(discount)
    if discount == "reciprocal":
        return ones, ranks
    if not isinstance(discount, str):
        values = as_array(discount(ranks), "discount", np.float64)
        if values.shape != ranks.shape or not np.isfinite(values).all():
            raise InputError(f"discount: expected a callable that returns {n} finite numbers, got {shown(values)}")
        return values, ones
    argument = np.arange(2, n + 2) if discount == "log2" else np.maximum(np.arange(1, n + 1), 2)
    if logarithm == "log2":
        return 1.0 / _logarithms(math.log2, n + 1)[argument], ones
    if logarithm == "divided":
        return ones, _logarithms(math.log2, n + 1)[argument]
    natural = _logarithms(math.log, n + 1)[argument]
    if logarithm == "ratio":
        return 1.0 / (natural / math.log(2.0)), ones
    if logarithm == "natural":
        return ones, natural
    # The scripts do not multiply and divide by ln 2 where the discount is 1: that could change the last digit.
    plain = argument == 2
    return np.where(plain, 1.0, math.log(2.0)), np.where(plain, 1.0, natural)


def _logarithms(function: Callable[[float], float], n: int) -> Floats:
    """Return the logarithms of 0 (given as 0), 1, …, at least n, as computed by the C library."""
    return _table(function, 1 << max(6, n.bit_length()))


@functools.lru_cache(maxsize=64)
def _table(function: Callable[[float], float], length: int) -> Floats:
    # NumPy's own log differs from the C library's, which other tools use, in the last digit on some processors.
    table = np.array([0.0, *(function(float(x)) for x in range(1, length))])
    table.flags.writeable = False
    return table


def cut_discounts(discount: Discount, k: int | None) -> Callable[[int], Floats]:
    """Return the function from n to the discounts of the ranks 1 … n, which are 0 below rank k."""

    def by_rank(n: int) -> Floats:
        values = discounts(n, discount)
        if k is not None:
            values[k:] = 0.0
        return values

    return by_rank
