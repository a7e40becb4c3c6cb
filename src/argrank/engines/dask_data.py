"""DistributedDataset: judged data in partitions of whole queries on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders, offsets
from argrank.data.io.pack.loader import Pack, load_part
from argrank.data.prepare.normalise import Normaliser
from argrank.engines import _part
from argrank.engines._direct import ask_holders
from argrank.engines.dask_frames import datasets_of, refuse_split
from argrank.engines.dask_risk import DaskRisk
from argrank.errors import ClusterError, InputError, check_count
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.objectives.objective import Objective

Result = TypeVar("Result")

PER_THREAD = 1  # partitions for every thread of the workers: a pass is a round trip, and every task adds to it
MOST_BYTES = 2 << 30  # of a partition
LOOK = 5.0  # seconds after which it looks whether there still are workers
PATIENCE = 60.0  # seconds that work waits while there is no worker at all


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


class DistributedDataset:
    """Judged query–document pairs in partitions on the workers of a Dask cluster; rankers fit it like a Dataset.

    Make one by ``read`` or ``from_dask``. A partition is a run of whole blocks of queries, so that a fit has the same
    bits on any number of partitions as on one machine. ``traffic`` counts round trips, seconds and bytes.
    """

    preferences = None
    document_ids = None

    def __init__(self, client: Any, parts: Sequence[Any], **facts: Any) -> None:
        self.client, self._parts, self.traffic, self._facts = client, list(parts), Traffic(), facts
        self.borders: list[tuple[int, ...]] = facts["borders"]  # of the blocks of every partition, counted from 0
        self.indptr: Integers = facts["indptr"]
        self.query_ids: NDArray[Any] = facts["query_ids"]
        self.query_weight: Floats | None = facts["query_weight"]
        self.n_features: int = facts["n_features"]
        self.feature_names: tuple[str, ...] | None = facts["feature_names"]
        self.categories: Any = facts["categories"]
        self.is_sparse: bool = facts["is_sparse"]
        self.is_judged: bool = facts["is_judged"]
        self.has_row_weights: bool = facts["has_row_weights"]
        self.fingerprint: str = facts["fingerprint"]
        self.normalised: str | None = facts.get("normalised")  # the normaliser that the pack was written with

    @classmethod
    def read(cls, pack: str | os.PathLike[str], client: Any, *, n_partitions: int | None = None) -> DistributedDataset:
        """Return the data of a pack, whose folder all workers see under the same path.

        Workers open their parts of the files themselves, and again where one takes over from another.
        """
        opened = Pack(pack)
        contents, arrays = opened.contents, opened.arrays
        cuts = _cuts(opened, n_partitions, _n_threads(client))
        path, longest = os.path.abspath(pack), int(np.diff(arrays["indptr"]).max())
        calls = [(longest, load_part, path, int(a), int(b)) for a, b in itertools.pairwise(cuts)]
        return cls(
            client,
            _submit(client, calls),
            borders=_relative(opened.borders, cuts),
            indptr=np.asarray(arrays["indptr"]),
            query_ids=opened.query_ids,
            query_weight=np.asarray(arrays["query_weight"]) if "query_weight" in arrays else None,
            n_features=contents.shape[1],
            feature_names=contents.feature_names,
            categories=contents.categories,
            is_sparse=contents.sparse,
            is_judged=contents.label is not None,
            has_row_weights="sample_weight" in arrays,
            fingerprint=contents.fingerprint,
            normalised=contents.normalise,
        )

    @classmethod
    def from_dask(cls, frame: Any, client: Any, *, qid: str = "qid", label: str = "label") -> DistributedDataset:
        """Return the data of a Dask data frame: a column of query ids, one of labels, and features.

        Rows are brought together by query, and keep their order within a query. Blocks are cut in every partition by
        itself, so that bits depend on the partitions; a pack does not have that.
        """
        datasets, facts = datasets_of(frame, client, qid, label)
        sizes = np.concatenate([np.diff(one["indptr"]) for one in facts])
        calls = [(int(sizes.max()), _itself, one) for one in datasets]
        weights = [one["query_weight"] for one in facts]
        common = ("n_features", "feature_names", "categories", "is_sparse", "is_judged")
        return cls(
            client,
            _submit(client, calls),
            borders=[tuple(block_borders(one["indptr"]).tolist()) for one in facts],
            indptr=offsets(sizes),
            query_ids=refuse_split([one["query_ids"] for one in facts]),
            query_weight=None if weights[0] is None else np.concatenate(weights),
            has_row_weights=any(one["has_row_weights"] for one in facts),
            fingerprint=" ".join(one["fingerprint"][:16] for one in facts),
            **{name: facts[0][name] for name in common},
        )

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
            f"DistributedDataset: {self.n_queries:,} queries, {self.n_documents:,} documents, "
            f"{self.n_features:,} features, in {self.n_partitions} partitions"
        )

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Refuse to be an array, with the way that works."""
        raise InputError(
            "expected data on one machine, got a DistributedDataset; its predict(model) scores the rows where they are"
        )

    def risk(self, objective: Objective) -> DaskRisk:
        """Return the risk of an objective."""
        return DaskRisk(self, objective)

    def map_blocks(self, function: Callable[[Dataset], Result]) -> list[Result]:
        """Apply a function to all blocks of queries, where they are, and return what it gives in their order."""
        found = self.run(_part.over_blocks, self.borders, common=(function,))
        return list(itertools.chain.from_iterable(found))

    def over_features(self, function: Callable[[Any], Result]) -> list[Result]:
        """Apply a function to the features of all blocks, where they are."""
        return self.map_blocks(functools.partial(_of_features, function))

    def scaled(self, scaling: Normaliser) -> DistributedDataset:
        """Return the data with features that a global normaliser scales where they are used, without a copy."""
        return self._made(_part.scaled, dict.fromkeys(range(self.n_partitions), scaling))

    def select(self, queries: Integers) -> DistributedDataset:
        """Return some queries, by number, as data of its own, in the order in which they are here.

        Workers copy their rows. Blocks are what is left of the blocks here, so that bits do not depend on partitions.
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
            fingerprint=hashlib.sha256(self.fingerprint.encode() + chosen.tobytes()).hexdigest(),
        )

    def _made(self, function: Callable[..., Dataset], own: Mapping[int, Any], **changed: Any) -> DistributedDataset:
        """Return data of other partitions: ``function(partition, argument)`` of some, made where they are."""
        facts = {**self._facts, **changed}
        longest = int(np.diff(facts["indptr"]).max())
        calls = [(longest, function, self._parts[number], argument) for number, argument in own.items()]
        made = type(self)(self.client, _submit(self.client, calls), **facts)
        made.traffic = self.traffic
        return made

    def arrays(self, function: Callable[[Dataset], Any]) -> Any:
        """Return what a function makes of every partition as a Dask array, cut where partitions are."""
        import dask
        import dask.array as da

        made = [dask.delayed(_part.of_data)(part, function) for part in self._parts]
        first = self.gathered(self.client.map(_part.kind_of, self._parts, [function] * len(made), pure=False))
        arrays = [da.from_delayed(one, shape, dtype) for one, (shape, dtype) in zip(made, first, strict=True)]
        return da.concatenate(arrays)

    def aligned(self, other: Any) -> DistributedDataset:
        """Return this data, whose features must be those of the other: it cannot put them in order."""
        if (self.feature_names, self.categories) != (other.feature_names, other.categories):
            raise InputError("eval_set: expected the features of the training data, in their order, on the cluster too")
        return self

    def predict(self, model: Any) -> DistributedScores:
        """Return the scores that a model gives to all rows; they stay where the rows are."""
        models = [_served(model)] * self.n_partitions
        calls = self.client.map(_part.predict, self._parts, models, pure=False, retries=3)
        return DistributedScores(self, calls)

    def measure_queries(
        self, system: Any, measures: Sequence[Measure], convention: Convention
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Return every measure's values over the queries, and which queries have ties that matter.

        A system is a ranker or a model, what ``predict`` returned, or an array with a score for every row.
        """
        if isinstance(system, DistributedScores):
            systems = system.parts
        elif hasattr(system, "predict"):
            systems = [_served(system)] * self.n_partitions
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

    def forget(self, fit: str) -> None:
        """Let the workers drop what they keep for a fit; it does not wait for them."""
        if self.client.status == "running":
            self.client.loop.add_callback(_drop, self.client, fit)

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
        """Call ``function(partition, argument)`` for all partitions directly where they are, which is faster.

        Arguments are sent to all workers, so they should be small. A partition whose worker is gone is asked by a task.
        """
        begin = time.perf_counter()
        answers = ask_holders(self.client, function, self._parts, arguments)
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
        name = f"argrank-{function.__name__}"
        return self.gathered(self.client.map(function, parts, *columns, pure=False, retries=3, key=name))

    def _told(self, begin: float, found: list[Any]) -> list[Any]:
        """Count a round trip, and return what it brought."""
        self.traffic.round_trips += 1
        self.traffic.seconds += time.perf_counter() - begin
        self.traffic.worker_seconds += sum(getattr(one, "seconds", 0.0) for one in found)
        self.traffic.received += _part.size_of(found)
        return found

    def gathered(self, calls: list[Any]) -> list[Any]:
        """Return the results of calls; raise where no worker is left to make them."""
        from distributed.scheduler import KilledWorker

        seen = time.monotonic()  # when there was a worker
        while not self._done(calls):
            if self.client.scheduler_info(n_workers=-1)["workers"]:
                seen = time.monotonic()
            elif time.monotonic() - seen > PATIENCE:
                waiting = sum(call.status == "pending" for call in calls)
                raise ClusterError(
                    f"lost all workers; {waiting} of {self.n_partitions} partitions waiting; expected a worker within "
                    f"{PATIENCE:.0f} s"
                )
        try:
            found: list[Any] = self.client.gather(calls)
        except KilledWorker as error:
            raise ClusterError(
                f"a partition brought down several workers, probably out of memory: {error}; expected workers "
                "with more memory, or more partitions"
            ) from error
        return found

    def _done(self, calls: list[Any]) -> bool:
        from distributed import wait

        try:
            with self.client.as_current():
                wait(calls, timeout=LOOK)
        except TimeoutError:
            return False
        return True


