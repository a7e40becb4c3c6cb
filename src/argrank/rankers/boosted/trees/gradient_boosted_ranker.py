"""Base class of gradient-boosted rankers, for any tree grower: linear start, several seeds, rounds, early stopping."""

from __future__ import annotations

import copy
import functools
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from argrank._declared import Above, AtLeast, AtMost, Below, Count32, NotNegative, Positive, Share
from argrank._types import Floats
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, shown
from argrank.models.linear import LinearModel
from argrank.models.model import Model
from argrank.rankers.boosted.trees.boosted_ranker import BoostedRanker, check_starts, row_weights, stopping_value
from argrank.rankers.boosted.trees.boosting import Boosters, Loss, Starts, State
from argrank.rankers.boosted.trees.lightgbm import feature_columns, said, seed_of
from argrank.rankers.boosted.trees.linear_start import linear_start
from argrank.rankers.estimator import check_parameters
from argrank.rankers.trace import Interruption, Outcome, Watcher
from argrank.solvers.problem import Stop


@dataclass(eq=False, repr=False, kw_only=True)
class GradientBoostedRanker(BoostedRanker):
    """Trees grown on the gradients of a loss.

    Parameters
    ----------
    n_trees
        Number of rounds, one tree each. Large data needs more of them: set it high and let
        ``early_stopping`` end the fit.
    bagging_fraction
        Share of the documents, drawn for each tree, that it is grown on. Raise it if there are few documents.
    l2
        Penalty on the values of the leaves. Raise it if training is far better than validation.
    monotone : mapping of feature name or column number to 1 or -1, optional
        Features with which the score may only rise (1) or only fall (-1); a linear start respects it too. Categories
        have no order and cannot be monotone.
    n_seeds
        Number of boosters whose mean is the model; they differ in their random draws. More give more stable results,
        and multiply the cost of training and prediction.
    early_stopping
        Stop when ``scoring`` on the first ``eval_set`` has not improved for this many rounds; keep the best round.
        Without an ``eval_set`` a share of the queries is held out; the number of rounds found is then grown on all.
    holdout
        Share of the queries that is held out for early stopping, between 0 and 1. It is used only with
        ``early_stopping`` and without an ``eval_set``.
    random_state
        Seeds the draws of rows and features.
    verbose
        -1 hides the progress bar; 1 records the objective after every round even if that costs more than a tree.
    """

    n_trees: Count32 = 180
    learning_rate: Positive = 0.05
    feature_fraction: Share = 0.5
    bagging_fraction: Share = 0.6
    l2: NotNegative = 0.0
    monotone: Mapping[int | str, int] | None = None
    n_seeds: Annotated[int, AtLeast(1), AtMost(1000)] = 1
    holdout: Annotated[float, Above(0), Below(1)] = 0.2

    @abstractmethod
    def _loss(self, data: Dataset) -> Loss:
        """Return the loss on the data."""

    @abstractmethod
    def _boosters(self, data: Dataset, parts: Sequence[Dataset], loss: Loss, starts: Starts, kept: State) -> Boosters:
        """Return boosters that begin with the scores ``starts`` (None for 0), or resume from a state."""

    @abstractmethod
    def finished_model(self, boosters: Any, sizes: Sequence[int], start: Any, offset: float, data: Dataset) -> Model:
        """Return the model of the given number of rounds of each booster."""

    @property
    def _callbacks(self) -> Sequence[Callable[[Any], Any]] | None:
        """The callbacks before and after every round."""
        return None

    def boosters(
        self, data: Dataset, parts: Sequence[Dataset], kept: Mapping[str, Any] | None = None
    ) -> tuple[Boosters, Loss, Model | None, float]:
        """Return boosters at their start, or resumed.

        Returned with them are the loss, the model that they start from and the constant on top of it.
        """
        self._check()
        loss = self._loss(data)
        model = self._start_model(data, loss)
        begin = self._begin(model, data)
        offset = loss.offset(begin)
        starts = None
        if model is not None or offset != 0.0:
            starts = [scores + offset for scores in (begin, *(self._begin(model, one) for one in parts))]
            check_starts(*starts)
        return self._boosters(data, parts, loss, starts, kept), loss, model, offset

    def _begin(self, start: Model | None, data: Dataset) -> Floats:
        """Return the initial outputs of the rows."""
        return np.zeros(data.n_documents) if start is None else start.part_scores(data.X, data.indptr)

    def _seeds(self) -> list[int]:
        further = [seed_of(self.random_state, number) for number in range(1, self.n_seeds)]
        return [int(self.random_state), *further]

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        self._check()
        if self.early_stopping is None or watcher.validations:
            return Growing(self, data, watcher, self.n_trees, self.early_stopping, self._callbacks).run()
        if data.n_queries < 2:
            raise InputError("early_stopping: expected an eval_set, or queries to hold out, got a single query")
        found: Outcome | None = None
        rest, held = data.split(1.0 - self.holdout, self.holdout, random_state=self.random_state)
        searching = copy.copy(self)
        if has_missing(data.X):  # perhaps only in the held-out part, which a linear start could not score
            searching.start = None
        done = watcher.keeper.finished()
        if done is None:
            search = Watcher(type(self).__name__, self._validations([held]), self.verbose)
            search.trace, search.keeper = watcher.trace, watcher.keeper
            with search:
                found = Growing(searching, rest, search, self.n_trees, self.early_stopping, self._callbacks).run()
            done = {"n_iter": found.n_iter}
            if found.stop is not Stop.INTERRUPTED:
                watcher.keeper.finish(done)
        silent = Watcher(type(self).__name__, [], -1)
        if found is None or found.stop is not Stop.INTERRUPTED:  # else a resumed fit continues the search
            silent.keeper = watcher.keeper
        grown = Growing(self, data, silent, max(1, done["n_iter"]), None, None).run()
        return grown if found is None or found.stop.is_done else grown._replace(stop=found.stop, note=found.note)

    def _start_model(self, data: Dataset, loss: Loss) -> Model | None:
        if self.start is None or self.prepare == "always":  # it could not score values that are missing later
            return None
        left_out = feature_columns("categorical_features", self.categorical_features, data)
        linear = linear_start(data, row_weights(data), self._signs(data), left_out, self.n_jobs)
        return None if linear is None else LinearModel(linear.weights * loss.scale(linear.scores(data.X)))

    def _signs(self, data: Dataset) -> Floats:
        """Return 1, -1 or 0 for every feature: the allowed direction of the score."""
        signs = np.zeros(data.n_features)
        unordered = feature_columns("categorical_features", self.categorical_features, data)
        for feature, sign in mapping("monotone", self.monotone).items():
            if isinstance(sign, bool) or not isinstance(sign, int | np.integer) or sign not in (1, -1):
                raise OptionError(f"monotone: expected 1 or -1 for {feature!r}, got {shown(sign)}")
            (column,) = feature_columns("monotone", [feature], data)
            if column in unordered:
                raise OptionError(f"monotone: expected features with an order, got {feature!r}, which is categorical")
            signs[column] = sign
        return signs

    def _check(self) -> None:
        check_parameters(self)


def mapping(name: str, given: Any) -> Mapping[Any, Any]:
    """Return a parameter that is a mapping, or None for an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise OptionError(f"{name}: expected a dict, got {shown(given)}")
    return given or {}


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
                except (lightgbm.basic.LightGBMError, TypeError, ValueError) as error:
                    if isinstance(error, TypeError | ValueError) and callback.__module__ != "lightgbm.callback":
                        raise  # from a function of the user's own
                    raise OptionError(f"callbacks: LightGBM says: {said(error)}") from error
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
