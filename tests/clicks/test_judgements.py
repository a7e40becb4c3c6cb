"""Judgements from clicks, by hand and on a simulated log."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from argrank.clicks.judgements import judgements
from argrank.clicks.propensities import propensities
from argrank.clicks.simulation import simulate_clicks
from argrank.data.clicks.log import Clicks
from argrank.data.generated.synthetic import make_ranking
from argrank.errors import OptionError


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


def test_clicks_over_examinations():
    theta = propensities(None, "given", values=[1.0, 0.5])
    found = judgements(small_log(), "examinations", propensities=theta)
    np.testing.assert_allclose(found.value, [3 / 3.5, 1 / 2.0, 0.0])
    with pytest.raises(OptionError, match="expected a curve"):
        judgements(small_log(), "examinations")


def test_levels_and_rare_documents():
    found = judgements(small_log(), "ctr", levels=3, min_impressions=2)
    assert found.docid.tolist() == ["a", "b"]
    assert found.grade.tolist() == [2.0, 1.0]


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
