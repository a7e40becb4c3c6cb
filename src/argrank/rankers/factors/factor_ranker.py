"""Base class of rankers of (user, item, rating) triples."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from argrank._declared import Count, Seed, checked
from argrank._types import Floats, Integers
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.frames import eager_frame, is_frame
from argrank.data.grouping import group_by_id
from argrank.data.io.triples import read_triples
from argrank.errors import InputError, is_finite, shown
from argrank.evaluation.evaluate import mean_of
from argrank.models.factors import FactorModel
from argrank.rankers.estimator import Estimator, Reporting, check_parameters, rules_of
from argrank.rankers.trace import Trace, Validation, Watcher


class Rated(NamedTuple):
    """Ratings together by user: numbers of users and items, ratings, where users begin, and items' known scores."""

    user: Integers
    item: Integers
    y: Floats
    indptr: Integers
    known: Floats


class Factors(NamedTuple):
    """The result of a factorisation: U, V with the items' biases as its last column, the objective, the rounds."""

    U: Floats
    V: Floats
    objective: float
    n_rounds: Count


class Held:
    """Ratings on which a fit is watched: rows by number, where the training knows user and item."""

    def __init__(self, triples: Triples, users: dict[Any, int], items: dict[Any, int], known: Floats) -> None:
        self.data = triples.as_dataset()
        stored = np.arange(len(triples.y)) if self.data.rows is None else self.data.rows
        self._user = np.array([users.get(one, -1) for one in triples.users], np.int64)[stored]
        self._item = np.array([items.get(one, -1) for one in triples.items], np.int64)[stored]
        self._known = known

    def scores(self, U: Floats, V: Floats) -> Floats:
        """Return the scores of the rows, as the model will score them."""
        V = np.column_stack((V[:, :-1], V[:, -1] + self._known))
        items, users = np.vstack((V, V.mean(axis=0))), np.vstack((U, np.zeros(U.shape[1])))
        chosen = items[self._item]
        return np.asarray((users[self._user] * chosen[:, :-1]).sum(axis=1) + chosen[:, -1])


