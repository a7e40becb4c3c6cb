"""Code that runs on a worker: pure tasks on one partition, with an optional cache.

A vector of scores has a number and is stored on the workers. Its recipe says how to compute it, from weights or from
other vectors, with the same operations in the same order as on one machine, so that a worker which takes over a
partition computes bit-identical values. Recipes grow during a fit, so a task includes only those of vectors that no
worker has yet. A worker that lacks others reports that they are missing, and gets the task again with all recipes.
"""

from __future__ import annotations

import collections
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.foreign_models import scores as predicted_scores
from argrank.data.grouping import block_borders
from argrank.data.mapped import is_mapped
from argrank.data.mapped import size_of as size_of_features
from argrank.data.prepare.normalise import Normaliser
from argrank.data.prepare.scaled_rows import ScaledRows
from argrank.engines._workers import Stamp, check_stamp
from argrank.engines.local import Blocks, Judge, Point, map_blocks
from argrank.evaluation.evaluate import measure_queries
from argrank.evaluation.systems import in_precision
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.objectives.objective import Objective, query_weights

#: On a worker: the state of a partition in a fit, by the fit and the number of the partition.
_CACHE: dict[tuple[str, int], State] = {}

#: The last finished fits, so that a late task of one of them stores nothing.
_OVER: collections.deque[str] = collections.deque(maxlen=1000)


class Placement(NamedTuple):
    """How a partition is placed: the longest query of all, the client's code, whether to give mapped pages back."""

    longest: int
    client: Stamp
    gives_back: bool = False


class Part:
    """A partition on a worker. It is pickled as the call that made it: another worker opens the file itself.

    Wherever it is made, when data is placed or when a worker takes over, the worker must run the client's code.
    """

    def __init__(self, how: Placement, load: Callable[..., Dataset], *arguments: Any) -> None:
        check_stamp(how.client)
        self._made_by, self.gives_back = (how, load, *arguments), how.gives_back
        self.data = load(*arguments)._but(longest=how.longest)

    def __reduce__(self) -> tuple[Any, ...]:
        return Part, self._made_by

    def __sizeof__(self) -> int:
        """Return the bytes of the worker's own memory, without mapped files."""
        X = self.data._any_features
        return (0 if is_mapped(X) else size_of_features(X)) + self.data.y.nbytes + object.__sizeof__(self)


class Recipe(NamedTuple):
    """How a vector is made: a kind of ``_MAKERS``, the numbers of the vectors it is made of, and further arguments."""

    kind: str
    of: tuple[int, ...] = ()
    given: Any = None


class Asked(NamedTuple):
    """An objective of a fit: its number, the objective, and the total weight of the queries."""

    number: int
    objective: Objective
    total: float


@dataclass(frozen=True)
class Task:
    """What to do with a partition of a fit: a method of ``State`` and its arguments."""

    fit: str
    part: int
    borders: tuple[int, ...]
    do: Callable[..., Any]
    arguments: tuple[Any, ...]
    recipes: Mapping[int, Recipe] = field(default_factory=dict)
    held: frozenset[int] = frozenset()  # vectors to store if they have to be computed
    dropped: tuple[int, ...] = ()  # vectors that are no longer needed


class Answer(NamedTuple):
    """The result of a task, or that vectors are missing; and the CPU seconds it took."""

    found: Any
    missing: bool
    seconds: float


class _MissingError(Exception):
    """A vector that is neither stored nor has a recipe in the task."""


def work(part: Part, task: Task) -> Answer:
    """Run a task."""
    begin = time.thread_time()  # blocks are processed in this thread
    key = (task.fit, task.part)
    state = _CACHE.get(key)
    if state is None or state.data is not part.data:
        state = _CACHE[key] = State(part.data, task.borders, part.gives_back)
    for number in task.dropped:
        state.vectors.pop(number, None)
    with state.lock:  # after an interruption a task may still run when the next one arrives
        state.recipes, state.held = task.recipes, task.held
        try:
            found, missing = task.do(state, *task.arguments), False
        except _MissingError:
            found, missing = None, True
    if task.fit in _OVER:
        _CACHE.pop(key, None)
    return Answer(found, missing, time.thread_time() - begin)


def forget(fit: str) -> None:
    """Drop everything cached for a finished fit."""
    _OVER.append(fit)
    for key in [key for key in _CACHE if key[0] == fit]:
        _CACHE.pop(key, None)


def over_blocks(part: Part, borders: tuple[int, ...], function: Callable[[Dataset], Any]) -> list[Any]:
    """Return the results of a function for the blocks of a partition."""
    return map_blocks(part.data, borders, function, 1, part.gives_back)


