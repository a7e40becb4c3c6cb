"""Diversity: a limit on the documents of each source in the first k ranks (ORM section 7.1)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Filled, Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.document_sources import take_diverse
from argrank.errors import OptionError
from argrank.objectives.objective import Prepared


class Documents(NamedTuple):
    """The documents of a query: score, gain, source and rank (-1 for none); and how many of each source have a rank."""

    score: Any
    gain: Any
    source: Any
    rank: Any
    held: Any


class Ranks(NamedTuple):
    """The ranks: the weights of scores and of gains, and the document at each (-1 for none)."""

    decay: Any
    discount: Any
    document: Any


class Free(NamedTuple):
    """The best free document for every rank: its value and number, of sources with room, and of every full source."""

    value: Any
    document: Any
    inside: Any
    inside_document: Any


class Chains(NamedTuple):
    """The best chain of moves to every rank: its gain, the rank before, and the document that this one takes."""

    gain: Any
    came_from: Any
    through: Any


@kernel()
def diverse_assignment(
    scores: Floats, gains: Floats, sources: Integers, indptr: Integers, decay: Floats, discounts: Floats, k: int,
    at_most: int, values: Filled[np.float64], gradient: Filled[np.float64],
) -> None:  # fmt: skip
    """Fill in the greatest sum over k ranks of c s - a b, with at most ``at_most`` documents of a source.

    Ranks get their documents one after the other. A new rank takes a free document, or one that displaces another rank:
    because it is at that rank, or because its source is full and that rank holds one of the source. The best chain of
    moves is a longest path over the ranks (successive shortest paths in the flow rank -> document -> source), so every
    stage is optimal. With one document a source this is the assignment of ranks to sources, each with its best document
    there. O(k² n + k⁴).
    """
    for query in range(len(values)):
        begin, end = indptr[query] - indptr[0], indptr[query + 1] - indptr[0]
        n = end - begin
        s, b, source = scores[begin:end], gains[begin:end], sources[begin:end]
        u = gradient[begin:end]
        size = np.zeros(n, np.int64)
        n_ranks, largest = 0, 1.0
        for j in range(n):
            u[j] = 0.0
            if size[source[j]] < at_most:
                size[source[j]] += 1
                n_ranks += 1
            largest = max(largest, abs(decay[0] * s[j]) + abs(discounts[0] * b[j]))
        n_ranks = min(n_ranks, k)  # fewer sources lower k
        room = 1e-13 * largest  # rounding must not look like a better path: it could create a cycle
        documents = Documents(s, b, source, np.full(n, -1), np.zeros(n, np.int64))
        ranks = Ranks(decay, discounts, np.full(n_ranks, -1))
        for new in range(n_ranks):
            free = Free(
                np.full(new + 1, -np.inf),
                np.full(new + 1, -1),
                np.full((new + 1, n), -np.inf),
                np.full((new + 1, n), -1),
            )
            find_free(documents, ranks, at_most, free)
            chains = Chains(np.full(new + 1, -np.inf), np.full(new + 1, -1), np.full(new + 1, -1))
            chains.gain[new] = 0.0
            while lengthen_chains(documents, ranks, free, room, chains.gain.copy(), chains):
                pass
            finish = 0
            for r in range(new + 1):
                if chains.gain[r] + free.value[r] > chains.gain[finish] + free.value[finish]:
                    finish = r
            move_along(finish, free.document[finish], chains, documents, ranks.document)
        value = 0.0
        for r in range(n_ranks):
            j = ranks.document[r]
            u[j] = decay[r]
            value += decay[r] * s[j] - discounts[r] * b[j]
        values[query] = value


@helper
def find_free(documents: Documents, ranks: Ranks, at_most: int, free: Free) -> None:
    """Find the best free document for every rank: of the sources that are not full, and of each source that is."""
    for r in range(len(free.value)):
        for j in range(len(documents.score)):
            if documents.rank[j] >= 0:
                continue
            source = documents.source[j]
            here = ranks.decay[r] * documents.score[j] - ranks.discount[r] * documents.gain[j]
            if documents.held[source] < at_most:
                if here > free.value[r]:
                    free.value[r], free.document[r] = here, j
            elif here > free.inside[r, source]:
                free.inside[r, source], free.inside_document[r, source] = here, j


@helper
def lengthen_chains(
    documents: Documents, ranks: Ranks, free: Free, room: float, before: Floats, chains: Chains
) -> bool:
    """Add one move to all chains of moves; return whether one of them got better.

    A rank takes the document of another, or one of the same source, and displaces the other rank.
    """
    new = len(chains.gain) - 1
    changed = False
    for r in range(new + 1):
        if before[r] == -np.inf:
            continue
        c, a = ranks.decay[r], ranks.discount[r]
        for other in range(new):
            if other == r:
                continue
            j = ranks.document[other]
            s, b, source = documents.score[j], documents.gain[j], documents.source[j]
            given_up = ranks.decay[other] * s - ranks.discount[other] * b
            best, chosen = c * s - a * b, j
            if free.inside[r, source] > best:
                best, chosen = free.inside[r, source], free.inside_document[r, source]
            trial = before[r] + best - given_up
            if trial > chains.gain[other] + room:
                chains.gain[other], chains.came_from[other], chains.through[other] = trial, r, chosen
                changed = True
    return changed


@helper
def move_along(finish: int, document: int, chains: Chains, documents: Documents, document_of: Integers) -> None:
    """Carry out a chain of moves; all ranks release their documents before any takes a new one."""
    r = finish
    while r >= 0:
        old = document_of[r]
        if old >= 0:
            documents.rank[old] = -1
            documents.held[documents.source[old]] -= 1
        r = chains.came_from[r]
    r = finish
    while r >= 0:
        document_of[r] = document
        documents.rank[document] = r
        documents.held[documents.source[document]] += 1
        document, r = chains.through[r], chains.came_from[r]


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

    Documents are taken by gain while their source is not full. "any" sorts stably and "given" uses the rows' order;
    "averaged" is the mean over all rankings of the greatest a · b.
    """
    if (decay[:k] < 0).any():
        raise OptionError("diverse: expected a decay that is >= 0 at the first k ranks")
    coefficients, ideal = np.zeros(data.n_documents), np.zeros(data.n_queries)
    for query, (start, end) in enumerate(zip(data.indptr[:-1], data.indptr[1:], strict=True)):
        b, source = gains[start:end], sources[start:end]
        by_gain = np.argsort(-b, kind="stable")
        chosen = take_diverse(by_gain, source, k, at_most)
        ideal[query] = discounts[: len(chosen)] @ b[chosen]
        if reference == "averaged":
            coefficients[start:end] = _averaged(b, source, decay[:k], discounts[:k], at_most)
        else:
            chosen = chosen if reference == "any" else take_diverse(np.arange(len(b)), source, k, at_most)
            coefficients[start + chosen] = decay[: len(chosen)]
    return coefficients, ideal


