"""Diverse rankings: the most violated one against all, against the linear program and against SciPy's assignment."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog

from argrank import Dataset, objective
from argrank.errors import InputError, OptionError
from argrank.objectives.structured.positions.decay import decay_vector
from argrank.objectives.structured.positions.diverse import diverse_assignment, diverse_reference
from argrank.objectives.structured.positions.oracle import best_by_score


def worst(scores, gains, sources, decay, worth, k, at_most):
    values, gradient = np.empty(1), np.empty(len(scores))
    diverse_assignment(scores, gains, sources, np.array([0, len(scores)]), decay, worth, k, at_most, values, gradient)
    return values[0], gradient


def instance(rng, n, n_sources, ties):
    scores = rng.standard_normal(n)
    if ties:
        scores = np.round(scores)
    gains = rng.integers(0, 4, n) / 3.0
    sources = np.unique(rng.integers(0, n_sources, n), return_inverse=True)[1].astype(np.int64)
    return scores, gains, sources


def linear_program(scores, gains, sources, decay, worth, n_ranks, at_most):
    """The relaxation of (41): entries of the matrix between 0 and 1."""
    n = len(scores)
    value = np.outer(decay[:n_ranks], scores) - np.outer(worth[:n_ranks], gains)
    equal = np.kron(np.eye(n_ranks), np.ones(n))
    once = np.kron(np.ones(n_ranks), np.eye(n))
    per_source = once.reshape(n, -1)
    per_source = np.array([per_source[sources == one].sum(axis=0) for one in range(sources.max() + 1)])
    limits = np.concatenate((np.ones(n), np.full(len(per_source), at_most)))
    found = linprog(-value.ravel(), np.vstack((once, per_source)), limits, equal, np.ones(n_ranks), bounds=(0, None))
    return -found.fun, found.x


def n_allowed(sources, k, at_most):
    return min(k, int(np.minimum(np.bincount(sources), at_most).sum()))


@pytest.mark.parametrize("at_most", [1, 2, 3])
@pytest.mark.parametrize("ties", [False, True])
def test_the_linear_program_is_integral_and_equal(at_most, ties):
    """Corollary 7, and the same with several documents a source."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, k = rng.integers(3, 14), rng.integers(1, 7)
        scores, gains, sources = instance(rng, n, rng.integers(1, 8), ties)
        decay, worth = 1 / np.sqrt(1.0 + np.arange(n)), 1 / np.log2(2.0 + np.arange(n))
        value, u = worst(scores, gains, sources, decay, worth, k, at_most)
        n_ranks = n_allowed(sources, k, at_most)
        best, solution = linear_program(scores, gains, sources, decay, worth, n_ranks, at_most)
        assert value == pytest.approx(best, rel=1e-9, abs=1e-9)
        if not ties:  # with ties the simplex may stop between two corners of equal value
            np.testing.assert_allclose(solution, np.round(solution), atol=1e-9)
        chosen = np.flatnonzero(u)
        assert len(chosen) == n_ranks
        assert np.bincount(sources[chosen]).max() <= at_most
        np.testing.assert_allclose(np.sort(u[chosen])[::-1], decay[:n_ranks])


def test_one_document_a_source_is_an_assignment_of_ranks_to_sources():
    rng = np.random.default_rng(1)
    for _ in range(100):
        n, k = rng.integers(5, 60), rng.integers(1, 12)
        scores, gains, sources = instance(rng, n, rng.integers(1, 30), rng.random() < 0.5)
        decay, worth = np.maximum(k - np.arange(float(n)), 0), 1 / np.log2(2.0 + np.arange(n))
        n_ranks = n_allowed(sources, k, 1)
        full = np.outer(decay[:n_ranks], scores) - np.outer(worth[:n_ranks], gains)
        blocks = np.array([full[:, sources == one].max(axis=1) for one in range(sources.max() + 1)]).T
        rows, columns = linear_sum_assignment(blocks, maximize=True)
        value, _ = worst(scores, gains, sources, decay, worth, k, 1)
        assert value == pytest.approx(blocks[rows, columns].sum(), rel=1e-11, abs=1e-11)


def allowed_rankings(sources, k, at_most):
    n_ranks = n_allowed(sources, k, at_most)
    every = np.array(list(itertools.permutations(range(len(sources)), n_ranks)))
    counts = np.array([[(sources[row] == one).sum() for one in range(sources.max() + 1)] for row in every])
    return every[(counts <= at_most).all(axis=1)]


