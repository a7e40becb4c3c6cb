"""Ranking matrix factorisation: the items a user likes most come first, whatever the exact ratings."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.grouping import group_by_id
from argrank.engines.local import LocalRisk
from argrank.errors import InputError, OptionError, unknown_name
from argrank.models.factors import FactorModel
from argrank.objectives import objective
from argrank.rankers._trace import Trace, Watcher
from argrank.solvers import lbfgs
from argrank.solvers.shifted import Offset

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

START_ROUNDS = 15  # of the factorisation by squared error
START_SCALES = np.geomspace(0.003, 100.0, 16)
USER_WEIGHTS = ("equal", "ratings")


class FactorRank(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Factors of users and items that minimise ``(|U|² + |V|²) / (2 C m) + mean over the m users of a ranking loss``.

    A user's score of an item is ``U_user · V_item + worth of the item``; the loss is ORM's bound of 1 - NDCG@k (or any
    measure a · b) over the items the user rated (ORM section 7.2; Weimer et al. 2008). For fixed V the problem is
    convex in U and falls apart by user, for fixed U it is convex in V; both are improved in turn by L-BFGS, and a step
    that does not lower the objective is not taken. It starts from a factorisation by squared error.

    Parameters
    ----------
    rank : int
        Number of factors beside the items' own worth.
    C : float
        Weight of a user's loss against the regulariser.
    measure, decay, bound, gain
        The loss, as in ``orm``.
    user_weight : "equal" or "ratings"
        What a user's loss counts: all the same, or as much as the user's ratings are many. Those with few ratings say
        little about the items; "ratings" does better on MovieLens.
    near_start : bool
        Stay near the factorisation by squared error: the regulariser is ``|U - U0|² + |V - V0|²``. A small C then
        gives that factorisation, a larger one a model that ranks better in training; it keeps what is known of items
        with few ratings.
    start_ridge : float
        Ridge of the factorisation by squared error from which it starts.
    rounds : int
        At most so many rounds of U and V.
    tol : float
        Stop when a round gains less than this share of the objective.
    item_features : optional
        ``fit(..., item_features={item: vector})`` gives items without ratings the factors that a ridge regression of
        the learned factors on the features predicts for them; without, they get the mean of all items.
    max_iter : int
        Passes over the ratings in one half of a round.
    n_jobs : int, optional
        Threads; None for all cores.
    random_state : int, optional
        Where the factorisation by squared error begins.
    verbose : int
        -1 hides the progress bar.

    Examples
    --------
    >>> users, items, ratings = [1, 1, 1, 2, 2, 2], list("abcabd"), [5, 3, 1, 5, 2, 4]
    >>> FactorRank(rank=1).fit(users, items, ratings).recommend(1, n=1)
    ['d']
    """

    def __init__(
        self,
        *,
        rank: int = 10,
        C: float = 1.0,
        measure: Any = "ndcg@10",
        decay: Any = None,
        bound: str = "convex",
        gain: Any = "exp2",
        user_weight: str = "equal",
        near_start: bool = False,
        start_ridge: float = 15.0,
        rounds: int = 20,
        tol: float = 1e-3,
        max_iter: int = 30,
        n_jobs: int | None = None,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.rank = rank
        self.C = C
        self.measure = measure
        self.decay = decay
        self.bound = bound
        self.gain = gain
        self.user_weight = user_weight
        self.near_start = near_start
        self.start_ridge = start_ridge
        self.rounds = rounds
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, users: Any, items: Any = None, ratings: Any = None, *, item_features: Any = None) -> FactorRank:
        """Learn from (user, item, rating) triples: three arrays, an array of shape (n, 3), or loaded ratings."""
        users, items, y = _triples(users, items, ratings)
        self._check(len(users))
        by_user, by_item = group_by_id(users, len(y)), group_by_id(items, len(y))
        rows = np.arange(len(y)) if by_user.rows is None else by_user.rows
        user = np.repeat(np.arange(len(by_user.query_ids)), np.diff(by_user.indptr))
        item = _numbers(by_item, len(y))[rows]
        if len(np.unique(user * len(by_item.query_ids) + item)) < len(y):
            raise InputError("ratings: expected every user to rate an item once, got a pair of user and item twice")
        problem = _Alternation(self, user, item, y[rows], by_user.indptr, len(by_item.query_ids))
        with Watcher(type(self).__name__, [], self.verbose) as watcher:
            problem.run(watcher)
        self.objective_, self.n_iter_ = problem.objective, problem.n_rounds
        self.trace_: Trace = watcher.trace
        ids, V = list(by_item.query_ids.tolist()), problem.V
        if item_features is not None:
            ids, V = _cold_items(ids, V, item_features)
        seen = tuple(item[a:b] for a, b in zip(by_user.indptr[:-1], by_user.indptr[1:], strict=True))
        training = {"ranker": type(self).__name__, "objective": self.objective_, "ratings": len(y)}
        self.model_ = FactorModel(tuple(by_user.query_ids.tolist()), tuple(ids), problem.U, V, seen, training)
        return self

    def predict(self, users: Any, items: Any) -> Floats:
        """Return one score for every pair of a user and an item; higher is better for the same user."""
        check_is_fitted(self)
        return self.model_.predict(users, items)

    def recommend(self, user: Any, n: int = 10, seen: bool = False) -> list[Any]:
        """Return the ids of the n best items for a user, without those the user rated unless ``seen`` is True."""
        check_is_fitted(self)
        return self.model_.recommend(user, n, seen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trained model to a file that ``ar.load_model`` reads; it holds no code."""
        check_is_fitted(self)
        self.model_.save(path)

    def _check(self, n_ratings: int) -> None:
        if self.rank < 1 or self.rounds < 1 or not self.C > 0:
            raise OptionError(
                f"expected rank and rounds from 1 up and C > 0, got {self.rank!r}, {self.rounds!r} and {self.C!r}"
            )
        if self.user_weight not in USER_WEIGHTS:
            raise unknown_name("user_weight", self.user_weight, USER_WEIGHTS)
        if not self.start_ridge > 0:
            raise OptionError(f"start_ridge: expected a positive number, got {self.start_ridge!r}")
        if n_ratings < 2:
            raise InputError(f"ratings: expected at least two, got {n_ratings}")


class _Alternation:
    """U and V in turn; each half is a linear ranker on sparse features made of the other half."""

    def __init__(
        self, asked: FactorRank, user: Integers, item: Integers, y: Floats, indptr: Integers, n_items: int
    ) -> None:
        self.asked, self.user, self.item = asked, user, item
        self.n_users, self.n_items = len(indptr) - 1, n_items
        parameters = {name: getattr(asked, name) for name in ("measure", "decay", "bound", "gain")}
        self.loss = objective("orm", **parameters)
        sizes = np.diff(indptr)
        weight = sizes.astype(np.float64) if asked.user_weight == "ratings" else None
        self.data = Dataset(sparse.csr_matrix((len(y), 1)), y, group=sizes, query_weight=weight)
        self.C = asked.C * self.n_users
        U, V = _start(user, item, y, self.n_users, n_items, asked)
        self.objective, self.n_rounds = np.inf, 0
        self.U0, self.V0 = np.zeros_like(U), np.zeros_like(V)
        for scale in START_SCALES:  # the length of a regression's scores means nothing to a ranking loss
            self._begin(np.sqrt(scale) * U, np.column_stack((np.sqrt(scale) * V[:, :-1], scale * V[:, -1])))

    def _begin(self, U: Floats, V: Floats) -> None:
        """Take factors as the start if none better are known; there is nothing yet to stay near."""
        before = self.objective
        if self.asked.near_start:
            self.U0, self.V0 = U, V
        self._keep(U, V)
        if self.asked.near_start and self.objective >= before:
            self.U0, self.V0 = self.U, self.V

    def run(self, watcher: Watcher) -> None:
        """Improve U and V until a round gains next to nothing."""
        while self.n_rounds < self.asked.rounds:
            before = self.objective
            self._improve_users()
            self._improve_items()
            self.n_rounds += 1
            norm = float(np.sqrt((self.U**2).sum() + (self.V**2).sum()))
            watcher(np.empty(0), {"objective": self.objective, "norm": norm})
            if before - self.objective <= self.asked.tol * self.objective:
                break

    def _improve_users(self) -> None:
        base = np.ascontiguousarray(self.V[self.item, -1])
        U = self._improve(self.V[:, :-1][self.item], self.user, base, self.U, self.U0)
        self._keep(U, self.V)

    def _improve_items(self) -> None:
        features = np.column_stack((self.U[self.user], np.ones(len(self.user))))
        self._keep(self.U, self._improve(features, self.item, np.zeros(len(self.user)), self.V, self.V0))

    def _improve(self, features: Floats, block: Integers, base: Floats, start: Floats, centre: Floats) -> Floats:
        """Return better weights, one vector a block: a row has the features of its counterpart at its own block."""
        width = features.shape[1]
        columns = (block[:, None] * width + np.arange(width)).ravel()
        offsets = np.arange(0, len(columns) + 1, width)
        X = sparse.csr_matrix((features.ravel(), columns, offsets), shape=(len(block), start.size))
        risk = LocalRisk(self.data.with_features(X), self.loss, self.asked.n_jobs)
        near = Offset(risk, base + risk.scores(centre.ravel()))
        result = lbfgs.minimise(near, self.C, self.asked.tol, self.asked.max_iter, (start - centre).ravel())
        return centre + result.w.reshape(start.shape)

    def _keep(self, U: Floats, V: Floats) -> None:
        """Take factors that lower the objective."""
        scores = (U[self.user] * V[self.item, :-1]).sum(axis=1) + V[self.item, -1]
        away = float(((U - self.U0) ** 2).sum() + ((V - self.V0) ** 2).sum())
        value = self.loss(scores, self.data)[0] + away / (2 * self.C)
        if value <= self.objective:
            self.U, self.V, self.objective = U, V, value


def _start(
    user: Integers, item: Integers, y: Floats, n_users: int, n_items: int, asked: FactorRank
) -> tuple[Floats, Floats]:
    """Return factors by alternating ridge regressions on the ratings, users and items each with a worth of their own.

    The users' worth is learned with the rest and dropped: it tells generous users from users of good items, which the
    mean of their ratings cannot, and changes no user's ranking.
    """
    random, rank, ridge = np.random.default_rng(asked.random_state), asked.rank, asked.start_ridge
    target = y - y.mean()
    U, V = np.zeros((n_users, rank + 1)), np.zeros((n_items, rank + 1))
    V[:, :-1] = 0.1 * random.standard_normal((n_items, rank))
    by_user, by_item = _rows(user), _rows(item)
    for _ in range(START_ROUNDS):
        for own, other, mate, blocks in ((U, V, item, by_user), (V, U, user, by_item)):
            for rows in blocks:
                mates = other[mate[rows]]
                features = np.column_stack((mates[:, :-1], np.ones(len(rows))))
                block = (user if own is U else item)[rows[0]]
                own[block] = _ridge(features, target[rows] - mates[:, -1], ridge)
    return U[:, :-1], V


def _rows(block: Integers) -> list[Integers]:
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1)


def _ridge(X: Floats, target: Floats, ridge: float) -> Floats:
    return np.asarray(np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ target))


def _cold_items(ids: list[Any], V: Floats, features: Any) -> tuple[list[Any], Floats]:
    """Add the items that have features and no ratings, with factors regressed on the features."""
    known = {item: number for number, item in enumerate(ids)}
    rated = [item for item in features if item in known]
    cold = [item for item in features if item not in known]
    if not rated or not cold:
        return ids, V
    table = checks.features(np.array([features[item] for item in (*rated, *cold)], np.float64))
    X, X_cold = table[: len(rated)], table[len(rated) :]
    target, mean = V[[known[item] for item in rated]], X.mean(axis=0)
    centre = target.mean(axis=0)
    gram = (X - mean).T @ (X - mean) + np.eye(X.shape[1])
    B = np.linalg.solve(gram, (X - mean).T @ (target - centre))
    return [*ids, *cold], np.vstack((V, centre + (X_cold - mean) @ B))


def _triples(users: Any, items: Any, ratings: Any) -> tuple[Any, Any, Floats]:
    if items is None and ratings is None:
        if hasattr(users, "ratings"):
            users, items, ratings = users.users, users.items, users.ratings
        elif getattr(users, "ndim", 0) == 2 and users.shape[1] == 3:
            users, items, ratings = users[:, 0], users[:, 1], users[:, 2]
    if items is None or ratings is None:
        raise InputError("expected users, items and ratings, or an array of shape (n, 3)")
    return users, items, checks.labels(ratings, len(ratings))


def _numbers(groups: Any, n: int) -> Integers:
    """Return the number of every row's group."""
    numbers = np.repeat(np.arange(len(groups.query_ids)), np.diff(groups.indptr))
    if groups.rows is None:
        return numbers
    result = np.empty(n, np.int64)
    result[groups.rows] = numbers
    return result
