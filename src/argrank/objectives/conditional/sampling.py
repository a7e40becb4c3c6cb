"""The one-shot sample: valid rankings drawn once for every query, before anything is optimised.

Drawing a new sample at every iteration would give the optimiser a different function each time, and its line search
fails (LogRank, section 4). The sample depends only on the data, so that all fits of a grid share one, even if each
normalises the features itself. Rankings are stored as the moves of walks: ten pairs per ranking, however long the lists
are. The first ranking of a query is the best one, without which objectives would have no lower bound.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.measures.structure import level_numbers
from argrank.objectives.conditional.losses import RankingLoss
from argrank.objectives.conditional.moves import first_met
from argrank.objectives.conditional.valid_rankings import (
    Query,
    Sampling,
    Walks,
    coefficients_of,
    document_keys,
    few_rankings,
    query_seed,
    rankings_to_start_from,
    walks,
)

LARGEST_SAMPLE = 4 << 30  # bytes; more is an error
MOVES = 10  # of a ranking, about
CELLS = 1 << 20  # levels of rankings processed at a time
MOST_SHARED = 4  # samples kept for the same labels


@dataclass(frozen=True)
class Sample:
    """Rankings of all queries. Those of query q are the numbers ``samples[q]`` … ``samples[q + 1] - 1``.

    A ranking continues the walk of the ranking before (``origin`` -1), or a walk restarts: at the best ranking (0), or
    at the query's first, second, … stored state (1, 2, …). Then the pairs ``flips[borders[r]]`` … ``flips[borders[r +
    1] - 1]`` are flipped, each the stored rows, counted from the query's first, of its upper and its lower document.
    ``states`` holds the coefficients of the stored states one after the other, those of query q from ``cells[q]`` on;
    ``losses`` and ``log_weights`` one number a ranking; ``n_pairs`` the pairs of every query.
    """

    samples: Integers
    origin: Integers
    borders: Integers
    flips: NDArray[Any]
    states: NDArray[Any]
    cells: Integers
    losses: Floats
    log_weights: Floats
    n_pairs: Floats
    sizes: Integers

    @property
    def nbytes(self) -> int:
        """Memory that the sample takes."""
        return sum(int(part.nbytes) for part in vars(self).values())

    def of(self, query: int) -> tuple[Integers, Floats]:
        """Return half of dphi's coefficients, one ranking a row, and the losses of a query's rankings."""
        here = slice(int(self.samples[query]), int(self.samples[query + 1]))
        borders = self.borders[here.start : here.stop + 1]
        stored = self.states[self.cells[query] : self.cells[query + 1]].reshape(-1, int(self.sizes[query]))
        states = np.vstack((np.zeros((1, stored.shape[1]), np.int64), stored))
        flips = self.flips[borders[0] : borders[-1]]
        return coefficients_of(states, self.origin[here], np.diff(borders), flips), self.losses[here]


class _Drawn:
    """The sample for some labels, shared by all fits of a grid."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # fits on other threads wait for the sample instead of also drawing it
        self.samples: dict[Any, Sample] = {}


_drawn: dict[int, _Drawn] = {}  # by the identity of labels, as long as they live
_lock = threading.Lock()


def queries_of(data: Dataset, loss: RankingLoss, labels: Floats) -> list[Query]:
    """Return every query's documents by level and content."""
    return _queries(data, loss, labels, document_keys(data.X))


def _queries(data: Dataset, loss: RankingLoss, labels: Floats, keys: NDArray[np.uint64]) -> list[Query]:
    levels = level_numbers(loss.levels(labels), data.indptr).astype(np.int64)
    return [Query(levels[a:b], labels[a:b], keys[a:b]) for a, b in itertools.pairwise(data.indptr.tolist())]


def draw(data: Dataset, loss: RankingLoss, labels: Floats, sampling: Sampling) -> Sample:
    """Draw the sample of all queries, or reuse the one drawn before for this data; raise if it is too large."""
    with _lock:
        if id(labels) not in _drawn:
            _drawn[id(labels)] = _Drawn()
            weakref.finalize(labels, _drawn.pop, id(labels), None)
    known = _drawn[id(labels)]
    with known.lock:
        keys = document_keys(data.X)
        content = (query_seed(keys, np.arange(len(keys))), data.indptr.tobytes(), loss, sampling)
        if content not in known.samples:
            sample = _draw(data, loss, labels, sampling, keys)
            while len(known.samples) >= MOST_SHARED:
                del known.samples[next(iter(known.samples))]
            known.samples[content] = sample
        return known.samples[content]


