"""Sums of a click log: sufficient for examination curves and judgements."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._declared import IsData
from argrank._tables import counted
from argrank._types import Floats, Integers


@dataclass(frozen=True)
class Unusable:
    """Counts of source rows and events that are not part of the log, for the doctor.

    Everything that is left out is counted here. ``split_sessions`` is the number of sessions found in several parts of
    files or of a stream.
    """

    clicks_without_impression: int = 0
    merged_impressions: int = 0
    impressions_without_query: int = 0
    other_actions: Mapping[str, int] = field(default_factory=dict)
    split_sessions: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class ClickCounts(IsData):
    """Impressions and clicks of every (query, document) at every position, by group of sessions.

    ``group`` is None for sums given without sessions: intervals then ignore that clicks of one user are correlated.
    ``value`` is the sum of the clicks' weights.
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
    unusable: Unusable = field(default_factory=Unusable)

    def __repr__(self) -> str:
        shown = counted(int(self.impressions.sum()), "shown document", "shown documents")
        queries, clicks = len(self.query_ids), int(self.clicks.sum())
        return f"ClickCounts({counted(queries, 'query', 'queries')}, {shown}, {counted(clicks, 'click', 'clicks')})"

    @property
    def n_pairs(self) -> int:
        """Number of different (query, document) pairs."""
        return len(self.pair_query)

    @property
    def n_positions(self) -> int:
        """The last position that was shown."""
        return int(self.position.max())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the sums by rank and group; the same for any order of a log's rows."""
        found = hashlib.sha256()
        for part in self.by_group():
            found.update(np.ascontiguousarray(part, np.int64).data)
        return found.hexdigest()

    def by_position(self) -> tuple[Integers, Integers]:
        """Return impressions and clicks of every position from 0 to the last."""
        n = self.n_positions + 1
        return (
            np.bincount(self.position, self.impressions, n).astype(np.int64),
            np.bincount(self.position, self.clicks, n).astype(np.int64),
        )

    def by_group(self) -> tuple[Integers, Integers]:
        """Return impressions and clicks of every group of sessions (rows) at every position from 0 to the last."""
        groups, row = np.unique(np.zeros(1) if self.group is None else self.group, return_inverse=True)
        shape = len(groups), self.n_positions + 1
        cell = row * shape[1] + self.position
        shown, clicks = (
            np.bincount(cell, one, shape[0] * shape[1]).astype(np.int64) for one in (self.impressions, self.clicks)
        )
        return shown.reshape(shape), clicks.reshape(shape)


def ranks_text(ranks: NDArray[Any]) -> str:
    """Return "rank 3" or "ranks 3, 7, 8", with the first ten of many."""
    text = ", ".join(map(str, ranks[:10])) + (" …" if len(ranks) > 10 else "")
    return f"rank{'s' if len(ranks) > 1 else ''} {text}"


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
