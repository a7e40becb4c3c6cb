"""DistributedDataset: judged data in partitions of whole queries on the workers of a Dask cluster; Dask data frames."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._declared import Count, checked
from argrank._types import Integers
from argrank.data.categories import align, union
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders, offsets
from argrank.data.io.pack.loader import Pack, load_part
from argrank.engines import _part
from argrank.engines._workers import check_versions, fits_in_limits, heard, stamp
from argrank.engines.partitioned import Partitioned
from argrank.errors import ClusterError, InputError, InputTypeError, shown

PER_THREAD = 1  # partitions per worker thread: few, as every task adds to the time of a round trip
MOST_BYTES = 2 << 30  # of a partition
LOOK = 5.0  # seconds between checks for workers
PATIENCE = 60.0  # seconds to wait while there is no worker


class DistributedDataset(Partitioned):
    """Judged query–document pairs in partitions on the workers of a Dask cluster; rankers fit it like a Dataset.

    Make one by ``read`` or ``from_dask``. A partition is a run of whole blocks of queries, so that a fit is
    bit-identical on any number of partitions and on one machine. ``traffic`` counts round trips, seconds and bytes.
    """

    @classmethod
    @checked
    def read(
        cls, pack: str | os.PathLike[str], client: Any, *, n_partitions: Count | None = None
    ) -> DistributedDataset:
        """Return the data of a pack, whose folder all workers see under the same path.

        Workers open their parts of the files themselves, and again when one takes over from another. They must run the
        same argrank, and their memory limits must suffice for a fit: both are checked first.
        """
        opened = Pack(pack)
        with heard(client):
            check_versions(client)
            gives_back = fits_in_limits(client, opened.contents.n_bytes, opened.contents.shape[0])
        contents, arrays = opened.contents, opened.arrays
        cuts = _cuts(opened, n_partitions, sum(client.nthreads().values()))
        how = _part.Placement(int(np.diff(arrays["indptr"]).max()), stamp(), gives_back)
        path, mark = os.path.abspath(pack), contents.fingerprint
        ranges = list(itertools.pairwise(cuts.tolist()))
        calls = [(how, load_part, path, a, b, mark, gives_back) for a, b in ranges]
        return cls(
            client,
            cls.placed(client, calls),
            borders=[tuple((opened.borders[a : b + 1] - opened.borders[a]).tolist()) for a, b in ranges],
            indptr=np.asarray(arrays["indptr"]),
            query_ids=opened.query_ids,
            query_weight=np.asarray(arrays["query_weight"]) if "query_weight" in arrays else None,
            gains=arrays.get("gains"),
            n_features=contents.shape[1],
            feature_names=contents.feature_names,
            categories=contents.categories,
            is_sparse=contents.sparse,
            is_judged=contents.label is not None,
            has_row_weights="sample_weight" in arrays,
            fingerprint=mark,
            normalised=contents.normalise,
            gives_back=gives_back,
        )

    @classmethod
    @checked
    def from_dask(cls, frame: Any, client: Any, *, qid: str = "qid", label: str = "label") -> DistributedDataset:
        """Return the data of a Dask data frame: a column of query ids, one of labels, and features.

        Rows are brought together by query, and keep their order within a query. Blocks are cut separately in every
        partition, so results depend on the partitions by rounding, unlike with a pack.
        """
        with heard(client):
            check_versions(client)
            datasets, facts, categories = datasets_of(frame, client, qid, label)
        sizes = np.concatenate([np.diff(one["indptr"]) for one in facts])
        how = _part.Placement(int(sizes.max()), stamp())
        calls = [(how, _itself, one) for one in datasets]
        weights = [one["query_weight"] for one in facts]
        common = ("n_features", "feature_names", "is_sparse", "is_judged")
        return cls(
            client,
            cls.placed(client, calls),
            borders=[tuple(block_borders(one["indptr"]).tolist()) for one in facts],
            indptr=offsets(sizes),
            query_ids=refuse_split([one["query_ids"] for one in facts]),
            query_weight=None if weights[0] is None else np.concatenate(weights),
            has_row_weights=any(one["has_row_weights"] for one in facts),
            categories=categories,
            fingerprint=" ".join(one["fingerprint"][:16] for one in facts),
            **{name: facts[0][name] for name in common},
        )

    @staticmethod
    def placed(client: Any, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the partitions as futures of calls, which are repeated if a worker is lost."""
        columns = [list(column) for column in zip(*calls, strict=True)]
        with heard(client):
            futures: list[Any] = client.map(_part.Part, *columns, pure=False, retries=3, key="argrank-partition")
        return futures

    def started(
        self, function: Callable[..., Any], parts: Sequence[Any], columns: Sequence[Sequence[Any]]
    ) -> list[Any]:
        """Return futures of calls on partitions."""
        name = f"argrank-{function.__name__}"
        with heard(self.client):
            futures: list[Any] = self.client.map(function, list(parts), *columns, pure=False, retries=3, key=name)
        return futures

    def asked(self, function: Callable[..., Any], arguments: Sequence[Any]) -> dict[int, Any]:
        """Call the workers that hold the partitions directly, bypassing the scheduler's task graph."""
        with heard(self.client):
            return ask_holders(self.client, function, self._parts, arguments)

    def holders(self) -> set[str]:
        """Return the addresses of the workers that hold partitions."""
        with heard(self.client):
            return {worker for own in self.client.who_has(self._parts).values() for worker in own}

    def arrays(self, function: Callable[[Dataset], Any]) -> Any:
        """Return a function's results on all partitions as a Dask array with a chunk per partition."""
        import dask
        import dask.array as da

        made = [dask.delayed(_part.of_data)(part, function) for part in self._parts]
        first = self.gathered(self.started(_part.kind_of, self._parts, [[function] * len(made)]))
        arrays = [da.from_delayed(one, shape, dtype) for one, (shape, dtype) in zip(made, first, strict=True)]
        return da.concatenate(arrays)

    def forget(self, fit: str) -> None:
        """Let the workers drop the state of a fit, without waiting for them."""
        if self.client.status == "running":
            self.client.loop.add_callback(_drop, self.client, fit)

    def gathered(self, calls: list[Any]) -> list[Any]:
        """Return the results of calls; raise if no worker is left."""
        from distributed.scheduler import KilledWorker

        with heard(self.client):
            seen = time.monotonic()  # when a worker was last seen
            while not self._done(calls):
                if self.client.scheduler_info(n_workers=-1)["workers"]:
                    seen = time.monotonic()
                elif time.monotonic() - seen > PATIENCE:
                    waiting = sum(call.status == "pending" for call in calls)
                    raise ClusterError(
                        f"lost all workers; {waiting} of {self.n_partitions} partitions waiting; expected a worker "
                        f"within {PATIENCE:.0f} s"
                    )
            try:
                found: list[Any] = self.client.gather(calls)
            except KilledWorker as error:
                raise ClusterError(
                    f"a partition crashed several workers, probably out of memory: {error}; expected workers "
                    "with a higher memory_limit, or more workers on other machines"
                ) from error
        return found

    def _done(self, calls: list[Any]) -> bool:
        from distributed import wait

        try:
            with self.client.as_current():
                wait(calls, timeout=LOOK)
        except (TimeoutError, asyncio.TimeoutError):  # the same from Python 3.11 on
            return False
        return True


