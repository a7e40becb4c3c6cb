"""The rankers that learn from data other than judged documents, at their defaults: ratings and slots of a page.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.others

MovieLens u1 (its test part) beside popularity, and pages like those of the recipe on news slots, five draws, beside a
ridge regression for every slot. Writes the two tables of README.md to others.md; takes some CPU seconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

import argrank as ar
from experiments._common import quiet
from experiments.orm.movielens import per_user, popularity

PRIOR = 5.0  # number of prior ratings at the mean, for popularity
DRAWS, PAGES, KNOWN, ARTICLES = 5, 120, 80, 8


def difference(values: np.ndarray) -> str:
    """Return a mean and its standard error, of what is defined."""
    values = values[~np.isnan(values)]
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def ratings() -> Iterator[str]:
    """Yield the rows of MovieLens u1: NDCG@10 by user, the difference to popularity, CPU seconds of the fit."""
    train, test = ar.load_ratings("ml-100k")
    base = per_user(popularity(train, PRIOR), test)
    yield f"| popularity | {np.nanmean(base):.4f} | | |"
    for name in ar.ranker_names("factors"):
        ranker, begin = ar.make_ranker(name, verbose=-1), time.process_time()
        with quiet():
            ranker.fit(train)
        seconds, values = time.process_time() - begin, per_user(ranker.predict, test)
        yield f"| `{name}` | {np.nanmean(values):.4f} | {difference(values - base)} | {seconds:.1f} |"


def slots() -> Iterator[str]:
    """Yield the rows of news slots: what new pages earn, as a share of the best pages."""
    shares = np.array([_pages(np.random.default_rng(draw)) for draw in range(DRAWS)])
    yield f"| ridge regression for every slot | {shares[:, 1].mean():.4f} | |"
    yield f"| `position-match` | {shares[:, 0].mean():.4f} | {difference(shares[:, 0] - shares[:, 1])} |"


def _pages(rng: np.random.Generator) -> tuple[float, float]:
    page = np.repeat(np.arange(PAGES), ARTICLES)
    topic, quality = rng.integers(0, 3, len(page)), rng.random((len(page), 1))
    clicks = 0.1 * quality + np.eye(3)[topic] * quality
    X = np.column_stack((np.eye(3)[topic], np.eye(3)[topic] * quality, quality, rng.standard_normal((len(page), 2))))
    known = page < KNOWN
    with quiet():
        editor = ar.make_ranker("position-match", verbose=-1).fit(X[known], clicks[known], qid=page[known])
    A = np.column_stack((X, np.ones(len(X))))
    W = np.linalg.solve(A[known].T @ A[known] + np.eye(A.shape[1]), A[known].T @ clicks[known])
    earned = [_earned(table, clicks, page, known) for table in (editor.predict(X), A @ W, clicks)]
    return earned[0] / earned[2], earned[1] / earned[2]


def _earned(scores: np.ndarray, clicks: np.ndarray, page: np.ndarray, known: np.ndarray) -> float:
    """Return what the new pages earn that are the best by some scores."""
    total = 0.0
    for number in np.unique(page[~known]):
        rows = page == number
        total += float(clicks[rows][linear_sum_assignment(scores[rows], maximize=True)].sum())
    return total


def main() -> None:
    """Write both tables."""
    lines = ["| MovieLens u1 | NDCG@10 | to popularity | CPU s |", "|---|--:|--:|--:|", *ratings(), ""]
    lines += ["| pages | of the best page | difference |", "|---|--:|--:|", *slots()]
    Path(__file__).with_name("others.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
