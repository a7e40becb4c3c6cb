"""DirectRank with trees: every tree's weight by exact line search on the measure itself."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from argrank._declared import CountFromZero, Share
from argrank._types import Floats
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.data.folds import has_enough, left_out
from argrank.errors import InputError, OptionError
from argrank.linesearch.landscape import Value
from argrank.models.linear import LinearModel
from argrank.models.model import Model, Stayed
from argrank.models.stored_trees import read_trees, stored_trees
from argrank.models.sum import EnsembleModel, SumModel, member_sums
from argrank.models.tree import Tree
from argrank.models.trees import tree_sums
from argrank.objectives.objective import Objective
from argrank.rankers.boosted.trees._weak_learners import Descent, Growth, Regressors, Weak, Weighing
from argrank.rankers.boosted.trees.boosted_ranker import LeafwiseRanker, Rounds, row_weights
from argrank.rankers.boosted.trees.lightgbm import feature_columns
from argrank.rankers.boosted.trees.linear_start import joined, linear_start
from argrank.rankers.estimator import Measured
from argrank.rankers.registry import objective
from argrank.rankers.trace import Interruption, Outcome, Watcher
from argrank.rankers.training_data import FORESTS, Work
from argrank.solvers.problem import Stop

CONVERGED = 1e-6  # stop re-weighting when a round gains less


@dataclass(eq=False, repr=False, kw_only=True)
class DirectRankTrees(Measured, LeafwiseRanker):
    """Boosted trees whose weights are the best for ``measure`` on the training data (DirectRank, section 2.4).

    A tree is fitted to the gradient of ``objective`` (least squares: to the residuals, as in MART). Its weight is then
    searched in ``weight_range`` exactly: the measure along the tree's output is a step function, and the best of all
    its steps is taken. Trees are LightGBM's. Needs the extra ``trees``.

    Weights that are best on the training queries overfit. So trees are fitted to the residuals of a linear model, with
    random features and cuts, and only as many as did best on held-out queries. The paper does none of this:
    ``start=None``, ``folds=0``, ``feature_fraction=1.0``, ``extra_trees=False``.

    Parameters
    ----------
    folds
        The number of trees, ``n_trees`` at most, is the one that did best by cross-validation over queries in this
        number of folds; it may be 0, which leaves the start. ``gain_`` is the mean gain over the start found there, NaN
        if not tried. With fewer than five queries per fold the model is the start, if there is one. 0 grows all trees,
        as do the leveraged variant and fits with validation data.
    weight_range : (float, float)
        Least and greatest weight of a tree, in units of the step that minimises ``objective`` along it. Weights are
        searched on the queries to which the tree was fitted and tend to the upper end of a wide range: the paper's
        (0.1, 0.5) overfits, and the narrow default is on a par with ``mart``.
    variant
        Weight each tree when it has been grown, or first grow all trees with ``learning_rate`` as their weight and then
        re-weight them by exact search along one tree after the other.
    learning_rate
        Weight of a tree in the leveraged variant before it is re-weighted.
    reweighting_rounds
        Most rounds over all trees in the leveraged variant.
    leaves
        Whether a tree has one weight, or each leaf its own weight in the range, by exact search along the leaf.
    objective : str
        A name of ``ar.objective``, on whose gradients trees are grown; their weights still depend on ``measure``.
    base_estimator : regressor of scikit-learn, optional
        Weak learner to use instead of LightGBM's trees. Such a model cannot be written to a model file.
    point
        Where in the best interval of weights; see ``ar.line_search``.
    measure : str
        What is optimised: use the measure that you report.

    Attributes
    ----------
    weights_ : array
        The weight of every tree (with exact leaves: of the whole tree, before its leaves were searched).

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, truth="nonlinear", random_state=1)
    >>> ranker = ar.make_ranker("direct-rank-trees", n_trees=20, n_leaves=8).fit(data)
    >>> bool(0.05 <= ranker.weights_.min() <= ranker.weights_.max() <= 0.1)
    True
    """

    work: ClassVar[Work] = FORESTS

    start: Literal["linear"] | None = "linear"
    folds: CountFromZero = 3
    feature_fraction: Share = 0.5
    weight_range: tuple[float, float] = (0.05, 0.1)
    variant: Literal["stagewise", "leveraged"] = "stagewise"
    reweighting_rounds: CountFromZero = 3
    leaves: Literal["together", "exact"] = "together"
    objective: str = "regression"
    base_estimator: Any = None
    point: Literal["middle", "likelihood"] = "middle"

    def _growing(self) -> Objective:
        """Return the objective on whose gradients trees are grown; what is minimised is 1 - measure itself."""
        return objective(self.objective)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        self._check_choices()
        if self.early_stopping is not None and not watcher.validations:
            raise InputError("early_stopping: expected an eval_set to stop by, got none")
        tried = self.folds > 1 and self.variant == "stagewise" and not watcher.validations
        model = self._start_model(data)
        self.gain_, n_trees = np.nan, self.n_trees
        if tried and has_enough(data, self.folds):
            n_trees = self._kept_number(data, watcher)
        elif tried and model is not None:
            n_trees = 0
        outcome = self._grow(data, watcher, model, n_trees)
        gain = None if np.isnan(self.gain_) else self.gain_
        return outcome if n_trees > 0 else outcome._replace(stayed=Stayed("a linear model", 0.0, "trees", gain))

    def _kept_number(self, data: Dataset, watcher: Watcher) -> int:
        """Return the number of trees to grow, from the checkpoint if it has it."""
        done = watcher.keeper.finished()
        if done is None:
            done = dict(zip(("number", "gain"), self._number_worth_growing(data), strict=True))
            watcher.keeper.finish(done)
        self.gain_ = done["gain"]
        return int(done["number"])

    def _number_worth_growing(self, data: Dataset) -> tuple[int, float]:
        """Return the number of trees that did best on held-out queries, and their gain there."""
        found, has_start = [], not has_missing(data.X)  # values may be missing only in the held-out part
        for train, held, _ in left_out(data, self.folds, np.random.default_rng(self.random_state)):
            model = self._start_model(train) if has_start else None
            watcher = Watcher(type(self).__name__, self._validations([held]), -1)
            (part,) = watcher.validations
            begin = part.measure(np.zeros(held.n_documents) if model is None else part.scores_of(model))
            if self._grow(train, watcher, model, self.n_trees).stop is Stop.INTERRUPTED:
                raise KeyboardInterrupt
            values = [begin, *(row[part.column] for row in watcher.trace)]
            found.append(values + values[-1:] * (1 + self.n_trees - len(values)))
        defined = [values for values in found if not np.isnan(values).any()]
        if not defined:
            return self.n_trees, np.nan
        means = np.mean(defined, axis=0)
        best = int(np.argmax(means))
        return best, float(means[best] - means[0])

    def _start_model(self, data: Dataset) -> LinearModel | None:
        if self.start is None or self.prepare == "always":  # it could not score values that are missing later
            return None
        left_out = feature_columns("categorical_features", self.categorical_features, data)
        return linear_start(data, row_weights(data), np.zeros(data.n_features), left_out, self.n_jobs)

    def _grow(self, data: Dataset, watcher: Watcher, start: LinearModel | None, n_trees: int) -> Outcome:
        begin = np.zeros(data.n_documents) if start is None else start.scores(data.X, data.indptr)
        weighing = Weighing(data, self.measure, self.weight_range, self.point, self.n_jobs)
        weighing.move_to(begin)
        descent = Descent(data, self._growing(), begin, self.n_jobs)
        kept = watcher.keeper.resumed()
        source = (
            Growth(data, self, 0 if kept is None else len(kept["weights"]))  # after those of another process
            if self.base_estimator is None
            else Regressors(data, self.base_estimator, self.random_state)
        )
        rounds = Rounds(watcher, self.early_stopping, tree_sums if self.base_estimator is None else member_sums, start)
        found: list[Weak] = []
        weights: list[float] = []
        if kept is not None:
            found, weights = self._resume(kept, data, weighing, rounds)
        with Interruption(lambda: rounds.best) as stop:
            while len(weights) < n_trees:
                weak = descent.next(source, weighing.scores)
                if weak is None:
                    break
                weight, member = self._add(weighing, weak)
                weights.append(weight)
                if self.variant == "leveraged":
                    found.append(weak)
                rounds.add(member)
                facts = {"objective": 1.0 - weighing.value.mean, "weight": weight}
                if not rounds.record(facts):
                    break
                watcher.keeper.offer(functools.partial(_state, found, weights, weighing, rounds))
        self.weights_ = np.array(weights[: len(rounds.kept)])
        if found and stop.stop.is_done:
            self._leverage(weighing, begin, found[: len(rounds.kept)], rounds)
        value = 1.0 - weighing.value.mean if not rounds.kept else rounds.objective
        return Outcome(self._model(start, rounds.kept, data), value, np.nan, len(rounds.kept), stop.stop, stop.note)

    def _resume(
        self, kept: Mapping[str, Any], data: Dataset, weighing: Weighing, rounds: Rounds
    ) -> tuple[list[Weak], list[float]]:
        """Resume from a checkpoint; return the trees to leverage, if any, and all weights."""
        trees: list[Any] = read_trees(kept["trees"], data.n_features)
        weights: list[float] = kept["weights"].tolist()
        found: list[Weak] = []
        if self.variant == "leveraged":
            found = [Weak(tree_sums([tree], data.X, 1)[:, 0], tree) for tree in trees]
            trees = [weak.weighed(weight) for weak, weight in zip(found, weights, strict=True)]
        weighing.scores, weighing.value = kept["scores"], Value(kept["mean"], kept["tied"])
        rounds.resume(trees, kept["rounds"])
        return found, weights

    def _add(self, weighing: Weighing, weak: Weak) -> tuple[float, Any]:
        """Give a weak learner its weight; return the weight and the part of the model."""
        if self.variant == "leveraged":
            weight = self.learning_rate
            weighing.move_to(weighing.scores + weight * weak.output)
        elif self.leaves == "exact" and isinstance(weak.member, Tree) and weak.leaf is not None:
            weight, values = weighing.weigh_leaves(weak.leaf, weak.member.value)
            return weight, weak.member.with_values(values)
        else:
            weight = weighing.weigh(weak.output)
        return weight, weak.weighed(weight)

    def _leverage(self, weighing: Weighing, begin: Floats, found: list[Weak], rounds: Rounds) -> None:
        """Re-weight all weak learners by exact search along one after the other, until a round gains nothing."""
        outputs, weights = [weak.output for weak in found], self.weights_
        weighing.move_to(begin + _total(outputs, weights))
        for _ in range(self.reweighting_rounds):
            before = weighing.value.mean
            weights = weighing.reweigh(outputs, weights)
            weighing.move_to(begin + _total(outputs, weights))  # without the rounding of many steps
            rounds.replace([weak.weighed(weight) for weak, weight in zip(found, weights, strict=True)])
            go_on = rounds.record({"objective": 1.0 - weighing.value.mean})
            if rounds.best == rounds.n_recorded:
                self.weights_ = weights
            if not go_on or weighing.value.mean - before < CONVERGED:
                break

    def _model(self, start: LinearModel | None, members: list[Any], data: Dataset) -> Model:
        if self.base_estimator is None:
            return joined(start, members or [Tree.constant(0.0, data.n_documents)], data.n_features)
        ensemble = EnsembleModel(tuple(members), data.n_features)
        return ensemble if start is None else SumModel((start, ensemble), np.ones(2))

    def _check_choices(self) -> None:
        low, high = (float(end) for end in self.weight_range)
        if not 0 <= low < high < np.inf:
            raise OptionError(f"weight_range: expected 0 <= low < high, got {low:g} and {high:g}")
        if self.leaves == "exact" and (self.variant == "leveraged" or self.base_estimator is not None):
            raise OptionError('leaves="exact": expected the stagewise variant with LightGBM\'s trees')


def _state(found: list[Weak], weights: list[float], weighing: Weighing, rounds: Rounds) -> dict[str, Any]:
    """Return the state from which another process can grow the same next tree."""
    trees: list[Any] = [weak.member for weak in found] or rounds.members
    place = {"scores": weighing.scores, "mean": weighing.value.mean, "tied": weighing.value.tied}
    kept = {"trees": stored_trees(trees), "weights": np.array(weights)}
    return {**kept, **place, "rounds": rounds.state()}


def _total(outputs: list[Floats], weights: Floats) -> Floats:
    total = np.zeros(len(outputs[0]))
    for output, weight in zip(outputs, weights, strict=True):
        total += weight * output
    return total
