"""The curve of examination, on exact expectations and on simulated logs."""

from __future__ import annotations

import numpy as np
import pytest

from argrank.clicks.propensities import Propensities, propensities
from argrank.clicks.simulation import simulate_clicks
from argrank.data.clicks.counts import ClickCounts
from argrank.data.generated.synthetic import make_ranking
from argrank.errors import FormatError, InputError, OptionError


def expected_counts(theta, relevance, n=1e12):
    """Sums in which clicks are their exact expectations: for every two ranks documents shown at both."""
    ranks = len(theta)
    cells = []
    for first in range(ranks):
        for second in range(first + 1, ranks):
            cells += [(len(cells) // 2, one, theta[one] * relevance[first, second]) for one in (first, second)]
    pair, position, rate = (np.array(column) for column in zip(*cells, strict=True))
    n_pairs = int(pair.max()) + 1
    shown = np.full(len(pair), int(n))
    clicks = np.round(rate * n).astype(np.int64)
    return ClickCounts(
        np.array(["q"]), np.arange(n_pairs), np.zeros(n_pairs, np.int64), np.arange(n_pairs), None,
        pair.astype(np.int64), position.astype(np.int64) + 1, None, shown, clicks, clicks.astype(float),
    )  # fmt: skip


def test_harvest_is_exact_on_expectations_whatever_the_pairs_of_ranks_attract():
    theta = 1 / np.arange(1, 7)
    relevance = np.random.default_rng(0).uniform(0.1, 0.9, (6, 6))
    for method in ("harvest", "pbm"):
        found = propensities(expected_counts(theta, relevance), method)
        np.testing.assert_allclose(found.values, theta, rtol=1e-5)
        assert "ignore" in found.note


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=60, random_state=1)


@pytest.mark.parametrize("method", ["harvest", "pbm"])
def test_intervals_hold_the_truth(data, method):
    theta = 1 / np.arange(1, 11)
    inside = []
    for seed in range(6 if method == "harvest" else 2):
        log = simulate_clicks(data, data.X[:, 0], n_sessions=4000, vary=1.0, random_state=seed)
        found = propensities(log, method)
        inside.append((found.low <= theta * (1 + 1e-9)) & (theta <= found.high * (1 + 1e-9)))
        assert found.linked.all()
    assert np.mean(inside) > 0.85


def test_pages_that_never_vary_are_refused(data):
    log = simulate_clicks(data, data.X[:, 0], n_sessions=500, vary=0.0)
    for method in ("auto", "harvest", "pbm"):
        with pytest.raises(InputError, match="nothing links ranks 2, 3"):
            propensities(log, method)
    rates = propensities(log, "ctr")
    assert rates.values[0] == 1.0
    assert not rates.linked.any()


def test_a_curve_goes_into_a_file_and_back(tmp_path):
    found = propensities(None, "given", values=[2.0, 1.0, 0.5])
    found.write(tmp_path / "theta.json")
    again = Propensities.read(tmp_path / "theta.json")
    np.testing.assert_array_equal(again.values, [1.0, 0.5, 0.25])
    (tmp_path / "theta.json").write_text("[" * 100_000)
    with pytest.raises(FormatError, match="a curve of examination"):
        Propensities.read(tmp_path / "theta.json")


def test_bad_curves_are_refused(data):
    with pytest.raises(OptionError, match="positive numbers"):
        propensities(None, "given", values=[1.0, -1.0])
    with pytest.raises(InputError, match="expected a click log"):
        propensities([1])
    with pytest.raises(OptionError, match="method"):
        propensities([1], "harvests")
    with pytest.raises(InputError, match="covers rank 4"):
        propensities(None, "given", values=[1.0, 0.5, 0.2]).at(np.array([1, 4]))
