"""The kernels in plain Python give what their machine code gives; the likelihood against its definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.linesearch.instances import instance

import argrank as ar
from argrank._jit import LazyKernel
from argrank.linesearch import changes as blocks
from argrank.linesearch.crossings import crossings
from argrank.linesearch.landscape import Landscape, most_likely, order_likelihood
from argrank.linesearch.step_function import StepFunction, add_up, in_order, pack, put_right
from argrank.linesearch.sweep import sweep


@pytest.mark.parametrize("measure", ["ndcg@2", "err@3", "map@3", "map", "mrr", "auc", "ndcg", "err", "bpref"])
def test_walks_are_the_same_without_machine_code(measure, monkeypatch):
    monkeypatch.setattr(blocks, "FIRST_EVENTS", 2)  # so that the arrays have to grow
    rng = np.random.default_rng(5)
    for _ in range(20):
        data, scores, slopes, window = instance(rng)
        scores, slopes = data.from_caller(scores), data.from_caller(slopes)
        landscape = Landscape(data, measure, "expected", 1)
        tied = landscape.value(scores).tied
        compiled = landscape.walk(scores, slopes, *window, tied)
        with monkeypatch.context() as patch:
            patch.setattr(LazyKernel, "__call__", lambda kernel, *arguments: kernel.function(*arguments))
            plain = landscape.walk(scores, slopes, *window, tied)
        np.testing.assert_allclose(compiled.breakpoints, plain.breakpoints, rtol=1e-15)
        np.testing.assert_allclose(compiled.values, plain.values, rtol=0, atol=1e-15)


def walked(landscape, scores, slopes, low, high, kernel):
    """Return the starts of the queries and the steps of their sum, by one kernel."""
    together = landscape._coinciding(scores, slopes, landscape.value(scores).tied)
    task, _ = landscape._task(together, low, high)
    lines = (scores, slopes, task.gains)
    starts, times, deltas = blocks._run(kernel, lines, task.scale, landscape.data.indptr, task)
    return starts, StepFunction.of(0.0, times, deltas)


@pytest.mark.parametrize("measure", ["ndcg@10", "p@3", "err@10", "map@5"])
@pytest.mark.parametrize("window", [(-np.inf, np.inf), (0.1, 0.5), (-3.0, 0.2)])
@pytest.mark.parametrize("size", [8, 40, 300])
def test_lines_apart_need_no_sweep_and_agree_with_it(measure, window, size):
    data = ar.make_ranking(12, size, 4, random_state=size)
    rng = np.random.default_rng(size)
    scores = data.X @ rng.standard_normal(4)
    landscape = Landscape(data, measure, "row", 1)
    for slopes in (data.X[:, 1].copy(), np.maximum(data.X[:, 2], 0.3), rng.integers(0, 5, len(scores)).astype(float)):
        found, expected = (walked(landscape, scores, slopes, *window, kernel) for kernel in (crossings, sweep))
        np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-15)  # none is NaN: none was left
        np.testing.assert_allclose(found[1].breakpoints, expected[1].breakpoints, rtol=1e-14)
        np.testing.assert_allclose(found[1].values, expected[1].values, rtol=0, atol=1e-13)


@pytest.mark.parametrize("measure", ["ndcg@3", "err@5", "map@4"])
def test_equal_lines_need_no_sweep_but_three_in_one_point_do(measure):
    rng = np.random.default_rng(0)
    lines = rng.standard_normal((12, 2))
    data = ar.Dataset(np.ones((30, 1)), rng.integers(0, 3, 30), group=[30])
    landscape = Landscape(data, measure, "row", 1)
    rows = rng.integers(0, 12, 30)
    scores, slopes = lines[rows, 0].copy(), lines[rows, 1].copy()  # every line several times
    found, expected = (walked(landscape, scores, slopes, -np.inf, np.inf, kernel) for kernel in (crossings, sweep))
    np.testing.assert_allclose(found[0], expected[0], atol=1e-15)
    np.testing.assert_allclose(found[1].breakpoints, expected[1].breakpoints, rtol=1e-14)
    np.testing.assert_allclose(found[1].values, expected[1].values, rtol=0, atol=1e-14)
    through_one_point = 1.0 - 2.0 * slopes
    assert np.isnan(walked(landscape, through_one_point, slopes, -np.inf, np.inf, crossings)[0]).all()


def test_a_tie_at_the_left_end_is_seen_behind_equal_lines():
    data = ar.Dataset(np.ones((4, 1)), [0, 3, 2, 2], group=[4])
    scores, slopes = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, -1.0, -1.0, 1.0])
    search = ar.line_search(scores, slopes, data, "ndcg@2", window=(0.0, 1.0), n_jobs=1)
    assert search.breakpoints.tolist() == []  # the last line is second from the beginning
    assert search.values[0] == pytest.approx(ar.evaluate(scores + 0.5 * slopes, data, "ndcg@2").means["ndcg@2"])


@pytest.mark.parametrize("scale", [1e-170, 1e-300, 1e150])
def test_scales_at_the_end_of_the_range(scale):
    rng = np.random.default_rng(3)
    scores, slopes = rng.integers(-9, 9, 12) * 2.0**-3, rng.permutation(12) * 1.0
    data = ar.Dataset(np.ones((12, 1)), rng.integers(0, 3, 12), group=[12])
    plain = ar.line_search(scores, slopes, data, "ndcg@3", n_jobs=1)
    for one, two in ((scale, 1.0), (1.0, scale)):
        scaled = ar.line_search(one * scores, two * slopes, data, "ndcg@3", n_jobs=1)
        np.testing.assert_allclose(scaled.breakpoints * (two / one), plain.breakpoints, rtol=1e-12)
        np.testing.assert_allclose(scaled.values, plain.values, rtol=0, atol=1e-14)


def test_a_rough_order_is_put_right():
    rng = np.random.default_rng(0)
    times = 1.0 + rng.integers(-40, 40, 300) * np.finfo(float).eps  # alike in their leading bits
    times[::3] = -times[::3]
    times[::7] = rng.standard_cauchy(len(times[::7]))
    ordered, order = in_order(times)
    np.testing.assert_array_equal(ordered, np.sort(times))
    np.testing.assert_array_equal(times[order], ordered)
    np.testing.assert_array_equal(np.sort(order), np.arange(300))
    keys, plain = np.empty(300, np.int64), np.empty(300, np.int64)
    for kernel, result in ((pack, keys), (pack.function, plain)):
        kernel(times.view(np.int64), 9, result)
    np.testing.assert_array_equal(keys, plain)
    rough = np.sort(keys) & 511
    for kernel in (put_right, put_right.function):
        one, two = times[rough], rough.copy()
        assert kernel(one, two)
        np.testing.assert_array_equal(one, ordered)
        np.testing.assert_array_equal(two, order)


def test_times_that_differ_in_the_last_bits_are_sorted_outright():
    rng = np.random.default_rng(4)
    ones = np.ones(1000).view(np.int64)
    times = (np.concatenate((ones, ones)) + np.tile(rng.permutation(1000), 2)).view(np.float64)
    times[1000:] *= 2.0
    deltas = rng.standard_normal(2000)
    assert not put_right(times.copy(), np.arange(2000))
    steps = StepFunction.of(0.5, times, deltas)
    np.testing.assert_array_equal(steps.breakpoints, [times[:1000].max(), times[1000:].max()])
    expected = [0.5, 0.5 + deltas[:1000].sum(), 0.5 + deltas.sum()]
    np.testing.assert_allclose(steps.values, expected, rtol=0, atol=1e-12)


def test_a_point_whose_changes_cancel_is_no_breakpoint():
    steps = StepFunction.of(0.0, np.array([2.0, 1.0, 2.0, 3.0, 3.0]), np.array([0.3, 1.0, -0.3, 0.1, 0.2]))
    assert steps.breakpoints.tolist() == [1.0, 3.0]
    np.testing.assert_allclose(steps.values, [0.0, 1.0, 1.3], rtol=1e-15)


def test_adding_up_is_exact_after_many_changes():
    rng = np.random.default_rng(0)
    deltas = rng.standard_normal(200_001)
    deltas[100_000:] = -deltas[100_000::-1][:100_001]
    times = np.arange(200_001.0)
    breakpoints, values = np.empty(len(times)), np.empty(len(times) + 1)
    assert add_up(times, np.arange(len(times)), deltas, 0.25, 1e-15, breakpoints, values) == len(times)
    assert values[-1] == pytest.approx(0.25 + float(deltas.sum()), abs=1e-12)
    plain = np.empty(len(times) + 1)
    add_up.function(times[:50], np.arange(50), deltas[:50], 0.25, 1e-15, breakpoints, plain)
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