@dataclass(eq=False, repr=False, kw_only=True)
class FactorRanker(Reporting, Estimator[FactorModel]):
    """A ranker whose score is ``U_user · V_item + bias of the item``, the bias being V's last column.

    Parameters
    ----------
    rank
        Number of factors, not counting the items' bias. Choose it by validation; a few hundred ratings are enough for
        one or two.
    scoring : str or Measure, optional
        What ``score`` and the validation column of ``trace_`` report, by user; None for the measure that is optimised,
        with the ranker's own gain and relevant_at, and "ndcg@10" where none is.
    random_state
        Where the factorisation by squared error begins.
    """

    rank: Count = 10
    scoring: Any = None
    random_state: Seed | None = 0
    verbose: int = 0

    @abstractmethod
    def _factorise(self, rated: Rated, watch: Watch) -> Factors:
        """Return the factors of checked ratings."""

    @checked
    def fit(
        self,
        users: Any,
        items: Any = None,
        ratings: Any = None,
        *,
        item_features: Any = None,
        item_offsets: Any = None,
        eval_set: Any = None,
    ) -> FactorRanker:
        """Learn from (user, item, rating) triples.

        Parameters
        ----------
        users, items, ratings
            Three arrays; or, instead of ``users``, an array or data frame with three columns in this order, loaded
            ratings, a sparse matrix of users by items whose stored entries are the ratings, or a file of them: a table
            with columns user, item and rating, text as in MovieLens' ``u.data``, or a matrix that SciPy saved
            (``.npz``). A rating is a number from 0 up.
        item_features : mapping from items to vectors, optional
            Items without ratings get the factors that a ridge regression of the learned factors on the features
            predicts for them; without features they get the mean of all items.
        item_offsets : mapping from items to numbers, optional
            A known part of an item's score: popularity, an editor's view, the score of a content model. It is added to
            the score unchanged; the factors learn the remainder, so a boost that ratings must not undo should be added
            to the result of ``predict``. Items left out have 0. Items without ratings are served too, with their offset
            added to what ``item_features`` predicts, or to the mean.
        eval_set : triples, in any of these forms or as a tuple of three arrays, optional
            Ratings on which ``scoring`` is computed after every round (``trace_["validation"]``).
        """
        features, offsets = check_features(item_features), check_offsets(item_offsets)
        given = Triples.of(users, items, ratings)
        check_parameters(self)
        if len(given.y) < 2:
            raise InputError(f"ratings: expected at least two, got {len(given.y)}")
        by_user, by_item = group_by_id(given.users, len(given.y)), group_by_id(given.items, len(given.y))
        rows = np.arange(len(given.y)) if by_user.rows is None else by_user.rows
        user, item = by_user.query_of_row[rows], by_item.query_of_row[rows]
        people, things = by_user.query_ids.tolist(), by_item.query_ids.tolist()
        if len(np.unique(user * len(things) + item)) < len(given.y):
            raise InputError("ratings: expected every user to rate an item once, got a pair of user and item twice")
        rated = Rated(user, item, given.y[rows], by_user.indptr, offsets_of(things, offsets))
        held = []
        if eval_set is not None:
            given_apart = isinstance(eval_set, tuple) and len(eval_set) == 3
            triples = Triples.of(*eval_set) if given_apart else Triples.of(eval_set)
            users, items = ({one: number for number, one in enumerate(ids)} for ids in (people, things))
            held = [Held(triples, users, items, rated.known)]
        with Watcher(type(self).__name__, [self._validation(one.data) for one in held], self.verbose) as watcher:
            found = self._factorise(rated, Watch(watcher, held))
        self.objective_, self.n_iter_ = found.objective, found.n_rounds
        self.trace_: Trace = watcher.trace
        served, V = served_items(things, found.V, features, offsets)
        seen = tuple(item[a:b] for a, b in zip(by_user.indptr[:-1], by_user.indptr[1:], strict=True))
        training = {"ranker": type(self).__name__, "objective": self.objective_, "ratings": len(given.y)}
        self.model_ = FactorModel(tuple(people), tuple(served), found.U, V, seen, training)
        return self

    @checked
    def predict(self, users: Any, items: Any) -> Floats:
        """Return one score for every pair of a user and an item; higher is better for the same user."""
        check_is_fitted(self)
        return self.model_.predict(users, items)

    @checked
    def recommend(self, user: Any, n: Count = 10, seen: bool = False) -> list[Any]:
        """Return the ids of the n best items for a user, without those the user rated unless ``seen`` is True.

        For a list or an array of users, the lists of all of them.
        """
        check_is_fitted(self)
        return self.model_.recommend(user, n, seen)

    @checked
    def score(self, users: Any, items: Any = None, ratings: Any = None) -> float:
        """Return the mean over users of the reported measure, on ratings in any form that ``fit`` accepts."""
        check_is_fitted(self)
        given = Triples.of(users, items, ratings)
        scores = self.predict(given.users, given.items)
        return mean_of(scores, given.as_dataset(), self._reported, **rules_of(self))

    def _validation(self, data: Dataset) -> Validation:
        reported, rules = self._reported, rules_of(self)
        return Validation("validation", data, lambda scores: mean_of(data.to_caller(scores), data, reported, **rules))


class Watch:
    """Records the rounds of a factorisation."""

    def __init__(self, watcher: Watcher, held: list[Held]) -> None:
        self._watcher, self._held = watcher, held

    def __call__(self, U: Floats, V: Floats, objective: float) -> None:
        """Record a round."""
        norm = float(np.sqrt((U**2).sum() + (V**2).sum()))
        self._watcher.record([one.scores(U, V) for one in self._held], {"objective": objective, "norm": norm})


class Triples(NamedTuple):
    """The caller's ratings: a user, an item and a number each."""

    users: Any
    items: Any
    y: Floats

    @classmethod
    def of(cls, users: Any, items: Any = None, ratings: Any = None) -> Triples:
        """Check triples given in any of the forms that ``FactorRanker.fit`` accepts."""
        if items is None and ratings is None:
            columns = _columns(users)
            if len(columns) == 3:
                users, items, ratings = columns
        if items is None or ratings is None:
            raise InputError(
                "expected users, items and ratings, an array or data frame of shape (n, 3), a sparse matrix of "
                "users by items, or a file of them"
            )
        y = checks.numbers(ratings, checks.row_count(ratings, "ratings"), "ratings", "rating")
        if (y < 0).any():
            raise InputError(f"ratings: expected numbers >= 0, got {y.min():g} in row {int(np.argmin(y))}")
        for name, ids in (("users", users), ("items", items)):
            if (n_ids := checks.row_count(ids, name)) != len(y):
                raise InputError(f"{name}: expected one for each of {len(y)} ratings, got {n_ids}")
        users, items = (ids.tolist() if hasattr(ids, "tolist") else list(ids) for ids in (users, items))
        return cls(users, items, y)

    def as_dataset(self) -> Dataset:
        """Return the ratings as labels, one query per user; there are no features."""
        return Dataset(sparse.csr_matrix((len(self.y), 1)), self.y, qid=self.users)


