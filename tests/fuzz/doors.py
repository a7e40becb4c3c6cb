"""Perverse and allowed values for the arguments of every public function and method: only errors of argrank come out.

``python -m tests.fuzz.doors [NAME]`` tries every value in every argument, one at a time; the area ``doors`` of ``make
fuzz`` draws values for one to three arguments at once.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.public import SIZES, Call, public_calls
from tests.fuzz.values import PERVERSE, TheirOwnError, borders, right

from argrank._declared import arguments_of
from argrank.errors import ArgrankError

Case = tuple[str, Callable[[], Any]]
SLOW = 5.0  # seconds of a call that are told
OUTPUTS = ("path", "output", "folder")  # names under which calls write: only what cannot be a name is tried there


def doors(seed: int, folder: Path) -> Iterator[Case]:
    """Yield calls in which one to three arguments of a call that works are replaced."""
    rng = random.Random(seed)
    os.chdir(folder)  # texts are taken for names of files and folders
    calls = public_calls(folder)
    while True:
        name = rng.choice(list(calls))
        call = calls[name]
        known = parameters(call)
        if not known:
            continue
        chosen = rng.sample(known, min(len(known), rng.choice((1, 1, 1, 2, 3))))
        given = {one.name: rng.choice(values_for(call, one)) for one in chosen}
        told = ", ".join(f"{argument}={value!r:.60}" for argument, value in given.items())
        yield f"{name}({told})", lambda call=call, given=given: attempt(call, given)


def every(folder: Path, only: str | None = None) -> Iterator[Case]:
    """Yield every value in every argument, one at a time."""
    os.chdir(folder)  # texts are taken for names of files and folders
    for name, call in public_calls(folder).items():
        for parameter in parameters(call) if only in (None, name) else []:
            for value in values_for(call, parameter):
                told = f"{name}({parameter.name}={value!r:.60})"
                yield told, lambda call=call, one=parameter.name, value=value: attempt(call, {one: value})


def parameters(call: Call) -> list[inspect.Parameter]:
    """Return the parameters of a function that values are tried in."""
    return [one for one in inspect.signature(call.function).parameters.values() if one.kind != one.VAR_KEYWORD]


def values_for(call: Call, parameter: inspect.Parameter) -> list[Any]:
    """Return perverse values and those that the declaration allows, but no sizes that would only take long."""
    known = arguments_of(call.function).get(parameter.name)
    values = [*PERVERSE, *([] if known is None or known.is_open else [*right(known), *borders(known)])]
    if parameter.name in SIZES:
        return [one for one in values if not (isinstance(one, int | float | np.number) and one > 1000)]
    if call.writes and parameter.name in OUTPUTS:
        return [one for one in values if not isinstance(one, str) or "\0" in one or len(one) > 1000]
    return values


def attempt(call: Call, given: dict[str, Any]) -> None:
    """Call with other values; errors of ours are fine, and what a caller's own function raises is the caller's."""
    signature = inspect.signature(call.function)
    rest = [
        value for name, value in given.items() if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
    ]
    named = {**call.given, **{name: value for name, value in given.items() if rest == [] or value is not rest[0]}}
    with contextlib.suppress(ArgrankError, TheirOwnError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not rest:
            found = call.function(**named)
        else:
            leading = [named.pop(one.name) for one in signature.parameters.values() if one.kind < one.VAR_POSITIONAL]
            found = call.function(*leading, *rest, **named)
        if inspect.isgenerator(found):
            list(found)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


def main(only: str | None) -> int:
    """Try everything, print what leaks (a line for every argument and kind of error), and return how much."""
    leaks, tried, begin = Counter[str](), 0, time.monotonic()
    logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        for name, call in every(Path(folder), only):
            tried, place = tried + 1, name.partition("=")[0]
            started = time.monotonic()
            try:
                call()
            except Exception as error:
                leaks[f"{place} {type(error).__name__}"] += 1
                if leaks[f"{place} {type(error).__name__}"] == 1:
                    print(f"{name!a}: {type(error).__name__}: {str(error)!a:.150}", flush=True)
            if time.monotonic() - started > SLOW:
                print(f"{name!a} took {time.monotonic() - started:.0f} s", flush=True)
    print(f"{tried:,} calls, {leaks.total()} leaks, {time.monotonic() - begin:.0f} s")
    return leaks.total()


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1] if len(sys.argv) > 1 else None)))
