"""tune_weights: the weights with which the scores of several systems are added, tuned on the measure itself."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._tables import measure_text, text_lines
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.errors import InputError, MissingExtraError, OptionError, shown
from argrank.linesearch.landscape import Landscape
from argrank.linesearch.search import LineSearch, Placement, search
from argrank.linesearch.step_function import BETTER

ROUNDS = 50  # at most; a round that adds nothing ends the search much earlier


@dataclass(frozen=True, eq=False)
class TunedWeights:
    """Weights of systems, and the measure they reach.

    Attributes
    ----------
    weights : dict
        Name of the system to weight; their magnitudes add up to 1. ``fuse`` applies them.
    value : float
        The measure on the data the weights were tuned on.
    cv_value : float
        The measure on queries the weights were not tuned on, by cross-validation; NaN without.
    single : dict
        Name of the system to its own measure.
    curves : dict
        Name of the system to a LineSearch: the measure along this weight, the others as they are, whose
        ``breakpoints`` and ``values`` are given in terms of the weight itself.
    measure : str
    """

    weights: dict[str, float]
    value: float
    cv_value: float
    single: dict[str, float]
    curves: dict[str, LineSearch]
    measure: str

    def fuse(self, scores_by_system: Mapping[str, Any]) -> Floats:
        """Return the weighted sum of scores, one array for each system."""
        if set(scores_by_system) != set(self.weights):
            raise InputError(f"scores: expected those of {', '.join(self.weights)}, got {', '.join(scores_by_system)}")
        parts = [weight * np.asarray(scores_by_system[name], np.float64) for name, weight in self.weights.items()]
        return np.asarray(np.sum(parts, axis=0))

    def plot(self) -> Any:
        """Return a matplotlib figure: the measure along each weight, a dot at the weight that was chosen."""
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("matplotlib", "plot", "plotting the weights") from error
        figure = Figure(figsize=(7, 2.2 * len(self.curves)), layout="constrained")
        for axes, (name, curve) in zip(
            figure.subplots(len(self.curves), squeeze=False)[:, 0], self.curves.items(), strict=True
        ):
            weight = self.weights[name]
            reach = 2.0 * max(abs(weight), 1.0 / len(self.weights))
            inside = np.abs(curve.breakpoints - weight) < reach
            ends = np.concatenate([[weight - reach], curve.breakpoints[inside], [weight + reach]])
            first = int(np.searchsorted(curve.breakpoints, weight - reach))
            values = curve.values[first : first + len(ends) - 1]
            axes.stairs(values, ends, baseline=None)
            axes.plot([weight], [self.value], "o")
            axes.set(xlabel=f"weight of {name}", ylabel=self.measure)
        return figure

    def __repr__(self) -> str:
        last = f"{self.measure}: {self.value:.4f} together"
        if not math.isnan(self.cv_value):
            last += f", {self.cv_value:.4f} cross-validated"
        rows = [(name, f"{weight:.4f}", measure_text(self.single[name])) for name, weight in self.weights.items()]
        return "\n".join([*text_lines(("system", "weight", f"{self.measure} alone"), rows), last])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def tune_weights(
    scores_by_system: Mapping[str, Any],
    data: Dataset,
    measure: Any = "ndcg@10",
    *,
    cv: int | None = 5,
    n_starts: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> TunedWeights:
    """Tune the weights of a sum of scores, say of BM25, an embedding and popularity, so that a measure is greatest.

    One weight at a time is moved to the best place there is (``line_search``), in rounds, until a round adds nothing;
    from equal weights, from each system alone and from random weights. Scores are taken as they are, so scale them as
    they will be served. Ties are valued by the mean over their orders.

    Parameters
    ----------
    scores_by_system : mapping from name to array of shape (n_documents,)
        In the caller's row order.
    data : Dataset
        The judged documents; features are not looked at.
    measure : str, Measure
    cv : int, optional
        Folds of queries of the cross-validation that estimates the measure on new queries; None for none.
    n_starts : int
        Starts with random weights, in addition to equal weights and each system alone.
    random_state : int
    n_jobs : int, optional

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 20, 3, random_state=1)
    >>> tuned = ar.tune_weights({"bm25": data.X[:, 0], "vector": data.X[:, 1]}, data, "ndcg@10", cv=None)
    >>> tuned.value >= max(tuned.single.values())
    True
    """
    if not scores_by_system:
        raise InputError("scores_by_system: expected at least one system, got none")
    if n_starts < 0 or (cv is not None and (not isinstance(cv, int) or cv < 2)):
        raise OptionError(f"expected n_starts from 0 and cv from 2 up or None, got {n_starts!r} and {shown(cv)}")
    names = list(scores_by_system)
    systems = np.array(
        [
            data.from_caller(checks.numbers(scores, data.n_documents, f"scores of {name}", "score"))
            for name, scores in scores_by_system.items()
        ]
    )
    landscape = Landscape(data, measure, "expected", n_jobs)
    if not landscape.is_defined:
        raise InputError(f"measure {landscape.measure.name}: expected a query for which it is defined, got none")
    weights, value = _tune(landscape, systems, n_starts, random_state)
    unseen = math.nan
    if cv is not None:
        unseen = _cross_validate(data, systems, landscape, cv, n_starts, random_state)
    scores = weights @ systems
    here = landscape.value(scores)
    curves = {}
    for number, name in enumerate(names):
        found, _ = search(landscape, scores, systems[number], here, placement=Placement(point="middle"))
        curves[name] = LineSearch(
            found.step + weights[number], found.value, found.start, found.breakpoints + weights[number], found.values,
            (found.interval[0] + weights[number], found.interval[1] + weights[number]),
        )  # fmt: skip
    single = {name: landscape.value(systems[number]).mean for number, name in enumerate(names)}
    return TunedWeights(
        dict(zip(names, weights.tolist(), strict=True)), value, unseen, single, curves, landscape.measure.name
    )


def _tune(landscape: Landscape, systems: Floats, n_starts: int, random_state: int) -> tuple[Floats, float]:
    """Return the best weights of all starts, their magnitudes adding up to 1, and their value."""
    rng = np.random.default_rng(random_state)
    spread = systems.std(axis=1)
    scale = np.divide(1.0, spread, out=np.zeros(len(systems)), where=spread > 0)
    starts = [scale, *np.diag(np.ones(len(systems))), *(scale * rng.uniform(-1, 1, (n_starts, len(systems))))]
    best, greatest = starts[0], -np.inf
    for start in starts:
        weights, value = _ascend(landscape, systems, start / (np.abs(start).sum() or 1.0))
        if value > greatest + BETTER:
            best, greatest = weights, value
    return best, greatest


def _ascend(landscape: Landscape, systems: Floats, weights: Floats) -> tuple[Floats, float]:
    weights, placement = weights.copy(), Placement(point="middle", settle=False)
    scores = weights @ systems
    here = landscape.value(scores)
    for _ in range(ROUNDS):
        before = here.mean
        for number in range(len(systems)):
            found, here = search(landscape, scores, systems[number], here, placement=placement)
            weights[number] += found.step
            scores = scores + found.step * systems[number]
        weights /= np.abs(weights).sum() or 1.0
        scores = weights @ systems
        here = landscape.value(scores)
        if here.mean <= before + BETTER:
            break
    return weights, here.mean


def _cross_validate(
    data: Dataset, systems: Floats, landscape: Landscape, cv: int, n_starts: int, random_state: int
) -> float:
    """Return the measure of all queries, each scored by weights tuned on the other folds."""
    if data.n_queries < cv:
        raise OptionError(f"cv: expected at most as many folds as the {data.n_queries} queries, got {cv}")
    query = data.query_of_row
    scores = np.empty(data.n_documents)
    fold = np.empty(data.n_queries, np.int64)
    fold[np.random.default_rng(random_state).permutation(data.n_queries)] = np.arange(data.n_queries) % cv
    for number in range(cv):
        train = data.select(fold != number)
        part = Landscape(train, landscape.measure, "expected", landscape.n_jobs)
        rows = fold[query] != number
        weights, _ = _tune(part, systems[:, rows], n_starts, random_state)
        scores[~rows] = weights @ systems[:, ~rows]
    return landscape.value(scores).mean
