"""Questions to the workers that hold partitions, past the scheduler's graph of tasks: a few milliseconds, not ten.

A task is a message to the scheduler, one to the worker, one back each way, and another round to fetch the result, each
of which may wait for a batch. ``Client.run`` is one message there and one back, but knows nothing of lost workers: what
it does not bring back has to be asked for by tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Holders:
    """Where partitions are, as far as it is known."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._addresses: dict[Any, str] = {}

    def ask(self, function: Callable[..., Any], parts: Sequence[Any], arguments: Sequence[Any]) -> dict[int, Any]:
        """Return ``function(partition, argument)`` by the partition's number, without those that brought no answer."""
        unknown = [part for part in parts if part.key not in self._addresses]
        if unknown:
            holders = self._client.who_has(unknown)
            self._addresses |= {key: addresses[0] for key, addresses in holders.items() if addresses}
        calls: dict[str, dict[int, tuple[Any, Any]]] = {}
        for number, (part, argument) in enumerate(zip(parts, arguments, strict=True)):
            if part.key in self._addresses:
                calls.setdefault(self._addresses[part.key], {})[number] = (part.key, argument)
        answers: dict[int, Any] = {}
        if calls:
            found = self._client.run(_answers, function, calls, workers=list(calls), on_error="ignore")
            for one in found.values():
                answers |= one
        for number, part in enumerate(parts):
            if number not in answers:
                self._addresses.pop(part.key, None)  # it is looked for anew
        return answers


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
