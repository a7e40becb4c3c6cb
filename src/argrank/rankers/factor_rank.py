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
from argrank.errors import InputError, OptionError
from argrank.models.factors import FactorModel
from argrank.objectives import objective
from argrank.rankers._trace import Trace, Watcher
from argrank.solvers import lbfgs
from argrank.solvers.shifted import Offset

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

START_ROUNDS, START_RIDGE = 10, 15.0  # of the factorisation by squared error
START_SCALES = np.geomspace(0.1, 100.0, 10)


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
        self.data = Dataset(sparse.csr_matrix((len(y), 1)), y, group=np.diff(indptr))
        self.C = asked.C * self.n_users
        U, V = _start(user, item, y, self.n_users, n_items, asked.rank, asked.random_state)
        self.objective, self.n_rounds = np.inf, 0
        for scale in START_SCALES:  # the length of a regression's scores means nothing to a ranking loss
            self._keep(np.sqrt(scale) * U, np.column_stack((np.sqrt(scale) * V[:, :-1], scale * V[:, -1])))

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
        U = self._improve(self.V[:, :-1][self.item], self.user, self.n_users, base, self.U)
        self._keep(U, self.V)

    def _improve_items(self) -> None:
        features = np.column_stack((self.U[self.user], np.ones(len(self.user))))
        self._keep(self.U, self._improve(features, self.item, self.n_items, np.zeros(len(self.user)), self.V))

    def _improve(self, features: Floats, block: Integers, n_blocks: int, base: Floats, start: Floats) -> Floats:
        """Return better weights, one vector a block: a row has the features of its counterpart at its own block."""
        width = features.shape[1]
        columns = (block[:, None] * width + np.arange(width)).ravel()
        offsets = np.arange(0, len(columns) + 1, width)
        X = sparse.csr_matrix((features.ravel(), columns, offsets), shape=(len(block), n_blocks * width))
        risk = Offset(LocalRisk(self.data.with_features(X), self.loss, self.asked.n_jobs), base)
        result = lbfgs.minimise(risk, self.C, self.asked.tol, self.asked.max_iter, start.ravel())
        return result.w.reshape(n_blocks, width)

    def _keep(self, U: Floats, V: Floats) -> None:
        """Take factors that lower the objective."""
        scores = (U[self.user] * V[self.item, :-1]).sum(axis=1) + V[self.item, -1]
        value = self.loss(scores, self.data)[0] + float((U**2).sum() + (V**2).sum()) / (2 * self.C)
        if value <= self.objective:
            self.U, self.V, self.objective = U, V, value


def _start(
    user: Integers, item: Integers, y: Floats, n_users: int, n_items: int, rank: int, random_state: int | None
) -> tuple[Floats, Floats]:
    """Return factors by alternating ridge regressions on the ratings less the mean of their user."""
    random = np.random.default_rng(random_state)
    target = y - (np.bincount(user, y, n_users) / np.maximum(np.bincount(user, minlength=n_users), 1))[user]
    U, V = np.zeros((n_users, rank)), np.zeros((n_items, rank + 1))
    V[:, :-1] = 0.1 * random.standard_normal((n_items, rank))
    by_user, by_item = _rows(user), _rows(item)
    for _ in range(START_ROUNDS):
        for rows in by_user:
            U[user[rows[0]]] = _ridge(V[item[rows], :-1], target[rows] - V[item[rows], -1])
        for rows in by_item:
            V[item[rows[0]]] = _ridge(np.column_stack((U[user[rows]], np.ones(len(rows)))), target[rows])
    return U, V


def _rows(block: Integers) -> list[Integers]:
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1)


def _ridge(X: Floats, target: Floats) -> Floats:
    return np.asarray(np.linalg.solve(X.T @ X + START_RIDGE * np.eye(X.shape[1]), X.T @ target))


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
