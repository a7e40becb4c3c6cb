"""Diversity: a limit on the documents of each source in the first k ranks (ORM section 7.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, kernel, read_only
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.document_sources import take_diverse
from argrank.errors import OptionError
from argrank.objectives.objective import Prepared


def _signature(types: Any) -> Any:
    read, whole, write = read_only(types), read_only(types, "int64"), types.float64[::1]
    return types.void(read, read, whole, whole, read, read, types.int64, types.int64, write, write)


@kernel(_signature)
def diverse_assignment(
    scores: Any, gains: Any, sources: Any, indptr: Any, decay: Any, discounts: Any, k: Any, at_most: Any, values: Any,
    gradient: Any,
) -> None:  # fmt: skip
    """Fill in the greatest sum over k ranks of c s - a b, with at most ``at_most`` documents of a source.

    Ranks get their documents one after the other. A new rank takes a free document, or one for which another rank has
    to move on: because it is at that rank, or because its source is full and that rank holds one of the source. The
    best chain of moves is a longest path over the ranks (successive shortest paths in the flow rank -> document ->
    source), so every stage is optimal. With one document a source this is the assignment of ranks to sources, each
    with its best document there. O(k² n + k⁴).
    """
    for query in range(len(values)):
        begin, end = indptr[query] - indptr[0], indptr[query + 1] - indptr[0]
        n = end - begin
        s, b, source = scores[begin:end], gains[begin:end], sources[begin:end]
        u = gradient[begin:end]
        size, held = np.zeros(n, np.int64), np.zeros(n, np.int64)
        n_ranks, largest = 0, 1.0
        for j in range(n):
            u[j] = 0.0
            if size[source[j]] < at_most:
                size[source[j]] += 1
                n_ranks += 1
            largest = max(largest, abs(decay[0] * s[j]) + abs(discounts[0] * b[j]))
        n_ranks = min(n_ranks, k)  # fewer sources lower k
        room = 1e-13 * largest  # rounding must not look like a better path: it could close a circle
        rank_of, document_of = np.full(n, -1), np.full(n_ranks, -1)
        for new in range(n_ranks):
            last, last_document = np.full(new + 1, -np.inf), np.full(new + 1, -1)
            inside, inside_document = np.full((new + 1, n), -np.inf), np.full((new + 1, n), -1)
            for r in range(new + 1):
                find_free(
                    s, b, source, decay[r], discounts[r], rank_of, held, at_most, r, last, last_document, inside,
                    inside_document,
                )  # fmt: skip
            gain, came_from, through = np.full(new + 1, -np.inf), np.full(new + 1, -1), np.full(new + 1, -1)
            gain[new] = 0.0
            changed = True
            while changed:
                changed = lengthen_paths(
                    s, b, source, decay, discounts, document_of, inside, inside_document, room, gain.copy(), gain,
                    came_from, through,
                )  # fmt: skip
            finish = 0
            for r in range(new + 1):
                if gain[r] + last[r] > gain[finish] + last[finish]:
                    finish = r
            move_along(finish, last_document[finish], source, came_from, through, document_of, rank_of, held)
        value = 0.0
        for r in range(n_ranks):
            j = document_of[r]
            u[j] = decay[r]
            value += decay[r] * s[j] - discounts[r] * b[j]
        values[query] = value


@helper
def find_free(
    s: Any, b: Any, source: Any, c: float, a: float, rank_of: Any, held: Any, at_most: int, r: int, last: Any,
    last_document: Any, inside: Any, inside_document: Any,
) -> None:  # fmt: skip
    """Find the best free document for rank r: of the sources that are not full, and of each source that is."""
    for j in range(len(s)):
        if rank_of[j] >= 0:
            continue
        here = c * s[j] - a * b[j]
        if held[source[j]] < at_most:
            if here > last[r]:
                last[r], last_document[r] = here, j
        elif here > inside[r, source[j]]:
            inside[r, source[j]], inside_document[r, source[j]] = here, j


@helper
def lengthen_paths(
    s: Any, b: Any, source: Any, decay: Any, discounts: Any, document_of: Any, inside: Any, inside_document: Any,
    room: float, before: Any, gain: Any, came_from: Any, through: Any,
) -> bool:  # fmt: skip
    """Add one move to all chains of moves; return whether one of them got better.

    A rank takes the document of another, or one of the same source, and the other rank has to move on.
    """
    new = len(gain) - 1
    changed = False
    for r in range(new + 1):
        if before[r] == -np.inf:
            continue
        c, a = decay[r], discounts[r]
        for other in range(new):
            if other == r:
                continue
            j = document_of[other]
            given_up = decay[other] * s[j] - discounts[other] * b[j]
            best, chosen = c * s[j] - a * b[j], j
            if inside[r, source[j]] > best:
                best, chosen = inside[r, source[j]], inside_document[r, source[j]]
            trial = before[r] + best - given_up
            if trial > gain[other] + room:
                gain[other], came_from[other], through[other] = trial, r, chosen
                changed = True
    return changed


@helper
def move_along(
    finish: int, document: int, source: Any, came_from: Any, through: Any, document_of: Any, rank_of: Any, held: Any
) -> None:
    """Carry out a chain of moves; every rank lets go of its document before any takes a new one."""
    r = finish
    while r >= 0:
        old = document_of[r]
        if old >= 0:
            rank_of[old] = -1
            held[source[old]] -= 1
        r = came_from[r]
    r = finish
    while r >= 0:
        document_of[r] = document
        rank_of[document] = r
        held[source[document]] += 1
        document, r = through[r], came_from[r]


class DiverseAssignment(Prepared):
    """The most violated ranking in Pi(B, k)."""

    ranks = False

    def __init__(
        self, indptr: Integers, gains: Floats, sources: Integers, decay: Floats, discounts: Floats, k: int, at_most: int
    ) -> None:
        self.indptr, self._gains, self._sources = indptr, gains, sources
        self._decay, self._discounts, self._k, self._at_most = decay, discounts, k, at_most

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Run the kernel over the queries of the block."""
        indptr, values = self.indptr[first : last + 1], np.empty(last - first)
        rows = slice(int(indptr[0]), int(indptr[-1]))
        diverse_assignment(
            scores, self._gains[rows], self._sources[rows], indptr, self._decay, self._discounts, self._k,
            self._at_most, values, gradient,
        )  # fmt: skip
        return values


