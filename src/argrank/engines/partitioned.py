"""Data in partitions of whole queries on workers, independent of the engine.

Blocks, vectors and their recipes are the same for all engines. An engine is a class with five methods: place
partitions, start calls on them, gather the results, call them directly, and drop the state of a fit.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from argrank._declared import IsData
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import offsets
from argrank.data.prepare.normalise import Normaliser
from argrank.engines import _part
from argrank.engines._workers import stamp
from argrank.engines.partitioned_risk import PartitionedRisk
from argrank.errors import InputError
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.models.model import fitted_model
from argrank.objectives.objective import Objective

if TYPE_CHECKING:
    from typing_extensions import Self

Result = TypeVar("Result")


@dataclass
class Traffic:
    """Where the time of work on a cluster went."""

    passes: float = 0.0  # over the features
    round_trips: int = 0
    seconds: float = 0.0  # from sending tasks until all answers were there
    worker_seconds: float = 0.0  # of CPU, of all workers together
    received: int = 0  # bytes

    def __str__(self) -> str:
        return (
            f"{self.passes:g} passes in {self.round_trips:,} round trips, {self.seconds:.1f} s; workers took "
            f"{self.worker_seconds:.1f} CPU seconds for the risk and sent {self.received / 1e6:.1f} MB"
        )


class Partitioned(IsData):
    """Judged query–document pairs in partitions; rankers fit them like a Dataset.

    A partition is a run of whole blocks of queries, so that a fit is bit-identical on any number of partitions and on
    one machine. ``traffic`` counts round trips, seconds and bytes.
    """

    preferences = None
    document_ids = None
    dates = None

    def __init__(self, client: Any, parts: Sequence[Any], **facts: Any) -> None:
        self.client, self._parts, self.traffic, self._facts = client, list(parts), Traffic(), facts
        self.gives_back: bool = facts.get("gives_back", False)  # whether to release mapped pages
        self.borders: list[tuple[int, ...]] = facts["borders"]  # of the blocks of every partition, counted from 0
        self.indptr: Integers = facts["indptr"]
        self.query_ids: NDArray[Any] = facts["query_ids"]
        self.query_weight: Floats | None = facts["query_weight"]
        self.gains: Floats | None = facts.get("gains")
        self.n_features: int = facts["n_features"]
        self.feature_names: tuple[str, ...] | None = facts["feature_names"]
        self.categories: Any = facts["categories"]
        self.is_sparse: bool = facts["is_sparse"]
        self.is_judged: bool = facts["is_judged"]
        self.has_row_weights: bool = facts["has_row_weights"]
        self.fingerprint: str = facts["fingerprint"]
        self.normalised: str | None = facts.get("normalised")  # the normaliser that the pack was written with

    # ---- to be implemented by an engine ---------------------------------------------------------------------------

    @staticmethod
    @abstractmethod
    def placed(client: Any, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return handles of partitions, ``Part(*call)`` for every call, repeated if a worker is lost."""

    @abstractmethod
    def started(
        self, function: Callable[..., Any], parts: Sequence[Any], columns: Sequence[Sequence[Any]]
    ) -> list[Any]:
        """Start ``function(partition, *arguments)`` on the workers; return handles of the results."""

    @abstractmethod
    def gathered(self, calls: list[Any]) -> list[Any]:
        """Return the results of handles; raise ClusterError if they are lost."""

    @abstractmethod
    def asked(self, function: Callable[..., Any], arguments: Sequence[Any]) -> dict[int, Any]:
        """Return ``function(partition, argument)`` by the number of the partition; any of them may be missing."""

    @abstractmethod
    def forget(self, fit: str) -> None:
        """Let the workers drop the state of a fit, without waiting for them."""

    # ---- common to all engines ----------------------------------------------------------------------------------

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.indptr) - 1

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return int(self.indptr[-1])

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self._parts)

    @property
    def sizes(self) -> Integers:
        """Number of documents of every query."""
        return np.diff(self.indptr)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}: {self.n_queries:,} queries, {self.n_documents:,} documents, "
            f"{self.n_features:,} features, in {self.n_partitions} partitions"
        )

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Raise an error that says what to use instead."""
        raise InputError(
            "expected data on one machine, got a DistributedDataset; its predict(model) scores the rows on the workers"
        )

    def risk(self, objective: Objective) -> PartitionedRisk:
        """Return the risk of an objective."""
        return PartitionedRisk(self, objective)

    def map_blocks(self, function: Callable[[Dataset], Result]) -> list[Result]:
        """Apply a function to all blocks of queries on the workers, and return the results in block order."""
        found = self.run(_part.over_blocks, self.borders, common=(function,))
        return list(itertools.chain.from_iterable(found))

    def over_features(self, function: Callable[[Any], Result]) -> list[Result]:
        """Apply a function to the features of all blocks, on the workers."""
        return self.map_blocks(functools.partial(_of_features, function))

    def scaled(self, scaling: Normaliser) -> Self:
        """Return the data with features that a global normaliser scales on access, without a copy."""
        return self._made(_part.scaled, dict.fromkeys(range(self.n_partitions), scaling))

    def select(self, queries: Integers) -> Self:
        """Return some queries, by number, as new data, in their order here.

        Workers copy their rows. Blocks are subsets of the blocks here, so that results do not depend on partitions.
        """
        chosen = np.zeros(self.n_queries, bool)
        chosen[queries] = True
        cuts = offsets(np.array([own[-1] for own in self.borders]))
        every = [np.flatnonzero(chosen[a:b]) for a, b in itertools.pairwise(cuts)]
        own = {number: found for number, found in enumerate(every) if len(found)}
        return self._made(
            _part.selected,
            own,
            borders=[tuple(np.unique(np.searchsorted(own[i], self.borders[i])).tolist()) for i in own],
            indptr=offsets(self.sizes[chosen]),
            query_ids=self.query_ids[chosen],
            query_weight=None if self.query_weight is None else self.query_weight[chosen],
            gains=None if self.gains is None else self.gains[np.repeat(chosen, self.sizes)],
            fingerprint=hashlib.sha256(self.fingerprint.encode() + chosen.tobytes()).hexdigest(),
        )

    def _made(self, function: Callable[..., Dataset], own: Mapping[int, Any], **changed: Any) -> Self:
        """Return data of other partitions: ``function(partition, argument)`` of some, computed on the workers."""
        facts = {**self._facts, **changed}
        how = _part.Placement(int(np.diff(facts["indptr"]).max()), stamp(), self.gives_back)
        calls = [(how, function, self._parts[number], argument) for number, argument in own.items()]
        made = type(self)(self.client, self.placed(self.client, calls), **facts)
        made.traffic = self.traffic
        return made

    def _like(self, other: Any) -> Self:
        """Return this data, whose features must already match the other's: they cannot be reordered here."""
        if (self.feature_names, self.categories) != (other.feature_names, other.categories):
            raise InputError("eval_set: expected the features of the training data, in their order, on the cluster too")
        return self

    def predict(self, model: Any) -> DistributedScores:
        """Return the scores that a model gives to all rows; they stay on the workers."""
        models = [fitted_model(model)] * self.n_partitions
        return DistributedScores(self, self.started(_part.predict, self._parts, [models]))

    def measure_queries(
        self, system: Any, measures: Sequence[Measure], convention: Convention
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Return every measure's values over the queries, and which queries have ties that matter.

        A system is a ranker or a model, the result of ``predict``, or an array with a score for every row.
        """
        if isinstance(system, DistributedScores):
            systems = system.parts
        elif hasattr(system, "predict"):
            systems = [fitted_model(system)] * self.n_partitions
        else:
            scores = np.asarray(system)
            if scores.shape != (self.n_documents,):
                raise InputError(f"scores: expected one for each of {self.n_documents:,} rows, got {scores.shape}")
            systems = np.split(scores, self.first_rows()[1:-1])
        found = self.run(_part.measure, systems, common=(list(measures), convention))
        columns = zip(*(one[0] for one in found), strict=True)
        return [np.concatenate(column) for column in columns], np.concatenate([one[1] for one in found])

    def first_rows(self) -> Integers:
        """Return the row with which every partition begins, and the number of rows."""
        return self.indptr[offsets(np.array([own[-1] for own in self.borders]))]

    def run(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        numbers: Sequence[int] | None = None,
        common: tuple[Any, ...] = (),
    ) -> list[Any]:
        """Call ``function(partition, argument, *common)`` for the partitions of some numbers, all by default."""
        begin = time.perf_counter()
        found = self._by_tasks(function, arguments, range(self.n_partitions) if numbers is None else numbers, common)
        return self._told(begin, found)

    def ask(self, function: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        """Call ``function(partition, argument)`` for all partitions directly on the workers, which may be faster.

        Arguments are sent to all workers, so they should be small. Partitions of lost workers are handled by tasks.
        """
        begin = time.perf_counter()
        answers = self.asked(function, arguments)
        lacking = [number for number in range(self.n_partitions) if number not in answers]
        if lacking:
            again = self._by_tasks(function, [arguments[number] for number in lacking], lacking, ())
            answers |= zip(lacking, again, strict=True)
        return self._told(begin, [answers[number] for number in range(self.n_partitions)])

    def _by_tasks(
        self, function: Callable[..., Any], arguments: Sequence[Any], numbers: Sequence[int], common: tuple[Any, ...]
    ) -> list[Any]:
        parts = [self._parts[number] for number in numbers]
        columns = [list(arguments), *([one] * len(parts) for one in common)]
        return self.gathered(self.started(function, parts, columns))

    def _told(self, begin: float, found: list[Any]) -> list[Any]:
        """Count a round trip, and return its results."""
        self.traffic.round_trips += 1
        self.traffic.seconds += time.perf_counter() - begin
        self.traffic.worker_seconds += sum(one.seconds for one in found if isinstance(one, _part.Answer))
        self.traffic.received += _part.size_of(found)
        return found


class DistributedScores:
    """Scores of the rows of a DistributedDataset, one array per partition, on the workers."""

    def __init__(self, data: Partitioned, parts: list[Any]) -> None:
        self._data, self.parts = data, parts

    def compute(self) -> Floats:
        """Return all scores as one array, in the order of the rows."""
        return np.concatenate(self._data.gathered(self.parts))


def _of_features(function: Callable[[Any], Result], data: Dataset) -> Result:
    return function(data.X)
