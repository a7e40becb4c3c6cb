"""LightGBM's training on a cluster, watched: it would wait for a worker that is gone for ever.

``lightgbm.dask`` binds one task to every worker. Dask keeps the task of a dead worker until that worker comes back,
which it does not, and LightGBM waits in a socket. So the workers are looked at meanwhile, and where one of them is
gone, its tasks are cancelled some seconds later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from argrank.engines import DistributedDataset
from argrank.errors import ClusterError

LOOK = 0.5  # seconds between two looks at the workers
GRACE = 5.0  # seconds for LightGBM to fail by itself, with a message of its own
LAST = 10.0  # seconds for what was cancelled to end


def guarded(data: DistributedDataset, fit: Callable[[], Any]) -> None:
    """Call a fit of lightgbm.dask; raise ClusterError within GRACE + LAST seconds after Dask knows of a lost worker."""
    failed: list[BaseException] = []
    lost: set[str] = set()
    needed, gone_since = data.holders(), None
    thread = threading.Thread(target=_run, args=(data.client, fit, failed), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LOOK)
        if data.client.status != "running":
            raise ClusterError("lost the scheduler while LightGBM trained; start it and its workers again")
        lost = needed - set(data.client.scheduler_info(n_workers=-1)["workers"])
        if not lost or not thread.is_alive():
            continue
        gone_since = gone_since or time.monotonic()
        if time.monotonic() - gone_since > GRACE:
            _cancel(data.client)
            thread.join(LAST)
            break
    if thread.is_alive() or (lost and failed):
        names = ", ".join(sorted(lost))
        raise ClusterError(f"lost the worker {names}, without which LightGBM cannot go on; fit again on those left")
    for error in failed:
        _raise(error)


def _run(client: Any, fit: Callable[[], Any], failed: list[BaseException]) -> None:
    try:
        with client.as_current():  # LightGBM waits for that of the thread
            fit()
    except BaseException as error:  # raised again in the thread that waits
        failed.append(error)


def _raise(error: BaseException) -> None:
    from lightgbm.basic import LightGBMError

    if isinstance(error, LightGBMError | OSError | CancelledError):
        raise ClusterError(f"LightGBM could not train on the cluster; it cannot lose a worker: {error}") from error
    raise error


def _cancel(client: Any) -> None:
    """Cancel the tasks of lightgbm.dask that this client waits for."""
    from distributed import Future

    client.cancel([Future(key, client) for key in list(client.futures) if "_train_part" in str(key)], force=True)
