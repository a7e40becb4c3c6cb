"""A progress bar for long work: shown on a terminal once the work has lasted a second, silent elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

PATIENCE = 1.0  # seconds of silence before the bar appears


class Progress:
    """Count towards a total (None: unknown); ``with Progress("reading", size) as bar: bar.advance(n)``."""

    def __init__(self, what: str, total: float | None, enabled: bool = True) -> None:
        self.what, self.total, self.done = what, total, 0.0
        self._begin = time.monotonic()
        self._enabled = enabled and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None

    def advance(self, amount: float, note: str = "") -> None:
        """Add ``amount`` to the work done."""
        self.done += amount
        if not self._enabled:
            return
        if self._bar is None and time.monotonic() - self._begin > PATIENCE:
            self._show()
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, description=f"{self.what} {note}".rstrip())

    def expect(self, total: float) -> None:
        """Set the total once it is known: the bar then shows a percentage and the time left."""
        self.total = total
        if self._bar is not None:
            self._bar.update(self._task, total=total)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        title = TextColumn("{task.description}", markup=False)
        columns = (title, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self.what, total=self.total)
        self._bar.start()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
