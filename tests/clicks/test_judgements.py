"""Judgements from clicks, by hand and on a simulated log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import argrank as ar
from argrank.clicks.judgements import judgements
from argrank.clicks.propensities import propensities
from argrank.clicks.simulation import simulate_clicks
from argrank.data.clicks.log import Clicks
from argrank.data.generated.synthetic import make_ranking
from argrank.errors import ArgrankWarning, InputError, OptionError


def small_log():
    return Clicks.of(
        {
            "session": [1, 1, 2, 2, 3, 3, 4, 4],
            "qid": ["tv"] * 8,
            "docid": ["a", "b", "a", "b", "b", "a", "a", "c"],
            "position": [1, 2, 1, 2, 1, 2, 1, 2],
            "click": [1, 0, 1, 1, 0, 1, 0, 0],
        }
    )


def test_coec_sums_the_rate_of_every_rank():
    """Rank 1 has 2 clicks of 4, rank 2 has 2 of 4: a was shown three times at 1 and once at 2."""
    found = judgements(small_log(), "coec")
    np.testing.assert_allclose(found.value, [3 / (4 * 0.5), 1 / (3 * 0.5), 0.0])
    assert found.to_qrels() == {"tv": {"a": 1.5, "b": pytest.approx(2 / 3), "c": 0.0}}
    assert found.clicks.tolist() == [3, 1, 0]
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()


def test_a_log_without_clicks_and_positions_from_zero_are_told():
    log = small_log()
    with pytest.raises(InputError, match="expected clicks to judge by, got none in 8 impressions"):
        judgements(replace(log, click=np.zeros(8, bool)), "coec")
    with pytest.warns(ArgrankWarning, match="position 0 is taken for a rank of its own"):
        judgements(replace(log, position=log.position - 1), "coec")


def test_clicks_over_examinations():
    theta = propensities(None, "given", values=[1.0, 0.5])
    found = judgements(small_log(), "examinations", propensities=theta)
    np.testing.assert_allclose(found.value, [3 / 3.5, 1 / 2.0, 0.0])
    with pytest.raises(OptionError, match="expected a curve"):
        judgements(small_log(), "examinations")


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("coec", {"propensities": propensities(small_log(), method="ctr")}, "propensities: expected method='examinat"),
        ("pbm", {"propensities": propensities(small_log(), method="ctr")}, "propensities: expected method='examinat"),
        ("pbm", {"prior": 2.0}, "prior: expected method='coec', 'ctr' or 'examinations', got method='pbm'"),
        ("coec", {"max_iter": 3}, "max_iter: expected a click model, whose parameter it is, got method='coec'"),
        ("ctr", {"by": "rank"}, "by: expected a click model, whose parameter it is, got method='ctr'"),
    ],
)
def test_what_a_method_does_not_use_is_refused(method, given, message):
    with pytest.raises(OptionError, match=f"^{message}"):
        judgements(small_log(), method, **given)


def test_levels_and_rare_documents():
    found = judgements(small_log(), "ctr", levels=3, min_impressions=2)
    assert found.docid.tolist() == ["a", "b"]
    assert found.grade.tolist() == [2.0, 1.0]


def test_what_takes_the_rank_out_finds_the_better_document_where_rates_do_not():
    """The better of two documents (.8 against .4) stands second in 900 of 1,000 sessions, where a quarter look."""
    usual, swapped = 900, 100
    top, second = np.zeros(1000), np.zeros(1000)
    top[:360], second[:180], top[900:980], second[900:910] = 1, 1, 1, 1  # as many clicks as are expected
    log = Clicks.of(
        {
            "session": np.repeat(np.arange(1000), 2),
            "qid": np.repeat("tv", 2000),
            "docid": ["poor", "good"] * usual + ["good", "poor"] * swapped,
            "position": np.tile([1, 2], 1000),
            "click": np.column_stack((top, second)).ravel(),
        }
    )
    theta = propensities(log)
    np.testing.assert_allclose(theta.values, [1.0, 0.25], rtol=1e-6)
    value = {one: judgements(log, one).value for one in ("ctr", "coec", "pbm")}
    value["examinations"] = judgements(log, "examinations", propensities=theta).value
    assert log.document_ids.tolist() == ["poor", "good"]
    np.testing.assert_allclose(value["ctr"], [0.37, 0.26])
    np.testing.assert_allclose(value["coec"], [0.37 / (0.9 * 0.44 + 0.1 * 0.19), 0.26 / (0.9 * 0.19 + 0.1 * 0.44)])
    np.testing.assert_allclose(value["examinations"], [0.4, 0.8], rtol=1e-6)
    assert value["pbm"][1] > value["pbm"][0]  # its prior pulls them together a little


@pytest.mark.slow
def test_debiased_judgements_agree_better_with_true_labels_than_rates():
    data = make_ranking(n_queries=160, random_state=3)
    log = simulate_clicks(data, data.X[:, 0], n_sessions=160_000, vary=0.3, noise=0.05, random_state=0)
    label = np.empty(log.n_pairs)
    label[log.pair] = data.to_caller(data.y)[log.document_ids[log.pair_document].astype(int)][log.pair]
    theta = propensities(log)
    agreement = {}
    for method, options in (("ctr", {}), ("coec", {}), ("examinations", {"propensities": theta}), ("pbm", {})):
        value = judgements(log, method, **options).value
        of_queries = [log.pair_query == query for query in range(log.n_queries)]
        agreement[method] = np.array([stats.kendalltau(value[one], label[one]).statistic for one in of_queries])
    for method in ("coec", "examinations", "pbm"):
        gains = agreement[method] - agreement["ctr"]
        gains = gains[~np.isnan(gains)]
        assert gains.mean() > 2 * gains.std(ddof=1) / np.sqrt(len(gains)), method


def test_a_model_that_tells_less_than_rates_by_rank_is_told(recwarn):
    data = ar.make_ranking(n_queries=20, random_state=0)
    log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=2000, vary=1.0, random_state=0)
    ar.judgements(log, "pbm")
    assert not recwarn
    with pytest.warns(ar.errors.ArgrankWarning, match="cascade explains these clicks worse than the rates by rank"):
        ar.judgements(log, "cascade")  # it knows no second click, and these readers click again
