"""Valid rankings of one query: all of them where they are few, otherwise those that random walks meet."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.errors import OptionError, check_count, shown
from argrank.objectives.conditional.content_hashes import query_seed
from argrank.objectives.conditional.moves import walk

ENUMERABLE = 6  # queries of so many documents are enumerated where all their rankings are wanted
WALK = 10  # rankings kept of one walk
MOST_MOVES = 32  # between two rankings that are kept; each costs a look at the whole list
SHARE_OF_BEST = {"best": 0.9, "mixed": 0.5, "worst": 0.1}
N_STATES = 21  # rankings of diverse quality among which a skew chooses

#: Losses of rankings given by level, the best one first; and the labels of the levels.
LossOf = Callable[[Integers, Floats], Floats]


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the sample is drawn: how many rankings, where walks start, whether rankings are weighed.

    Equal rankings are kept once. Queries of at most six documents that have no more rankings than ``n_samples`` get all
    of them. ``skew`` is "best" (nine walks in ten start at the best ranking, one at the worst), "worst" (the
    opposite), "mixed" (half and half), or a number: at rankings of diverse loss, drawn with probability proportional to
    exp(number * loss). With ``importance`` every ranking weighs the number of y with as many inverted pairs over the
    sampled rankings with as many: sums then estimate those over all y in {-1, +1}^pairs.
    """

    n_samples: int
    skew: Any
    importance: bool
    random_state: int

    def __post_init__(self) -> None:
        check_count("n_samples", self.n_samples)
        named = isinstance(self.skew, str) and self.skew in SHARE_OF_BEST
        skewed = isinstance(self.skew, int | float) and not isinstance(self.skew, bool)
        if not named and not (skewed and np.isfinite(self.skew)):
            raise OptionError(f"skew: expected 'best', 'worst', 'mixed' or a number, got {shown(self.skew)}")


class Query:
    """One query's documents by level, best first, then by their keys: an order that no row order can change.

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

    def rank(self, states: Integers, restart: Integers, moves: Integers, uniform: Floats) -> tuple[Integers, Integers]:
        """Return levels by rank, and coefficients, of the rankings that a walk meets; see ``moves.walk``."""
        ranked = np.empty((len(restart), len(self.levels)), np.int64)
        coefficients = np.empty_like(ranked)
        walk(self.levels, self.totals, np.ascontiguousarray(states), restart, moves, uniform, ranked, coefficients)
        return ranked, coefficients

    def look_at(self, states: Integers) -> tuple[Integers, Integers]:
        """Return levels by rank, and coefficients, of given rankings."""
        return self.rank(states, np.arange(len(states)), np.zeros(len(states), np.int64), np.empty(0))

    @property
    def best_and_worst(self) -> Integers:
        """The two extreme rankings."""
        numbers = np.arange(len(self.levels))
        return np.stack((numbers, numbers[::-1]))


def rankings_of(query: Query, loss: LossOf, sampling: Sampling) -> tuple[Integers, Integers]:
    """Return distinct rankings of a query, the best first: their levels by rank, and their coefficients."""
    if query.n_pairs == 0:
        return query.look_at(query.best_and_worst[:1])
    if len(query.levels) <= ENUMERABLE:
        every = every_ranking(query)
        if len(every[0]) <= sampling.n_samples:
            return every
    generator = np.random.Generator(np.random.PCG64([sampling.random_state, query.content]))
    drawn = walks(query, loss, sampling.n_samples, sampling.skew, generator)
    best = query.look_at(query.best_and_worst[:1])
    return distinct(np.concatenate((best[0], drawn[0])), np.concatenate((best[1], drawn[1])))


def walks(
    query: Query, loss: LossOf, n_samples: int, skew: Any, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Return the rankings that walks from the restart states meet: after 1, up to 2, up to 4, … up to 32 further moves.

    Single moves reach the top of a long list too late for a measure that looks at ten documents alone; doubled steps
    show rankings at every distance from the restart. Their numbers are random, for a move changes the number of
    inverted pairs by one, and fixed even numbers would leave out every second ranking.
    """
    states = query.best_and_worst
    n_walks = -(-n_samples // WALK)
    if skew in SHARE_OF_BEST:
        begin = (generator.random(n_walks) >= SHARE_OF_BEST[skew]).astype(np.int64)
    else:
        states = diverse_states(query, generator)
        skewed = float(skew) * loss(query.look_at(states)[0], query.labels)
        chances = np.exp(skewed - skewed.max())
        begin = generator.choice(len(states), n_walks, p=chances / chances.sum())
    restart = np.full(n_samples, -1)
    restart[::WALK] = begin
    limits = np.minimum(2 ** (np.arange(n_samples) % WALK), MOST_MOVES)
    moves = generator.integers(1, limits, endpoint=True)
    return query.rank(states, restart, moves, generator.random(3 * int(moves.sum())))


def diverse_states(query: Query, generator: np.random.Generator) -> Integers:
    """Return rankings from the best over mixed ones to the worst."""
    direction = np.linspace(1.0, -1.0, N_STATES)[:, None]
    spread = np.ptp(query.levels)
    noise = generator.standard_normal((N_STATES, len(query.levels)))
    return np.argsort(-(direction * query.levels + (1.0 - np.abs(direction)) * spread * noise), axis=1, kind="stable")


def every_ranking(query: Query) -> tuple[Integers, Integers]:
    """Return all valid rankings, the best first."""
    orders = np.array(list(itertools.permutations(range(len(query.levels)))))
    return distinct(*query.look_at(orders))


def distinct(ranked: Integers, coefficients: Integers) -> tuple[Integers, Integers]:
    """Return every ranking once, in order of appearance: equal coefficients mean equal rankings."""
    first: dict[bytes, int] = {}
    for number, row in enumerate(coefficients):
        first.setdefault(row.tobytes(), number)
    kept = np.fromiter(first.values(), np.int64, len(first))
    return ranked[kept], coefficients[kept]
