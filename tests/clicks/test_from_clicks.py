"""Row gains: what rankers and measures make of them, and how they come from a log."""

import itertools

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError

TAKE_GAINS = {
    "auto", "coordinate-ascent", "direct-rank", "lambda-mart", "lambdarank", "listnet", "orm", "pair-mart",
    "query-mart", "rank-svm", "regression", "smooth-grad", "softrank", "symmetric-mart",
}  # fmt: skip


@pytest.fixture(scope="module")
def gained():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, 12)
    n = int(sizes.sum())
    gains = rng.random(n) * (rng.random(n) < 0.5)
    return ar.Dataset(
        rng.normal(size=(n, 3)), group=sizes, gains=gains, examinations=rng.random(n) + 0.1,
        query_weight=rng.integers(1, 50, 12).astype(float),
    )  # fmt: skip


@pytest.fixture(scope="module")
def shop():
    data = ar.load_bundled()
    kept = [name for name in data.feature_names if name != "click_rate"]
    places = [data.feature_names.index(name) for name in kept]
    return ar.Dataset(
        data.X[:, places], data.y, qid=data.qid, document_ids=data.document_ids, feature_names=kept
    ).select(np.arange(40))


@pytest.fixture(scope="module")
def log(shop):
    return ar.simulate_clicks(shop, shop.X[:, 0], n_sessions=4000, vary=1.0, random_state=3)


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_propensity_svm_rank_is_the_sum_over_ordered_pairs(gained, loss):
    w = np.array([0.4, -0.3, 0.8])
    scores = gained.X @ w
    ranker = ar.make_ranker("rank-svm", loss=loss)
    value, gradient = ranker.risk(gained).value_and_gradient(w)
    total, weights, slope = 0.0, 0.0, np.zeros(3)
    for q, (first, last) in enumerate(itertools.pairwise(gained.indptr)):
        for i, j in itertools.permutations(range(first, last), 2):
            weight, hinge = gained.query_weight[q] * gained.gains[i], max(0.0, 1.0 - scores[i] + scores[j])
            total += weight * (hinge**2 if loss == "squared" else hinge)
            outer = 2 * hinge if loss == "squared" else float(hinge > 0)
            slope -= weight * outer * (gained.X[i] - gained.X[j])
            weights += weight
    assert value == pytest.approx(total / weights, rel=1e-13)
    np.testing.assert_allclose(gradient, slope / weights, rtol=1e-10)


def test_curvature_is_the_difference_of_gradients(gained):
    risk = ar.make_ranker("rank-svm").risk(gained)
    w, v = np.array([0.4, -0.3, 0.8]), np.array([0.2, 0.5, -0.1])
    step = 1e-6
    ahead, behind = (risk.value_and_gradient(w + sign * step * v)[1] for sign in (1, -1))
    risk.value_and_gradient(w)
    np.testing.assert_allclose(risk.hessian_product(v), (ahead - behind) / (2 * step), rtol=1e-6)


def test_listnet_wants_the_shares_of_gains(gained):
    value, gradient = ar.objective("listnet")(gained.X[:, 0], gained)
    loss, weights = 0.0, 0.0
    for q, (first, last) in enumerate(itertools.pairwise(gained.indptr)):
        gains, scores = gained.gains[first:last], gained.X[first:last, 0]
        weight = gained.query_weight[q] * gains.sum()
        if weight > 0:
            wanted, chances = gains / gains.sum(), np.exp(scores) / np.exp(scores).sum()
            some = wanted > 0
            loss += weight * (wanted[some] * np.log(wanted[some] / chances[some])).sum()
            weights += weight
    assert value == pytest.approx(loss / weights, rel=1e-12)
    step = np.zeros(gained.n_documents)
    step[3] = 1e-6
    ahead, behind = (ar.objective("listnet")(gained.X[:, 0] + sign * step, gained)[0] for sign in (1, -1))
    assert gradient[3] == pytest.approx((ahead - behind) / 2e-6, abs=1e-7)


def test_measures_add_up_gains_or_refuse_by_name(gained):
    scores = gained.X[:, 0]
    found = ar.evaluate(scores, gained, ["dcg@3", "p@2", "rbp"]).means
    dcg = []
    for first, last in itertools.pairwise(gained.indptr):
        best = gained.gains[first:last][np.argsort(-scores[first:last])][:3]
        dcg.append((best / np.log2(np.arange(2, 2 + len(best)))).sum())
    assert found["dcg@3"] == pytest.approx(np.average(dcg, weights=gained.query_weight), rel=1e-13)
    for name in ("ndcg@10", "map", "mrr", "err", "recall@5", "auc"):
        with pytest.raises(OptionError, match="row gains"):
            ar.evaluate(scores, gained, name)


def test_rankers_learn_from_gains_or_refuse_by_name(gained):
    for name in ar.ranker_names():
        if name not in TAKE_GAINS:
            with pytest.raises(InputError, match=f"{name}: expected labels, got row gains"):
                ar.make_ranker(name).fit(gained)
    for name in ("rank-svm", "listnet", "regression", "lambdarank", "orm", "coordinate-ascent"):
        ranker = ar.make_ranker(name).fit(gained)
        found = ar.evaluate(ranker.predict(gained), gained, "dcg@10").means["dcg@10"]
        assert ranker.score(gained) == pytest.approx(found)
        assert ranker.get_params() == ar.make_ranker(name).get_params()
    for name, measure in (("orm", "ndcg@5"), ("lambda-mart", "map"), ("coordinate-ascent", "mrr")):
        with pytest.raises(OptionError, match="constant divisor"):
            ar.make_ranker(name, measure=measure).fit(gained)


