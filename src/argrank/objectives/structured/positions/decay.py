"""Coefficients of the positions map: the decay of the ranks, and the reference ranking's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import OptionError, is_finite, shown, unknown_name

if TYPE_CHECKING:
    from argrank.objectives.structured.hinge import StructuredHinge

DECAYS = ("linear", "log2", "loglog", "measure", "sqrt")


def decay_vector(hinge: StructuredHinge, n: int) -> Floats:
    """Return the weights of the ranks 0 … n - 1; they never rise.

    A given vector that is shorter than n is extended by zeros, which needs it to be >= 0.
    """
    decay, r = "sqrt" if hinge.decay is None else hinge.decay, np.arange(float(n))
    if isinstance(decay, str):
        return _named(hinge, decay, r)
    if isinstance(decay, int | float) and not isinstance(decay, bool):
        if not is_finite(decay) or decay < 0:
            raise OptionError(f"{hinge.name}: expected decay (1+r)^-d with a finite d >= 0, got d={shown(decay)}")
        return np.asarray((1.0 + r) ** -float(decay))
    try:
        given = np.asarray(decay, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"{hinge.name}: expected decay to be a name, number or vector, got {shown(decay)}") from error
    if given.ndim != 1 or len(given) == 0 or not np.isfinite(given).all() or (np.diff(given) > 0).any():
        raise OptionError(
            f"{hinge.name}: expected a decay vector of finite numbers that never rise, got {shown(decay)}"
        )
    if len(given) < n and given[-1] < 0:
        raise OptionError(
            f"{hinge.name}: expected a decay vector for all {n} ranks of the longest query, or one >= 0 that zeros "
            f"can extend, got {len(given)} numbers down to {given[-1]:g}"
        )
    return np.concatenate((given[:n], np.zeros(max(n - len(given), 0))))


def _named(hinge: StructuredHinge, decay: str, r: Floats) -> Floats:
    if decay == "sqrt":
        values = 1.0 / np.sqrt(1.0 + r)
    elif decay == "log2":
        values = 1.0 / np.log2(r + 2.0)
    elif decay == "loglog":
        values = 1.0 / np.log2(np.log2(r + 2.0) + 1.0)
    elif decay == "measure":
        values = hinge.discounts(len(r))
    elif decay == "linear":
        counted = np.flatnonzero(hinge.discounts(len(r)))  # for a user's a, k is the last rank with a nonzero discount
        k = hinge.k or (int(counted[-1]) + 1 if len(counted) else 0)
        values = np.maximum(k - r, 0.0)
    else:
        raise unknown_name("decay", decay, DECAYS)
    return np.asarray(values)


def reference_coefficients(reference: str, gains: Floats, indptr: Integers, decay: Floats, discounts: Floats) -> Floats:
    """Return the decay at every document's rank in the reference ranking.

    "given" uses the rows' order, "any" sorts them by gain, stably. "averaged" is the mean over *all* ideal rankings:
    those that exchange documents of equal gain, or ranks of equal discount, as all are past the cut-off. Its
    coefficients do not depend on the order of storage, and the hinge is the mean of theirs.
    """
    sizes = np.diff(indptr)
    query = np.repeat(np.arange(len(sizes)), sizes)
    rank = np.arange(len(gains)) - np.repeat(indptr[:-1], sizes)
    if reference == "given":
        return decay[rank]
    ideal = np.lexsort((-gains, query))  # stable
    coefficients = np.empty(len(gains))
    if reference == "any":
        coefficients[ideal] = decay[rank]
        return coefficients
    # Ranks of equal discount share the mean of their decay, then documents of equal gain that of their ranks.
    _, plateau = np.unique(-discounts, return_inverse=True)
    shared = _means(decay[rank], query * len(discounts) + plateau.ravel()[rank])
    new_group = np.empty(len(gains), np.int64)
    new_group[0] = 0
    new_group[1:] = (np.diff(gains[ideal]) != 0) | (np.diff(query) != 0)
    coefficients[ideal] = _means(shared, np.cumsum(new_group))
    return coefficients


def _means(values: Floats, group: Integers) -> Floats:
    """Return for every value the mean of its group."""
    _, member = np.unique(group, return_inverse=True)
    means = np.bincount(member.ravel(), weights=values) / np.bincount(member.ravel())
    return np.asarray(means[member.ravel()])
