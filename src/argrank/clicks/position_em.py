"""Examination by the position-based model: theta of the rank times the attraction of a (query, document)."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats
from argrank.clicks.models.examination import expect
from argrank.data.clicks.counts import ClickCounts

MAX_ITER = 1000
TOL = 1e-6  # of the logarithms of the curve
LEAST = 1e-9


def curve(counts: ClickCounts, intervals: bool) -> tuple[Floats, Floats]:
    """Return the curve, relative to rank 1, and one curve for each group of sessions that is left out."""
    theta, attraction = _fit(counts, counts.impressions.astype(np.float64), counts.clicks.astype(np.float64), None)
    without = []
    if intervals and counts.group is not None:
        for one in np.unique(counts.group):
            kept = counts.group != one
            shown, clicks = counts.impressions * kept, counts.clicks * kept
            found, _ = _fit(counts, shown.astype(np.float64), clicks.astype(np.float64), (theta, attraction))
            without.append(found / found[0])
    return theta / theta[0], np.array(without)


def _fit(
    counts: ClickCounts, shown: Floats, clicks: Floats, start: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats]:
    """Maximise the likelihood until the curve stands still."""
    n = counts.n_positions
    theta, attraction = (np.full(n, 0.5), np.full(counts.n_pairs, 0.5)) if start is None else start
    sums = np.empty(counts.n_pairs), np.empty(counts.n_pairs), np.empty(n), np.empty(n)
    position = counts.position - 1

    def step(point: Floats) -> Floats:
        """One step of expectation maximisation on the logarithms of theta and the attractions."""
        curve, attractions = np.exp(point[:n]), np.exp(point[n:])
        expect(counts.pair, position, shown, clicks, attractions, curve, *sums)
        new = np.concatenate((sums[2] / np.maximum(sums[3], 1e-300), sums[0] / np.maximum(sums[1], 1e-300)))
        return np.asarray(np.log(np.clip(new, LEAST, 1.0 - LEAST)), np.float64)

    point = np.log(np.concatenate((theta, attraction)))
    for _ in range(MAX_ITER):  # SQUAREM (Varadhan and Roland 2008): extrapolation from two steps, secured by a third
        first = step(point)
        second = step(first)
        change, bend = first - point, second - 2.0 * first + point
        length = float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), 1e-300)
        length = min(max(length, 1.0), 64.0)
        new = step(np.minimum(point + 2.0 * length * change + length**2 * bend, np.log(1.0 - LEAST)))
        moved = np.abs((new[:n] - new[0]) - (point[:n] - point[0])).max()
        point = new
        if moved <= TOL:
            break
    return np.exp(point[:n]), np.exp(point[n:])
