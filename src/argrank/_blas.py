"""BLAS on one thread while our own threads work: the same bits for any number of them, and no oversubscription."""

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
    """Hold BLAS at one thread; nested and simultaneous users share one limit, lifted by the last to leave.

    BLAS libraries have one setting for the whole process, so users that saved and restored it each for themselves
    could leave the limit behind for ever.
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
    """Make this thread's settings count.

    Newer versions of threadpoolctl silently ignores every thread but the first that set a limit; ours may be
    lifted by another thread than the one that set it, and the lock already keeps our threads apart.
    """
    for library in _controller.lib_controllers:
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)
