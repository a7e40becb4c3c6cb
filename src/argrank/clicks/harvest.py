"""Examination from documents that were shown at several ranks (intervention harvesting).

For ranks k and k', a document shown at both has one attraction, so its rates differ by how the ranks are seen. Summed
over documents, with c clicks and m non-clicks at k of those shown at k' too, the curve maximises

    sum over k != k' of c log(theta_k r) + m log(1 - theta_k r),    r = r{k, k'} for the pair of ranks

(Agarwal et al. 2019, AllPairs). A (query, document) weighs n n' / (n + n'), n and n' its impressions at the two ranks,
with its rates there: the least variance for equal attractions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from argrank._jit import kernel, read_only
from argrank._types import Floats
from argrank.data.clicks.coding import N_GROUPS
from argrank.data.clicks.counts import ClickCounts

MAX_ITER = 100
TOL = 1e-10  # of a step of the curve's logarithms


def linked_ranks(counts: ClickCounts) -> NDArray[np.bool_]:
    """Return for every rank whether documents that were shown, and clicked, at several ranks link it to rank 1."""
    (clicks, _), _ = _sums(counts, False)
    both = np.minimum(clicks, clicks.T) > 0
    _, component = connected_components(sparse.csr_matrix(both), directed=False)
    linked: NDArray[np.bool_] = component == component[0]
    return linked


def curve(counts: ClickCounts, intervals: bool) -> tuple[Floats, Floats]:
    """Return the curve, relative to rank 1, and one curve for each group of sessions that is left out."""
    (clicks, others), without = _sums(counts, intervals)
    logs = _maximise(clicks, others, None)
    return np.exp(logs), np.array([np.exp(_maximise(*one, logs)) for one in without])


def _maximise(clicks: Floats, others: Floats, start: Floats | None) -> Floats:
    """Return the logarithms of the curve that maximises the likelihood, 0 for rank 1.

    Fisher scoring on log theta and log r. Given theta every r stands alone, so only a system of as many equations as
    there are ranks is solved.
    """
    n = len(clicks)
    upper = np.triu_indices(n, 1)
    used = (clicks + clicks.T)[upper] > 0
    rows, columns = upper[0][used], upper[1][used]
    n_pairs = len(rows)
    c = np.concatenate((clicks[rows, columns], clicks[columns, rows]))
    m = np.concatenate((others[rows, columns], others[columns, rows]))
    rank, pair = np.concatenate((rows, columns)), np.tile(np.arange(n_pairs), 2)
    theta = np.zeros(n) if start is None else start
    r = np.log(np.bincount(pair, c, n_pairs) / np.bincount(pair, (c + m) * np.exp(theta[rank]), n_pairs))

    def value(theta: Floats, r: Floats) -> float:
        p = theta[rank] + r[pair]
        return float(c @ p + m @ np.log(-np.expm1(p))) if (p[m > 0] < 0).all() and (p <= 0).all() else -np.inf

    r -= np.maximum(np.max(theta[rank] + r[pair]) + 1e-3, 0.0)
    best = value(theta, r)
    for _ in range(MAX_ITER):
        p = np.exp(theta[rank] + r[pair])
        odds = p / (1.0 - p)
        slope, weight = c - m * odds, (c + m) * odds
        of_pair = np.bincount(pair, weight, n_pairs)
        cross = np.zeros((n, n_pairs))
        np.add.at(cross, (rank, pair), weight)
        by_theta, by_r = np.bincount(rank, slope, n), np.bincount(pair, slope, n_pairs)
        system = np.diag(np.bincount(rank, weight, n)) - cross / of_pair @ cross.T
        right = by_theta - cross / of_pair @ by_r
        step = np.zeros(n)
        step[1:] = np.linalg.solve(system[1:, 1:], right[1:])
        step_r = (by_r - cross.T @ step) / of_pair
        size = 1.0
        while (new := value(theta + size * step, r + size * step_r)) < best and size > 1e-8:
            size /= 2.0
        if new < best:
            break
        theta, r, best = theta + size * step, r + size * step_r, new
        if np.abs(step).max() <= TOL:
            break
    return theta


def _sums(counts: ClickCounts, by_group: bool) -> tuple[tuple[Floats, Floats], list[tuple[Floats, Floats]]]:
    """Return clicks and non-clicks of all pairs of ranks; also without each group of sessions that occurs."""
    n = counts.n_positions
    order = np.lexsort((counts.position, counts.pair))
    pair, position = counts.pair[order], counts.position[order] - 1
    grouped = by_group and counts.group is not None
    group = (
        counts.group[order].astype(np.int64) if grouped and counts.group is not None else np.zeros(len(pair), np.int64)
    )
    present = np.unique(group)
    number = np.zeros(N_GROUPS, np.int64)
    number[present] = np.arange(len(present))
    n_sets = 1 + (len(present) if grouped else 0)
    clicks, others = np.zeros((n_sets, n, n)), np.zeros((n_sets, n, n))
    indptr = np.flatnonzero(np.concatenate(([True], np.diff(pair) != 0, [True])))
    work = np.zeros((2, n_sets, n))
    _add_pairs(
        indptr,
        position,
        number[group],
        counts.impressions[order],
        counts.clicks[order],
        work,
        np.zeros(n, np.int64),
        clicks,
        others,
    )
    return (clicks[0], others[0]), [(clicks[at], others[at]) for at in range(1, n_sets)]


def _add_signature(types: Any) -> Any:
    whole, cube = read_only(types, "int64"), types.float64[:, :, ::1]
    return types.void(whole, whole, whole, whole, whole, cube, types.int64[::1], cube, cube)


@kernel(_add_signature)
def _add_pairs(
    indptr: Any, position: Any, group: Any, shown: Any, clicked: Any, work: Any, ranks: Any, clicks: Any, others: Any
) -> None:
    """Add what every document says of each two ranks; set 0 has all sessions, set g + 1 all but those of group g."""
    n_sets = work.shape[1]
    for document in range(len(indptr) - 1):
        begin, end = indptr[document], indptr[document + 1]
        if position[begin] == position[end - 1]:
            continue
        n_ranks = 0
        for cell in range(begin, end):
            if cell == begin or position[cell] != position[cell - 1]:
                ranks[n_ranks] = position[cell]
                n_ranks += 1
                for one in range(n_sets):
                    work[0, one, n_ranks - 1] = 0.0
                    work[1, one, n_ranks - 1] = 0.0
            work[0, 0, n_ranks - 1] += shown[cell]
            work[1, 0, n_ranks - 1] += clicked[cell]
            if n_sets > 1:
                work[0, 1 + group[cell], n_ranks - 1] += shown[cell]
                work[1, 1 + group[cell], n_ranks - 1] += clicked[cell]
        for one in range(n_sets):
            for i in range(n_ranks):
                for j in range(n_ranks):
                    if i == j:
                        continue
                    a, b = work[0, 0, i], work[0, 0, j]
                    c = work[1, 0, i]
                    if one > 0:
                        a, b, c = a - work[0, one, i], b - work[0, one, j], c - work[1, one, i]
                    if a > 0 and b > 0:
                        weight = b / (a + b)  # of an impression: n n' / (n + n') for all
                        clicks[one, ranks[i], ranks[j]] += weight * c
                        others[one, ranks[i], ranks[j]] += weight * (a - c)
