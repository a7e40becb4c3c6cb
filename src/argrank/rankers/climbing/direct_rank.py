"""DirectRank: coordinate ascent on the measure itself, by exact line search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from argrank._blas import single_threaded_blas
from argrank._declared import Count, CountFromZero, NotNegative
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.folds import has_enough, left_out
from argrank.errors import InputError
from argrank.evaluation.evaluate import evaluate
from argrank.linesearch.landscape import Landscape, Value
from argrank.linesearch.search import Placement, search
from argrank.linesearch.step_function import BETTER
from argrank.measures.names import measure as parse_measure
from argrank.models.linear import LinearModel
from argrank.models.model import Stayed
from argrank.rankers.cheap_models import rank_svm_weights
from argrank.rankers.climbing.climbing_ranker import ClimbingRanker, Columns, Iterate, Rounds, nothing_to_learn
from argrank.rankers.trace import Outcome, Watcher
from argrank.rankers.training_data import notes_of_scales
from argrank.solvers import least_squares
from argrank.solvers.problem import Stop

SURE = 2.0  # standard errors that a climb must gain


@dataclass(eq=False, repr=False, kw_only=True)
class DirectRank(ClimbingRanker):
    """Linear ranker that maximises the training measure, one weight after the other, each by exact line search.

    Tan, Xia, Guo and Wang (2013). Along one weight the measure is a step function; all its steps are found and the best
    interval is taken, so no round lowers the training measure. In training, tied documents are valued by the mean over
    their orders, so a file sorted by label leaks nothing. Features that are constant within every query keep the weight
    0. ``objective_`` is 1 - the training measure; the problem is not convex and there is no ``gap_`` (NaN).

    Use it to fine-tune a linear model for an unusual measure that no other ranker optimises. For NDCG or MAP on few
    queries the climb overfits, so by default it is kept only if cross-validation shows a gain (``folds``); otherwise
    the model is the start, RankSVM.

    Parameters
    ----------
    measure : str, Measure or callable
        What is maximised: any measure, also a function of your own from the labels of a ranking to a number.
    coordinates
        A round moves every weight once, in random order; or it tries all weights and moves only the best of them, of
        equally good ones the one of the greatest likelihood (Algorithm 1, lines 9 to 11).
    n_starts
        Number of starts: RankSVM, equal weights, least squares, then random weights. More raise the training
        measure, and overfit few queries.
    point
        Where in the best interval: in the middle, or where the order by label is most likely by Plackett and Luce
        (section 2.3), which is mostly an end of the interval and takes twice the time. With "likelihood", weights also
        move within their interval if no other is better.
    folds
        The climb from the first start is tried by cross-validation over queries in this number of folds: the model is
        the start unless held-out queries gain more than two standard errors, or if there are fewer than five queries
        per fold. 0 always climbs, as do fits with validation data, whose best iterate is used, and fits with ``bags``.
        ``gain_`` is the mean gain and ``gain_error_`` its standard error, NaN if not tried; ``stayed_`` tells whether
        the start was kept.
    bags
        Against overfitting few queries: if above 0, the weights are the mean of those of this number of climbs,
        each on queries drawn with replacement. With validation data, choosing the best iterate helps as much.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 20, 5, random_state=1)
    >>> ranker = ar.make_ranker("direct-rank", folds=0).fit(data)
    >>> bool((np.diff(ranker.trace_["measure"]) >= 0).all())
    True
    """

    coordinates: Literal["cyclic", "greedy"] = "cyclic"
    n_starts: Count = 1
    point: Literal["middle", "likelihood"] = "middle"
    folds: CountFromZero = 3
    bags: CountFromZero = 0
    tol: NotNegative = 1e-5

    @property
    def _reported(self) -> Any:
        asked = self.measure if self.scoring is None else self.scoring
        return parse_measure(asked) if callable(asked) else asked

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        self.gain_ = self.gain_error_ = np.nan
        rng = np.random.default_rng(self.random_state)
        data = self._mixed(data, rng)
        if not self._landscape(data).is_defined:
            return nothing_to_learn(data.n_features, watcher)
        watcher.notes += notes_of_scales(data, self.n_jobs, penalised=False)
        if self.bags == 0:
            judged = self.folds > 1 and start is None and not watcher.validations
            climbs = not judged or self._kept_verdict(data, watcher)
            outcome = self._search(data, watcher, start, rng, climbs)
            if climbs:
                return outcome
            known = (None, None) if np.isnan(self.gain_) else (self.gain_, self.gain_error_)
            return outcome._replace(stayed=Stayed("RankSVM", 0.0, "the climb", *known))
        columns = Columns(data)
        bagged = _mean_weights(data, columns, self.bags, rng, lambda part: self._search(part, watcher, start, rng))
        weights = cast(LinearModel, bagged.model).weights
        value = self._landscape(data).value(columns.scores(weights)).mean
        watcher(weights, {"objective": 1.0 - value, "measure": value})
        return bagged._replace(objective=1.0 - value)

    def _search(
        self,
        data: Dataset,
        watcher: Watcher,
        start: Floats | None,
        rng: np.random.Generator,
        climbs: bool = True,
    ) -> Outcome:
        columns, n_starts = Columns(data), self.n_starts if climbs else min(self.n_starts, 1)
        walker = _Walker(self._landscape(data), columns, self.point, rng)
        starts = iter([start]) if start is not None else starting_weights(data, columns, n_starts, rng, self.n_jobs)
        return self._climb(starts, walker.rounds(self.coordinates), watcher, rng, climbs)

    def _kept_verdict(self, data: Dataset, watcher: Watcher) -> bool:
        """Tell whether to climb, from the checkpoint if it has it."""
        done = watcher.keeper.finished()
        if done is None:
            done = {"climbs": self._is_worth_climbing(data), "gain": self.gain_, "error": self.gain_error_}
            watcher.keeper.finish(done)
        self.gain_, self.gain_error_ = done["gain"], done["error"]
        return bool(done["climbs"])

    def _is_worth_climbing(self, data: Dataset) -> bool:
        """Tell whether a whole climb gains on queries left out, by more than chance."""
        if not has_enough(data, self.folds):
            return False
        rng = np.random.default_rng(self.random_state)
        gains = np.full(data.n_queries, np.nan)
        for train, held, own in left_out(data, self.folds, rng):
            if self._landscape(train).is_defined:
                start, end = self._ends_of_climb(train, rng)
                gains[own] = self._of_queries(end, held) - self._of_queries(start, held)
        found = gains[np.isfinite(gains)]
        if len(found) < 2:
            return False
        self.gain_, self.gain_error_ = float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))
        return self.gain_ > SURE * self.gain_error_

    def _ends_of_climb(self, data: Dataset, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the weights at the first start and those to which a climb leads from there."""
        columns = Columns(data)
        walker = _Walker(self._landscape(data), columns, self.point, rng)
        climb = walker.rounds(self.coordinates)(next(starting_weights(data, columns, 1, rng, self.n_jobs)), None)
        start = here = next(climb)
        for _ in range(self.max_iter):
            before, here = here, next(climb)
            if here.value - before.value <= self.tol:
                break
        return start.weights, here.weights

    def _of_queries(self, weights: Floats, data: Dataset) -> Floats:
        with single_threaded_blas():
            scores = LinearModel(weights).scores(data.X)
        (values,) = evaluate(data.to_caller(scores), data, self._reported, ties=self._ties).values.values()
        return np.asarray(values)


