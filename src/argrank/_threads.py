"""One shared pool of threads for work that releases the interpreter lock."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argrank.errors import OptionError

Item = TypeVar("Item")
Result = TypeVar("Result")


def count_jobs(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: None and -1 mean every core this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None or n_jobs == -1:
        return cores
    if n_jobs < 1:
        raise OptionError(f"n_jobs: expected a positive number, -1 or None, got {n_jobs!r}")
    return n_jobs


def map_threads(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> list[Result]:
    """Apply a function to every item, and return the results in the order of the items for any number of threads."""
    threads = count_jobs(n_jobs)
    if threads == 1:
        return [function(item) for item in items]
    return list(_pool(os.getpid(), threads).map(function, items))


@functools.lru_cache(maxsize=8)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return the pool of this process; a forked child must not use its parent's threads."""
    return ThreadPoolExecutor(threads, thread_name_prefix="argrank")
