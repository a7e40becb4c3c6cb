"""Where data is cut into blocks of whole queries: a rule of the data alone, for every engine and every file."""

from __future__ import annotations

import numpy as np

from argrank._types import Integers

BLOCK_ROWS = 24_000  # documents in a block: few enough for the cache, many enough that Python's share is small
SMALL_ROWS = 4_000  # up to this many documents, one thread is as fast as two


def block_borders(indptr: Integers) -> Integers:
    """Return the numbers of the queries at which blocks begin, and the number of queries: cuts about every BLOCK_ROWS.

    It depends on the sizes of the queries alone, so sums over blocks have the same bits for any number of threads.
    """
    n_rows = int(indptr[-1])
    n_blocks = -(-n_rows // BLOCK_ROWS)
    if n_rows > SMALL_ROWS:
        n_blocks += n_blocks % 2  # an even number, so that two threads end together
    return np.unique(np.searchsorted(indptr, np.linspace(0, n_rows, n_blocks + 1)))