class State:
    """A partition of a fit: its blocks, vectors of scores by number, and what objectives have prepared."""

    def __init__(self, data: Dataset, borders: Sequence[int], gives_back: bool = False) -> None:
        self.data, self._blocks, self.lock = data, Blocks(data, borders, 1, gives_back), threading.Lock()
        self.vectors: dict[int, Floats] = {}
        self.recipes: Mapping[int, Recipe] = {}
        self.held: frozenset[int] = frozenset()
        self._judges: dict[int, Judge] = {}
        self._point: tuple[int, bytes, Point] | None = None

    # ---- tasks ---------------------------------------------------------------------------------------------------

    def at_weights(self, asked: Asked, weights: Floats, together: bool) -> tuple[list[float], list[Floats]]:
        """Return the blocks' shares of the risk and its gradient at weights."""
        values, gradients, point = self._judge(asked).at_weights(weights)
        self._point = (asked.number, weights.tobytes(), point)
        return values, _added(gradients, together)

    def at_scores(
        self, asked: Asked, scores: int, slope: int, along: Sequence[int]
    ) -> tuple[list[float], dict[int, list[float]]]:
        """Return the blocks' shares of the risk at scores, and of the products of its slope there with vectors."""
        here = self.vector(scores)
        values, u = self._judge(asked).at_scores(here)
        dots = {number: self._blocks.dots(u, self.vector(number)) for number in along}
        self.vectors |= {scores: here, slope: u}
        return values, dots

    def pull_back(self, u: int, together: bool) -> list[Floats]:
        """Return the blocks' shares of ``X.T @ u``."""
        return _added(self._blocks.pull_back(self.vector(u)), together)

    def curve(self, asked: Asked, at: Floats, direction: Floats, together: bool) -> list[Floats]:
        """Return the blocks' shares of the Hessian at weights times a direction."""
        if self._point is None or self._point[:2] != (asked.number, at.tobytes()):
            self.at_weights(asked, at, together)
        assert self._point is not None
        return _added(self._judge(asked).curve(self._point[2], direction), together)

    def dots(self, u: int, v: int) -> list[float]:
        """Return the blocks' shares of the product of two vectors."""
        return self._blocks.dots(self.vector(u), self.vector(v))

    def n_pairs(self, objective: Objective) -> Floats:
        """Return how many pairs every query has."""
        return objective.n_pairs(self.data)

    def sample(self, asked: Asked) -> tuple[int, Any] | None:
        """Return the bytes and the sizes of the samples of rankings that an objective has drawn, if it has."""
        return self._judge(asked).prepared.sampled

    # ---- vectors ------------------------------------------------------------------------------------------------

    def _judge(self, asked: Asked) -> Judge:
        judge = self._judges.get(asked.number)
        if judge is None:
            shares = query_weights(self.data) / asked.total
            judge = self._judges[asked.number] = Judge(self._blocks, asked.objective, shares)
        return judge

    def vector(self, number: int) -> Floats:
        """Return a vector, computed by its recipe if it is not stored; intermediate ones are dropped after use."""
        if number in self.vectors:
            return self.vectors[number]
        order = list(self._order(number))
        uses = collections.Counter(one for made in order for one in self.recipes[made].of)
        made: dict[int, Floats] = {}
        known = collections.ChainMap(made, self.vectors)
        for one in order:
            recipe = self.recipes[one]
            made[one] = _MAKERS[recipe.kind](self, recipe.given, *(known[other] for other in recipe.of))
            if one in self.held:
                self.vectors[one] = made[one]
            for other in recipe.of:
                uses[other] -= 1
                if not uses[other]:
                    made.pop(other, None)
        return made[number]

    def _order(self, number: int) -> Iterator[int]:
        """Yield the vectors that have to be computed, each after those it depends on."""
        waiting, done = [number], set()
        while waiting:
            one = waiting[-1]
            if one in done or one in self.vectors:
                waiting.pop()
                continue
            if one not in self.recipes:
                raise _MissingError
            needed = [other for other in self.recipes[one].of if other not in done and other not in self.vectors]
            if needed:
                waiting += reversed(needed)
            else:
                done.add(one)
                yield waiting.pop()


_MAKERS: dict[str, Callable[..., Floats]] = {
    "constant": lambda state, value: np.full(state.data.n_documents, value),
    "given": lambda state, values: values,
    "scores": lambda state, weights: state._blocks.scores(weights),
    "slope": lambda state, asked, scores: state._judge(asked).at_scores(scores)[1],
    "plus": lambda state, given, a, b: a + b,
    "minus": lambda state, given, a, b: a - b,
    "times": lambda state, factor, a: factor * a,
    "less": lambda state, number, a: a - number,
}


def _added(gradients: list[Floats], together: bool) -> list[Floats]:
    """Return gradients as they are, or their sum if there are too many to send."""
    if not together:
        return gradients
    total = np.zeros_like(gradients[0])
    for one in gradients:
        total += one
    return [total]


def size_of(found: Any) -> int:
    """Return the approximate bytes of what is sent."""
    if isinstance(found, np.ndarray):
        return found.nbytes
    if isinstance(found, Mapping):
        return size_of(list(found.values()))
    if isinstance(found, list | tuple):
        return sum(map(size_of, found))
    return sys.getsizeof(found)


def of_data(part: Part, function: Callable[[Dataset], Any]) -> Any:
    """Return the result of a function on a partition."""
    return function(part.data)


def kind_of(part: Part, function: Callable[[Dataset], Any]) -> tuple[tuple[int, ...], Any]:
    """Return shape and dtype of the result of a function on a partition."""
    made = function(part.data)
    return made.shape, made.dtype


def scaled(part: Part, scaling: Normaliser) -> Dataset:
    """Return a partition with features that a normaliser scales on access."""
    return part.data._but(X=ScaledRows(part.data.X, scaling))


def selected(part: Part, queries: Integers) -> Dataset:
    """Return some queries of a partition."""
    return part.data.select(queries)


def predict(part: Part, model: Any) -> Floats:
    """Return the scores that a model gives to the rows of a partition."""
    name = type(model).__name__
    if not part.gives_back:
        return predicted_scores(model, part.data, name)
    return np.concatenate(
        map_blocks(part.data, block_borders(part.data.indptr), lambda own: predicted_scores(model, own, name), 1, True)
    )


def measure(
    part: Part, system: Any, measures: Sequence[Measure], convention: Convention
) -> tuple[list[Floats], NDArray[np.bool_]]:
    """Return every measure's values over the queries of a partition, and which queries have ties that matter."""
    data = part.data
    given = predict(part, system) if hasattr(system, "predict") else system
    scores = checks.numbers(given, data.n_documents, "scores", "score")
    return measure_queries(in_precision(scores, convention), data, measures, convention, n_jobs=1)
