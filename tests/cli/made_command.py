"""A command for tests: it does what it was told to."""

from __future__ import annotations

from collections.abc import Callable

import typer

ACTIONS: list[Callable[[], None]] = []


def run(number: int = typer.Option(1, "--number", help="A number.")) -> None:
    """Do what was asked for."""
    for action in ACTIONS:
        action()
