"""Weak learners, one per round, that descend an objective: LightGBM's trees, or any regressor of scikit-learn.

They are fitted to its gradient and scaled to the step that minimises it along them. LightGBM holds binned features and
grows; scores are ours. Its own score of the training rows changes by one tree per round, so the difference between two
rounds gives every row's leaf, without a pass over the features. Their weights are found by exact line search on the
measure, each within a range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.prepare.impute import refuse_missing
from argrank.engines import make_risk
from argrank.errors import OptionError, shown
from argrank.linesearch.landscape import Landscape, Value
from argrank.linesearch.search import Placement, search
from argrank.measures.function import ties_of
from argrank.measures.names import measure as parse_measure
from argrank.models.formats.lightgbm import read
from argrank.models.sum import Member
from argrank.models.tree import Tree
from argrank.objectives.objective import Objective, query_shares
from argrank.objectives.pointwise import SquaredError
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.lightgbm import (
    FRUITLESS,
    can_split,
    check_bins,
    common_parameters,
    feature_columns,
    load_lightgbm,
    refusals,
    rounded,
    rows_of,
    seed_of,
    shown_scores,
)

if TYPE_CHECKING:
    from argrank.rankers.boosted.trees.direct_rank_trees import DirectRankTrees

DOUBLINGS, HALVINGS = 40, 12


class Weak(NamedTuple):
    """One weak learner: its output for the training rows, its part of the model, and for a tree the rows' leaves."""

    output: Floats
    member: Tree | Member
    leaf: Integers | None = None

    def weighed(self, weight: float) -> Tree | Member:
        """Return the part of the model for a weight."""
        if isinstance(self.member, Tree):
            return self.member.with_values(weight * self.member.value)
        return self.member._replace(weight=weight * self.member.weight)

    def scaled(self, factor: float) -> Weak:
        """Return the weak learner in other units."""
        return self if factor == 1.0 else Weak(factor * self.output, self.weighed(factor), self.leaf)


class Descent:
    """An objective on training data, at any scores.

    For least squares a tree fitted to the residuals already is the best step. For every other objective a tree is
    fitted to minus the gradient and its output is scaled to the minimum of the objective along it (Friedman 2001,
    step 5 of Algorithm 1), so that one range of weights suits all objectives. Least squares ignores the initial mean
    difference of labels and scores, which changes no ranking.
    """

    def __init__(self, data: Dataset, objective: Objective, begin: Floats, n_jobs: int | None) -> None:
        self._risk = make_risk(data, objective, n_jobs)
        some = int(np.argmax(self._risk.query_shares))
        self._n_queries = float(data.n_queries * query_shares(data)[some] / self._risk.query_shares[some])
        self._hessian = row_weights(data)
        self._targets: Floats | None = None
        if isinstance(objective, SquaredError):
            targets = objective.targets(data)
            self._targets = targets - float((self._hessian * (targets - begin)).sum() / self._hessian.sum())

    def next(self, source: Growth | Regressors, scores: Floats) -> Weak | None:
        """Return a weak learner whose output, with weight 1, minimises the objective along it."""
        if self._targets is not None:
            return source.next(self._hessian * (scores - self._targets), self._hessian)
        weak = source.next(self._gradient(scores), self._hessian)
        return None if weak is None else weak.scaled(self._minimum(scores, weak.output))

    def _gradient(self, scores: Floats) -> Floats:
        """Return the gradient of the sum over queries: the mean's would shrink as data grows."""
        return np.asarray(self._risk.at_scores(scores)[1] * self._n_queries)

    def _minimum(self, scores: Floats, direction: Floats) -> float:
        """Return where the objective's slope along the direction changes its sign, found by bisection."""

        def slope(step: float) -> float:
            return float((self._risk.at_scores(scores + step * direction)[1] * direction).sum())

        low, high = 0.0, 1.0
        for _ in range(DOUBLINGS):
            if slope(high) >= 0.0:
                break
            low, high = high, 2.0 * high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
        return 0.5 * (low + high)


class Growth:
    """A LightGBM booster that grows one tree per round on given gradients.

    Gradients are rounded to multiples of a common power of two, fine enough for float32, so that their sums are exact:
    trees are bit-identical for any number of threads and any order of the rows. Random draws depend only on the seed
    and the round's number, so another process, given the number of earlier rounds, grows the same trees.
    """

    def __init__(self, data: Dataset, ranker: DirectRankTrees, n_before: int = 0) -> None:
        lightgbm = load_lightgbm()
        check_bins(data)
        parameters = {
            **common_parameters(data, ranker.n_jobs),
            "learning_rate": 1.0,
            "num_leaves": int(ranker.n_leaves),
            "min_data_in_leaf": int(ranker.min_documents),
            "feature_fraction": float(ranker.feature_fraction),
            "extra_trees": bool(ranker.extra_trees),
            "seed": int(ranker.random_state),
            "force_row_wise": True,
        }
        categorical: Any = feature_columns("categorical_features", ranker.categorical_features, data)
        nothing = np.zeros(data.n_documents)
        train = lightgbm.Dataset(rows_of(data.X), nothing, categorical_feature=categorical or "auto", params=parameters)
        with refusals():
            self._booster = lightgbm.Booster(parameters, train)
            self._can_split = can_split(train, data.n_features)
        self._seed, self.n_rounds = ranker.random_state, n_before
        self._draws = ranker.feature_fraction < 1 or bool(ranker.extra_trees)
        self._last = np.zeros(data.n_documents)
        if n_before and self._draws and self._can_split:
            # the first round of a booster draws differently from later rounds
            self._booster.update(fobj=lambda scores, rows: (nothing, nothing + 1.0))

    def next(self, gradient: Floats, hessian: Floats) -> Weak | None:
        """Grow a tree whose leaves hold minus gradient over curvature; with random draws, a few more are tried."""
        if not self._can_split:
            return None
        given, size = (rounded(gradient), rounded(hessian)), self._booster.current_iteration()
        for attempt in range(FRUITLESS if self._draws else 1):
            if self._update(given, attempt):
                break
            if self._booster.current_iteration() > size:  # a first tree without a split, which LightGBM keeps
                self._booster.rollback_one_iter()
        else:
            return None
        (tree,) = read(self._booster.model_to_string(start_iteration=size, num_iteration=1)).trees
        self.n_rounds += 1
        before, (self._last,) = self._last, shown_scores(self._booster.eval_train)
        leaf = _leaves(tree, self._last - before)
        return Weak(tree.value.take(leaf), tree, leaf)

    def _update(self, given: tuple[Floats, Floats], attempt: int) -> bool:
        """Let LightGBM grow; tell whether it found a split."""
        if self._draws:
            number = seed_of(self._seed, self.n_rounds, attempt)
            self._booster.reset_parameter({"feature_fraction_seed": number, "extra_seed": number})
        with refusals():
            return not self._booster.update(fobj=lambda scores, data: given)


