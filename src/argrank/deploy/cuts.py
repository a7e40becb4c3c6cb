"""Thresholds of raw features, exact for every float32 that an engine may receive.

Engines compare float32 features; argrank compares float64 after normalising. The branch of a row at a split is monotone
in the raw feature, so the greatest float32 that argrank sends left is found by bisection over all floats: ``x <= cut``
then decides as argrank does, for every float32 x, and the normaliser is part of the cut.

This module alone defines the comparison of each engine, and the threshold to write so that it decides the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.prepare.normalise import Normaliser

Singles = NDArray[np.float32]
Predicate = Callable[[NDArray[Any]], NDArray[np.bool_]]

GREATEST = np.finfo(np.float32).max
SOLR_SLACK = np.float32(1e-6)  # Solr tests x <= threshold + 1e-6, in float32

_WHOLE: dict[Any, Any] = {np.dtype(np.float32): np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.int64)}


def to_key(x: NDArray[Any]) -> Integers:
    """Return integers in the order of the floats; both zeros are 0."""
    whole = _WHOLE[x.dtype]
    bits = x.view(whole).astype(np.int64)
    return np.asarray(np.where(bits >= 0, bits, -(bits & np.iinfo(whole).max)))


def from_key(key: Integers, kind: type[np.floating[Any]]) -> NDArray[Any]:
    """Return the floats of the numbers that `to_key` gave."""
    whole = _WHOLE[np.dtype(kind)]
    size = np.abs(key).astype(whole).view(kind)
    return np.asarray(np.where(key < 0, -size, size))


def greatest(goes_left: Predicate, n: int, kind: type[np.floating[Any]] = np.float32) -> NDArray[Any]:
    """Return the greatest float for which a predicate (true below, false above) holds, for n splits at once.

    It is -inf if the predicate never holds, and inf if it always holds. 32 or 64 steps.
    """
    ends = to_key(np.array([-np.inf, np.inf], kind))
    low, high = np.full(n, ends[0]), np.full(n, ends[1])
    everywhere = goes_left(from_key(high, kind))
    while True:
        todo = high > low + 1
        if not todo.any():
            break
        middle = (low & high) + ((low ^ high) >> 1)  # the mean, without overflow
        left = goes_left(from_key(middle, kind))
        low, high = np.where(todo & left, middle, low), np.where(todo & ~left, middle, high)
    return np.asarray(np.where(everywhere, kind(np.inf), from_key(low, kind)), kind)


def single_cuts(features: Integers, thresholds: Floats, normaliser: Normaliser | None) -> Singles:
    """Return for every split the greatest float32 of the raw feature that goes left."""
    return greatest(_goes_left(features, thresholds, normaliser), len(thresholds))


def double_cuts(features: Integers, thresholds: Floats, normaliser: Normaliser | None) -> Floats:
    """Return for every split the greatest float64 of the raw feature that goes left, for engines of doubles."""
    if normaliser is None:
        return thresholds.copy()
    return greatest(_goes_left(features, thresholds, normaliser), len(thresholds), np.float64)


def double_of_single(goes_left: Predicate, n: int) -> Floats:
    """Return the greatest float64 that goes left in an engine that rounds features to float32 before comparing."""

    def rounded(x: NDArray[Any]) -> NDArray[np.bool_]:
        with np.errstate(over="ignore"):
            return goes_left(x.astype(np.float32))

    most = np.finfo(np.float64).max
    return np.asarray(np.clip(greatest(rounded, n, np.float64), -most, most))


def next_single(cut: Singles) -> Singles:
    """Return t with ``x < t`` where ``x <= cut``."""
    with np.errstate(over="ignore"):
        return np.nextafter(cut, np.float32(np.inf))


def solr_threshold(cut: Singles) -> Singles:
    """Return the greatest t with ``float32(t + 1e-6) <= cut``; Solr's test then equals ours, except for tiny cuts.

    Not every float32 is another one plus 1e-6: near 0 few are, and just below -0.5, -0.25, … half of them.
    """

    def fits(t: NDArray[Any]) -> NDArray[np.bool_]:
        with np.errstate(over="ignore"):
            return np.asarray((t + SOLR_SLACK).astype(np.float32) <= cut)

    return np.asarray(greatest(fits, len(cut)))


def writable(cut: NDArray[Any]) -> Singles:
    """Return finite float32 thresholds: JSON has no infinity."""
    return np.asarray(np.clip(cut, -GREATEST, GREATEST), np.float32)


def _goes_left(features: Integers, thresholds: Floats, normaliser: Normaliser | None) -> Predicate:
    """Return argrank's own rule for values of the splits' features, float32 or float64."""
    if normaliser is None:
        return lambda x: np.asarray(x.astype(np.float64) <= thresholds)
    if normaliser.shift is None or normaliser.scale is None:
        raise ValueError("a normaliser without statistics")
    shift, scale = normaliser.shift[features], normaliser.scale[features]
    divisor = np.where(scale == 0, np.inf, scale)

    def goes_left(x: NDArray[Any]) -> NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            z = (x.astype(np.float64) - shift) / divisor
            z = z.astype(np.float32).astype(np.float64)  # as in Model.normalised for models with thresholds
        z = np.where(np.isnan(z), 0.0, z)  # infinity at a constant feature
        return np.asarray(z <= thresholds)

    return goes_left
