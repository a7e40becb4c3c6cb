"""Callbacks in LightGBM's manner, before and after every round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from argrank.errors import OptionError, shown
from argrank.rankers._trace import Watcher
from argrank.rankers.boosted._boosters import Boosters


def ordered_callbacks(given: Sequence[Callable[[Any], Any]] | None) -> tuple[list[Any], list[Any]]:
    """Return the callbacks before and after a round, in LightGBM's order."""
    if given is not None and not (isinstance(given, Iterable) and all(callable(one) for one in given)):
        raise OptionError(f"callbacks: expected a list of functions, got {shown(given)}")
    ordered = sorted(given or (), key=lambda one: getattr(one, "order", 0))
    before = [one for one in ordered if getattr(one, "before_iteration", False)]
    return before, [one for one in ordered if one not in before]


def call_all(
    callbacks: list[Any],
    measure: Any,
    boosters: Boosters,
    number: int,
    n_rounds: int,
    row: Mapping[str, float] | None,
    watcher: Watcher,
) -> int | None:
    """Call callbacks as LightGBM does; return the best round where one of them ends the training."""
    if not callbacks:
        return None
    import lightgbm
    from lightgbm.callback import CallbackEnv, EarlyStopException

    result = getattr(lightgbm, "EvalResult", lambda *values: values)  # a plain tuple before LightGBM 4.7
    name, parts = str(measure), [] if row is None else watcher.validations
    seen = [result(part.column, name, row[part.column], True) for part in parts if row is not None]
    for callback in callbacks:
        for booster in boosters.boosters:
            try:
                callback(CallbackEnv(booster, booster.params, number, 0, n_rounds, seen))
            except EarlyStopException as stop:
                return int(stop.best_iteration)
            if row is not None:
                break  # what only looks is called once
    return None
