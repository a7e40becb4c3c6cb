"""factor-rank on MovieLens 100k (official split u1) against popularity and matrix factorisation by squared error.

NDCG@10 (gain 2^y - 1, over the items a user rated in the test part), convention "default". Both factor models have ten
factors and five values of their regulariser, chosen on a fifth of the training ratings and fitted again on all of them.
Run: ``ARGRANK_DATA=… python experiments/orm/movielens.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import argrank as ar
from argrank.data.collections.ratings import Ratings

RANK = 10
Scorer = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]


def popularity(train: Ratings, n_items: int) -> Scorer:
    """Score an item by its mean rating, drawn towards the mean of all by five ratings."""
    counts, sums = np.bincount(train.items, minlength=n_items), np.bincount(train.items, train.ratings, n_items)
    mean = (sums + 5 * train.ratings.mean()) / (counts + 5)
    return lambda users, items: mean[items]


def squared_error(train: Ratings, n_users: int, n_items: int, penalty: float, rounds: int = 15) -> Scorer:
    """Factorise by alternating ridge regressions, items and users each with a worth of their own."""
    rng, mean = np.random.default_rng(0), train.ratings.mean()
    U = np.column_stack((0.1 * rng.standard_normal((n_users, RANK)), np.zeros(n_users), np.ones(n_users)))
    V = np.column_stack((0.1 * rng.standard_normal((n_items, RANK)), np.ones(n_items), np.zeros(n_items)))
    for _ in range(rounds):
        for own, other, block, mate, fixed in (
            (U, V, train.users, train.items, RANK + 1),
            (V, U, train.items, train.users, RANK),
        ):
            free = np.array([column for column in range(RANK + 2) if column != fixed])
            order = np.argsort(block, kind="stable")
            for rows in np.split(order, np.flatnonzero(np.diff(block[order])) + 1):
                X = other[mate[rows]]
                target = train.ratings[rows] - mean - X[:, fixed]
                gram = X[:, free].T @ X[:, free] + penalty * np.eye(len(free))
                own[block[rows[0]], free] = np.linalg.solve(gram, X[:, free].T @ target)
    return lambda users, items: (U[users] * V[items]).sum(axis=1)


def factor_rank(train: Ratings, C: float) -> Scorer:
    """Factorise by ORM's tight bound of NDCG@10."""
    ranker = ar.make_ranker("factor-rank", rank=RANK, C=C, bound="tight", decay="measure", rounds=1, max_iter=20)
    return ranker.fit(train).predict


def per_user(score: Scorer, test: Ratings) -> NDArray[np.float64]:
    """Return NDCG@10 of every user of the test part."""
    data = ar.Dataset(np.zeros((len(test), 1)), test.ratings, qid=test.users)
    return ar.evaluate(score(test.users, test.items), data, "ndcg@10").values["ndcg@10"]


def part(ratings: Ratings, rows: NDArray[np.bool_]) -> Ratings:
    """Return some of the ratings."""
    return Ratings(ratings.users[rows], ratings.items[rows], ratings.ratings[rows])


def main() -> None:
    """Choose, fit, print means and paired differences."""
    train, test = ar.load_ratings("ml-100k")
    n_users, n_items = (
        int(max(a.max(), b.max())) + 1 for a, b in ((train.users, test.users), (train.items, test.items))
    )
    held = np.random.default_rng(0).random(len(train)) < 0.2
    fit, valid = part(train, ~held), part(train, held)
    learners: dict[str, tuple[Callable[[Ratings, float], Scorer], tuple[float, ...]]] = {
        "popularity": (lambda some, _: popularity(some, n_items), (0.0,)),
        "squared error": (
            lambda some, penalty: squared_error(some, n_users, n_items, penalty),
            (1.0, 3.0, 10.0, 20.0, 40.0),
        ),
        "factor-rank": (factor_rank, (3.0, 10.0, 30.0, 100.0, 300.0)),
    }
    values = {}
    for name, (learn, grid) in learners.items():
        chosen = max(grid, key=lambda one: np.nanmean(per_user(learn(fit, one), valid)))
        values[name] = per_user(learn(train, chosen), test)
        print(f"{name:14} NDCG@10 {np.nanmean(values[name]):.4f} (chosen {chosen:g} of {grid})", flush=True)
    for rival in ("popularity", "squared error"):
        difference = values["factor-rank"] - values[rival]
        difference = difference[~np.isnan(difference)]
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        print(f"factor-rank - {rival}: {difference.mean():+.4f}, standard error {error:.4f}, {len(difference)} users")


if __name__ == "__main__":
    main()
