"""Sums of a click log: all that curves of examination and judgements need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers


@dataclass(frozen=True, eq=False)
class ClickCounts:
    """Impressions and clicks of every (query, document) at every position, by group of sessions.

    ``group`` is None for sums that came without sessions: intervals then ignore that clicks of one user depend on each
    other. ``value`` is the sum of the clicks' weights.
    """

    query_ids: NDArray[Any]
    document_ids: NDArray[Any]
    pair_query: Integers
    pair_document: Integers
    sessions_of_query: Integers | None
    pair: Integers
    position: Integers
    group: NDArray[np.uint8] | None
    impressions: Integers
    clicks: Integers
    value: Floats

    @property
    def n_pairs(self) -> int:
        """Number of different (query, document) pairs."""
        return len(self.pair_query)

    @property
    def n_positions(self) -> int:
        """The last position that was shown."""
        return int(self.position.max())

    def by_position(self) -> tuple[Integers, Integers]:
        """Return impressions and clicks of every position from 0 to the last."""
        n = self.n_positions + 1
        return (
            np.bincount(self.position, self.impressions, n).astype(np.int64),
            np.bincount(self.position, self.clicks, n).astype(np.int64),
        )


def count_rows(
    pair: Integers, position: Integers, group: NDArray[np.uint8], click: NDArray[np.bool_], value: Floats
) -> tuple[Integers, Integers, NDArray[np.uint8], Integers, Integers, Floats]:
    """Return pair, position, group, impressions, clicks and value, one entry for each combination that occurs."""
    import pyarrow as pa

    n_positions = int(position.max(initial=0)) + 1
    keys = pa.array((pair * n_positions + position) * 64 + group).dictionary_encode()
    cells: Integers = keys.dictionary.to_numpy(zero_copy_only=False)
    codes: Integers = keys.indices.to_numpy()
    n_cells = len(cells)
    return (
        cells // (64 * n_positions),
        cells // 64 % n_positions,
        (cells % 64).astype(np.uint8),
        np.bincount(codes, minlength=n_cells).astype(np.int64),
        np.bincount(codes[click], minlength=n_cells).astype(np.int64),
        np.bincount(codes, value, n_cells).astype(np.float64),
    )
