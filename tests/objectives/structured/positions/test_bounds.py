"""ORM's bounds: every route against SciPy on the whole matrix, every bound against the definitions of the paper."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from argrank import Dataset, make_ranking, objective
from argrank.errors import InputError, OptionError
from argrank.objectives.structured.positions import oracle as positions

DECAYS = ["sqrt", 0.25, 3, "linear", "log2", "loglog", "measure", [2.0, 2.0, 0.5]]


def random_query(rng, n, n_levels, kind):
    y = rng.integers(0, n_levels, n).astype(float)
    scores = {
        "random": rng.standard_normal(n),
        "ties": np.round(rng.standard_normal(n)),
        "negative": -1.0 - rng.random(n),
        "equal": np.zeros(n),
        "large": 100 * rng.standard_normal(n),
    }[kind]
    return Dataset(np.eye(n), y, group=[n]), scores


def optimum(hinge, data, scores):
    """The greatest c · s - a · b over all assignments, from the matrix E of equation 28."""
    problem, n = hinge, data.n_documents
    c = positions.decay_vector(problem, n)
    matrix = np.outer(c, scores) - np.outer(problem.discounts(n), problem.gains(data))
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    return matrix[rows, columns].sum()


@pytest.mark.parametrize("route", ["as chosen", "table", "assignment"])
@pytest.mark.parametrize("decay", DECAYS, ids=str)
def test_every_route_finds_the_optimum_of_the_full_matrix(decay, route, monkeypatch):
    if route == "table":
        monkeypatch.setattr(positions, "MANY_STATES", np.inf)
    if route == "assignment":
        monkeypatch.setattr(positions, "MANY_STATES", -1)
        monkeypatch.setattr(positions, "MAX_STATES", -1)
    rng = np.random.default_rng(0)
    kinds = itertools.cycle(["random", "ties", "negative", "equal", "large"])
    for n_levels, (n, k) in itertools.product(range(2, 7), [(4, 10), (12, 3), (25, 10), (30, 1)]):
        data, scores = random_query(rng, n, n_levels, next(kinds))
        for name in (f"ndcg@{k}", f"dcg@{k}", f"p@{k}"):
            hinge = objective("orm", bound="convex", measure=name, decay=decay)
            value, u = hinge(scores, data)
            full = objective("orm", bound="convex", measure=name, decay=decay, assignment="full")(scores, data)[0]
            assert value == pytest.approx(full, rel=1e-11, abs=1e-11)
            if data.y.min() < data.y.max() and hinge.levels(data).max() > 0:
                c, gains = positions.decay_vector(hinge, n), hinge.gains(data)
                reference = positions.reference_coefficients("averaged", gains, data.indptr, c, hinge.discounts(n))
                ideal = np.sort(gains)[::-1] @ hinge.discounts(n)
                expected = optimum(hinge, data, scores) + ideal - reference @ scores
                assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
                np.testing.assert_allclose(np.sort(u + reference), np.sort(c), atol=1e-12)


@pytest.mark.parametrize("measure", ["ndcg", "eru", "neru", "eru(d=1, alpha=2)", "dcg"])
@pytest.mark.parametrize("decay", ["sqrt", "linear", "measure", "negative"])
def test_measures_without_a_cut_off(measure, decay):
    rng = np.random.default_rng(1)
    for n, kind in itertools.product((3, 14), ("random", "ties")):
        data, scores = random_query(rng, n, 4, kind)
        c = 1.0 - np.arange(float(n)) if decay == "negative" else decay
        fast, full = (
            objective("orm", bound="convex", measure=measure, decay=c, assignment=how) for how in ("auto", "full")
        )
        assert fast(scores, data)[0] == pytest.approx(full(scores, data)[0], rel=1e-11, abs=1e-11)


def all_rankings(n):
    return np.array(list(itertools.permutations(range(n))))


def definition(problem, data, scores, decay):
    """The three bounds and the loss, from all rankings."""
    documents = all_rankings(data.n_documents)
    a, b = problem.discounts(data.n_documents), problem.gains(data)
    measure, score = b[documents] @ a, scores[documents] @ decay
    best = measure.max()
    ideal = measure >= best - 1e-12
    worst = (score - measure).max() + best
    by_score = (np.diff(scores[documents], axis=1) <= 0).all(axis=1)
    return {
        "convex": worst - score[ideal].mean(),
        "tie-broken": worst - score[ideal].max(),
        "tight": worst - score.max(),
        "loss": best - measure[by_score].min(),
    }


MEASURES = [
    {"measure": "ndcg@2"}, {"measure": "ndcg@10"}, {"measure": "dcg@3"}, {"measure": "p@2"}, {"measure": "wta"},
    {"measure": "eru(d=1)"}, {"measure": "neru"}, {"measure": "ndcg@3", "discount": "letor", "gain": "linear"},
    {"a": [3.0, 1.0, 1.0], "b": [0, 1, 5, 5]}, {"a": lambda i: -np.sqrt(i), "b": lambda y: y - 1.5},
]  # fmt: skip


CASES = [  # where c = a < 0 is proportional to a, the routes cover it
    (parameters, decay)
    for parameters, decay in itertools.product(MEASURES, ["sqrt", "linear", "measure", [1.0, 0.9]])
    if decay != "measure" or not callable(parameters.get("a"))
]


@pytest.mark.parametrize(("parameters", "decay"), CASES)
def test_bounds_are_those_of_the_paper_and_in_order(parameters, decay):
    """Also equation 21: its references exchange equal b, and ranks of equal a."""
    rng = np.random.default_rng(2)
    for kind, _ in itertools.product(("random", "ties", "large"), range(4)):
        data, scores = random_query(rng, 6, 4, kind)
        hinges = {
            bound: objective("orm", **parameters, decay=decay, bound=bound)
            for bound in ("convex", "tie-broken", "tight")
        }
        problem = hinges["convex"]
        if len(np.unique(problem.gains(data))) == 1:
            continue
        values = {bound: hinge(scores, data) for bound, hinge in hinges.items()}
        expected = definition(problem, data, scores, positions.decay_vector(problem, 6))
        for bound, (value, _) in values.items():
            assert value == pytest.approx(expected[bound], rel=1e-11, abs=1e-11), bound
        assert values["convex"][0] >= values["tie-broken"][0] - 1e-11
        assert values["tie-broken"][0] >= values["tight"][0] - 1e-11
        assert values["tight"][0] >= expected["loss"] - 1e-11


@pytest.mark.parametrize("bound", ["convex", "tie-broken", "tight"])
def test_a_given_reference_matters_to_the_convex_bound_alone(bound):
    """Equations 21 and 22 take their own reference, whatever ranking the convex part compares with."""
    rng = np.random.default_rng(9)
    for kind in ("random", "ties", "large"):
        data, scores = random_query(rng, 6, 4, kind)
        hinge = objective("orm", measure="ndcg@3", decay="sqrt", reference="given", bound=bound)
        c = positions.decay_vector(hinge, 6)
        expected = definition(hinge, data, scores, c)
        if bound == "convex":  # the rows as they come take the place of the ideal rankings
            expected["convex"] = expected["tight"] + np.sort(scores)[::-1] @ c - scores @ c
        assert hinge(scores, data)[0] == pytest.approx(expected[bound], rel=1e-11, abs=1e-11)


def test_the_bounds_are_in_order_on_every_query_of_longer_lists():
    data = make_ranking(40, (5, 60), 4, noise=1.0, random_state=1)
    rng = np.random.default_rng(3)
    for scores in (rng.standard_normal(data.n_documents), np.round(rng.standard_normal(data.n_documents))):
        for query in range(data.n_queries):
            part = data.select([query])
            s = scores[data.indptr[query] : data.indptr[query + 1]]
            values = [
                objective("orm", measure="ndcg@5", bound=bound)(s, part)[0]
                for bound in ("convex", "tie-broken", "tight")
            ]
            assert values == sorted(values, reverse=True) or max(np.diff(values)) < 1e-12


@pytest.mark.parametrize("bound", ["tie-broken", "tight"])
@pytest.mark.parametrize("diverse", [False, True])
def test_gradients_by_finite_differences(bound, diverse):
    rng = np.random.default_rng(4)
    data = Dataset(np.eye(30), rng.integers(0, 4, 30), group=[12, 1, 17], sources=rng.integers(0, 6, 30))
    hinge, scores, step = (
        objective("orm", measure="ndcg@4", bound=bound, diverse=diverse),
        rng.standard_normal(30),
        1e-6,
    )
    _, gradient = hinge(scores, data)
    for row, shift in enumerate(step * np.eye(30)):
        slope = (hinge(scores + shift, data)[0] - hinge(scores - shift, data)[0]) / (2 * step)
        assert gradient[row] == pytest.approx(slope, abs=1e-6)


def test_orm_on_ndcg_is_dorm():
    data = make_ranking(20, (5, 30), 4, random_state=2)
    scores = np.random.default_rng(5).standard_normal(data.n_documents)
    for bound in ("convex", "tight"):
        options = {"bound": bound, "decay": "sqrt"}
        one, other = objective("orm", **options)(scores, data), objective("dorm", **options)(scores, data)
        assert one[0] == pytest.approx(other[0], rel=1e-12)
        np.testing.assert_allclose(one[1], other[1], atol=1e-14)


def test_reciprocal_rank_with_one_relevant_document():
    data, scores = Dataset(np.eye(5), [0, 0, 1, 0, 0], group=[5]), np.array([3.0, 1.0, 2.0, 0.5, 0.1])
    value = objective("orm", measure="mrr", bound="tight", decay="sqrt")(1e6 * scores, data)[0]
    assert value == pytest.approx(1 - 1 / 2)  # far from any tie the tight bound is the loss itself


def test_what_no_product_expresses_is_sent_elsewhere():
    two = Dataset(np.eye(3), [1, 1, 0], group=[3])
    with pytest.raises(InputError, match="svm-mrr"):
        objective("orm", measure="mrr")(np.zeros(3), two)
    with pytest.raises(OptionError, match=r"no exact oracle for AP on the map 'positions'; .* a · b"):
        objective("orm", measure="map")
    with pytest.raises(OptionError, match="no exact oracle for AUC on the map 'positions'"):
        objective("orm", measure="auc")
    with pytest.raises(OptionError, match=r"^b: expected a, the discounts of the ranks"):
        objective("orm", b="linear")
    with pytest.raises(OptionError, match="cut-off"):
        objective("orm", measure="p")
    with pytest.raises(OptionError, match="never rise"):
        objective("orm", a=[1.0, 2.0], b="linear")
    with pytest.raises(OptionError, match="extend"):
        objective("orm", decay=[1.0, -1.0])(np.zeros(3), two)
    for wrong in (
        {"bound": "loose"},
        {"assignment": "greedy"},
        {"reference": "best"},
        {"diverse": -1},
        {"decay": "fast"},
    ):
        with pytest.raises(OptionError):
            objective("orm", **wrong)


@pytest.mark.parametrize("bound", ["tie-broken", "tight"])
def test_equal_scores_share_what_is_subtracted(bound):
    """Documents with the same features and different labels always tie; the order of the rows must not matter."""
    scores, labels = np.array([2.0, 1.0, 1.0, 1.0, 0.0]), np.array([0, 2, 0, 1, 1])
    part = objective("orm", measure="ndcg", bound=bound).subtracted_part()
    value, gradient = part(scores, Dataset(np.ones((5, 1)), labels, group=[5]))
    rng = np.random.default_rng(0)
    for _ in range(5):
        order = rng.permutation(5)
        other, moved = part(scores[order], Dataset(np.ones((5, 1)), labels[order], group=[5]))
        assert other == pytest.approx(value)
        np.testing.assert_allclose(moved, gradient[order], atol=1e-12)
        step = 0.1 * rng.standard_normal(5)  # still a subgradient
        assert part(scores + step, Dataset(np.ones((5, 1)), labels, group=[5]))[0] >= value + gradient @ step - 1e-12