class _Walker:
    """Weights on their way: rounds of line searches from given weights."""

    def __init__(self, landscape: Landscape, columns: Columns, point: str, rng: np.random.Generator) -> None:
        self.landscape, self.columns, self.point, self.rng = landscape, columns, point, rng

    def rounds(self, coordinates: str) -> Rounds:
        """Return how rounds are made: it yields the weights as they begin and after every round."""
        move = self._cyclic if coordinates == "cyclic" else self._greedy

        def rounds(weights: Floats, left: Floats | None) -> Iterator[Iterate]:
            place = self._stand(self.columns.normed(weights))
            placement = self._placement(place)
            place = place if left is None else self._stand(left)
            while True:
                yield Iterate(place.weights, place.value.mean)
                place = self._after(place, move(place, placement))

        return rounds

    def _cyclic(self, place: _Place, placement: Placement) -> Floats:
        """Return the weights after a round in which each of them moves once."""
        weights, scores, here = place.weights.copy(), place.scores, place.value
        for number in self.rng.permutation(self.columns.moving).tolist():
            slopes = self.columns.column(number)
            found, here = search(self.landscape, scores, slopes, here, placement=placement)
            if found.step != 0.0:
                weights[number] += found.step
                scores = scores + found.step * slopes
        return weights

    def _greedy(self, place: _Place, placement: Placement) -> Floats:
        """Return the weights after a round in which the best of all single moves is made."""
        likelihood = placement.likelihood or self.landscape.wanted(place.scores)
        best: tuple[float, float, int, float] | None = None
        for number in self.columns.moving.tolist():
            slopes = self.columns.column(number)
            found, _ = search(self.landscape, place.scores, slopes, place.value, placement=placement)
            if best is not None and found.value < best[0] - BETTER:
                continue
            likely = float(likelihood(place.scores, slopes)(found.step)[0])
            if best is None or found.value > best[0] + BETTER or likely > best[1]:
                best = (found.value, likely, number, found.step)
        weights = place.weights.copy()
        if best is not None:
            weights[best[2]] += best[3]
        return weights

    def _placement(self, place: _Place) -> Placement:
        if self.point == "middle":
            return Placement(point="middle", settle=False)
        return Placement(point="likelihood", likelihood=self.landscape.wanted(place.scores))

    def _stand(self, weights: Floats) -> _Place:
        scores = self.columns.scores(weights)
        return _Place(weights, scores, self.landscape.value(scores))

    def _after(self, before: _Place, weights: Floats) -> _Place:
        """Return the place of the weights after a round; should rounding have cost more than was won, stay."""
        after = self._stand(self.columns.normed(weights))
        return after if after.value.mean >= before.value.mean else before


