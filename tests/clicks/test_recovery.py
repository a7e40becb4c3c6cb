"""Every method and every model finds the truth of its own logs: biases over many logs, coverage of intervals.

The quick versions take few logs, with Student's quantile in the place of three standard errors.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.clicks.test_models import pages, parameters
from tests.clicks.test_propensities import fixed_pages, trusting_log

from argrank.clicks.models import CLICK_MODELS, click_model
from argrank.clicks.propensities import propensities
from argrank.clicks.simulation import simulate_clicks
from argrank.data.generated.synthetic import make_ranking

QUICK_OR_SLOW = [pytest.param(6, id="quick"), pytest.param(200, id="slow", marks=pytest.mark.slow)]


def check_bias(errors: np.ndarray) -> None:
    """Errors of one kind of parameter, a row for each log: their mean within 3 standard errors, each by Bonferroni."""
    n, m = errors.shape
    for of_logs, beyond in ((errors.mean(axis=1, keepdims=True), stats.norm.sf(3)), (errors, stats.norm.sf(3) / m)):
        error = of_logs.std(axis=0, ddof=1) / np.sqrt(n)
        assert (np.abs(of_logs.mean(axis=0)) <= stats.t.isf(beyond, n - 1) * error + 1e-12).all()


def identified(name: str, found) -> dict[str, np.ndarray]:
    """Return what a log can tell: products of attraction and examination, satisfaction where something follows."""
    values = {key: np.asarray(one) for key, one in found.items()}
    if name == "pbm":
        first = values["examination"][0]
        return {"attraction": values["attraction"] * first, "examination": values["examination"][1:] / first}
    if name == "ubm":
        table = values["examination"]
        known = [table[rank, last] / table[0, 0] for rank in range(1, len(table)) for last in range(rank + 1)]
        return {"attraction": values["attraction"] * table[0, 0], "examination": np.array(known)}
    if name == "dcm":
        return {"attraction": values["attraction"], "satisfaction": values["satisfaction"][:-1]}
    return values


@pytest.mark.parametrize("n_logs", QUICK_OR_SLOW)
@pytest.mark.parametrize("name", CLICK_MODELS)
def test_models_find_the_parameters_of_their_own_logs(name, n_logs):
    log = pages(20_000, 6, 4, 5, n_queries=2)
    given = parameters(name, log, 6)
    model = click_model(name).assume(log, **given)
    truth = identified(name, model.parameters)
    errors = {kind: [] for kind in truth}
    for seed in range(n_logs):
        fitted = click_model(name, prior_weight=1e-6, max_iter=2000, tol=1e-7).fit(model.simulate(log, seed))
        for kind, values in identified(name, fitted.parameters).items():
            errors[kind].append(values - truth[kind])
    for of_kind in errors.values():
        check_bias(np.array(of_kind))


@pytest.mark.parametrize("n_logs", QUICK_OR_SLOW)
@pytest.mark.parametrize(("method", "weigh"), [("harvest", "precision"), ("harvest", "equal"), ("pbm", "precision")])
def test_curves_are_unbiased_and_their_intervals_cover(method, weigh, n_logs):
    """Two rankers, users with several sessions."""
    data = make_ranking(n_queries=40 if n_logs >= 200 else 10, random_state=1)
    theta = 1 / np.arange(1, 7)
    errors, inside = [], []
    for seed in range(n_logs):
        systems = {"a": data.X[:, 0], "b": data.X[:, 1]}
        log = simulate_clicks(
            data, systems, n_sessions=4000, n_results=6, vary=0.7, sessions_per_user=3.0, random_state=seed
        )
        found = propensities(log, method, weigh=weigh)
        assert found.linked.all()
        errors.append(found.values[1:] - theta[1:])
        inside.append((found.low <= theta)[1:] & (theta <= found.high)[1:])
    check_bias(np.array(errors))
    least, most = (0.92, 0.97) if n_logs >= 200 else (0.7, 1.0)
    assert least <= np.mean(inside) <= most


@pytest.mark.parametrize("n_logs", QUICK_OR_SLOW)
def test_a_randomised_swap_gives_the_ratio(n_logs):
    data = make_ranking(n_queries=20, random_state=1)
    errors = []
    for seed in range(n_logs):
        log = simulate_clicks(
            data, np.zeros(data.n_documents), n_sessions=4000, n_results=3, vary=1.0, random_state=seed
        )
        errors.append(np.log(propensities(log, "swap", ranks=(1, 3)).values[2:]) - np.log(1 / 3))
    check_bias(np.array(errors))


@pytest.mark.parametrize("n_logs", QUICK_OR_SLOW)
def test_features_give_the_curve_of_fixed_pages(n_logs):
    errors, inside = [], []
    theta = 1 / np.arange(2, 5)
    for seed in range(n_logs):
        data, log = fixed_pages(np.random.default_rng(seed), n_queries=50)
        found = propensities(log, "pbm", features=data)
        errors.append(np.log(found.values[1:]) - np.log(theta))
        inside.append((found.low[1:] <= theta) & (theta <= found.high[1:]))
    check_bias(np.array(errors))
    assert np.mean(inside) >= (0.9 if n_logs >= 200 else 0.6)


@pytest.mark.slow
def test_trust_is_unbiased_on_long_logs():
    """Slopes and offsets, where documents are shown thousands of times; short logs are biased, as the guide says."""
    slopes, offsets = [], []
    for seed in range(200):
        _, log, slope, offset = trusting_log(120_000, seed)
        found = propensities(log, "trust")
        slopes.append(found.values[1:] - slope[1:])
        offsets.append(found.offsets[:-1] - offset[:-1])
    check_bias(np.array(slopes))
    check_bias(np.array(offsets))
