from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import OptionError

VALUES = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]


@pytest.fixture(scope="module")
def parts():
    return ar.make_ranking(60, (5, 40), 8, noise=1.0, random_state=2).split(0.7, 0.3)


@pytest.fixture(scope="module")
def path(parts):
    return ar.regularisation_path("rank-svm", VALUES[::-1], *parts, "map")


def test_warm_fits_reach_the_same_solutions_in_fewer_passes(parts, path):
    cold = [ar.make_ranker("rank-svm", C=C).fit(parts[0]) for C in VALUES]
    assert path.C.tolist() == VALUES
    for point, ranker in zip(path.points, cold, strict=True):
        assert point.objective == pytest.approx(ranker.objective_, rel=1e-9)
        np.testing.assert_allclose(point.coef, ranker.coef_, rtol=1e-4, atol=1e-6 * np.abs(ranker.coef_).max())
    assert path.n_passes < sum(ranker.trace_[-1]["n_passes"] for ranker in cold)
    assert sum(point.n_iter for point in path.points) < sum(ranker.n_iter_ for ranker in cold)


def test_every_point_is_recorded(parts, path):
    assert path.coefs.shape == (7, 8)
    norms = [point.norm for point in path.points]
    assert norms == [np.linalg.norm(point.coef) for point in path.points]
    assert sorted(norms) == norms  # less regularisation, longer weights
    for point in path.points:
        scores = parts[1].to_caller(parts[1].X @ point.coef)
        assert point.value == ar.evaluate(scores, parts[1], "map").means["map"]
    best = max(path.points, key=lambda point: point.value)
    assert f"{best.value:.4f}*" in repr(path)


def test_without_validation_there_is_no_value(parts):
    path = ar.regularisation_path("rank-svm", [1e-3], parts[0])
    assert np.isnan(path.points[0].value)
    assert "ndcg" not in repr(path)


def test_the_measure_is_by_default_that_of_the_ranker(parts):
    path = ar.regularisation_path(ar.make_ranker("rank-svm", scoring="ndcg@3"), [1e-3], *parts)
    assert path.measure == "ndcg@3"


def test_what_has_no_path_is_refused(parts):
    with pytest.raises(OptionError, match="parameter C, got Regression"):
        ar.regularisation_path("regression", VALUES, parts[0])
    with pytest.raises(OptionError, match="values: expected a list, each a finite number"):
        ar.regularisation_path("rank-svm", ["a"], parts[0])