def _leaves(tree: Tree, moved: Floats) -> Integers:
    """Return the leaf whose value is closest to each row's change (which is off by rounding)."""
    values, first = np.unique(tree.value, return_index=True)
    return first.take(np.searchsorted(0.5 * (values[1:] + values[:-1]), moved)).astype(np.int64)


class Regressors:
    """Copies of a regressor of scikit-learn, each fitted to minus gradient over curvature."""

    def __init__(self, data: Dataset, base: Any, random_state: int) -> None:
        if not hasattr(base, "fit") or not hasattr(base, "predict"):
            raise OptionError(f"base_estimator: expected a regressor with fit and predict, got {shown(base)}")
        if not get_tags(base).input_tags.allow_nan:
            refuse_missing(data)
        self._X, self._base = data.X, base
        self._seeds = np.random.default_rng(random_state)

    def next(self, gradient: Floats, hessian: Floats) -> Weak | None:
        """Fit a copy; weights per row are given where they differ."""
        regressor = clone(self._base)
        if "random_state" in regressor.get_params():
            regressor.set_params(random_state=int(self._seeds.integers(2**31)))
        extra = {} if (hessian == hessian[0]).all() else {"sample_weight": hessian}
        if extra and not has_fit_parameter(regressor, "sample_weight"):
            raise OptionError(
                f"base_estimator: expected a regressor that takes sample_weight, since queries have different weights, "
                f"got {shown(self._base)}"
            )
        targets = np.divide(-gradient, hessian, out=np.zeros_like(gradient), where=hessian > 0)
        regressor.fit(self._X, targets, **extra)
        output = np.asarray(regressor.predict(self._X), np.float64)
        return None if float(np.ptp(output)) == 0.0 else Weak(output, Member(1.0, regressor))


class Weighing:
    """The measure of the running scores, and the search for weights.

    Documents that fall into the same leaves have the same score, so the measure is averaged over the orders of equal
    scores: training must not depend on the order of the rows.
    """

    def __init__(
        self, data: Dataset, measure: object, weight_range: tuple[float, float], point: str, n_jobs: int | None
    ):
        self._landscape = Landscape(data, measure, ties_of(parse_measure(measure)), n_jobs)
        self._range = weight_range
        self._placement = Placement(point=point)
        self.scores = np.zeros(data.n_documents)
        self.value = self._measure(self.scores)

    def weigh(self, output: Floats) -> float:
        """Return the weight in the range with the greatest measure of scores plus weight times output, and move there.

        The range itself is searched: this is the constrained optimum, while the paper clips the unconstrained one.
        """
        return self._step(output, *self._range)

    def weigh_leaves(self, leaf: Integers, values: Floats) -> tuple[float, Floats]:
        """Return a tree's weight and new values of its leaves, and move there: every leaf has its own weight.

        ``leaf`` is every row's. First the whole tree is weighed; then each leaf is a separate direction, in the order
        of their values. Leaves of one value move together.
        """
        low, high = self._range
        before, output = self.scores, values.take(leaf)
        start = self.weigh(output)
        weights = np.full(len(values), start)
        for value in np.unique(values[values != 0.0]):
            direction = np.where(output == value, value, 0.0)
            weights[values == value] += self._step(direction, low - start, high - start, settle=False)
        new = weights * values
        self.move_to(before + new.take(leaf))  # without the rounding of many steps
        return start, new

    def reweigh(self, outputs: list[Floats], weights: Floats) -> Floats:
        """Return better weights, and move there: every weak learner's in turn, by exact search along its output."""
        low, high = self._range
        weights = weights.copy()
        for i, output in enumerate(outputs):
            weights[i] += self._step(output, low - weights[i], high - weights[i], settle=False)
        return weights

    def move_to(self, scores: Floats) -> None:
        """Set other scores."""
        self.scores, self.value = scores, self._measure(scores)

    def _step(self, direction: Floats, low: float, high: float, settle: bool = True) -> float:
        if not self._landscape.is_defined:
            step = 0.0 if low <= 0.0 <= high else 0.5 * (low + high)
            self.scores = self.scores + step * direction
            return step
        placement = self._placement._replace(settle=settle)
        found, value = search(self._landscape, self.scores, direction, self.value, (low, high), placement)
        if found.step != 0.0:
            self.scores, self.value = self.scores + found.step * direction, value
        return found.step

    def _measure(self, scores: Floats) -> Value:
        if not self._landscape.is_defined:
            return Value(0.0, np.empty(0, np.intp))
        return self._landscape.value(scores)
