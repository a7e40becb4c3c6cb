"""How a solver's work survives its process: it offers its state after every iteration, and begins from a kept one.

A state is a mapping of names to arrays, numbers, texts, None, lists and further mappings: all that the rest of the work
depends on, so that it goes on with the same bits. A solver never changes an array that it has offered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Protocol

import numpy as np

from argrank.solvers._result import Result
from argrank.solvers.collapse import Collapse

State = Mapping[str, Any]


class Keeper(Protocol):
    """Who keeps the states of one solve after the other."""

    def resumed(self) -> State | None:
        """Return the state from which to go on, once; None to begin."""

    def offer(self, state: State) -> None:
        """Take note of a state; it may be written to a file."""

    def finished(self) -> State | None:
        """Begin the next solve: return its result, as ``finish`` got it, if it was finished before."""

    def finish(self, result: State) -> None:
        """Take note of the result of a solve."""


class Nested:
    """The keeper of a solver inside another one, whose own state goes along."""

    def __init__(self, keeper: Keeper, outer: State, inner: State | None) -> None:
        self._keeper, self._outer, self._inner = keeper, outer, inner

    def resumed(self) -> State | None:
        """Return the inner state from which to go on, once."""
        inner, self._inner = self._inner, None
        return inner

    def offer(self, state: State) -> None:
        """Offer both states."""
        self._keeper.offer({"outer": self._outer, "inner": state})

    def finished(self) -> State | None:
        """Return None: an inner solve is part of the outer one."""
        return None

    def finish(self, result: State) -> None:
        """Do nothing: the outer solve goes on."""


def keeping(keeper: Keeper | None, solve: Callable[[], Result]) -> Result:
    """Solve, unless the solve was finished before; let the keeper know the result."""
    if keeper is None:
        return solve()
    found = keeper.finished()
    if found is not None:
        proof = found.get("collapsed")
        return Result(**{**found, "collapsed": None if proof is None else Collapse(*proof)})
    result = solve()
    if result.reason != "interrupted":
        keeper.finish(result_state(result))
    return result


def result_state(result: Result) -> State:
    """Return the fields of a result of which a new one can be made."""
    given = {field.name: getattr(result, field.name) for field in fields(result)}
    return {name: value for name, value in given.items() if isinstance(value, float | int | str | np.ndarray | tuple)}


def random_state(random: np.random.Generator) -> State:
    """Return the state of a generator of random numbers."""
    return dict(random.bit_generator.state)


def restore_random(random: np.random.Generator, state: State) -> None:
    """Put a generator of random numbers into a state."""
    random.bit_generator.state = dict(state)