class _Place(NamedTuple):
    """Weights, their scores and the value there."""

    weights: Floats
    scores: Floats
    value: Value


def _mean_weights(
    data: Dataset, columns: Columns, n_bags: int, rng: np.random.Generator, fit: Callable[[Dataset], Outcome]
) -> Outcome:
    """Fit every sample and return the mean of the weights, each vector of length 1 in features of unit spread.

    The objective is that of the last fit; the caller replaces it by that of the mean. Ctrl-C ends the bagging with the
    mean so far.
    """
    found: list[Floats] = []
    n_iter, stop, note = 0, Stop.DONE, None
    while len(found) < n_bags and stop is not Stop.INTERRUPTED:
        try:
            outcome = fit(_resampled(data, rng))
        except KeyboardInterrupt:
            if not found:
                raise
            stop, note = Stop.INTERRUPTED, "interrupted"
            break
        weights = cast(LinearModel, outcome.model).weights
        length = float(np.linalg.norm(weights * columns.spread))
        found.append(weights / (length if length > 0 else 1.0))
        n_iter += outcome.n_iter
        if not outcome.stop.is_done:
            stop, note = outcome.stop, outcome.note
    return Outcome(LinearModel(np.mean(found, axis=0)), outcome.objective, np.nan, n_iter, stop, note)


def _resampled(data: Dataset, rng: np.random.Generator) -> Dataset:
    """Return as many queries as there are, drawn with replacement; one drawn twice has twice the weight."""
    counts = np.bincount(rng.integers(0, data.n_queries, data.n_queries), minlength=data.n_queries).astype(np.float64)
    if data.query_weight is not None:
        counts *= data.query_weight
    part = data.select(counts > 0)
    targets: dict[str, Any] = {"y" if part.gains is None else "gains": part.targets}
    return Dataset(part.X, group=part.sizes, query_weight=counts[counts > 0], **targets)


def starting_weights(
    data: Dataset, columns: Columns, n_starts: int, rng: np.random.Generator, n_jobs: int | None
) -> Iterator[Floats]:
    """Yield the weights of ``n_starts`` starts: RankSVM, equal weights, least squares, then random ones.

    Equal and random weights are meant for features of unit spread. Warm starts with zero weights are left out. Features
    that change no ranking have weight 0.
    """
    weight = None if data.query_weight is None else np.repeat(data.query_weight, data.sizes)
    makers = (
        lambda: _rank_svm(data, n_jobs),
        lambda: columns.scaled(np.ones(columns.n_features)),
        lambda: least_squares.solve(data.X, data.targets, 0.0, weight, n_jobs).w,
    )
    for number in range(n_starts):
        weights = makers[number]() if number < len(makers) else None
        if weights is None or not weights.any():
            weights = columns.scaled(rng.standard_normal(columns.n_features))
        yield columns.useful(weights)


def _rank_svm(data: Dataset, n_jobs: int | None) -> Floats:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return rank_svm_weights(data, n_jobs, rough=False)
    except InputError:  # features so large that their squares overflow
        return np.zeros(data.n_features)
