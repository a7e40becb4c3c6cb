"""factor-rank on MovieLens 100k against popularity and matrix factorisation by squared error, NDCG@10.

Settings: the official split u1; and 10, 20 or 50 ratings of every user for training, the others (at least ten) for
test, as in the CofiRank line. Convention "default": gain 2^y - 1, over the items a user rated in the test part, mean
over the users. Every ranker has six settings or more to choose from, on a fifth of the *training* ratings, is fitted
again on all of them, and is tested once on the test part. Factor models have ten factors.

Writes movielens.csv (test), movielens_grid.csv (validation of every setting) and movielens_parts.csv (training and
validation of ways to refine a factorisation, on u1). Run: ``ARGRANK_DATA=… python -m experiments.orm.movielens``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import ttest_rel, wilcoxon

import argrank as ar
from argrank.data.io.triples import Ratings
from experiments._common import write_csv

HERE = Path(__file__).parent
RANK = 10
HELD_OUT = 0.2
PER_USER = (10, 20, 50)
Scorer = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
RANKING: dict[str, Any] = {"measure": "ndcg", "decay": "measure", "user_weight": "ratings", "near_start": True}
PARTS: dict[str, dict[str, Any]] = {
    "the start alone": {"rounds": 1, "max_iter": 1, "C": 1e-9},
    "C = 0.01": {"C": 0.01},
    "C = 0.1": {"C": 0.1},
    "C = 1": {"C": 1.0},
    "C = 0.1, every user counts the same": {"C": 0.1, "user_weight": "equal"},
    "C = 0.1, NDCG@10 instead of NDCG": {"C": 0.1, "measure": "ndcg@10"},
    "C = 0.1, the tight bound": {"C": 0.1, "bound": "tight"},
    "C = 1, shrunk to 0, not to the start": {"C": 1.0, "near_start": False},
}
ITEM_C = (0.0, 1.0, 10.0, 100.0)  # values of C of the items' offsets in ``on_honest_scores``


def popularity(train: Ratings, prior: float) -> Scorer:
    """Score an item by its mean rating, drawn towards the mean of all by ``prior`` ratings."""
    n_items = int(train.items.max()) + 1
    counts, sums = np.bincount(train.items, minlength=n_items), np.bincount(train.items, train.ratings, n_items)
    mean = np.append((sums + prior * train.ratings.mean()) / (counts + prior), train.ratings.mean())
    return lambda users, items: mean[np.minimum(items, n_items)]


def squared_error(train: Ratings, penalty: float, rounds: int = 15) -> Scorer:
    """Factorise by alternating ridge regressions, items and users each with an offset of their own."""
    rng, mean = np.random.default_rng(0), train.ratings.mean()
    n_users, n_items = 1000, 2000  # more than there are: those without ratings keep the values of the start, near 0
    U = np.column_stack((0.1 * rng.standard_normal((n_users, RANK)), np.zeros(n_users), np.ones(n_users)))
    V = np.column_stack((0.1 * rng.standard_normal((n_items, RANK)), np.ones(n_items), np.zeros(n_items)))
    rated = np.bincount(train.items, minlength=n_items) > 0
    V[~rated, :RANK] = 0.0
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


def factor_rank(train: Ratings, C: float, start_ridge: float, **other: Any) -> Scorer:
    """Refine a factorisation by squared error for NDCG."""
    parameters = RANKING | {"rank": RANK, "n_jobs": 1, "verbose": -1} | other
    return ar.make_ranker("factor-rank", C=C, start_ridge=start_ridge, **parameters).fit(train).predict


RANKERS: dict[str, tuple[Callable[..., Scorer], list[dict[str, float]]]] = {
    "popularity": (popularity, [{"prior": prior} for prior in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)]),
    "squared error": (squared_error, [{"penalty": penalty} for penalty in (3.0, 5.0, 10.0, 15.0, 20.0, 30.0)]),
    "factor-rank": (
        factor_rank,
        [{"C": C, "start_ridge": ridge} for ridge in (5.0, 10.0, 15.0, 20.0) for C in (0.001, 0.01, 0.1, 1.0)],
    ),
}


def per_user(score: Scorer, test: Ratings) -> NDArray[np.float64]:
    """Return NDCG@10 of every user of the test part."""
    data = ar.Dataset(np.zeros((len(test), 1)), test.ratings, qid=test.users)
    return ar.evaluate(score(test.users, test.items), data, "ndcg@10").values["ndcg@10"]


def part(ratings: Ratings, rows: NDArray[np.bool_]) -> Ratings:
    """Return some of the ratings."""
    return Ratings(ratings.users[rows], ratings.items[rows], ratings.ratings[rows])


def some_per_user(ratings: Ratings, n: int) -> tuple[Ratings, Ratings]:
    """Return n ratings of every user who has ten more, and the others of the same users."""
    shuffled = np.random.default_rng(n).permutation(len(ratings))
    order = shuffled[np.argsort(ratings.users[shuffled], kind="stable")]
    users = ratings.users[order]
    place = np.arange(len(order)) - np.searchsorted(users, users)
    many = np.bincount(ratings.users)[users] >= n + 10
    chosen, left = np.zeros(len(order), bool), np.zeros(len(order), bool)
    chosen[order], left[order] = many & (place < n), many & (place >= n)
    return part(ratings, chosen), part(ratings, left)


def settings() -> dict[str, tuple[Ratings, Ratings]]:
    """Return training and test parts by name."""
    train, test = ar.load_ratings("ml-100k")
    whole = Ratings(*(np.concatenate((getattr(train, x), getattr(test, x))) for x in ("users", "items", "ratings")))
    return {"u1": (train, test)} | {f"{n} a user": some_per_user(whole, n) for n in PER_USER}


def write(name: str, rows: list[dict[str, Any]]) -> None:
    """Write a table; every step does, so that a run that is stopped leaves what it found."""
    write_csv(HERE / name, rows)


def main() -> None:
    """Choose, fit, test once; write means and paired differences."""
    found: list[dict[str, Any]] = []
    grid: list[dict[str, Any]] = []
    for setting, (train, test) in settings().items():
        held = np.random.default_rng(0).random(len(train)) < HELD_OUT
        fit, valid = part(train, ~held), part(train, held)
        values = {}
        for name, (learn, choices) in RANKERS.items():
            means = [float(np.nanmean(per_user(learn(fit, **choice), valid))) for choice in choices]
            for choice, mean in zip(choices, means, strict=True):
                grid.append({"setting": setting, "ranker": name, "parameters": _text(choice), "ndcg@10": f"{mean:.4f}"})
            write("movielens_grid.csv", grid)
            chosen = choices[int(np.argmax(means))]
            values[name] = per_user(learn(train, **chosen), test)
            print(setting, name, chosen, max(means), np.nanmean(values[name]), file=sys.stderr, flush=True)
            found.append(_row(setting, name, chosen, values))
        for row in found[-len(RANKERS) : -1]:
            row |= _comparison(values["factor-rank"], values[row["ranker"]])
        write("movielens.csv", found)
        if setting == "u1":
            parts = [_part(fit, valid, label, other) for label, other in PARTS.items()]
            write("movielens_parts.csv", parts + on_honest_scores(fit, valid))


def _row(setting: str, name: str, chosen: dict[str, float], values: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
    mean, users = np.nanmean(values[name]), int((~np.isnan(values[name])).sum())
    row = {"setting": setting, "ranker": name, "chosen": _text(chosen), "ndcg@10": f"{mean:.4f}", "users": users}
    return row | dict.fromkeys(("factor-rank ahead by", "standard error", "t-test p", "Wilcoxon p"), "")


def _comparison(mine: NDArray[np.float64], rival: NDArray[np.float64]) -> dict[str, str]:
    both = ~np.isnan(mine - rival)
    difference = (mine - rival)[both]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return {
        "factor-rank ahead by": f"{difference.mean():+.4f}",
        "standard error": f"{error:.4f}",
        "t-test p": f"{ttest_rel(mine[both], rival[both]).pvalue:.2g}",
        "Wilcoxon p": f"{wilcoxon(difference).pvalue:.2g}",
    }


def _part(fit: Ratings, valid: Ratings, label: str, other: dict[str, Any]) -> dict[str, Any]:
    """Return what a way to refine makes of the ratings it saw and of those it did not."""
    score = factor_rank(fit, **{"start_ridge": 15.0} | other)
    seen, unseen = (float(np.nanmean(per_user(score, some))) for some in (fit, valid))
    return {"factor-rank": label, "training": f"{seen:.4f}", "validation": f"{unseen:.4f}"}


def on_honest_scores(fit: Ratings, valid: Ratings, n_folds: int = 5) -> list[dict[str, Any]]:
    """Return what the items' offsets gain when the scores they correct come from ratings that they had not seen.

    Training scores are those of squared error fitted to the other folds; on top of them ``orm`` learns an offset of
    each item by NDCG's convex bound. This avoids refining a fit on the ratings that it was trained on.
    """
    fold = np.random.default_rng(5).integers(0, n_folds, len(fit))
    honest = np.empty(len(fit))
    for one in range(n_folds):
        left = part(fit, fold == one)
        honest[fold == one] = squared_error(part(fit, fold != one), 15.0)(left.users, left.items)
    train, test = _with_scores(fit, honest), _with_scores(valid, squared_error(fit, 15.0)(valid.users, valid.items))
    w0 = np.append(np.zeros(train.n_features - 1), 0.03)
    rows = []
    for C in ITEM_C:
        orm = ar.make_ranker(
            "orm", measure="ndcg", bound="convex", decay="measure", w0=w0, C=C or 1e-9, tol=1e-2, n_jobs=1, verbose=-1
        )
        orm.fit(train)
        seen, unseen = (
            float(np.nanmean(ar.evaluate(orm.predict(some), some, "ndcg@10").values["ndcg@10"]))
            for some in (train, test)
        )
        label = f"items' offsets on honest scores, C = {C:g}"
        rows.append({"factor-rank": label, "training": f"{seen:.4f}", "validation": f"{unseen:.4f}"})
    return rows


def _with_scores(ratings: Ratings, scores: NDArray[np.float64]) -> ar.Dataset:
    n = len(ratings)
    items = sparse.csr_matrix((np.ones(n), (np.arange(n), ratings.items)), shape=(n, 2000))
    weight = np.unique(ratings.users, return_counts=True)[1][np.argsort(np.unique(ratings.users, return_index=True)[1])]
    return ar.Dataset(
        sparse.hstack((items, scores[:, None])).tocsr(), ratings.ratings, ratings.users, query_weight=weight
    )


def _text(choice: dict[str, float]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in choice.items())


if __name__ == "__main__":
    main()