def test_direct_rank_ends_at_a_dcg_that_no_line_improves(gained):
    ranker = ar.make_ranker("direct-rank").fit(gained)
    scores = ranker.predict(gained)
    search = ar.line_search(scores, gained.X[:, 0], gained, measure="dcg@10")
    for place in np.linspace(search.breakpoints[0] - 1, search.breakpoints[-1] + 1, 50):
        at = ar.evaluate(scores + place * gained.X[:, 0], gained, "dcg@10", ties="row").means["dcg@10"]
        assert at <= search.value + 1e-12


def test_gains_survive_parts_and_packs(gained, tmp_path):
    part = gained.select([5, 2])
    rows = np.concatenate([np.arange(gained.indptr[q], gained.indptr[q + 1]) for q in (5, 2)])
    np.testing.assert_array_equal(part.gains, gained.gains[rows])
    np.testing.assert_array_equal(part.examinations, gained.examinations[rows])
    both = gained.split(0.5, 0.5)
    assert sum(one.gains.sum() for one in both) == pytest.approx(gained.gains.sum())
    again = ar.Dataset.concatenate([gained.select([0, 1]), gained.select([2, 3])])
    np.testing.assert_array_equal(again.gains, gained.gains[: gained.indptr[4]])
    ar.pack(gained, tmp_path / "gains.pack")
    packed = ar.load(tmp_path / "gains.pack")
    np.testing.assert_array_equal(packed.gains, gained.gains)
    assert packed.fingerprint == gained.fingerprint
    with pytest.raises(InputError, match="only a pack"):
        ar.dump(gained, tmp_path / "gains.csv")
    assert gained.with_labels(np.ones(gained.n_documents)).gains is None


def test_gains_are_clicks_over_examinations(shop, log):
    theta = ar.propensities(log, "given", values=1 / np.arange(1, 11))
    train = ar.from_clicks(log, shop, propensities=theta, shrink=0.0)
    clicks, seen = {}, {}
    columns = log.columns()
    for q, d, k, c in zip(*(columns[name] for name in ("qid", "docid", "position", "click")), strict=True):
        clicks[q, d] = clicks.get((q, d), 0) + c
        seen[q, d] = seen.get((q, d), 0.0) + 1 / k
    wanted = [clicks.get(one, 0) / seen.get(one, 1.0) for one in zip(train.qid, train.document_ids, strict=True)]
    np.testing.assert_allclose(train.gains, wanted, rtol=1e-12)
    assert train.query_weight.sum() == log.n_sessions
    assert not train.is_judged
    clipped = ar.from_clicks(log, shop, propensities=theta, clip=(0, 1), shrink=2.0)
    np.testing.assert_allclose(
        clipped.gains, np.clip(train.gains * train.examinations / (train.examinations + 2.0), 0, 1), rtol=1e-12
    )


def test_leaks_are_refused_by_name(shop, log):
    counts = log.counts()
    position = {}
    for pair, clicks in zip(counts.pair, counts.clicks, strict=True):
        key = (counts.query_ids[counts.pair_query[pair]], counts.document_ids[counts.pair_document[pair]])
        position[key] = position.get(key, 0) + int(clicks)
    hidden = [position.get(one, 0) for one in zip(shop.qid, shop.document_ids, strict=True)]
    X = np.column_stack([shop.X[:, :2], hidden])
    for name in ("old_ctr", "logged position", "rank", "innocent"):
        data = ar.Dataset(X, qid=shop.qid, document_ids=shop.document_ids, feature_names=["a", "b", name])
        with pytest.raises(InputError, match=name):
            ar.from_clicks(log, data, propensities=ar.propensities(log))
        assert ar.from_clicks(log, data, allow_leaks=True).n_features == 3


def test_queries_and_documents_of_the_table_that_are_not_in_the_log(shop, log):
    other = ar.Dataset(shop.X, qid=[f"no {one}" for one in shop.qid], document_ids=shop.document_ids)
    with pytest.raises(InputError, match="queries of the log"):
        ar.from_clicks(log, other)
    with pytest.raises(InputError, match="document id"):
        ar.from_clicks(log, ar.Dataset(shop.X, qid=shop.qid))
    few = shop.keep(np.arange(shop.n_documents) % 2 == 0)
    with pytest.warns(ar.errors.ArgrankWarning, match="not candidates"):
        assert ar.from_clicks(log, few).n_documents == few.n_documents


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_documents_that_a_part_of_the_log_did_not_show_are_no_division_by_zero(shop, log):
    """A part of a log knows documents that it has not shown."""
    theta = ar.propensities(None, "given", values=1 / np.arange(1, 11))
    found = ar.from_clicks(log.select(range(3)), shop, propensities=theta)
    assert (found.examinations > 0).sum() == len(np.unique(log.select(range(3)).pair))
