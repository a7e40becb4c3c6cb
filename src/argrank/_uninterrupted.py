"""Work that Ctrl-C must not interrupt: compiling, and importing compiled libraries, which happen once per process."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C, and other signals whose handler may raise, until the work is done.

    A library whose import was interrupted stays half loaded, and the process cannot use it any more. Python handles
    signals only in the main thread, so work on other threads is never interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = {one: handler for one in SIGNALS if callable(handler := signal.getsignal(one))}
    try:
        for one in before:
            signal.signal(one, lambda number, frame: waiting.append(number))
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        if waiting:
            signal.raise_signal(waiting[0])
