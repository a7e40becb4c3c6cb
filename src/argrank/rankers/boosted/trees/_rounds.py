"""The rounds of boosted trees: growing, recording, callbacks, early stopping, keeping the best round."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.rankers.boosted.trees.boosted_ranker import stopping_value
from argrank.rankers.trace import Interruption, Outcome, Watcher

if TYPE_CHECKING:
    from argrank.rankers.boosted.trees.gradient_boosted_ranker import GradientBoostedRanker

Callbacks = Sequence[Callable[[Any], Any]]


class Kept(NamedTuple):
    """The best round so far: rounds grown, rounds of each booster, value on validation data, training outputs."""

    n_rounds: int
    sizes: list[int]
    value: float
    scores: Floats | None


class Growing:
    """A training of at most ``n_rounds`` rounds on one data set, new or resumed from a checkpoint.

    With ``patience`` it ends when the measure on the first validation set has not improved for as many rounds, and the
    best round is kept; else the last.
    """

    def __init__(
        self,
        ranker: GradientBoostedRanker,
        data: Dataset,
        watcher: Watcher,
        n_rounds: int,
        patience: int | None,
        callbacks: Callbacks | None,
    ) -> None:
        found = watcher.keeper.resumed()
        parts = [one.data for one in watcher.validations]
        self._boosters, self._loss, self._start, self._offset = ranker.boosters(
            data, parts, None if found is None else found["boosters"]
        )
        self._ranker, self._data, self._watcher = ranker, data, watcher
        self._n_rounds, self._patience = n_rounds, patience
        self._before, self._after = ordered_callbacks(callbacks)
        self._reports = self._loss.cheap or ranker.verbose >= 1
        self._kept = Kept(0, self._boosters.sizes, -np.inf, None) if found is None else Kept(**found["kept"])
        self._first = 0 if found is None else found["number"] + 1

    def run(self) -> Outcome:
        """Grow the rounds and return the model of the one that is kept."""
        self._watcher.expect(self._n_rounds)
        with Interruption(lambda: self._kept.n_rounds) as stop:
            for number in range(self._first, self._n_rounds):
                if not self._grow(number):
                    break
                self._watcher.keeper.offer(functools.partial(self._state, number))
        sizes, scores = self._kept.sizes, self._kept.scores
        value = self._loss.value(self._outputs(sizes) if scores is None else scores)
        model = self._ranker.finished_model(self._boosters, sizes, self._start, self._offset, self._data)
        return Outcome(model, value, np.nan, self._kept.n_rounds, stop.stop, stop.note)

    def _grow(self, number: int) -> bool:
        """Grow a round and record it; tell whether to continue."""
        self._call(self._before, number, None)
        if not self._boosters.grow():
            return False
        scores = self._boosters.training_scores() if self._reports else None
        facts = {} if scores is None else {"objective": self._loss.value(scores)}
        row = self._watcher.record([self._loss.score(one) for one in self._boosters.scores()], facts)
        self._judge(number, row, scores)
        stopped = self._call(self._after, number, row)
        if stopped is not None and stopped < number:  # LightGBM's own early stopping
            sizes = [min(stopped + 1, size) for size in self._boosters.sizes]
            self._kept = Kept(stopped + 1, sizes, self._kept.value, self._outputs(sizes))
        in_vain = number + 1 - self._kept.n_rounds
        return stopped is None and (self._patience is None or in_vain < self._patience)

    def _judge(self, number: int, row: Mapping[str, float], scores: Floats | None) -> None:
        """Keep a round that is the best so far; without patience, keep every round."""
        if self._patience is None:
            self._kept = Kept(number + 1, self._boosters.sizes, np.inf, scores)
            return
        value = stopping_value(row, self._watcher)
        if value > self._kept.value:
            seen = self._boosters.training_scores() if scores is None else scores
            self._kept = Kept(number + 1, self._boosters.sizes, value, seen)

    def _outputs(self, sizes: list[int]) -> Floats:
        """Return the outputs for the training rows after the given number of rounds of each booster."""
        if sizes == self._boosters.sizes:
            return self._boosters.training_scores()
        sums = self._boosters.outputs(sizes, self._data) + self._offset
        begin = None if self._start is None else self._ranker._begin(self._start, self._data)
        return sums if begin is None else sums + begin.reshape(len(sums), -1)

    def _state(self, number: int) -> dict[str, Any]:
        return {"number": number, "boosters": self._boosters.state(), "kept": self._kept._asdict()}

    def _call(self, callbacks: list[Any], number: int, row: Mapping[str, float] | None) -> int | None:
        """Call callbacks as LightGBM does; return the best round if one of them ends the training."""
        if not callbacks:
            return None
        import lightgbm
        from lightgbm.callback import CallbackEnv, EarlyStopException

        result = getattr(lightgbm, "EvalResult", lambda *values: values)  # a plain tuple before LightGBM 4.7
        name, parts = str(self._ranker._reported), [] if row is None else self._watcher.validations
        seen = [result(part.column, name, row[part.column], True) for part in parts if row is not None]
        for callback in callbacks:
            for booster in self._boosters.boosters:
                try:
                    callback(CallbackEnv(booster, booster.params, number, 0, self._n_rounds, seen))
                except EarlyStopException as stop:
                    return int(stop.best_iteration)
                if row is not None:
                    break  # callbacks without effect are called once
        return None


def ordered_callbacks(given: Callbacks | None) -> tuple[list[Any], list[Any]]:
    """Return the callbacks before and after a round, in LightGBM's order."""
    if given is not None and not (isinstance(given, Iterable) and all(callable(one) for one in given)):
        raise OptionError(f"callbacks: expected a list of functions, got {shown(given)}")
    ordered = sorted(given or (), key=lambda one: getattr(one, "order", 0))
    before = [one for one in ordered if getattr(one, "before_iteration", False)]
    return before, [one for one in ordered if one not in before]
