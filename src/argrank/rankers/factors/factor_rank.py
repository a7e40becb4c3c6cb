"""Ranking matrix factorisation: optimises the order of a user's items, not the exact ratings.

The factors of users and items are optimised alternately; given one half, the other is a convex ranking problem.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from scipy import sparse

from argrank._declared import Count, Jobs, NotNegative, Positive
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.engines import make_risk
from argrank.errors import ArgrankWarning, InputError, shown
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as as_measure
from argrank.measures.product import is_product
from argrank.objectives.structured import StructuredHinge
from argrank.objectives.structured.hinge import Bound
from argrank.rankers.estimator import Gains, Measured
from argrank.rankers.factors.factor_ranker import FactorRanker, Factors, Rated, Watch
from argrank.rankers.factors.factor_regression import factorise
from argrank.rankers.linear.orm import ORM
from argrank.solvers import Squared, minimise
from argrank.solvers.convex_steps import USUAL
from argrank.solvers.problem import Offset


@dataclass(eq=False, repr=False, kw_only=True)
class FactorRank(Measured, Gains, FactorRanker):
    """Factors of users and items that rank: ``(|U - U0|² + |V - V0|²) / (2 C m) + mean over the m users of a loss``.

    A user's score of an item is ``U_user · V_item + bias of the item``, the bias being V's last column, plus the item's
    known offset (``item_offsets`` of ``fit``). The loss is ORM's bound of 1 - NDCG@k (or any measure a · b) over the
    items the user rated (ORM section 7.2; Weimer et al. 2008). U0 and V0 are a factorisation by squared error
    (``factor-regression``), at the length that suits the convex bound best, and for a tight bound at ten times that.
    For fixed V the problem separates by user, and with the convex bound it is convex in U, and for fixed U in V. Both
    are improved alternately by L-BFGS; a step that does not lower the objective is rejected. The joint problem is not
    convex: with few ratings, minima from other starts may be lower by half.

    Parameters
    ----------
    C
        Weight of a user's loss against the regulariser. A small one gives the factorisation by squared error, a larger
        one a model that ranks better in training.
    measure, decay, bound, gain, relevant_at
        The loss, as in ``orm``; "measure" as decay is c = a, which one sort solves.
    user_weight
        Weight of a user's loss: equal, or proportional to the number of the user's ratings.
    near_start
        Whether to stay near the factorisation by squared error, which keeps what is known of items with few ratings;
        otherwise it is only the start of the descent, and factors are shrunk to 0 (then C = 1 is a good first value).
    start_ridge
        Ridge of the factorisation by squared error; as ``ridge`` of ``factor-regression``.
    rounds
        Number of rounds of U and V after which to stop. Few are enough near the start.
    tol
        Stop when a round gains less than this share of the objective. Below 1e-3 the halves are solved to
        this gap, a tight bound's by convex steps to a minimum, with enough ``max_iter``: then neither half can be
        improved alone.
    max_iter
        Passes over the ratings in one half of a round.

    Examples
    --------
    >>> users, items, ratings = [1, 1, 1, 2, 2, 2], list("abcabd"), [5, 3, 1, 5, 2, 4]
    >>> FactorRank(rank=1).fit(users, items, ratings).recommend(1, n=1)
    ['d']
    """

    C: Positive = 0.01
    decay: Any = "measure"
    bound: Bound = "convex"
    user_weight: Literal["equal", "ratings"] = "equal"
    near_start: bool = True
    start_ridge: Positive = 15.0
    rounds: Count = 20
    tol: NotNegative = 1e-3
    max_iter: Count = 30
    n_jobs: Jobs = None

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return is_product(measure, Convention(**self._counting()), data)

    def _factorise(self, rated: Rated, watch: Watch) -> Factors:
        problem = Alternation(self, rated)
        problem.run(watch)
        return Factors(problem.U, problem.V, problem.objective, problem.n_rounds)


START_ROUNDS = 15  # of the factorisation by squared error
HALF_TOL = 1e-5  # of ``tol``: near a start of 0 the first half gains almost nothing, but still leads away from it
START_SCALES = np.geomspace(0.003, 100.0, 16)
#: By how much the start of a tight bound is longer than what suits the convex one. It pulls only at items that are in
#: the right order, until they are as far apart as their gains; from short scores it spreads these at the cost of all
#: others, and MovieLens' training ratings were ranked worse than by the start (experiments/orm/movielens.md).
LONGER = 10.0

Start = tuple[Floats, float]  # subtracted from the items' biases, and the length of the scores


class Alternation:
    """U and V in turn; each half is a linear ranker on sparse features built from the other half.

    Given V, users are independent, but all are solved together: separate solves reached the same objective within a
    thousandth, and took up to thirteen times as long.
    """

    def __init__(self, asked: FactorRank, rated: Rated) -> None:
        self.asked, self.user, self.item = asked, rated.user, rated.item
        sizes = np.diff(rated.indptr)
        self.n_users, self.known = len(sizes), rated.known[rated.item]
        self.loss = self._bound(asked.bound)
        weight = sizes.astype(np.float64) if asked.user_weight == "ratings" else None
        self.data = Dataset(sparse.csr_matrix((len(rated.y), 1)), rated.y, group=sizes, query_weight=weight)
        self._refuse_constant_gains()
        self.C = asked.C * self.n_users
        self.objective, self.n_rounds = np.inf, 0
        starts, at = self._starts(rated)
        self.U0, self.V0 = (np.zeros_like(factors) for factors in at(*starts[0]))
        if asked.near_start:
            # Without regularisation a tight bound prefers the longest scores, where its slope is 0.
            convex = self._bound("convex")
            less, scale = min(starts, key=lambda start: convex(self._scores(*at(*start)), self.data)[0])
            starts = [(less, scale if self.loss.convex else LONGER * scale)]
            self.U0, self.V0 = at(*starts[0])
        for start in starts:
            self._keep(*at(*start))

    def _bound(self, bound: Bound) -> StructuredHinge:
        asked = self.asked
        ranker = ORM(
            measure=asked.measure, decay=asked.decay, bound=bound, gain=asked.gain, relevant_at=asked.relevant_at
        )
        return cast(StructuredHinge, ranker._objective())

    def _starts(self, rated: Rated) -> tuple[list[Start], Callable[[Floats, float], tuple[Floats, Floats]]]:
        """Return the start, and how factors are computed from it.

        It is the factorisation by squared error, scaled to several lengths, because its own length does not suit a
        ranking loss.
        """
        asked, ridge = self.asked, self.asked.start_ridge
        U, V, *_ = factorise(rated, rated.y, asked.rank, ridge, START_ROUNDS, asked.random_state)
        explained = explained_part(rated.known, rated.item, ridge)
        taken_off = (np.zeros_like(explained), explained) if explained.any() else (explained,)

        def at(less: Floats, scale: float) -> tuple[Floats, Floats]:
            factors, bias = np.sqrt(scale) * V[:, :-1], scale * V[:, -1] - less
            return np.sqrt(scale) * U, np.column_stack((factors, bias))

        return list(itertools.product(taken_off, START_SCALES.tolist())), at

    def _refuse_constant_gains(self) -> None:
        """Raise if users' ratings differ but all have the same gain: there would be nothing to learn."""
        asked, y = self.asked, self.data.y
        levels = as_measure(asked.measure).levels(y, self.loss.convention)
        differ, gain = (
            (np.maximum.reduceat(v, self.data.indptr[:-1]) > np.minimum.reduceat(v, self.data.indptr[:-1])).any()
            for v in (y, levels)
        )
        if differ and not gain:
            raise InputError(
                f"measure={shown(asked.measure)}: expected ratings with different gains, got {y.min():g} to {y.max():g}"
                f", which all have the same with relevant_at={asked.relevant_at:g}; set relevant_at between them"
            )

    def run(self, watch: Watch) -> None:
        """Improve U and V until a round gains almost nothing; Ctrl-C keeps the best so far."""
        try:
            while self.n_rounds < self.asked.rounds:
                before = self.objective
                base = self.V[self.item, -1] + self.known
                self._keep(self._improve(self.V[:, :-1][self.item], self.user, base, self.U, self.U0), self.V)
                features = np.column_stack((self.U[self.user], np.ones(len(self.user))))
                self._keep(self.U, self._improve(features, self.item, self.known, self.V, self.V0))
                self.n_rounds += 1
                watch(self.U, self.V, self.objective)
                if before - self.objective <= self.asked.tol * self.objective:
                    break
        except KeyboardInterrupt:
            warnings.warn(f"FactorRank: interrupted in round {self.n_rounds + 1}", ArgrankWarning, stacklevel=2)

    def _improve(self, features: Floats, block: Integers, base: Floats, start: Floats, centre: Floats) -> Floats:
        """Return better weights, one vector per block: a row has the features of its counterpart in its own block."""
        width = features.shape[1]
        columns = (block[:, None] * width + np.arange(width)).ravel()
        offsets = np.arange(0, len(columns) + 1, width)
        X = sparse.csr_matrix((features.ravel(), columns, offsets), shape=(len(block), start.size))
        risk = Offset(make_risk(self.data.with_features(X), self.loss, self.asked.n_jobs), base)
        near = Squared(centre=centre.ravel()) if centre.any() else Squared()
        exact = "bundle" if self.loss.convex else "convex-steps"
        solver, tol = (exact, self.asked.tol) if self.asked.tol < USUAL else ("l-bfgs", HALF_TOL * self.asked.tol)
        max_iter = self.asked.max_iter
        result = minimise(risk, solver, C=self.C, regulariser=near, tol=tol, max_iter=max_iter, start=start.ravel())
        return result.step().reshape(start.shape)

    def _keep(self, U: Floats, V: Floats) -> None:
        """Keep factors that lower the objective."""
        away = float(((U - self.U0) ** 2).sum() + ((V - self.V0) ** 2).sum())
        value = self.loss(self._scores(U, V), self.data)[0] + away / (2 * self.C)
        if value <= self.objective:
            self.U, self.V, self.objective = U, V, value

    def _scores(self, U: Floats, V: Floats) -> Floats:
        return np.asarray((U[self.user] * V[self.item, :-1]).sum(axis=1) + V[self.item, -1] + self.known)


def explained_part(known: Floats, item: Integers, ridge: float) -> Floats:
    """Return the part of every item's known score that its ratings explain, to subtract from the bias of a start.

    Known scores cannot be subtracted from the ratings before the factorisation: they are in units of the score, and the
    length of a rating in these units is known only afterwards. But at any length a ridge regression with n ratings
    follows a constant by n / (n + ridge): if it were subtracted from the ratings, the item's bias would fall by as
    much. The mean over the ratings is excluded, as it is removed from the ratings themselves. Starts with and without
    this are tried, since with a small C even a bias that corrects a misleading offset is penalised too much.
    """
    counts = np.bincount(item, minlength=len(known))
    return np.asarray(counts / (counts + ridge) * (known - known[item].mean()))