@pytest.mark.parametrize("at_most", [1, 2])
@pytest.mark.parametrize("measure", ["ndcg@3", "p@3", "dcg@2", "ndcg"])
def test_the_bounds_hold_under_the_constraint(measure, at_most):
    """Convex >= tie-broken >= tight >= loss of the diverse ranking by score, all over diverse rankings alone."""
    rng = np.random.default_rng(2)
    for ties in (False, True) * 6:
        scores, _, sources = instance(rng, 6, 4, ties)
        data = Dataset(np.eye(6), rng.integers(0, 3, 6), group=[6], sources=sources)
        hinges = [
            objective("orm", measure=measure, diverse=at_most, bound=bound)
            for bound in ("convex", "tie-broken", "tight")
        ]
        problem = hinges[0]
        if len(np.unique(problem.gains(data))) == 1:
            continue
        rankings = allowed_rankings(sources, problem.k or 6, at_most)
        decay, a = decay_vector(problem, 6), problem.discounts(6)
        values = problem.gains(data)[rankings] @ a[: rankings.shape[1]]
        if problem.is_normalised:
            values = values / values.max() if values.max() > 0 else values
        score = scores[rankings] @ decay[: rankings.shape[1]]
        worst_value, best = (score - values).max(), values.max()
        convex, tie_broken, tight = (hinge(scores, data)[0] for hinge in hinges)
        assert tight == pytest.approx(worst_value + best - score.max(), rel=1e-10, abs=1e-10)
        ideal = score[values >= best - 1e-12]
        assert tie_broken == pytest.approx(worst_value + best - ideal.max(), rel=1e-10, abs=1e-10)
        assert worst_value + best - ideal.max() - 1e-10 <= convex <= worst_value + best - ideal.min() + 1e-10
        loss = best - values[score >= score.max() - 1e-12].min()
        assert convex >= tie_broken - 1e-10
        assert tie_broken >= tight - 1e-10
        assert tight >= loss - 1e-10


def test_the_averaged_reference_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(3)
    y, sources, scores = rng.integers(0, 3, 20), rng.integers(0, 6, 20), rng.standard_normal(20)
    hinge = objective("orm", measure="ndcg@5", diverse=2)
    mix = rng.permutation(20)
    one = hinge(scores, Dataset(np.eye(20), y, group=[20], sources=sources))[0]
    other = hinge(scores[mix], Dataset(np.eye(20), y[mix], group=[20], sources=sources[mix]))[0]
    assert one == pytest.approx(other, rel=1e-12)


def test_what_diversity_needs():
    data = Dataset(np.eye(3), [1, 0, 0], group=[3])
    with pytest.raises(InputError, match="sources"):
        objective("orm", diverse=True)(np.zeros(3), data)
    with pytest.raises(OptionError, match="'auto' for diverse"):
        objective("orm", diverse=True, assignment="full")


def test_compiled_and_plain_kernels_agree():
    rng = np.random.default_rng(4)
    for ties in (False, True):
        scores, gains, sources = instance(rng, 15, 6, ties)
        decay, worth, indptr = 1 / np.sqrt(1.0 + np.arange(15)), 1 / np.log2(2.0 + np.arange(15)), np.array([0, 15])
        order, plateau = np.argsort(-scores), np.minimum(np.arange(15), 4)
        results = []
        for kernel, inputs in (
            (diverse_assignment, (scores, gains, sources, indptr, decay, worth, 5, 2)),
            (best_by_score, (scores, order, gains, sources, indptr, decay, plateau, 5, 2)),
        ):
            for function in (kernel, kernel.function):
                values, gradient = np.empty(1), np.empty(15)
                function(*inputs, values, gradient)
                results.append((values[0], gradient.tolist()))
        assert results[0] == results[1]
        assert results[2] == results[3]


def test_the_averaged_reference_is_the_mean_of_all_ideal_rankings():
    """By enumeration; also with fewer sources than ranks, equal discounts, and a last level of which only some fit."""
    rng = np.random.default_rng(0)
    for trial in range(150):
        n, k, at_most = int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(1, 3))
        sources = np.unique(rng.integers(0, 3, n), return_inverse=True)[1].astype(np.int64)
        gains, width = rng.integers(0, 3, n).astype(float), max(n, k)
        discounts, decay = np.zeros(width), 1 / np.sqrt(1.0 + np.arange(width))
        kinds = (1 / np.log2(np.arange(k) + 2), np.ones(k), np.sort(rng.integers(1, 3, k))[::-1])
        discounts[:k] = kinds[trial % 3]
        data = Dataset(np.zeros((n, 1)), gains, group=[n])
        found, (ideal,) = diverse_reference(data, gains, sources, decay, discounts, k, at_most, "averaged")
        length = min(k, int(np.minimum(np.bincount(sources), at_most).sum()))
        rankings = np.array(list(itertools.permutations(range(n), length)))
        allowed = [np.bincount(sources[ranking]).max() <= at_most for ranking in rankings]
        rankings = rankings[np.array(allowed)]
        values = gains[rankings] @ discounts[:length]
        best = rankings[values > values.max() - 1e-9]
        mean = np.zeros(n)
        for ranking in best:
            mean[ranking] += decay[:length] / len(best)
        np.testing.assert_allclose(found, mean, atol=1e-12)
        assert ideal == pytest.approx(values.max())