def _draw(data: Dataset, loss: RankingLoss, labels: Floats, sampling: Sampling, keys: NDArray[np.uint64]) -> Sample:
    dtype = np.dtype(np.int16 if data.longest <= np.iinfo(np.int16).max else np.int32)
    needed = data.n_queries * sampling.n_samples * (MOVES * 2 * dtype.itemsize + 32)
    if needed > LARGEST_SAMPLE:
        raise InputError(
            f"n_samples={sampling.n_samples}: the rankings of {data.n_queries:,} queries would take "
            f"{needed / 2**30:.1f} GiB, expected at most {LARGEST_SAMPLE / 2**30:.1f} GiB; take fewer"
        )
    queries = _queries(data, loss, labels, keys)
    together = max(1, CELLS // (sampling.n_samples * data.longest))
    blocks = [queries[first : first + together] for first in range(0, len(queries), together)]
    parts = map_threads(lambda block: _draw_block(block, loss, sampling, dtype), blocks, sampling.n_jobs)
    counts, moves, origin, flips, states, widths, losses, log_weights = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    return Sample(
        samples=_borders(counts),
        origin=origin,
        borders=_borders(moves),
        flips=flips,
        states=states,
        cells=_borders(widths),
        losses=losses,
        log_weights=log_weights,
        n_pairs=np.array([float(query.n_pairs) for query in queries]),
        sizes=data.sizes,
    )


def _draw_block(queries: list[Query], loss: RankingLoss, sampling: Sampling, dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Draw for some queries, whose losses are computed together; return the arrays of ``Sample``, with counts."""
    depth = None if sampling.importance else loss.depth
    found = [distinct(drawn) for drawn in _walks(queries, loss, sampling, depth)]
    losses = _losses(loss, queries, [drawn.ranked for drawn in found])
    flips = [query.place[drawn.flips].astype(dtype) for query, drawn in zip(queries, found, strict=True)]
    states = []
    for query, drawn in zip(queries, found, strict=True):
        stored = np.empty(drawn.states[1:].shape, dtype)
        stored[:, query.place] = drawn.states[1:]
        states.append(stored.reshape(-1))
    weights = [
        _log_importance(drawn.ranked, query.n_pairs) if sampling.importance else np.zeros(len(drawn.ranked))
        for query, drawn in zip(queries, found, strict=True)
    ]
    return (
        np.array([len(drawn.ranked) for drawn in found]),
        np.concatenate([drawn.moves for drawn in found]),
        np.concatenate([drawn.origin for drawn in found]).astype(np.int32),
        np.concatenate(flips),
        np.concatenate(states),
        np.array([len(part) for part in states]),
        np.concatenate(losses),
        np.concatenate(weights),
    )


def _walks(queries: list[Query], loss: RankingLoss, sampling: Sampling, depth: int | None) -> list[Walks]:
    """Return the rankings of every query, the best first: all if there are few, else those found by random walks."""
    drawn = [few_rankings(query, sampling.n_samples) for query in queries]
    left = [number for number, found in enumerate(drawn) if found is None]
    seeds = [np.random.PCG64([sampling.random_state, queries[number].content]) for number in left]
    generators = [np.random.Generator(seed) for seed in seeds]
    starts = [
        rankings_to_start_from(queries[number], sampling, generator)
        for number, generator in zip(left, generators, strict=True)
    ]
    chosen = [queries[number] for number in left]
    tops = [query.levels[states[:, :depth]] for query, states in zip(chosen, starts, strict=True)]
    losses = _losses(loss, chosen, tops)
    for number, generator, states, lost in zip(left, generators, starts, losses, strict=True):
        drawn[number] = walks(queries[number], sampling, states, lost, generator, depth)
    return [found for found in drawn if found is not None]


def _losses(loss: RankingLoss, queries: list[Query], ranked: list[Integers]) -> list[Floats]:
    labels = [query.labels for query in queries]
    return loss.of_queries(ranked, labels, [query.labels[query.levels] for query in queries])


def distinct(found: Walks) -> Walks:
    """Return every ranking of a query once, in order of appearance, and only the states that are used."""
    kept, starts, moves = (np.empty(len(found.moves), np.int64) for _ in range(3))
    path = np.empty_like(found.flips)
    n = first_met(found.hashes.view(np.int64), found.origin, found.moves, found.flips, kept, starts, moves, path)
    kept, starts, moves = kept[:n], starts[:n], moves[:n]
    used = np.zeros(len(found.states), bool)
    used[0], used[starts[starts >= 0]] = True, True
    starts = np.where(starts >= 0, np.cumsum(used)[starts] - 1, -1)
    return Walks(found.ranked[kept], found.states[used], starts, moves, path[: moves.sum()])


def _borders(counts: Integers) -> Integers:
    return np.concatenate(([0], np.cumsum(counts)))


def inverted_pairs(ranked: Integers) -> Integers:
    """Return, for rankings given by level, the pairs with the worse document on top."""
    inverted = np.zeros(len(ranked), np.int64)
    for level in range(1, int(ranked.max()) + 1):
        worse_above = np.cumsum(ranked < level, axis=1)
        inverted += np.where(ranked == level, worse_above, 0).sum(axis=1)
    return inverted


def _log_importance(ranked: Integers, n_pairs: int) -> Floats:
    """Return log(number of y with as many inverted pairs / sampled rankings with as many)."""
    inverted = inverted_pairs(ranked)
    alike = np.bincount(inverted)[inverted]
    ways: Floats = gammaln(n_pairs + 1) - gammaln(inverted + 1) - gammaln(n_pairs - inverted + 1)
    return ways - np.log(alike)
