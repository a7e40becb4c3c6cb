"""Ranking matrix factorisation: the items a user likes most come first, whatever the exact ratings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from argrank._types import Floats, Integers
from argrank.data import checks
from argrank.data.frames import is_frame
from argrank.data.grouping import group_by_id
from argrank.errors import InputError, check_count, check_positive, unknown_name
from argrank.models.factors import FactorModel
from argrank.rankers._trace import Trace, Watcher
from argrank.rankers.factors._alternation import Alternation
from argrank.rankers.factors._items import check_features, check_offsets, offsets_of, served_items

USER_WEIGHTS = ("equal", "ratings")


@dataclass(eq=False, repr=False, kw_only=True)
class FactorRank(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Factors of users and items that minimise ``(|U|² + |V|²) / (2 C m) + mean over the m users of a ranking loss``.

    A user's score of an item is ``U_user · V_item + worth of the item``, the worth being V's last column, plus what is
    known of the item beforehand (``item_offsets`` of ``fit``). The loss is ORM's bound of 1 - NDCG@k (or any measure
    a · b) over the items the user rated (ORM section 7.2; Weimer et al. 2008). For fixed V the problem is convex in U
    and falls apart by user, for fixed U it is convex in V; both are improved in turn by L-BFGS, and a step that does
    not lower the objective is not taken. It starts from a factorisation by squared error.

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
        Number of rounds of U and V after which to stop.
    tol : float
        Stop when a round gains less than this share of the objective.
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

    rank: int = 10
    C: float = 1.0
    measure: Any = "ndcg@10"
    decay: Any = None
    bound: str = "convex"
    gain: Any = "exp2"
    user_weight: str = "equal"
    near_start: bool = False
    start_ridge: float = 15.0
    rounds: int = 20
    tol: float = 1e-3
    max_iter: int = 30
    n_jobs: int | None = None
    random_state: int | None = 0
    verbose: int = 0

    def fit(
        self, users: Any, items: Any = None, ratings: Any = None, *, item_features: Any = None, item_offsets: Any = None
    ) -> FactorRank:
        """Learn from (user, item, rating) triples.

        Parameters
        ----------
        users, items, ratings
            Three arrays; or, instead of ``users``, an array or data frame with three columns in this order, or
            loaded ratings. A rating is a number from 0 up.
        item_features : mapping from items to vectors, optional
            Items without ratings get the factors that a ridge regression of the learned factors on the features
            predicts for them; without features they get the mean of all items.
        item_offsets : mapping from items to numbers, optional
            What is known of an item's score beforehand: popularity, an editor's view, the score of a content model.
            It is added to the score as it is and not shrunk; users and items learn what it leaves to explain, so a
            boost that ratings must not undo belongs on top of ``predict``. Items left out count 0. Items without
            ratings are served too, with their offset on top of what ``item_features`` gives them, or of the mean.
        """
        features, offsets = check_features(item_features), check_offsets(item_offsets)
        users, items, y = _triples(users, items, ratings)
        self._check(len(users))
        by_user, by_item = group_by_id(users, len(y)), group_by_id(items, len(y))
        rows = np.arange(len(y)) if by_user.rows is None else by_user.rows
        user = np.repeat(np.arange(len(by_user.query_ids)), np.diff(by_user.indptr))
        item = _numbers(by_item, len(y))[rows]
        rated = list(by_item.query_ids.tolist())
        if len(np.unique(user * len(rated) + item)) < len(y):
            raise InputError("ratings: expected every user to rate an item once, got a pair of user and item twice")
        problem = Alternation(self, user, item, y[rows], by_user.indptr, offsets_of(rated, offsets))
        with Watcher(type(self).__name__, [], self.verbose) as watcher:
            problem.run(watcher)
        self.objective_, self.n_iter_ = problem.objective, problem.n_rounds
        self.trace_: Trace = watcher.trace
        served, V = served_items(rated, problem.V, features, offsets)
        seen = tuple(item[a:b] for a, b in zip(by_user.indptr[:-1], by_user.indptr[1:], strict=True))
        training = {"ranker": type(self).__name__, "objective": self.objective_, "ratings": len(y)}
        self.model_ = FactorModel(tuple(by_user.query_ids.tolist()), tuple(served), problem.U, V, seen, training)
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
        for name in ("rank", "rounds"):
            check_count(name, getattr(self, name))
        for name in ("C", "start_ridge"):
            check_positive(name, getattr(self, name))
        if self.user_weight not in USER_WEIGHTS:
            raise unknown_name("user_weight", self.user_weight, USER_WEIGHTS)
        if n_ratings < 2:
            raise InputError(f"ratings: expected at least two, got {n_ratings}")


def _triples(users: Any, items: Any, ratings: Any) -> tuple[Any, Any, Floats]:
    if items is None and ratings is None:
        columns = list(users.T) if getattr(users, "ndim", 0) == 2 and not is_frame(users) else _columns(users)
        if len(columns) == 3:
            users, items, ratings = columns
    if items is None or ratings is None:
        raise InputError("expected users, items and ratings, or an array or data frame of shape (n, 3)")
    y = checks.numbers(ratings, len(ratings), "ratings", "rating")
    if (y < 0).any():
        raise InputError(f"ratings: expected numbers >= 0, got {y.min():g} in row {int(np.argmin(y))}")
    for name, ids in (("users", users), ("items", items)):
        if len(ids) != len(y):
            raise InputError(f"{name}: expected one for each of {len(y)} ratings, got {len(ids)}")
    return users, items, y


def _columns(table: Any) -> list[Any]:
    """Return the columns of a data frame, or of loaded ratings."""
    if not is_frame(table):
        return [table.users, table.items, table.ratings] if hasattr(table, "ratings") else []
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    return [frame.get_column(name).to_numpy() for name in frame.columns]


def _numbers(groups: Any, n: int) -> Integers:
    """Return the number of every row's group."""
    numbers = np.repeat(np.arange(len(groups.query_ids)), np.diff(groups.indptr))
    if groups.rows is None:
        return numbers
    result = np.empty(n, np.int64)
    result[groups.rows] = numbers
    return result
