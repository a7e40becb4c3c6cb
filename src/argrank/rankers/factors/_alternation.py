"""The factors of users and items in turn, each half a convex ranking problem given the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.engines import make_risk
from argrank.rankers.linear.orm import ORM
from argrank.solvers import Squared, minimise
from argrank.solvers.shifted import Offset

if TYPE_CHECKING:
    from argrank.rankers._trace import Watcher
    from argrank.rankers.factors.factor_rank import FactorRank


START_ROUNDS = 15  # of the factorisation by squared error
HALF_TOL = 1e-5  # of ``tol``: near a start of 0 the first half gains next to nothing, and yet leads away from it
START_SCALES = np.geomspace(0.003, 100.0, 16)


class Alternation:
    """U and V in turn; each half is a linear ranker on sparse features made of the other half.

    Rows are ratings, together by user: ``user`` and ``item`` are their numbers, ``y`` the ratings, ``indptr`` where a
    user's rows begin, ``known`` the part of every item's score that is given.
    """

    def __init__(
        self, asked: FactorRank, user: Integers, item: Integers, y: Floats, indptr: Integers, known: Floats
    ) -> None:
        self.asked, self.user, self.item = asked, user, item
        self.n_users, self.known = len(indptr) - 1, known[item]
        self.loss = ORM(measure=asked.measure, decay=asked.decay, bound=asked.bound, gain=asked.gain)._objective()
        sizes = np.diff(indptr)
        weight = sizes.astype(np.float64) if asked.user_weight == "ratings" else None
        self.data = Dataset(sparse.csr_matrix((len(y), 1)), y, group=sizes, query_weight=weight)
        self.C = asked.C * self.n_users
        U, V = start_factors(user, item, y, asked)
        self.objective, self.n_rounds = np.inf, 0
        self.U0, self.V0 = np.zeros_like(U), np.zeros_like(V)
        explained = explained_part(known, item, asked.start_ridge)
        for less in (np.zeros_like(explained), explained) if explained.any() else (explained,):
            for scale in START_SCALES:  # the length of a regression's scores means nothing to a ranking loss
                worth = scale * V[:, -1] - less
                self._begin(np.sqrt(scale) * U, np.column_stack((np.sqrt(scale) * V[:, :-1], worth)))

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
        base = self.V[self.item, -1] + self.known
        U = self._improve(self.V[:, :-1][self.item], self.user, base, self.U, self.U0)
        self._keep(U, self.V)

    def _improve_items(self) -> None:
        features = np.column_stack((self.U[self.user], np.ones(len(self.user))))
        self._keep(self.U, self._improve(features, self.item, self.known, self.V, self.V0))

    def _improve(self, features: Floats, block: Integers, base: Floats, start: Floats, centre: Floats) -> Floats:
        """Return better weights, one vector a block: a row has the features of its counterpart at its own block."""
        width = features.shape[1]
        columns = (block[:, None] * width + np.arange(width)).ravel()
        offsets = np.arange(0, len(columns) + 1, width)
        X = sparse.csr_matrix((features.ravel(), columns, offsets), shape=(len(block), start.size))
        risk = Offset(make_risk(self.data.with_features(X), self.loss, self.asked.n_jobs), base)
        near = Squared(centre=centre.ravel()) if centre.any() else Squared()
        tol, max_iter = HALF_TOL * self.asked.tol, self.asked.max_iter
        result = minimise(risk, "l-bfgs", C=self.C, regulariser=near, tol=tol, max_iter=max_iter, start=start.ravel())
        return result.w.reshape(start.shape)

    def _keep(self, U: Floats, V: Floats) -> None:
        """Take factors that lower the objective."""
        scores = (U[self.user] * V[self.item, :-1]).sum(axis=1) + V[self.item, -1] + self.known
        away = float(((U - self.U0) ** 2).sum() + ((V - self.V0) ** 2).sum())
        value = self.loss(scores, self.data)[0] + away / (2 * self.C)
        if value <= self.objective:
            self.U, self.V, self.objective = U, V, value


def start_factors(user: Integers, item: Integers, y: Floats, asked: FactorRank) -> tuple[Floats, Floats]:
    """Return factors by alternating ridge regressions on the ratings, users and items each with a worth of their own.

    The users' worth is learned with the rest and dropped: it tells generous users from users of good items, which the
    mean of their ratings cannot, and changes no user's ranking.
    """
    random, rank, ridge = np.random.default_rng(asked.random_state), asked.rank, asked.start_ridge
    target = y - y.mean()
    U, V = np.zeros((user.max() + 1, rank + 1)), np.zeros((item.max() + 1, rank + 1))
    V[:, :-1] = 0.1 * random.standard_normal((len(V), rank))
    by_user, by_item = _rows(user), _rows(item)
    for _ in range(START_ROUNDS):
        for own, other, mate, blocks in ((U, V, item, by_user), (V, U, user, by_item)):
            for rows in blocks:
                mates = other[mate[rows]]
                features = np.column_stack((mates[:, :-1], np.ones(len(rows))))
                block = (user if own is U else item)[rows[0]]
                own[block] = _ridge(features, target[rows] - mates[:, -1], ridge)
    return U[:, :-1], V


def explained_part(known: Floats, item: Integers, ridge: float) -> Floats:
    """Return how much of every item's known score its ratings say themselves, to be taken off the worth of a start.

    Known scores cannot be taken off the ratings before these are factorised: they are in units of the score, and how
    long a rating is in those is found only afterwards. But at any length a ridge regression with n ratings follows a
    constant by n / (n + ridge): were it taken off the ratings, the item's worth would fall by as much. The mean over
    the ratings is left out, as it is of the ratings themselves. Starts with and without this are tried, since where C
    is small even a worth that undoes a misleading offset is too dear.
    """
    counts = np.bincount(item, minlength=len(known))
    return np.asarray(counts / (counts + ridge) * (known - known[item].mean()))


def _rows(block: Integers) -> list[Integers]:
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1)


def _ridge(X: Floats, target: Floats, ridge: float) -> Floats:
    return np.asarray(np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ target))