async def _drop(client: Any, fit: str) -> None:
    """Let all workers forget a fit; lost workers are ignored."""
    with contextlib.suppress(OSError, asyncio.TimeoutError):
        await client.run(_part.forget, fit, on_error="ignore")


def _itself(data: Dataset) -> Dataset:
    return data


def _cuts(pack: Pack, n_partitions: int | None, n_threads: int) -> Integers:
    """Return the blocks at which partitions begin, and the number of blocks."""
    if not n_threads:
        raise ClusterError("expected a cluster with at least one worker, got none")
    if n_partitions is None:
        n_partitions = max(PER_THREAD * n_threads, -(-pack.contents.n_bytes // MOST_BYTES))
    n = min(n_partitions, pack.n_blocks)
    return np.linspace(0, pack.n_blocks, n + 1).round().astype(np.int64)


def ask_holders(
    client: Any, function: Callable[..., Any], parts: Sequence[Any], arguments: Sequence[Any]
) -> dict[int, Any]:
    """Return ``function(partition, argument)`` by the partition's number, without those that did not answer.

    A task is a message to the scheduler, one to the worker, one back each way, and another round to fetch the result,
    each of which may wait for a batch. ``Client.run`` is one message in each direction, a few milliseconds instead of
    ten, but does not handle lost workers: missing results have to be requested by tasks.
    """
    holders = client.who_has(parts)  # looked up each time: contacting a lost worker would take half a minute
    calls: dict[str, dict[int, tuple[Any, Any]]] = {}
    for number, (part, argument) in enumerate(zip(parts, arguments, strict=True)):
        if holders.get(part.key):
            calls.setdefault(holders[part.key][0], {})[number] = (part.key, argument)
    if not calls:
        return {}
    found = client.run(_answers, function, calls, workers=list(calls), on_error="ignore")
    return {number: answer for one in found.values() for number, answer in one.items()}


async def _answers(
    function: Callable[..., Any], calls: Mapping[str, Mapping[int, tuple[Any, Any]]], dask_worker: Any
) -> dict[int, Any]:
    """Call the function for the partitions that this worker holds, on the threads on which it does its tasks."""
    held = dask_worker.data
    own = {number: call for number, call in calls[dask_worker.contact_address].items() if call[0] in held}
    pool, loop = dask_worker.executors["default"], asyncio.get_running_loop()
    running = [loop.run_in_executor(pool, function, held[key], argument) for key, argument in own.values()]
    found = await asyncio.gather(*running, return_exceptions=True)
    return {number: one for number, one in zip(own, found, strict=True) if not isinstance(one, BaseException)}


ORDER = "argrank_row"  # numbers of the partition and of the row in it: the original order of rows


def datasets_of(
    frame: Any, client: Any, qid: str, label: str
) -> tuple[list[Any], list[dict[str, Any]], dict[str, tuple[str, ...]] | None]:
    """Return the Datasets of a frame, as futures, facts about each, and their categories; queries are not split."""
    _check_frame(frame, qid, label)
    # the hash decides where a row goes, so that a query is not split
    together = frame.map_partitions(_numbered, qid, label, meta=_numbered(frame._meta, qid, label)).shuffle(on="qid")
    made = client.map(_dataset, client.compute(together.to_delayed()), pure=False, retries=3)
    facts = client.gather(client.map(_facts, made, pure=False, retries=3))
    kept = [number for number, one in enumerate(facts) if one is not None]
    if not kept:
        raise InputError("frame: expected at least one row, got none")
    made, facts = [made[number] for number in kept], [facts[number] for number in kept]
    dated = next((name for one in facts for name in one["dates"] or ()), None)
    if dated is not None:
        raise InputError(f"frame: column {dated!r}: expected numbers, got dates, which need all rows; give days")
    categories = union(one["categories"] for one in facts) or None
    if any(one["categories"] != categories for one in facts):  # each partition knows only its own rows
        made = client.map(_recoded, made, [categories] * len(made), pure=False, retries=3)
    return made, facts, categories


def _check_frame(frame: Any, qid: str, label: str) -> None:
    import dask.dataframe as dd

    if not isinstance(frame, dd.DataFrame):
        raise InputTypeError(
            f"frame: expected a Dask data frame, got {type(frame).__module__}.{type(frame).__name__}; "
            "dask.dataframe.from_pandas makes one, and ar.Dataset takes others on one machine"
        )
    columns = list(frame.columns)
    for meaning, name in (("qid", qid), ("label", label)):
        if name not in columns:
            raise InputError(f"frame: expected a column {name!r}, got {shown(columns)}")
        if name != meaning and meaning in columns:
            raise InputError(
                f"frame: expected one column that is the {meaning}, got {name!r} and {meaning!r}; drop or rename one"
            )


def _recoded(data: Dataset, categories: dict[str, tuple[str, ...]]) -> Dataset:
    """Return a Dataset with the category codes of all partitions."""
    lacking = [name for name in categories if name not in (data.categories or {})]
    if lacking:
        raise InputError(f"frame: column {lacking[0]!r}: expected texts in every partition, got numbers in one")
    X = align(data.X, data.feature_names, data.categories, data.feature_names, categories)
    return data._but(X=X, categories=categories)


def refuse_split(query_ids: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of all partitions; raise if a query is in two of them."""
    seen: dict[Any, int] = {}
    for number, own in enumerate(query_ids):
        for one in own.tolist():
            if seen.setdefault(one, number) != number:
                raise InputError(
                    f"frame: expected every query in one partition, got query {shown(one)} in partitions "
                    f"{seen[one]} and {number}"
                )
    return np.concatenate(query_ids)


def _numbered(frame: Any, qid: str, label: str, partition_info: Any = None) -> Any:
    """Return a partition with the usual names of columns, and numbers that keep the order of its rows."""
    number = 0 if partition_info is None else int(partition_info["number"])
    renamed = frame.rename(columns={qid: "qid", label: "label"})
    return renamed.assign(**{ORDER: (number << 40) + np.arange(len(frame), dtype=np.int64)})


def _dataset(frame: Any) -> Dataset | None:
    """Return a partition as a Dataset: queries by first appearance, rows as they came."""
    if not len(frame):
        return None
    ordered = frame.sort_values(ORDER, kind="stable").drop(columns=ORDER)
    data = Dataset(ordered)
    return data._but(rows=None)


def _facts(data: Dataset | None) -> dict[str, Any] | None:
    """Return the facts about a Dataset that the client needs."""
    if data is None:
        return None
    names = ("indptr", "query_ids", "query_weight", "n_features", "feature_names", "categories", "is_sparse")
    facts = {name: getattr(data, name) for name in (*names, "dates", "is_judged", "fingerprint")}
    return facts | {"has_row_weights": data.sample_weight is not None}
