"""Documents of equal score: the groups they form in a ranking, and means over all orders within a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TieGroups:
    """The tie groups of those rankings in which a tie joins different labels.

    ``rows`` are the numbers of these rankings; all other arrays have one row for each of them, one column for each
    rank: the first rank of the cell's group, counted from 0, and its size. An untied document is a group of one.
    """

    rows: NDArray[np.intp]
    first: NDArray[np.intp]
    size: NDArray[np.intp]
    starts: NDArray[np.intp]
    sizes: NDArray[np.intp]

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for every cell the sum of the values in its group; ``values`` has the shape of ``first``."""
        totals = np.add.reduceat(values.ravel(), self.starts)
        return np.repeat(totals, self.sizes).reshape(self.first.shape)

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for every cell the mean of the values in its group: the expected value at that rank."""
        totals = np.add.reduceat(values.ravel(), self.starts)
        return np.repeat(totals / self.sizes, self.sizes).reshape(self.first.shape)

    def at_first(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for every cell the value at the first rank of its group."""
        return np.repeat(values.ravel()[self.starts], self.sizes).reshape(self.first.shape)


def find_ties(keys: NDArray[np.float64], rows: NDArray[np.intp]) -> TieGroups:
    """Return the groups of equal neighbours in sorted keys; one ranking a row, numbered as ``rows`` says."""
    opens = np.ones(keys.shape, bool)
    np.not_equal(keys[:, 1:], keys[:, :-1], out=opens[:, 1:])
    starts = np.flatnonzero(opens)
    sizes = np.diff(np.append(starts, keys.size))
    first = np.repeat(starts % keys.shape[1], sizes).reshape(keys.shape)
    return TieGroups(rows, first, np.repeat(sizes, sizes).reshape(keys.shape), starts, sizes)