def _columns(table: Any) -> list[Any]:
    """Return the three columns of an array, a data frame, ratings, a file, or a sparse matrix of users by items."""
    if isinstance(table, str | os.PathLike):
        table = read_triples(table)
    if sparse.issparse(table):
        entries = table.tocoo()
        return [entries.row, entries.col, entries.data]
    if is_frame(table):
        frame = eager_frame(table)
        return [frame.get_column(name).to_numpy() for name in frame.columns]
    if hasattr(table, "ratings"):
        return [table.users, table.items, table.ratings]
    return list(table.T) if getattr(table, "ndim", 0) == 2 else []


def check_features(given: Any) -> dict[Any, Floats]:
    """Return the features of items, vectors of one length; nothing for None."""
    found: dict[Any, Floats] = {}
    for item, value in _pairs("item_features", given):
        try:
            vector = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            vector = np.array(np.nan)
        if vector.ndim != 1 or not np.isfinite(vector).all():
            raise InputError(f"item_features[{shown(item)}]: expected a vector of finite numbers, got {shown(value)}")
        length = len(next(iter(found.values()), vector))
        if len(vector) != length:
            raise InputError(f"item_features[{shown(item)}]: expected {length} numbers, as before, got {len(vector)}")
        found[item] = vector
    return found


def check_offsets(given: Any) -> dict[Any, float]:
    """Return the known parts of items' scores; nothing for None."""
    found: dict[Any, float] = {}
    for item, value in _pairs("item_offsets", given):
        if not is_finite(value):
            raise InputError(f"item_offsets[{shown(item)}]: expected a finite number, got {shown(value)}")
        found[item] = float(value)
    return found


def offsets_of(items: Iterable[Any], offsets: Mapping[Any, float]) -> Floats:
    """Return the known part of every item's score, 0 for items left out."""
    return np.array([offsets.get(item, 0.0) for item in items], np.float64)


def served_items(
    rated: list[Any], V: Floats, features: Mapping[Any, Floats], offsets: Mapping[Any, float]
) -> tuple[list[Any], Floats]:
    """Return the items of a model, those rated first, and their factors.

    Factors are regressed on features; without features an item gets the mean, like an unknown one. Then the offsets are
    added to the items' biases.
    """
    seen = set(rated)
    described = [item for item in features if item not in seen]
    others = [item for item in offsets if item not in seen and item not in features]
    V = np.vstack((V, _regressed(rated, V, features, described)))
    V = np.vstack((V, np.tile(V.mean(axis=0), (len(others), 1))))
    items = [*rated, *described, *others]
    V[:, -1] += offsets_of(items, offsets)
    return items, V


def _regressed(rated: list[Any], V: Floats, features: Mapping[Any, Floats], wanted: list[Any]) -> Floats:
    """Return the factors that a ridge regression of the rated items' factors on their features predicts for others."""
    rows = [number for number, item in enumerate(rated) if item in features]
    if not rows or not wanted:
        return np.tile(V.mean(axis=0), (len(wanted), 1))
    X, target = np.array([features[rated[row]] for row in rows]), V[rows]
    mean, centre = X.mean(axis=0), target.mean(axis=0)
    gram = (X - mean).T @ (X - mean) + np.eye(X.shape[1])
    B = np.linalg.solve(gram, (X - mean).T @ (target - centre))
    return np.asarray(centre + (np.array([features[item] for item in wanted]) - mean) @ B)


def _pairs(name: str, given: Any) -> list[tuple[Any, Any]]:
    """Return ids and values of a mapping or a series, ids as the ratings have them and model files can hold them."""
    if given is None:
        return []
    if not callable(getattr(given, "items", None)):
        raise InputError(f"{name}: expected a mapping from items, got {shown(given)}")
    return [(item.item() if isinstance(item, np.generic) else item, value) for item, value in given.items()]