def diverse_reference(
    data: Dataset,
    gains: Floats,
    sources: Integers,
    decay: Floats,
    discounts: Floats,
    k: int,
    at_most: int,
    reference: str,
) -> tuple[Floats, Floats]:
    """Return the coefficients of the reference among diverse rankings, and the greatest a · b of every query.

    Documents are taken by gain while their source has room. "any" keeps equals in their order and "given" takes the
    rows as they come; "averaged" draws equals of a source by lot, then the order of all that were drawn.
    """
    if (decay[:k] < 0).any():
        raise OptionError("diverse: expected a decay that is >= 0 at the first k ranks")
    coefficients, ideal = np.zeros(data.n_documents), np.zeros(data.n_queries)
    plateau = np.concatenate(([0], np.cumsum(np.diff(discounts[:k]) != 0)))
    shared = np.array([decay[:k][plateau == one].mean() for one in plateau])
    for query, (start, end) in enumerate(zip(data.indptr[:-1], data.indptr[1:], strict=True)):
        b, source = gains[start:end], sources[start:end]
        by_gain = np.argsort(-b, kind="stable")
        chosen = take_diverse(by_gain, source, k, at_most)
        ideal[query] = discounts[: len(chosen)] @ b[chosen]
        if reference == "averaged":
            coefficients[start:end] = _averaged(b, source, shared, at_most)
        else:
            chosen = chosen if reference == "any" else take_diverse(np.arange(len(b)), source, k, at_most)
            coefficients[start + chosen] = decay[: len(chosen)]
    return coefficients, ideal


def _averaged(b: Floats, source: Integers, shared: Floats, at_most: int) -> Floats:
    room, rank, coefficients = np.full(source.max() + 1, at_most), 0, np.zeros(len(b))
    for level in np.unique(b)[::-1]:
        members = np.flatnonzero(b == level)
        counts = np.bincount(source[members], minlength=len(room))
        taken = np.minimum(counts, room)
        total = int(taken.sum())
        if total == 0:
            continue
        mean = shared[rank : rank + total].sum() / total  # ranks past k count nothing
        coefficients[members] = mean * taken[source[members]] / counts[source[members]]
        room, rank = room - taken, rank + total
        if rank >= len(shared):
            break
    return coefficients
