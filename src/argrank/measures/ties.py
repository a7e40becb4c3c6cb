"""Documents of equal score: the groups they form in rankings."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats


class TieGroups:
    """Groups of two or more tied documents; documents outside groups are not tied.

    Rankings are rows of a matrix, best first, and a cell of the matrix is numbered ``row * width + rank - 1``: the
    members of a group are neighbours. ``first`` is the first cell of every group, ``sizes`` the number of members.
    Only tied cells are listed, so that a few ties cost little.
    """

    def __init__(self, first: NDArray[np.intp], sizes: NDArray[np.intp], width: int) -> None:
        self.first, self.sizes, self.width = first, sizes, width
        self.starts = np.cumsum(sizes) - sizes

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """For every member its place in its group: 0, 1, …."""
        return np.arange(int(self.sizes.sum())) - self.spread(self.starts)

    @cached_property
    def cells(self) -> NDArray[np.intp]:
        """The cells of all members, group by group."""
        return self.spread(self.first) + self.place

    @cached_property
    def ranks(self) -> Floats:
        """The ranks of all members, from 1."""
        return (self.cells % self.width + 1).astype(np.float64)

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows that hold a group."""
        return np.unique(self.first // self.width)

    def spread(self, values: NDArray[np.generic]) -> NDArray[np.intp]:
        """Return one value per group as one per member."""
        return np.repeat(values, self.sizes)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over every group of one value per member."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def means(self, values: Floats) -> Floats:
        """Return for every member the mean over its group: the value expected at its rank."""
        return np.repeat(self.sums(values) / self.sizes, self.sizes)

    def holding(self, cells: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return for each of some cells the number of its group, -1 where it is not tied."""
        group = np.searchsorted(self.first, cells, side="right") - 1
        inside = (group >= 0) & (cells < self.first[group] + self.sizes[group])
        return np.where(inside, group, -1)


def find_ties(keys: Floats, labels: Floats, mixed: bool = True) -> TieGroups | None:
    """Return the groups of equal neighbours in sorted rows of keys, None where there is none.

    ``mixed`` keeps only groups with different labels: the others do not affect any measure. Keys of infinity are
    padding.
    """
    equal = np.zeros(keys.shape, bool)
    np.equal(keys[:, 1:], keys[:, :-1], out=equal[:, :-1])
    tied = np.flatnonzero(equal)  # cells whose next neighbour in the row is equal
    flat_keys, flat_labels = keys.reshape(-1), labels.reshape(-1)
    tied = tied[flat_keys[tied] < np.inf]
    if len(tied) == 0:
        return None
    opens = np.flatnonzero(np.diff(tied, prepend=-2) != 1)
    sizes = np.diff(opens, append=len(tied)) + 1
    first = tied[opens]
    if mixed:
        differs = flat_labels[tied] != flat_labels[tied + 1]
        kept = np.logical_or.reduceat(differs, opens)
        if not kept.any():
            return None
        first, sizes = first[kept], sizes[kept]
    return TieGroups(first, sizes, keys.shape[1])
