"""The reference ranking of the positions map, as coefficients of the documents."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats, Integers


def reference_coefficients(reference: str, gains: Floats, indptr: Integers, decay: Floats, worth: Floats) -> Floats:
    """Return the decay at every document's rank in the reference ranking.

    "given" takes the rows as they come, "any" sorts them by gain and keeps equals in their order. "averaged" is the
    mean over *all* ideal rankings: those that exchange documents of equal gain, or ranks of equal worth (all are, past
    the cut-off). Its coefficients do not depend on the order of storage, and the hinge is the mean of theirs.
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
    # Ranks of equal worth share the mean of their decay, then documents of equal gain share the mean of their ranks'.
    _, plateau = np.unique(-worth, return_inverse=True)
    shared = _means(decay[rank], query * len(worth) + plateau.ravel()[rank])
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
