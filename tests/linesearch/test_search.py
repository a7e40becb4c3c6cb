"""line_search against brute force: every interval, every measure, every degeneracy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.linesearch.instances import instance, means, midpoints

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.linesearch import landscape
from argrank.linesearch.landscape import Landscape

MEASURES = [
    "ndcg@10",
    "ndcg@2",
    "ndcg",
    "dcg@3",
    "p@2",
    "r@3",
    "mrr@3",
    "mrr",
    "err@3",
    "err",
    "map",
    "map@2",
    "auc",
    "bpref",
]


def reciprocal_of_best(labels: np.ndarray) -> float:
    """A measure that argrank does not have: 1 / rank of the first document of the greatest label."""
    return 1.0 / (1 + int(np.argmax(labels)))


def check(rng: np.random.Generator, measure: object, ties: str) -> int:
    """Compare one instance at the middle of every interval; return the number of intervals."""
    data, scores, slopes, (low, high) = instance(rng)
    window = None if np.isinf(low) else (low, high)
    landscape = Landscape(data, measure, ties, 1)
    if not landscape.is_defined:
        with pytest.raises(InputError, match="for which it is defined"):
            ar.line_search(scores, slopes, data, measure, ties=ties, window=window)
        return 0
    search = ar.line_search(
        scores, slopes, data, measure, ties=ties, window=window,
        interval=("widest", "nearest")[rng.integers(2)], point=("likelihood", "middle")[rng.integers(2)], n_jobs=1,
    )  # fmt: skip
    assert len(search.values) == len(search.breakpoints) + 1
    assert (np.diff(search.breakpoints) > 0).all()
    middles = np.array(list(midpoints(data, scores, slopes, low, high)))
    found = search.values[np.searchsorted(search.breakpoints, middles)]
    true = means(data, scores, slopes, middles, ar.measure(measure), ties)
    np.testing.assert_allclose(found, true, rtol=0, atol=1e-12)
    # no interval missed: every value of the result is that of some interval of the enumeration
    assert len(search.values) <= len(middles)
    # the step keeps its promise, and nothing that one can stand on is better
    assert search.value == landscape.value(data.from_caller(scores + search.step * slopes)).mean
    assert low <= search.step <= high
    best = true.max()
    if low <= 0 <= high:
        best = max(best, search.start)
        assert search.value >= search.start - 1e-12
    assert search.value == pytest.approx(best, abs=1e-11)
    return len(middles)


@pytest.mark.parametrize("ties", ["row", "expected"])
@pytest.mark.parametrize("measure", MEASURES)
def test_equals_brute_force_on_every_interval(measure, ties):
    rng = np.random.default_rng(1)
    assert sum(check(rng, measure, ties) for _ in range(100)) > 400


def test_a_measure_given_as_a_function_equals_brute_force():
    rng = np.random.default_rng(2)
    assert sum(check(rng, reciprocal_of_best, "row") for _ in range(200)) > 800


@pytest.mark.parametrize("measure", ["rbp", "auc(graded=True)", "wta"])
def test_measures_without_a_kernel_equal_brute_force(measure):
    rng = np.random.default_rng(3)
    assert sum(check(rng, measure, "expected") for _ in range(60)) > 200


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["row", "expected"])
@pytest.mark.parametrize("measure", [*MEASURES, reciprocal_of_best])
def test_equals_brute_force_on_ten_thousand_instances(measure, ties):
    if callable(measure) and ties == "expected":
        pytest.skip("a function sees one ranking only")
    rng = np.random.default_rng(4)
    n = 10_000 if callable(measure) else 5000  # half of them for each way to value ties
    assert sum(check(rng, measure, ties) for _ in range(n)) > 4 * n


def larger(seed: int, n_queries: int = 40) -> tuple[ar.Dataset, np.ndarray, np.ndarray]:
    """Return data with long lists, so that documents are pruned and buffers grow."""
    data = ar.make_ranking(n_queries, (30, 150), 3, random_state=seed)
    return data, data.X[:, 0].copy(), data.X[:, 1].copy()


@pytest.mark.parametrize("measure", ["ndcg@5", "err@10", "map@3", "map", "mrr@10", "auc"])
@pytest.mark.parametrize("rounded", [False, True])
def test_long_lists_equal_evaluation_at_many_steps(measure, rounded):
    data, scores, slopes = larger(5)
    if rounded:
        scores, slopes = np.round(scores, 1), np.round(slopes, 1)
    search = ar.line_search(scores, slopes, data, measure)
    steps = np.concatenate([np.linspace(-3, 3, 40), np.random.default_rng(0).standard_cauchy(40)]) + 1e-5 / 3
    found = search.values[np.searchsorted(search.breakpoints, steps)]
    true = [ar.evaluate(scores + t * slopes, data, measure, ties="row").means[measure] for t in steps]
    np.testing.assert_allclose(found, true, rtol=0, atol=1e-12)
    assert search.value >= found.max() - 1e-12


def test_the_value_is_that_of_evaluate():
    data, scores, slopes = larger(6)
    for ties in ("row", "expected"):
        search = ar.line_search(scores, slopes, data, "map", ties=ties)
        result = ar.evaluate(scores + search.step * slopes, data, "map", ties=ties)
        assert search.value == result.means["map"]
        assert search.start == ar.evaluate(scores, data, "map", ties=ties).means["map"]


@pytest.mark.parametrize("measure", ["ndcg@10", "err", "map", "auc"])
def test_same_bits_for_any_number_of_threads(measure):
    data, scores, slopes = larger(7, 400)
    one, two = (ar.line_search(scores, slopes, data, measure, n_jobs=n) for n in (1, 2))
    assert one.step == two.step
    assert one.value == two.value
    assert one.breakpoints.tobytes() == two.breakpoints.tobytes()
    assert one.values.tobytes() == two.values.tobytes()


def test_a_window_shows_a_part_of_the_whole():
    data, scores, slopes = larger(8)
    whole = ar.line_search(scores, slopes, data, "ndcg@10")
    part = ar.line_search(scores, slopes, data, "ndcg@10", window=(0.1, 0.5), point="middle")
    inside = (whole.breakpoints > 0.1) & (whole.breakpoints < 0.5)
    np.testing.assert_allclose(part.breakpoints, whole.breakpoints[inside], rtol=1e-15)
    np.testing.assert_allclose(part.values[1:], whole.values[1:][inside], rtol=0, atol=1e-12)
    assert 0.1 < part.step < 0.5
    assert part.value == pytest.approx(part.values.max(), abs=1e-12)


def test_parts_of_the_line_give_the_best_step():
    data, scores, slopes = larger(9)
    widest = ar.line_search(scores, slopes, data, "ndcg@3", point="middle")
    nearest = ar.line_search(scores, slopes, data, "ndcg@3", point="middle", interval="nearest")
    assert widest.value == pytest.approx(nearest.value, abs=1e-12)
    assert abs(nearest.step) <= abs(widest.step)
    chosen = ar.line_search(scores, slopes, data, "ndcg@3", point=lambda low, high: low + 0.25 * (high - low))
    low, high = chosen.interval
    assert chosen.step == pytest.approx(low + 0.25 * (high - low))


def test_a_breakpoint_is_where_the_measure_changes():
    data, scores, slopes = larger(10, 5)
    by_function = ar.line_search(scores, slopes, data, lambda labels: float((labels[:2] >= 1).mean()), point="middle")
    by_name = ar.line_search(scores, slopes, data, "p@2", point="middle")
    np.testing.assert_allclose(by_function.breakpoints, by_name.breakpoints, rtol=1e-14)
    np.testing.assert_allclose(by_function.values, by_name.values, rtol=0, atol=1e-14)


def test_the_present_place_is_kept_unless_another_is_better():
    data = ar.Dataset(np.ones((3, 1)), [2, 1, 0], group=[3])
    search = ar.line_search([3.0, 2.0, 1.0], [0.0, 1.0, 5.0], data, "ndcg", point="middle")
    assert search.value == search.start == 1.0
    assert search.interval[0] < 0 < search.interval[1]
    flat = ar.line_search([1.0, 2.0, 3.0], np.zeros(3), data, "ndcg", point="middle")
    assert flat.step == 0.0
    assert len(flat.breakpoints) == 0


def test_an_unbounded_interval_is_left_at_a_bounded_distance():
    data = ar.Dataset(np.ones((2, 1)), [0, 1], group=[2])
    search = ar.line_search([1.0, 0.0], [0.0, 1.0], data, "ndcg")
    assert search.breakpoints.tolist() == [1.0]
    assert 1.0 < search.step <= 2.0
    assert search.value == 1.0


def test_an_unbounded_interval_far_out_can_be_stood_in():
    data = ar.Dataset(np.ones((4, 1)), [1, 0, 1, 0], group=[2, 2])
    search = ar.line_search([1, 0, 0, 1.0], [1e5, 0, 1e-5, 0], data, "ndcg@1", point="middle")
    assert search.values.tolist() == [0.0, 0.5, 1.0]
    assert search.value == 1.0
    assert search.step > search.breakpoints[-1] == pytest.approx(1e5)


@pytest.mark.parametrize("point", ["middle", "likelihood"])
def test_slopes_of_very_different_scales_hide_no_interval(point):
    rng = np.random.default_rng(11)
    for _ in range(60):
        n = int(rng.integers(2, 9))
        data = ar.Dataset(
            np.ones((2 * n, 1)), rng.permutation(np.r_[1, 0, rng.integers(0, 3, 2 * n - 2)]), group=[n, n]
        )
        scores, slopes = rng.standard_normal(2 * n), rng.standard_normal(2 * n) * 2.0 ** rng.integers(-30, 31, 2 * n)
        for measure in ("ndcg@2", "ndcg", "map", "mrr", "err"):
            search = ar.line_search(scores, slopes, data, measure, point=point, n_jobs=1)
            assert search.value == pytest.approx(search.values.max(), abs=1e-12)


def test_coinciding_lines_keep_the_order_of_rows_or_are_averaged():
    data = ar.Dataset(np.ones((2, 1)), [0, 1], group=[2])
    assert ar.line_search([1.0, 1.0], [2.0, 2.0], data, "mrr").values.tolist() == [0.5]
    assert ar.line_search([1.0, 1.0], [2.0, 2.0], data, "mrr", ties="expected").values.tolist() == [0.75]


def test_undefined_queries_count_as_in_evaluate():
    data = ar.Dataset(np.ones((5, 1)), [0, 1, 0, 0, 0], group=[2, 3], query_weight=[1.0, 3.0])
    scores, slopes = np.array([1.0, 0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    for measure in ("map", "ap(undefined=0)", "err", "p@1"):
        search = ar.line_search(scores, slopes, data, measure)
        assert search.start == ar.evaluate(scores, data, measure).means[measure]
        step = search.breakpoints[0] + 0.1
        true = ar.evaluate(scores + step * slopes, data, measure).means[measure]
        assert search.values[np.searchsorted(search.breakpoints, step)] == pytest.approx(true, abs=1e-15)


def test_bad_input_is_refused():
    data = ar.Dataset(np.ones((2, 1)), [0, 1], group=[2])
    with pytest.raises(InputError, match="direction: expected one number for each of 2 rows"):
        ar.line_search([1.0, 2.0], [1.0], data)
    with pytest.raises(OptionError, match="window: expected low < high"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], data, window=(1, 0))
    with pytest.raises(OptionError, match="window: expected"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], data, window="wide")
    with pytest.raises(OptionError, match="interval"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], data, interval="best")
    with pytest.raises(OptionError, match="point"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], data, point="left")
    with pytest.raises(OptionError, match="point: expected a step between"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], data, point=lambda low, high: high + 1)
    with pytest.raises(OptionError, match="ties"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], data, ties="best")
    with pytest.raises(OptionError, match="sees one ranking"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], data, reciprocal_of_best, ties="expected")
    with pytest.raises(InputError, match="labels"):
        ar.line_search([1.0, 2.0], [1.0, 0.0], ar.Dataset(np.ones((2, 1)), group=[2]))


@pytest.mark.parametrize("measure", ["ndcg", "map", "err", "mrr", "auc", "bpref"])
def test_whole_lists_are_walked_by_kernels(measure, monkeypatch):
    """No ranking is valued one by one, which takes seconds for a query of hundreds of documents."""
    data, scores, slopes = larger(5, 3)
    with monkeypatch.context() as patch:
        patch.setattr(landscape, "enumerate_query", None)
        found = ar.line_search(scores, slopes, data, measure, point="middle")
    middles = (found.breakpoints[:-1] + found.breakpoints[1:]) / 2
    some = np.random.default_rng(0).choice(len(middles), 20, replace=False)
    true = means(data, scores, slopes, middles[some], ar.measure(measure), "row")
    np.testing.assert_allclose(found.values[1:-1][some], true, rtol=0, atol=1e-12)