class DistributedScores:
    """Scores of the rows of a DistributedDataset, one array a partition, on the workers."""

    def __init__(self, data: DistributedDataset, parts: list[Any]) -> None:
        self._data, self.parts = data, parts

    def compute(self) -> Floats:
        """Return all scores as one array, in the order of the rows."""
        return np.concatenate(self._data.gathered(self.parts))


async def _drop(client: Any, fit: str) -> None:
    """Let all workers forget a fit; one that is gone has nothing to forget."""
    with contextlib.suppress(OSError):
        await client.run(_part.forget, fit, on_error="ignore")


def _served(model: Any) -> Any:
    """Return what predicts without what a ranker holds beside it."""
    return getattr(model, "model_", model)


def _submit(client: Any, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return the partitions as futures, made by calls, which are made again where a worker is lost."""
    columns = [list(column) for column in zip(*calls, strict=True)]
    futures: list[Any] = client.map(_part.Part, *columns, pure=False, retries=3, key="argrank-partition")
    return futures


def _itself(data: Dataset) -> Dataset:
    return data


def _of_features(function: Callable[[Any], Result], data: Dataset) -> Result:
    return function(data.X)


def _n_threads(client: Any) -> int:
    n_threads = sum(client.nthreads().values())
    if not n_threads:
        raise ClusterError("expected a cluster with at least one worker, got none")
    return int(n_threads)


def _cuts(pack: Pack, n_partitions: int | None, n_threads: int) -> Integers:
    """Return the blocks at which partitions begin, and the number of blocks."""
    if n_partitions is None:
        n_partitions = max(PER_THREAD * n_threads, -(-pack.contents.n_bytes // MOST_BYTES))
    check_count("n_partitions", n_partitions)
    n = min(n_partitions, pack.n_blocks)
    return np.linspace(0, pack.n_blocks, n + 1).round().astype(np.int64)


def _relative(borders: Integers, cuts: Integers) -> list[tuple[int, ...]]:
    return [tuple((borders[a : b + 1] - borders[a]).tolist()) for a, b in itertools.pairwise(cuts)]
