"""Intervals of weights are quantiles of weights that were trained on resampled queries."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError


@pytest.mark.parametrize("level", [0.05, 0.4])
def test_the_intervals_are_quantiles_of_refits(level):
    data = ar.make_ranking(15, 8, 3, noise=1.0, random_state=0)
    ranker = ar.make_ranker("regression").fit(data)
    found = ar.bootstrap_weights(ranker, data, n_resamples=25, level=level, random_state=3, progress=False)
    rng, refits = np.random.default_rng(3), []
    for _ in range(25):
        rows = [np.arange(data.indptr[q], data.indptr[q + 1]) for q in rng.integers(15, size=15)]
        X, y = data.X[np.concatenate(rows)], data.y[np.concatenate(rows)]
        refits.append(np.linalg.lstsq(np.column_stack((X, np.ones(len(X)))), y)[0][:-1])
    for end, share in ((found.low, level / 2), (found.high, 1 - level / 2)):
        np.testing.assert_allclose(end, np.quantile(refits, share, axis=0, method="weibull"), rtol=1e-8)
    assert np.array_equal(found.weights, ranker.coef_)
    assert f"{100 * (1 - level):g} % intervals from 25 trainings" in repr(found)


def test_needs_a_fitted_linear_ranker_and_two_resamples():
    data = ar.make_ranking(5, 4, 2, random_state=0)
    with pytest.raises(InputError, match="expected a fitted linear ranker"):
        ar.bootstrap_weights(ar.make_ranker("regression"), data)
    with pytest.raises(OptionError, match="n_resamples"):
        ar.bootstrap_weights(ar.make_ranker("regression").fit(data), data, n_resamples=1)
