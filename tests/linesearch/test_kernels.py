"""The kernels in plain Python give what their machine code gives; the likelihood against its definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.linesearch.instances import instance

import argrank as ar
from argrank.linesearch import blocks
from argrank.linesearch.blocks import walk_block
from argrank.linesearch.landscape import Landscape
from argrank.linesearch.likelihood import most_likely, order_likelihood
from argrank.linesearch.step_function import add_up


@pytest.mark.parametrize("measure", ["ndcg@2", "err@3", "map@3", "map", "mrr", "auc"])
def test_walks_are_the_same_without_machine_code(measure, monkeypatch):
    monkeypatch.setattr(blocks, "FIRST_EVENTS", 2)  # so that the arrays have to grow
    rng = np.random.default_rng(5)
    for _ in range(20):
        data, scores, slopes, (low, high) = instance(rng)
        scores, slopes = data.from_caller(scores), data.from_caller(slopes)
        landscape = Landscape(data, measure, "expected", 1)
        together = landscape._coinciding(scores, slopes, landscape.value(scores).tied)
        task, _ = landscape._task(together, low, high)
        for block in landscape.blocks:
            compiled, plain = (
                walk_block(scores, slopes, data.indptr, task._replace(kernel=kernel), block)
                for kernel in (task.kernel, task.kernel.function)
            )
            assert compiled.start == pytest.approx(plain.start, abs=1e-15)
            np.testing.assert_allclose(np.sort(compiled.times), np.sort(plain.times), rtol=1e-15)
            np.testing.assert_allclose(np.sort(compiled.deltas), np.sort(plain.deltas), rtol=0, atol=1e-15)


def test_adding_up_is_exact_after_many_changes():
    rng = np.random.default_rng(0)
    deltas = rng.standard_normal(200_001)
    deltas[100_000:] = -deltas[100_000::-1][:100_001]
    times = np.arange(200_001.0)
    breakpoints, values = np.empty(len(times)), np.empty(len(times) + 1)
    assert add_up(times, deltas, np.arange(len(times)), 0.25, 1e-15, breakpoints, values) == len(times)
    assert values[-1] == pytest.approx(0.25 + float(deltas.sum()), abs=1e-12)
    plain = np.empty(len(times) + 1)
    add_up.function(times[:50], deltas[:50], np.arange(50), 0.25, 1e-15, breakpoints, plain)
    np.testing.assert_array_equal(plain[:51], values[:51])


def log_likelihood(f, depth):
    return sum(f[j] - np.log(np.exp(f[j:]).sum()) for j in range(min(depth, len(f))))


def test_likelihood_and_its_derivative():
    rng = np.random.default_rng(1)
    scores, slopes, weight = rng.standard_normal(9), rng.standard_normal(9), np.array([0.3, 0.0, 0.7])
    indptr = np.array([0, 4, 6, 9])

    def defined(t):
        parts = [scores[a:b] + t * slopes[a:b] for a, b in itertools.pairwise(indptr)]
        return sum(w * log_likelihood(f, 3) for w, f in zip(weight, parts, strict=True))

    for t in (-1.0, 0.0, 2.5):
        for kernel in (order_likelihood, order_likelihood.function):
            found = np.empty(2)
            kernel(scores, slopes, weight, indptr, 3, t, found)
            assert found[0] == pytest.approx(defined(t), abs=1e-12)
            assert found[1] == pytest.approx((defined(t + 1e-5) - defined(t - 1e-5)) / 2e-5, abs=1e-8)


def test_the_most_likely_point():
    assert most_likely(lambda t: 3.0 - t, 0.0, 10.0) == pytest.approx(3.0, abs=1e-4)
    assert most_likely(lambda t: -1.0, 0.0, 10.0) == pytest.approx(0.1)
    assert most_likely(lambda t: 1.0, 0.0, 10.0) == pytest.approx(9.9)


def test_the_step_of_a_search_is_the_most_likely_of_its_interval():
    data = ar.make_ranking(20, 15, 2, random_state=2)
    scores, slopes = data.X[:, 0], data.X[:, 1]
    search = ar.line_search(scores, slopes, data, "ndcg@5")
    low, high = search.interval
    wanted = Landscape(data, "ndcg@5").wanted(scores)(scores, slopes)
    grid = low + (high - low) * np.linspace(0.01, 0.99, 200)
    assert wanted(search.step)[0] >= max(wanted(t)[0] for t in grid) - 1e-9
