"""What writes a target, and how the target's arithmetic differs from ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from argrank._types import Floats
from argrank.deploy.options import Files, Options
from argrank.deploy.plain import Plain


@runtime_checkable
class Writes(Protocol):
    """What the simplest writer has: a module or an object with two functions."""

    def write(self, plain: Plain, options: Options, /) -> Files:
        """Return the files by name."""
        ...

    def simulate(self, files: Files, options: Options, X: Floats, /) -> Floats:
        """Score rows from the written files, with the engine's arithmetic."""
        ...


@dataclass(frozen=True)
class Writer:
    """The two functions of a target, and what sets its scores apart where something does."""

    write: Callable[[Plain, Options], Files]
    simulate: Callable[[Files, Options, Floats], Floats]
    constant: Callable[[Plain], float] = lambda plain: plain.constant  # what the written scores lack
    seen: Callable[[Floats], Floats] = lambda X: X  # the rows as the engine reads them
    misses: Callable[[Plain], Floats | None] = lambda plain: None  # how far each cut is from what the engine can test
    missing_is_zero: bool = False  # whatever was asked for
    any_order: bool = False  # whether it adds trees in float32 in an order that is not simulated
