"""Matrix factorisation by squared error: the start of ranking factorisations, and their baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from argrank._declared import Count, Positive
from argrank._types import Floats, Integers
from argrank.rankers.factors.factor_ranker import FactorRanker, Factors, Rated, Watch


@dataclass(eq=False, repr=False, kw_only=True)
class FactorRegression(FactorRanker):
    """Factors that minimise the sum of the squared errors of the ratings, plus ``ridge`` times all factors squared.

    A rating is predicted by the mean of all + ``U_user · V_item`` + a bias of the user + a bias of the item; the mean
    and the users' biases are then dropped, as they change no user's ranking. Users and items are improved in turn by
    ridge regressions. It uses the values of ratings and not only their order, so it is hard to beat; ``factor-rank``
    starts from it.

    Parameters
    ----------
    ridge
        Weight of the squares of all factors and biases. Raise it if users or items have few ratings.
    rounds
        Number of rounds of users and items.

    Examples
    --------
    >>> users, items, ratings = [1, 1, 1, 2, 2, 2], list("abcabd"), [5, 3, 1, 5, 2, 4]
    >>> FactorRegression(rank=1, ridge=1.0).fit(users, items, ratings).recommend(1, n=1)
    ['d']
    """

    minimises: ClassVar[str] = "the squared error of the ratings"

    ridge: Positive = 15.0
    rounds: Count = 15

    def _factorise(self, rated: Rated, watch: Watch) -> Factors:
        target = rated.y - rated.known[rated.item]
        return factorise(rated, target, self.rank, self.ridge, self.rounds, self.random_state, watch)


def factorise(
    rated: Rated,
    target: Floats,
    rank: Count,
    ridge: float,
    rounds: Count,
    random_state: int | None,
    watch: Watch | None = None,
) -> Factors:
    """Return factors by alternating ridge regressions on a target, users and items each with a bias of their own.

    The users' bias is learned and then dropped: it separates generous users from users of good items, which the mean of
    their ratings cannot, and changes no user's ranking.
    """
    user, item = rated.user, rated.item
    random, centred = np.random.default_rng(random_state), target - target.mean()
    U, V = np.zeros((user.max() + 1, rank + 1)), np.zeros((item.max() + 1, rank + 1))
    V[:, :-1] = 0.1 * random.standard_normal((len(V), rank))
    halves = ((U, V, user, item, _rows(user)), (V, U, item, user, _rows(item)))
    objective = np.inf
    for _ in range(rounds):
        for own, other, block, mate, blocks in halves:
            for rows in blocks:
                mates = other[mate[rows]]
                features = np.column_stack((mates[:, :-1], np.ones(len(rows))))
                gram = features.T @ features + ridge * np.eye(rank + 1)
                own[block[rows[0]]] = np.linalg.solve(gram, features.T @ (centred[rows] - mates[:, -1]))
        errors = centred - (U[user, :-1] * V[item, :-1]).sum(axis=1) - U[user, -1] - V[item, -1]
        objective = float(errors @ errors) + ridge * float((U**2).sum() + (V**2).sum())
        if watch is not None:
            watch(U[:, :-1], V, objective)
    return Factors(U[:, :-1], V, objective, rounds)


def _rows(block: Integers) -> list[Integers]:
    order = np.argsort(block, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(block[order])) + 1)
