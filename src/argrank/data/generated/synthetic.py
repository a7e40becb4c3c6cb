"""Generated ranking data for tests, benchmarks and experiments; bit-identical for the same seed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from scipy import sparse

from argrank._declared import AtLeast, AtMost, Below, Count, FloatType, Seed, checked
from argrank._memory import check_memory
from argrank._types import Floats, Integers
from argrank.data.checks import float_type
from argrank.data.dataset import Dataset
from argrank.data.grouping import offsets
from argrank.errors import OptionError, check_count

Generator = np.random.Generator


@checked
def make_ranking(
    n_queries: Count = 100,
    n_documents: Count | tuple[Count, Count] = (20, 100),
    n_features: Count = 20,
    *,
    truth: Literal["linear", "nonlinear"] = "linear",
    noise: Annotated[float, AtLeast(0), AtMost(1e100)] = 0.5,
    grades: Annotated[int, AtLeast(2), AtMost(1000)] = 5,
    relevant: Annotated[float, AtLeast(0), AtMost(1)] | None = 0.2,
    navigational: Annotated[float, AtLeast(0), AtMost(1)] = 0.0,
    navigational_documents: Annotated[int, AtLeast(2)] = 1000,
    correlation: Annotated[float, AtLeast(0), Below(1)] = 0.0,
    density: Annotated[float, AtLeast(1e-9), AtMost(1)] | None = None,
    dtype: FloatType = np.float64,
    random_state: Seed = 0,
) -> Dataset:
    """Generate judged queries whose labels follow a linear or nonlinear function of the features plus noise.

    Parameters
    ----------
    n_queries, n_features : int
    n_documents : int or (int, int)
        Documents per query: a number, or the bounds of a uniform draw.
    truth : "linear" or "nonlinear"
        The function behind the labels: a weighted sum of the features, or one with squares and products, which no
        linear model can express. Its standard deviation is 1.
    noise : float
        Standard deviation of the noise added to the truth before labels are given.
    grades : int
        Number of labels, 0 to grades - 1, at least 2.
    relevant : float or None
        Share of documents with a label of 1 or more, over all informational queries, so that some of these may have
        none; each higher grade is half as frequent as the one below. None makes all grades equally frequent.
    navigational : float
        Share of queries that have exactly one relevant document, of the highest grade, in a list of
        ``navigational_documents``.
    correlation : float
        Correlation of each pair of features, from 0 up to below 1; 0 for CSR.
    density : float, optional
        Share of values that are not zero; features are CSR then.
    dtype : float32 or float64
    random_state : int

    Examples
    --------
    >>> import argrank as ar
    >>> ar.make_ranking(50, 30, n_features=10, grades=3, random_state=1)
    Dataset: 50 queries, 1,500 documents (30 to 30 a query), 10 features, float64; labels 0: 1,200, 1: 200, 2: 100
    """
    if correlation and density is not None:
        raise OptionError(f"correlation: expected 0 for sparse features, got {correlation!r}")
    low, high = (n_documents, n_documents) if isinstance(n_documents, int) else n_documents
    check_count("n_documents", high, low)
    n_rows = n_queries * max(high, navigational_documents if navigational else 0)
    n_values = n_rows * (3.0 + n_features * (1.0 if density is None else density))
    check_memory("make_ranking", 8.0 * n_values, "generate fewer queries, or sparse features (density)")
    rng = np.random.default_rng(random_state)
    sizes = rng.integers(low, high, size=n_queries, endpoint=True)
    navigates = np.zeros(n_queries, bool)
    navigates[rng.permutation(n_queries)[: round(navigational * n_queries)]] = True
    sizes[navigates] = navigational_documents
    indptr = offsets(sizes)
    X = draw_features(rng, int(indptr[-1]), n_features, correlation, density)
    score = noisy_truth(rng, X, truth, noise)
    in_navigational = np.repeat(navigates, sizes)
    y = np.zeros(len(score))
    y[~in_navigational] = _grade(score[~in_navigational], grades, relevant)
    for query in np.flatnonzero(navigates):
        y[indptr[query] + np.argmax(score[indptr[query] : indptr[query + 1]])] = grades - 1
    return Dataset(X.astype(float_type(dtype)), y, group=sizes)


def draw_features(rng: Generator, n_rows: int, n_features: int, correlation: float, density: float | None) -> Any:
    """Draw normal features, with one common factor that gives each pair its correlation; CSR for a density."""
    if density is not None:
        cells = _filled(rng, n_rows * n_features, density)
        rows, columns = np.divmod(cells, n_features)
        indptr = offsets(np.bincount(rows, minlength=n_rows))
        return sparse.csr_matrix((rng.standard_normal(len(cells)), columns, indptr), shape=(n_rows, n_features))
    X = rng.standard_normal((n_rows, n_features))
    if correlation:
        X *= np.sqrt(1 - correlation)
        X += np.sqrt(correlation) * rng.standard_normal((n_rows, 1))
    return X


def _filled(rng: Generator, n_cells: int, density: float) -> Integers:
    """Draw the numbers of the cells that hold a value, each with the same probability, by the gaps between them."""
    cells = np.zeros(0, np.int64)
    last = -1
    while last < n_cells:
        gaps = rng.geometric(density, size=1000 + int(1.1 * density * (n_cells - last)))
        cells = np.concatenate((cells, last + np.cumsum(gaps)))
        last = int(cells[-1])
    return cells[cells < n_cells]


def noisy_truth(rng: Generator, X: Any, truth: str, noise: float) -> Floats:
    """Return a function of the features with standard deviation 1, plus noise."""
    weights = rng.standard_normal(X.shape[1])
    score: Floats = np.asarray(X @ weights)
    if truth == "nonlinear":
        first, second = (np.asarray(X @ rng.standard_normal(X.shape[1])) for _ in range(2))
        score = _standard(score) + _standard(first) * _standard(second) - _standard(first) ** 2 / 2
    return _standard(score) + noise * rng.standard_normal(len(score))


def _standard(score: Floats) -> Floats:
    deviation = float(score.std())
    return np.asarray((score - score.mean()) / (deviation if deviation > 0 else 1.0))


def _grade(score: Floats, grades: int, relevant: float | None) -> Floats:
    if relevant is None:
        shares = np.full(grades - 1, 1 / grades)
    else:
        halves = 0.5 ** np.arange(grades - 1)
        shares = relevant * halves / halves.sum()
    at_least = np.round(np.cumsum(shares[::-1])[::-1] * len(score)).astype(int)  # documents of grade 1, 2, … or more
    rank = np.empty(len(score), np.int64)
    rank[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return np.asarray((rank[:, None] < at_least).sum(axis=1).astype(np.float64))
