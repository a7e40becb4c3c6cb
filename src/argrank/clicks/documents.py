"""Cells of the position-based model: every (query, document) at every rank where it was shown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from argrank.clicks.cells import Cells
from argrank.data.clicks.counts import ClickCounts


def cells(counts: ClickCounts, share: float = 1.0) -> Iterator[Cells]:
    """Return the cells of all sessions, then those without a share of each group of sessions."""
    n = counts.n_positions
    keys, cell = np.unique(counts.pair * n + counts.position - 1, return_inverse=True)
    counted, others = counts.clicks.astype(np.float64), (counts.impressions - counts.clicks).astype(np.float64)
    all_clicks = np.bincount(cell, counted).astype(np.float64)
    all_others = np.bincount(cell, others).astype(np.float64)
    yield Cells(keys % n, keys // n, all_clicks, all_others, n)
    if counts.group is None:
        return
    for group in np.unique(counts.group):
        rows = np.flatnonzero(counts.group == group)
        clicks = all_clicks - share * np.bincount(cell[rows], counted[rows], len(keys))
        rest = all_others - share * np.bincount(cell[rows], others[rows], len(keys))
        yield Cells(keys % n, keys // n, clicks, rest, n)
