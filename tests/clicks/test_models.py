"""Click models: a published tool's figures on real sessions, enumeration of all clicks of a page, own logs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import argrank as ar
from argrank.clicks.models import CLICK_MODELS, click_model
from argrank.data.clicks.load import load_clicks
from argrank.data.clicks.log import Clicks
from argrank.errors import InputError, OptionError

#: Log-likelihood and perplexity that PyClick's own code gives on the TianGong demo (train and test part).
PYCLICK = {
    "ctr-all": (-0.184909, 1.212761),
    "ctr-rank": (-0.169802, 1.192397),
    "ctr-document": (-0.618702, 1.856828),
    "pbm": (-0.167814, 1.189926),
    "cascade": (-3.115963, 1.253312),
    "dcm": (-0.548476, 1.299759),
    "ubm": (-0.156758, 1.190112),
    "sdbn": (-0.549012, 1.321802),
}
#: Its conventions, as parameters.
CONVENTIONS = {
    "pbm": {"max_iter": 50, "tol": 0.0},
    "ubm": {"max_iter": 50, "tol": 0.0},
    "dcm": {"last_click": "satisfies"},
    "sdbn": {"last_click": "satisfies"},
    "cascade": {"likelihood": "marginal"},
}


def pages(n_sessions: int, n_documents: int, n_results: int, seed: int, n_queries: int = 3) -> Clicks:
    random = np.random.default_rng(seed)
    shown = np.array([random.permutation(n_documents)[:n_results] for _ in range(n_sessions)])
    columns = {
        "session": np.repeat(np.arange(n_sessions), n_results),
        "qid": np.repeat(random.integers(0, n_queries, n_sessions), n_results),
        "docid": shown.ravel(),
        "position": np.tile(np.arange(1, n_results + 1), n_sessions),
        "click": np.zeros(n_sessions * n_results),
    }
    return Clicks.of(columns)


def parameters(name: str, log: Clicks, seed: int) -> dict[str, np.ndarray]:
    random, n = np.random.default_rng(seed), int(log.position.max())
    found = {"attraction": random.uniform(0.1, 0.7, log.n_pairs)}
    if name == "pbm":
        found["examination"] = random.uniform(0.3, 1.0, n)
    if name == "ubm":
        found["examination"] = random.uniform(0.3, 1.0, (n, n + 1))
    if name == "dcm":
        found["satisfaction"] = random.uniform(0.2, 0.8, n)
    if name in ("sdbn", "dbn"):
        found["satisfaction"] = random.uniform(0.2, 0.8, log.n_pairs)
    if name == "dbn":
        found["continuation"] = np.array([0.8])
    if name == "ctr":
        found = {"rate": random.uniform(0.1, 0.7, n)}
    return found


@pytest.mark.parametrize("case", PYCLICK)
def test_figures_of_a_published_tool_come_out(case, real_data):
    folder = real_data / "clicks" / "tiangong-demo"
    paths = [folder / f"{one}.txt.xz" for one in ("train", "test")]
    train, test = (load_clicks(path, format="sessions", repeated="keep") for path in paths)
    name, _, by = case.partition("-")
    options = {**CONVENTIONS.get(name, {}), **({"by": by} if by else {})}
    model = click_model(name, prior_mean=0.5, prior_weight=2.0, **options).fit(train)
    assert model.log_likelihood(test) == pytest.approx(PYCLICK[case][0], abs=1e-5)
    assert model.perplexity(test) == pytest.approx(PYCLICK[case][1], abs=1e-5)


@pytest.mark.parametrize("name", CLICK_MODELS)
def test_probabilities_of_all_clicks_of_a_page_add_up(name):
    """Products of conditional probabilities over all 2^4 clicks sum to 1, and their margins are the plain ones."""
    one = pages(1, 4, 4, 0, 1)
    model = click_model(name).assume(one, **parameters(name, one, 1))
    total, margin = 0.0, np.zeros(4)
    for clicks in product((False, True), repeat=4):
        log = replace(one, click=np.array(clicks))
        chance = model.predict(log, given_clicks=True)
        probability = np.prod(np.where(log.click, chance, 1 - chance))
        total += probability
        margin += probability * log.click
    assert total == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(margin, model.predict(one), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", CLICK_MODELS)
def test_simulated_clicks_follow_the_model(name):
    log = pages(40_000, 5, 4, 2, 1)
    model = click_model(name).assume(log, **parameters(name, log, 3))
    drawn = model.simulate(log, 4)
    chance = model.predict(drawn, given_clicks=True)
    for position in range(1, 5):
        at = drawn.position == position
        error = np.sqrt((chance[at] * (1 - chance[at])).sum())
        assert abs(drawn.click[at].sum() - chance[at].sum()) < 4.5 * error + 1e-9


@pytest.mark.parametrize("name", ["ctr", "pbm", "cascade", "dcm", "sdbn", "dbn", "ubm"])
def test_a_model_finds_the_chances_of_its_own_log(name):
    log = pages(30_000, 8, 5, 5)
    truth = click_model(name).assume(log, **parameters(name, log, 6))
    fitted = click_model(name, prior_weight=0.01, max_iter=500).fit(truth.simulate(log, 7))
    np.testing.assert_allclose(fitted.predict(log), truth.predict(log), rtol=0, atol=0.035)


def test_last_clicks_taken_for_the_end_bias_the_dynamic_models():
    log = pages(30_000, 8, 5, 8)
    truth = click_model("sdbn").assume(log, **parameters("sdbn", log, 9))
    drawn = truth.simulate(log, 10)
    errors = {
        how: np.mean(click_model("sdbn", last_click=how, prior_weight=0.01).fit(drawn).parameters["attraction"]
                     - truth.parameters["attraction"])
        for how in ("unknown", "satisfies")
    }  # fmt: skip
    assert abs(errors["unknown"]) < 0.005
    assert errors["satisfies"] > 0.01


def test_the_position_model_needs_sums_alone():
    data = ar.make_ranking(n_queries=10, random_state=0)
    log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=2000, n_results=5, vary=1.0)
    rows, sums = (click_model("pbm", tol=0.0, max_iter=30).fit(one) for one in (log, log.counts()))
    for name, values in rows.parameters.items():
        np.testing.assert_allclose(sums.parameters[name], values, rtol=1e-10)
    np.testing.assert_allclose(sums.relevance.examinations, rows.relevance.examinations, rtol=1e-10)
    assert sums.perplexity(log) == pytest.approx(rows.perplexity(log), rel=1e-10)
    with pytest.raises(InputError, match="log: expected a Clicks, got ClickCounts"):
        click_model("ubm").fit(log.counts())


def test_documents_that_were_never_seen_have_the_prior():
    log = pages(50, 4, 3, 11)
    drawn = click_model("pbm").assume(log, **parameters("pbm", log, 12)).simulate(log, 1)
    model = click_model("ctr", by="document").fit(drawn)
    other = Clicks.of({"session": [0], "qid": ["new"], "docid": ["x"], "position": [1], "click": [0]})
    assert model.predict(other)[0] == pytest.approx((drawn.n_clicks + 0.5) / (drawn.n_rows + 1))


def test_bad_input_is_refused():
    log = pages(5, 4, 3, 0)
    with pytest.raises(OptionError, match="unknown click model 'umb'; did you mean ubm"):
        click_model("umb")
    with pytest.raises(OptionError, match="click model pbm 'prior_wieght'; did you mean prior_weight"):
        click_model("pbm", prior_wieght=1.0)
    with pytest.raises(InputError, match="before fit"):
        click_model("pbm").predict(log)
    with pytest.raises(InputError, match="log: expected a Clicks"):
        click_model("pbm").fit([1, 2])
    with pytest.raises(OptionError, match="prior_mean"):
        click_model("pbm", prior_mean=2.0).fit(log)
    with pytest.raises(OptionError, match="examination: expected 3 numbers"):
        click_model("pbm").assume(log, attraction=np.full(log.n_pairs, 0.1), examination=[0.5])
