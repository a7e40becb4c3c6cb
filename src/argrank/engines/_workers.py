"""The workers of a Dask cluster: the code they run, checks before data are placed, and the errors for failures."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import importlib.metadata
import os
import platform
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from argrank._version import __version__
from argrank.errors import ClusterError, OptionError, shown, warn

LIBRARIES = 400e6  # bytes of a worker before it has data: Python, Dask, argrank, compiled code
BYTES_A_ROW = 110.0  # of the vectors of a fit, see "What it costs" in the guide
MAPPED_SHARE = 0.3  # share of a worker's limit above which mapped pages are released right after use


@runtime_checkable
class Cluster(Protocol):
    """The used interface of a Dask client."""

    run: Any
    map: Any
    scheduler_info: Any


def check_versions(client: Any) -> None:
    """Raise if a worker has another argrank than the client; warn if it has another NumPy or numba."""
    if not isinstance(client, Cluster):
        raise OptionError(f"client: expected a dask.distributed.Client, got {shown(client)}")
    here, found = stamp(), client.run(stamp, on_error="return")
    other = {
        worker: named(one, here) if isinstance(one, Stamp) else f"none that answers ({type(one).__name__})"
        for worker, one in found.items()
        if not isinstance(one, Stamp) or one.own != here.own
    }
    if other:
        listing = "; ".join(f"{what} on {worker}" for worker, what in sorted(other.items()))
        raise ClusterError(f"expected {named(here)} on every worker, as here, got {listing}; install the same there")
    unlike = {worker: one.libraries for worker, one in found.items() if one.libraries != here.libraries}
    if unlike:
        listing = "; ".join(f"{what} on {worker}" for worker, what in sorted(unlike.items()))
        warn(f"{here.libraries} here, {listing}: results may differ by rounding")


def fits_in_limits(client: Any, n_bytes: int, n_rows: int) -> bool:
    """Compare the workers' shares of a pack with their memory limits; raise if a fit cannot work.

    Return True if mapped pages have to be released at once, since Dask counts them as the worker's memory.
    """
    workers = client.scheduler_info(n_workers=-1)["workers"]
    n_threads = max(1, sum(one["nthreads"] for one in workers.values()))
    gives_back = False
    for address, one in workers.items():
        limit, share = one["memory_limit"], one["nthreads"] / n_threads
        if not limit:
            continue
        needed = LIBRARIES + BYTES_A_ROW * n_rows * share
        if needed > limit:
            raise ClusterError(
                f"{address}: expected a memory limit of at least {needed / 1e9:.2f} GB for {n_rows * share:,.0f} rows, "
                f"of which a fit keeps {BYTES_A_ROW:.0f} bytes each, got {limit / 1e9:.2f} GB; set memory_limit= (dask "
                "worker --memory-limit) to that, or to 0 for none, or start more workers on other machines"
            )
        gives_back |= n_bytes * share > MAPPED_SHARE * limit
    return gives_back


@contextlib.contextmanager
def heard(client: Any) -> Iterator[None]:
    """Convert Dask's errors about a lost scheduler into a ClusterError."""
    try:
        yield
    except (OSError, asyncio.TimeoutError, CancelledError) as error:
        lost = type(error).__name__ in ("CommClosedError", "FutureCancelledError", "CancelledError")
        if not lost and client.status == "running":
            raise
        address = "" if client.scheduler is None else str(client.scheduler.addr)
        raise ClusterError(
            f"lost the scheduler {address}: {error or type(error).__name__}; start it and its workers "
            f"again; a fit with a checkpoint continues from there"
        ) from error


class Stamp(NamedTuple):
    """Versions that may change results; ``code`` is the SHA-256 of all of argrank's modules, altered ones included."""

    argrank: str
    code: str
    numpy: str
    numba: str

    @property
    def own(self) -> tuple[str, str]:
        """What must be the same everywhere."""
        return self.argrank, self.code

    @property
    def libraries(self) -> str:
        """Libraries that may round differently."""
        return f"NumPy {self.numpy}, numba {self.numba}"


@functools.cache
def stamp() -> Stamp:
    """Return the stamp of this process."""
    folder, code = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        code.update(path.relative_to(folder).as_posix().encode())
        code.update(path.read_bytes())
    numpy, numba = (importlib.metadata.version(name) for name in ("numpy", "numba"))
    return Stamp(__version__, code.hexdigest(), numpy, numba)


def check_stamp(client: Stamp) -> None:
    """Raise in a worker whose argrank is not that of the client."""
    here = stamp()
    if here.own != client.own:
        place = f"the worker with process id {os.getpid()} on {platform.node()}"
        raise ClusterError(f"expected {named(client)}, as on the client, got {named(here, client)} on {place}")


def named(one: Stamp, client: Stamp | None = None) -> str:
    """Return a version as text."""
    altered = client is not None and one.argrank == client.argrank
    return f"argrank {one.argrank} {'with altered modules ' if altered else ''}({one.code[:8]})"
