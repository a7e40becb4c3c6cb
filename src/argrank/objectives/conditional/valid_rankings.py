"""Valid rankings of one query: all of them if there are few, otherwise those found by random walks.

Walks are drawn with a seed made of the query's own content, by hashes that do not depend on the order of its documents.
So the same query gets the same sample for any order of rows, alone or among others, dense or sparse, repeated or
weighted.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._declared import Count, check_fields
from argrank._types import Floats, Integers
from argrank.data.identical import Bits, row_hashes
from argrank.objectives.conditional.moves import stand, walk

ENUMERABLE = 6  # queries of up to this many documents may be enumerated
WALK = 10  # rankings kept of one walk
MOST_MOVES = 32  # moves between two stored rankings; each costs a pass over the whole list
Skew = Literal["best", "worst", "mixed"] | float
SHARE_OF_BEST: dict[str | float, float] = {"best": 0.9, "mixed": 0.5, "worst": 0.1}
N_STATES = 21  # rankings of diverse quality among which a skew chooses
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ANOTHER_ODD = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the sample is drawn: how many rankings, where walks start, whether rankings are weighed.

    Equal rankings are kept once. Queries of at most six documents that have no more rankings than ``n_samples`` get all
    of them. ``skew`` is "best" (nine walks in ten start at the best ranking, one at the worst), "worst" (the
    opposite), "mixed" (half and half), or a number: at rankings of diverse loss, drawn with probability proportional to
    exp(number * loss). With ``importance`` every ranking weighs the number of y with as many inverted pairs over the
    sampled rankings with as many: sums then estimate those over all y in {-1, +1}^pairs.
    """

    n_samples: Count
    skew: Skew
    importance: bool
    random_state: int
    n_jobs: int | None = field(default=1, compare=False)  # threads; the sample is the same for any number

    def __post_init__(self) -> None:
        check_fields(self)


class Walks(NamedTuple):
    """Rankings of a query found by walks: where each walk starts, and the pairs that are flipped on its way.

    ``ranked`` has the levels by rank, down to the requested rank; ``states`` the coefficients of the rankings at which
    walks start, the best ranking first; ``origin`` the state at which a ranking's walk starts, or -1 if the walk
    continues from the ranking before; ``moves`` how many pairs are flipped before a ranking; ``flips`` the upper and
    the lower document of every pair.
    """

    ranked: Integers
    states: Integers
    origin: Integers
    moves: Integers
    flips: Integers

    @property
    def coefficients(self) -> Integers:
        """Half the coefficients of dphi of every ranking, worse documents above minus better documents below."""
        return coefficients_of(self.states, self.origin, self.moves, self.flips)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """A number for every ranking: equal ones have equal coefficients, hashed by a weighted sum modulo 2^64."""
        salt = _salt(self.states.shape[1])
        totals = self.states.astype(np.uint64) @ salt
        steps = salt[self.flips[:, 0]] - salt[self.flips[:, 1]]
        along = np.concatenate((np.zeros(1, np.uint64), np.cumsum(steps, dtype=np.uint64)))
        ends = np.cumsum(self.moves)
        first = np.maximum.accumulate(np.where(self.origin >= 0, np.arange(len(self.origin)), 0))
        return np.asarray(totals[self.origin[first]] + along[ends] - along[(ends - self.moves)[first]])


@functools.lru_cache
def _salt(n_documents: int) -> Bits:
    return mixed(np.arange(1, n_documents + 1, dtype=np.uint64))


def coefficients_of(states: Integers, origin: Integers, moves: Integers, flips: Integers) -> Integers:
    """Return the coefficients of rankings that are given by states and moves, one per row."""
    rows = np.empty((len(origin), states.shape[1]), np.int64)
    done = 0
    for number, (start, n_moves) in enumerate(zip(origin.tolist(), moves.tolist(), strict=True)):
        rows[number] = states[start] if start >= 0 else rows[number - 1]
        np.add.at(rows[number], flips[done : done + n_moves, 0], 1)
        np.subtract.at(rows[number], flips[done : done + n_moves, 1], 1)
        done += n_moves
    return rows


class Query:
    """One query's documents by level, best first, then by their keys, independently of the row order.

    Rankings are sequences of the documents' numbers in that order.
    """

    def __init__(self, levels: Integers, labels: Floats, keys: NDArray[np.uint64]) -> None:
        self.place = np.lexsort((keys, -levels))  # number of a document -> its row
        self.levels = levels[self.place]
        self.totals = np.bincount(levels)
        self.labels = np.full(len(self.totals), -np.inf)
        np.maximum.at(self.labels, levels, labels)  # documents of one level may have different labels
        self.n_pairs = (len(levels) ** 2 - int((self.totals**2).sum())) // 2
        self.content = query_seed(keys, levels)

    def walk(
        self, states: Integers, restart: Integers, moves: Integers, uniform: Floats, depth: int | None = None
    ) -> Walks:
        """Return the rankings on a walk, see ``moves.walk``; levels are kept down to a depth."""
        states = np.ascontiguousarray(states)
        ranked = np.empty((len(restart), min(depth or len(self.levels), len(self.levels))), np.int64)
        flips = np.empty((int(moves.sum()), 2), np.int64)
        walk(self.levels, self.totals, states, restart, moves, uniform, ranked, flips)
        return Walks(ranked, self.stand_at(states), restart, moves, flips)

    def stand_at(self, states: Integers) -> Integers:
        """Return the coefficients of given rankings."""
        coefficients = np.empty_like(states)
        stand(self.levels, self.totals, np.ascontiguousarray(states), coefficients)
        return coefficients

    @property
    def best_and_worst(self) -> Integers:
        """The two extreme rankings."""
        numbers = np.arange(len(self.levels))
        return np.stack((numbers, numbers[::-1]))


