"""Ctrl-C and SIGTERM: both interrupt the work, and commands save partial results where they can."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import typer

from argrank._uninterrupted import SIGNALS
from argrank.errors import printable

_seen: list[int] = []


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Handle SIGTERM, which containers and batch systems send, like Ctrl-C."""
    _seen.clear()
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    # a signal that our parent process ignores (nohup) stays ignored
    before = {one: signal.getsignal(one) for one in SIGNALS if signal.getsignal(one) is not signal.SIG_IGN}
    for one in before:
        signal.signal(one, _interrupt)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextlib.contextmanager
def going_on(folder: Path | None) -> Iterator[None]:
    """End interrupted work with exit code 3 if a folder holds the finished part, and print its name."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        typer.echo(
            f"argrank: interrupted: run the same command again to continue from {printable(str(folder))}", err=True
        )
        raise typer.Exit(3) from None


def was_interrupted() -> bool:
    """Tell whether a signal has arrived since the command started."""
    return bool(_seen)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _seen.append(number)
    raise KeyboardInterrupt
