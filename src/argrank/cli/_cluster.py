"""``--scheduler``: data on the workers of a Dask cluster."""

from __future__ import annotations

from typing import Any

from argrank.errors import ClusterError, MissingExtraError

WAIT = "10s"  # for the scheduler to answer


def connect(address: str) -> Any:
    """Return a client of the cluster whose scheduler has an address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("distributed", "dask", "--scheduler") from error
    try:
        return Client(address, timeout=WAIT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"--scheduler: expected a Dask scheduler at {address} that answers, got: {error}") from error