def rankings_to_start_from(query: Query, sampling: Sampling, generator: np.random.Generator) -> Integers:
    """Return the rankings at which walks start, the best one first."""
    return query.best_and_worst if sampling.skew in SHARE_OF_BEST else diverse_states(query, generator)


def walks(
    query: Query,
    sampling: Sampling,
    states: Integers,
    losses: Floats,
    generator: np.random.Generator,
    depth: int | None = None,
) -> Walks:
    """Return the best ranking, and those of walks after 1, up to 2, up to 4, … up to 32 further moves.

    Single moves rarely reach the top of a long list, which matters for a measure of the first ten documents; doubled
    steps give rankings at every distance from the restart. The numbers of moves are random, because a move changes the
    number of inverted pairs by one, and fixed even numbers would leave out every second ranking. ``losses`` are those
    of the states, by which a skew chooses among them.
    """
    n_samples = sampling.n_samples
    n_walks = -(-n_samples // WALK)
    if sampling.skew in SHARE_OF_BEST:
        begin = (generator.random(n_walks) >= SHARE_OF_BEST[sampling.skew]).astype(np.int64)
    else:
        skewed = float(sampling.skew) * losses
        below = np.cumsum(np.exp(skewed - skewed.max()))
        begin = np.searchsorted(below / below[-1], generator.random(n_walks), side="right")
    restart = np.full(1 + n_samples, -1)
    restart[0], restart[1::WALK] = 0, begin
    moves = np.zeros(1 + n_samples, np.int64)
    moves[1:] = generator.integers(1, _most_moves(n_samples), endpoint=True)
    return query.walk(states, restart, moves, generator.random(3 * int(moves.sum())), depth)


@functools.lru_cache
def _most_moves(n_samples: int) -> Integers:
    return np.minimum(2 ** (np.arange(n_samples) % WALK), MOST_MOVES)


def diverse_states(query: Query, generator: np.random.Generator) -> Integers:
    """Return rankings from the best over mixed ones to the worst."""
    direction = np.linspace(1.0, -1.0, N_STATES)[:, None]
    noise = generator.standard_normal((N_STATES, len(query.levels)))
    spread = query.levels[0] - query.levels[-1]
    scores = -(direction * query.levels + (1.0 - np.abs(direction)) * spread * noise)
    orders = np.argsort(scores, axis=1)  # an unstable sort is several times faster, and noise leaves no ties
    orders[0], orders[-1] = (np.argsort(scores[end], kind="stable") for end in (0, -1))
    return orders


def every_ranking(query: Query) -> Walks:
    """Return all valid rankings, the best first, each as a state of its own."""
    orders = np.array(list(itertools.permutations(range(len(query.levels)))))
    coefficients = query.stand_at(orders)
    kept = np.sort(np.unique(coefficients, axis=0, return_index=True)[1])
    none = np.zeros(len(kept), np.int64)
    return Walks(query.levels[orders[kept]], coefficients[kept], np.arange(len(kept)), none, np.empty((0, 2), np.int64))


def few_rankings(query: Query, n_samples: int) -> Walks | None:
    """Return all valid rankings if there is only one, or few documents and at most the requested number of rankings."""
    if query.n_pairs == 0:
        nothing = np.zeros(1, np.int64)
        return query.walk(query.best_and_worst[:1], nothing, nothing, np.empty(0))
    if len(query.levels) > ENUMERABLE:
        return None
    every = every_ranking(query)
    return every if len(every.ranked) <= n_samples else None


def document_keys(X: Any) -> Bits:
    """Return a number for every row: the sum, modulo 2^64, of a hash of every feature that is not 0."""
    return row_hashes(X, np.arange(1, X.shape[1] + 1, dtype=np.uint64) * _ANOTHER_ODD, mixed)


def query_seed(keys: Bits, levels: Integers) -> int:
    """Return a number for a query of these documents and levels, the same for any order of them."""
    return int(mixed(mixed(keys) + levels.astype(np.uint64) * _ODD).sum(dtype=np.uint64))


def mixed(values: Bits) -> Bits:
    """Return a pseudo-random number for each number."""
    values = values * _ODD
    values ^= values >> _HALF
    values *= _ANOTHER_ODD
    values ^= values >> _HALF
    return values
