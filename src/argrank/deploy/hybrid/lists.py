"""Ranked lists of several systems: what each returned within its window, normalised list by list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers

Singles = NDArray[Any]  # float32, or double of an engine that has doubles
Normalise = Callable[[Singles, int], Singles]


def ranked(scores: Floats, indptr: Integers) -> Iterator[Integers]:
    """Yield, query by query, the rows that a system returned, best first; NaN is not returned.

    Engines order equal scores by their internal document numbers, which are unknown here, so a fixed random order is
    used, and not that of the rows, which may depend on the labels.
    """
    chance = np.random.default_rng(0).permutation(len(scores))
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((chance, -scores, query))  # NaN comes last
    for first, last in pairwise(indptr.tolist()):
        rows = order[first:last]
        yield rows[~np.isnan(scores[rows])]


def within_window(raw: Floats, indptr: Integers, window: int) -> Floats:
    """Return the scores (a row for every system) with NaN for documents beyond a system's first ``window`` ones."""
    kept = np.full(raw.shape, np.nan)
    for scores, found in zip(raw, kept, strict=True):
        for rows in ranked(scores, indptr):
            found[rows[:window]] = scores[rows[:window]]
    return kept


def each_list(raw: Floats, indptr: Integers, normalise: Normalise, constant: int, dtype: type) -> Floats:
    """Apply ``normalise`` to every list, given with the best first; 0 for documents that a list lacks."""
    ready = np.zeros(raw.shape)
    for scores, found in zip(raw, ready, strict=True):
        typed = scores.astype(dtype)
        for rows in ranked(scores, indptr):
            if len(rows):
                found[rows] = normalise(typed[rows], constant)
    return ready


def sum_singles(ready: Floats, weights: Floats) -> Floats:
    """Return the weighted sum in float32, products and partial sums rounded, system after system."""
    total = np.zeros(ready.shape[1], np.float32)
    for scores, weight in zip(ready.astype(np.float32), weights.astype(np.float32), strict=True):
        total += weight * scores
    return total.astype(np.float64)


def sum_doubles(ready: Floats, weights: Floats) -> Floats:
    """Return the weighted sum in double, system after system."""
    total = np.zeros(ready.shape[1])
    for scores, weight in zip(ready, weights, strict=True):
        total += weight * scores
    return total


def unchanged(scores: Singles, constant: int) -> Singles:
    """Return the scores as they are."""
    return scores


def reciprocal_ranks(scores: Singles, constant: int) -> Singles:
    """Return 1 / (constant + rank) in float32."""
    return np.float32(1) / np.arange(constant + 1, constant + len(scores) + 1, dtype=np.float32)
