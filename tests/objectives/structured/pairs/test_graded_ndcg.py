from __future__ import annotations

import functools

import numpy as np
import pytest

from argrank import Dataset, objective


def by_counts(scores, y, k):
    """The hinge by a plain recursion over how many documents of each level are placed."""
    n, levels = len(y), np.unique(y)
    groups = [np.sort(scores[y == level])[::-1] for level in levels]
    n_pairs = sum(a.size * b.size for i, a in enumerate(groups) for b in groups[:i])
    discount = 1 / np.log2(np.arange(n) + 2)
    gains = 2**levels - 1
    ideal = np.sort(2**y - 1)[::-1][:k] @ discount[:k]

    def ahead(level, i, state):
        """Scores of unplaced documents of other levels against this one."""
        return sum((groups[level][i] - groups[o][m:]).sum() for o, m in enumerate(state) if o != level)

    @functools.cache
    def best(state):
        placed = sum(state)
        if placed == min(k, n):
            rest = [(g[m:]) for g, m in zip(groups, state, strict=True)]
            return sum(np.abs(a[:, None] - b).sum() for i, a in enumerate(rest) for b in rest[:i]) / n_pairs
        return max(
            best(tuple(m + (o == level) for o, m in enumerate(state)))
            + ahead(level, m, state) / n_pairs
            - gains[level] * discount[placed] / ideal
            for level, m in enumerate(state)
            if m < len(groups[level])
        )

    reference = sum((a[:, None] - b).sum() for i, a in enumerate(groups) for b in groups[:i]) / n_pairs
    return 1 + best((0,) * len(levels)) - reference


@pytest.mark.parametrize(("n", "k", "n_levels"), [(25, 4, 3), (25, 6, 4), (12, 20, 3), (30, 3, 8)])
def test_the_search_equals_the_recursion_over_counts(n, k, n_levels):
    rng = np.random.default_rng(n)
    for scale in (0.0, 0.01, 0.2, 1.0, 5.0, 50.0):
        y = rng.integers(0, n_levels, n).astype(float)
        scores = scale * (rng.standard_normal(n) + 0.3 * y)
        value, gradient = objective("svm-ndcg", bound="convex", k=k)(scores, Dataset(np.eye(n), y, group=[n]))
        assert value == pytest.approx(by_counts(scores, y, k), rel=1e-11, abs=1e-11)
        assert gradient.sum() == pytest.approx(0, abs=1e-12)


def test_mixed_queries_equal_each_query_alone():
    """Two levels, three, one: gathered by shape inside a block, written back in place."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 15, 60)
    n = int(sizes.sum())
    y = np.minimum(rng.integers(0, 3, n), np.repeat(rng.integers(0, 3, 60), sizes)).astype(float)
    scores = rng.standard_normal(n)
    whole = Dataset(np.eye(n), y, group=sizes)
    for name in ("svm-ndcg", "svm-ndcg-nc", "dorm", "svm-combo"):
        prepared = objective(name).prepare(whole)
        for first, last in ((0, 60), (7, 31), (40, 41), (59, 60)):
            rows = slice(whole.indptr[first], whole.indptr[last])
            order = np.concatenate(
                [
                    np.argsort(-scores[a:b])
                    for a, b in zip(whole.indptr[first:last], whole.indptr[first + 1 :], strict=False)
                ]
            )
            gradient = np.full(rows.stop - rows.start, np.nan)
            losses = prepared.evaluate(first, last, scores[rows], order, gradient)
            for query in range(first, last):
                own = slice(whole.indptr[query], whole.indptr[query + 1])
                data = Dataset(np.eye(sizes[query]), y[own], group=[sizes[query]])
                value, u = objective(name)(scores[own], data)
                assert losses[query - first] == pytest.approx(value, rel=1e-12, abs=1e-14)
                here = slice(own.start - rows.start, own.stop - rows.start)
                np.testing.assert_allclose(gradient[here], u, atol=1e-13)