def _averaged(b: Floats, source: Integers, decay: Floats, discounts: Floats, at_most: int) -> Floats:
    """Return the mean, over all diverse rankings of the greatest a · b, of the decay at every document's rank.

    Documents of a level are taken while their sources are not full. Among rankings that exchange them, or ranks of
    equal discount, all orders are as frequent; which documents the last level takes depends on how many of each source.
    """
    room, rank, coefficients = np.full(source.max() + 1, at_most), 0, np.zeros(len(b))
    n_ranks = min(len(decay), int(np.minimum(np.bincount(source), at_most).sum()))
    plateau = np.concatenate(([0], np.cumsum(np.diff(discounts[:n_ranks]) != 0)))
    shared = np.array([decay[:n_ranks][plateau == one].mean() for one in plateau])
    for level in np.unique(b)[::-1]:
        members = np.flatnonzero(b == level)
        counts = np.bincount(source[members], minlength=len(room))
        taken = np.minimum(counts, room)
        total = min(int(taken.sum()), n_ranks - rank)
        if total == 0:
            continue
        chances = _chances(counts, taken, total)
        coefficients[members] = shared[rank : rank + total].mean() * chances[source[members]]
        room, rank = room - taken, rank + total
        if rank == n_ranks:
            break
    return coefficients


def _chances(counts: Integers, most: Integers, total: int) -> Floats:
    """Return, for every source, the chance of its documents to be among ``total`` that are drawn.

    All choices with at most ``most`` of a source are equally likely. Their number is a coefficient of the product over
    sources of sum_j C(count, j) x^j; without the factor of a source it gives how many take j of that one. Sources of as
    many documents have the same factor.
    """
    if total == most.sum():
        return np.asarray(most / np.maximum(counts, 1))
    kinds, kind_of, numbers = np.unique(
        np.column_stack((counts, most)), axis=0, return_inverse=True, return_counts=True
    )
    factors = [np.array([float(math.comb(count, j)) for j in range(limit + 1)]) for count, limit in kinds.tolist()]
    chances = np.zeros(len(kinds))
    for one in np.flatnonzero(kinds[:, 1]):
        others = np.ones(1)
        for kind, factor in enumerate(factors):
            others = _times_power(others, factor, int(numbers[kind]) - (kind == one), total)
        drawn = np.convolve(factors[one], others)[total]
        taken = np.convolve(np.arange(len(factors[one])) * factors[one], others)[total]
        chances[one] = taken / drawn / kinds[one, 0]
    return chances[kind_of.ravel()]


def _times_power(product: Floats, factor: Floats, power: int, degree: int) -> Floats:
    """Multiply a polynomial by a power of another, up to a degree and a constant, by repeated squaring."""
    while power > 0:
        if power % 2:
            product = np.convolve(product, factor)[: degree + 1]
            product = product / product.max()
        factor, power = np.convolve(factor, factor)[: degree + 1], power // 2
        factor = factor / factor.max()
    return product
