"""RankSVM: the published optimum, preferences, the trace, interruption."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning, OptionError


@pytest.fixture(scope="module")
def mq2008(real_data):
    return ar.Dataset.concatenate([ar.load(real_data / "MQ2008" / f"S{part}.txt.xz") for part in (1, 2, 3)])


def test_the_published_minimum(mq2008):
    # the log of a published run on MQ2008 fold 1, quoted in the data's README
    ranker = ar.make_ranker("rank-svm", C=52_325).fit(mq2008)  # its C = 1 weighs the sum over 52,325 pairs
    assert 52_325 * ranker.objective_ == pytest.approx(29566.5228463766, rel=1e-9)
    assert 0 <= ranker.gap_ <= 1e-9 * ranker.objective_


def test_float32_features_come_close(mq2008):
    single = mq2008.with_features(mq2008.X.astype(np.float32))
    ranker = ar.make_ranker("rank-svm", C=52_325).fit(single)
    assert 52_325 * ranker.objective_ == pytest.approx(29566.5228463766, rel=1e-5)


def pairs_of(data):
    """All (better, worse) rows, by plain loops."""
    found = []
    for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True):
        found += [(i, j) for i in range(a, b) for j in range(a, b) if data.y[i] > data.y[j]]
    return np.array(found)


def test_the_objective_is_the_mean_over_pairs():
    data = ar.make_ranking(20, (3, 12), 4, random_state=0)
    ranker = ar.make_ranker("rank-svm", C=300.0).fit(data)
    i, j = pairs_of(data).T
    hinge = np.maximum(0, 1 - (data.X[i] - data.X[j]) @ ranker.coef_)
    by_hand = ranker.coef_ @ ranker.coef_ / 600.0 + (hinge**2).mean()
    assert ranker.objective_ == pytest.approx(by_hand, rel=1e-12)
    gradient = ranker.coef_ / 300.0 - 2 * (data.X[i] - data.X[j]).T @ hinge / len(i)
    assert np.linalg.norm(gradient) < 1e-5 * ranker.objective_
    value, slope = ranker.risk(data).value_and_gradient(ranker.coef_)
    assert value == pytest.approx((hinge**2).mean())
    np.testing.assert_allclose(ranker.coef_ / 300.0 + slope, gradient, atol=1e-9)


def test_preferences_take_the_place_of_labels():
    data = ar.make_ranking(20, (3, 12), 4, random_state=0)
    by_label = ar.make_ranker("rank-svm").fit(data)
    clicks = ar.Dataset(data.X, group=data.sizes, preferences=pairs_of(data))
    by_pairs = ar.make_ranker("rank-svm").fit(clicks)
    np.testing.assert_allclose(by_pairs.coef_, by_label.coef_, rtol=1e-6)
    twice = np.column_stack([pairs_of(data), np.full(len(pairs_of(data)), 2.0)])
    heavy = ar.make_ranker("rank-svm").fit(ar.Dataset(data.X, group=data.sizes, preferences=twice))
    np.testing.assert_allclose(heavy.coef_, by_label.coef_, rtol=1e-6)


def test_the_trace_tells_the_story():
    train, valid = ar.make_ranking(40, 20, 5, random_state=1).split(0.5, 0.5)
    trace = ar.make_ranker("rank-svm").fit(train, eval_set=valid).trace_
    objective = trace["objective"]
    assert (np.diff(objective) < 0).all()
    assert (trace["lower_bound"] <= objective[-1]).all()
    for column in ("gap", "risk", "norm", "n_passes", "oracle_seconds", "seconds", "validation"):
        assert np.isfinite(trace[column]).all(), column
    assert "objective" in repr(trace)
    assert trace[-1]["objective"] == objective[-1]
    assert len(list(trace)) == len(trace) == len(trace.to_dict()["objective"])
    with pytest.raises(KeyError):
        trace["nonsense"]


def test_control_c_keeps_the_best_model_so_far(monkeypatch):
    data = ar.make_ranking(40, 20, 5, random_state=1)
    whole = ar.make_ranker("rank-svm").fit(data)
    from argrank.rankers import trace

    ordinary = trace.Watcher.__call__

    def impatient(self, weights, facts):
        ordinary(self, weights, facts)
        if len(self.trace) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(trace.Watcher, "__call__", impatient)
    with pytest.warns(ArgrankWarning, match="interrupted"):
        ranker = ar.make_ranker("rank-svm").fit(data)
    assert ranker.n_iter_ == 2
    assert whole.objective_ < ranker.objective_ < 1.0
    assert ranker.gap_ >= ranker.objective_ - whole.objective_
    assert np.isfinite(ranker.predict(data)).all()


def test_too_few_passes_are_reported_with_the_true_gap():
    data = ar.make_ranking(40, 20, 5, random_state=1)
    whole = ar.make_ranker("rank-svm").fit(data)
    with pytest.warns(ArgrankWarning, match="passes over the data"):
        short = ar.make_ranker("rank-svm", max_iter=6).fit(data)
    assert short.gap_ >= short.objective_ - whole.objective_ > 0


def test_a_start_saves_work():
    data = ar.make_ranking(40, 20, 5, random_state=1)
    cold = ar.make_ranker("rank-svm").fit(data)
    warm = ar.make_ranker("rank-svm")._fit(data, [], start=cold.coef_)
    assert warm.n_iter_ < cold.n_iter_
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-5)


def test_the_plain_hinge_is_svm_auc_on_another_scale():
    # one query: the mean over the pairs with margin 1/2 is that with margin 1, at half the weights
    data = ar.make_ranking(1, 40, 5, noise=1.0, random_state=1)
    C = 30.0
    hinge = ar.make_ranker("rank-svm", loss="hinge", C=C, tol=1e-8).fit(data)
    auc = ar.make_ranker("svm-auc", C=C / 4, tol=1e-8).fit(data)
    i, j = pairs_of(data).T
    slack = np.maximum(0, 1 - (data.X[i] - data.X[j]) @ hinge.coef_).mean()
    by_hand = 0.5 * hinge.coef_ @ hinge.coef_ / C + slack
    assert hinge.objective_ == pytest.approx(by_hand, rel=1e-9)
    assert auc.objective_ == pytest.approx(hinge.objective_, rel=1e-6)
    np.testing.assert_allclose(2 * auc.coef_, hinge.coef_, rtol=1e-3)
    assert 0 <= hinge.gap_ <= 1e-7 * hinge.objective_


def test_the_plain_hinge_takes_preferences():
    data = ar.make_ranking(20, (3, 12), 4, random_state=0)
    by_label = ar.make_ranker("rank-svm", loss="hinge", tol=1e-7).fit(data)
    clicks = ar.Dataset(data.X, group=data.sizes, preferences=pairs_of(data))
    by_pairs = ar.make_ranker("rank-svm", loss="hinge", tol=1e-7).fit(clicks)
    assert by_pairs.objective_ == pytest.approx(by_label.objective_, rel=1e-6)


@pytest.mark.parametrize("loss", ["squared", "hinge"])
@pytest.mark.parametrize(
    ("C", "expected"), [(0, "positive"), (-1, "positive"), (float("nan"), "positive"), (float("inf"), "positive")]
)
def test_a_senseless_C_is_refused(C, expected, loss):
    with pytest.raises(OptionError, match=f"C: expected a {expected} number, got {C}"):
        ar.make_ranker("rank-svm", C=C, loss=loss).fit(ar.make_ranking(5, 5, 3))


def test_an_unknown_loss_is_refused():
    with pytest.raises(OptionError, match="loss: expected"):
        ar.make_ranker("rank-svm", loss="cubic").fit(ar.make_ranking(5, 5, 3))
