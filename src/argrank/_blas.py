"""Limit BLAS to one thread while our own threads work, so that results do not depend on the number of threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_controller: Any = None  # made once: finding the BLAS libraries takes long, using the controller 13 microseconds
_limit: Any = None
_users = 0


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread; nested and concurrent users share one limit, which the last one lifts.

    BLAS libraries have one setting per process: if each user saved and restored it separately, the limit could stay
    set.
    """
    global _controller, _limit, _users
    with _lock:
        if _users == 0:
            if _controller is None:
                from threadpoolctl import ThreadpoolController

                _controller = ThreadpoolController().select(user_api="blas")
            _take_control()
            _limit = _controller.limit(limits=1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _take_control()
                _limit.restore_original_limits()
                _take_control()


def _take_control() -> None:
    """Make threadpoolctl accept limits from this thread.

    Newer versions of threadpoolctl silently ignore every thread but the first that set a limit. Our limit may be lifted
    by a different thread than the one that set it, and our lock already serialises the threads.
    """
    for library in _controller.lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)
