"""Questions to the workers that hold partitions, past the scheduler's graph of tasks: a few milliseconds, not ten.

A task is a message to the scheduler, one to the worker, one back each way, and another round to fetch the result, each
of which may wait for a batch. ``Client.run`` is one message there and one back, but knows nothing of lost workers: what
it does not bring back has to be asked for by tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def ask_holders(
    client: Any, function: Callable[..., Any], parts: Sequence[Any], arguments: Sequence[Any]
) -> dict[int, Any]:
    """Return ``function(partition, argument)`` by the partition's number, without those that brought no answer."""
    holders = client.who_has(parts)  # each time: to look for a worker that is gone would take half a minute
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
