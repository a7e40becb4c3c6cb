"""DirectRank and coordinate ascent: the measure never falls, the choice of the iterate, and a comparison of both."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import ArgrankWarning, OptionError
from argrank.models.model import Stayed
from argrank.rankers.checkpoint import Checkpoint


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(50, (5, 40), 6, random_state=11)


def whole(name):
    """A climb to its end, whatever it gains on other queries."""
    return {"folds": 0} if name == "direct-rank" else {}


def training_measure(ranker, data, measure="ndcg@10"):
    return ar.evaluate(ranker.predict(data), data, measure).means[measure]


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
@pytest.mark.parametrize("measure", ["ndcg@5", "map", "err@10", "p@3"])
def test_no_round_lowers_the_training_measure(name, measure, data):
    ranker = ar.make_ranker(name, measure=measure, n_starts=2, **whole(name)).fit(data)
    starts = ranker.trace_["start"]
    for start in (0, 1):
        climb = ranker.trace_["measure"][starts == start]
        assert (np.diff(climb)[:-1] >= 0).all()  # the last row may be the chosen model again
    assert ranker.objective_ == pytest.approx(1 - training_measure(ranker, data, measure), abs=1e-12)
    assert 1 - ranker.objective_ == pytest.approx(ranker.trace_["measure"].max(), abs=1e-12)
    assert np.isnan(ranker.gap_)


def test_every_line_search_of_a_finished_climb_finds_nothing_better(data):
    ranker = ar.make_ranker("direct-rank", folds=0, tol=1e-9).fit(data)
    scores = ranker.predict(data)
    for j in range(data.n_features):
        assert ar.line_search(scores, data.X[:, j], data, ties="expected").gain < 1e-9


def test_greedy_coordinates_climb_too(data):
    greedy = ar.make_ranker("direct-rank", coordinates="greedy", folds=0).fit(data)
    assert (np.diff(greedy.trace_["measure"]) >= 0).all()
    assert np.count_nonzero(np.diff(greedy.coef_)) > 0
    cyclic = ar.make_ranker("direct-rank", folds=0).fit(data)
    assert abs(greedy.objective_ - cyclic.objective_) < 0.03


def test_a_greedy_round_makes_the_best_of_all_single_moves(data):
    small = data.select(np.arange(12))
    scores = ar.make_ranker("direct-rank").fit(small).predict(small)  # of the start
    moves = [ar.line_search(scores, column, small, ties="expected").value for column in small.X.T]
    greedy = ar.make_ranker("direct-rank", coordinates="greedy", folds=0).fit(small)
    assert greedy.trace_["measure"][1] == pytest.approx(max(moves), abs=1e-12)


def test_more_beginnings_are_never_worse_in_training(data):
    values = [1 - ar.make_ranker("direct-rank", n_starts=n, folds=0).fit(data).objective_ for n in (1, 3, 5)]
    assert values == sorted(values)


def test_bags_are_the_mean_of_climbs_on_samples_of_the_queries(data):
    parts = data.split(0.5, 0.5)
    options = {"folds": 0, "random_state": 3}
    bagged = ar.make_ranker("direct-rank", bags=4, **options).fit(parts[0])
    plain = ar.make_ranker("direct-rank", **options).fit(parts[0])
    assert bagged.objective_ == pytest.approx(1 - training_measure(bagged, parts[0]), abs=1e-12)
    assert bagged.trace_[-1]["objective"] == bagged.objective_
    assert bagged.objective_ > plain.objective_ - 1e-12  # no climb ended at the mean
    again = ar.make_ranker("direct-rank", bags=4, n_jobs=2, **options).fit(parts[0])
    assert again.coef_.tobytes() == bagged.coef_.tobytes()
    spread = parts[0].X.std(axis=0)
    assert np.linalg.norm(bagged.coef_ * spread) <= 1 + 1e-12  # a mean of vectors of length 1
    with pytest.raises(OptionError, match="bags: expected a whole number from 0 up"):
        ar.make_ranker("direct-rank", bags=-1).fit(data)


def test_the_iterate_of_the_best_scoring_is_chosen(data):
    train, valid = data.split(0.6, 0.4)
    ranker = ar.make_ranker("direct-rank", n_starts=3, scoring="map").fit(train, eval_set=valid)
    assert ranker.score(valid) == pytest.approx(ranker.trace_["validation"].max(), abs=1e-12)
    assert ranker.score(valid) == pytest.approx(ar.evaluate(ranker.predict(valid), valid, "map").means["map"])


def test_early_stopping_ends_a_climb(data):
    train, valid = data.split(0.6, 0.4)
    whole = ar.make_ranker("direct-rank", n_starts=1, tol=0.0).fit(train, eval_set=valid)
    short = ar.make_ranker("direct-rank", n_starts=1, tol=0.0, early_stopping=1).fit(train, eval_set=valid)
    assert short.n_iter_ <= whole.n_iter_
    rising = np.diff(short.trace_["validation"][: short.n_iter_ + 1])
    assert (rising[:-1] > 0).all()


def test_direct_rank_is_not_worse_than_coordinate_ascent_in_training(real_data):
    data = ar.load(real_data / "MQ2008" / "S1.txt.xz").select(np.arange(60))
    direct = ar.make_ranker("direct-rank", n_starts=2, folds=0).fit(data)
    stepwise = ar.make_ranker("coordinate-ascent", n_starts=1).fit(data)
    assert training_measure(direct, data) >= training_measure(stepwise, data) - 1e-12


def test_a_file_sorted_by_label_gives_nothing_away():
    rng = np.random.default_rng(0)
    y = np.tile([3, 2, 1, 0, 0, 0], 20)
    X = np.column_stack([np.zeros(120), rng.standard_normal(120)])
    ranker = ar.make_ranker("direct-rank", folds=0).fit(X, y, group=np.full(20, 6))
    random_order = ar.evaluate(np.zeros(120), ar.Dataset(X, y, group=np.full(20, 6)), "ndcg@10").means["ndcg@10"]
    assert random_order < 1 - ranker.objective_ < 0.99


def test_a_python_function_can_be_maximised(data):
    def first_is_good(labels):
        return float(labels[0] >= 1)

    small = data.select(np.arange(12))
    ranker = ar.make_ranker("direct-rank", measure=first_is_good, folds=0, max_iter=20).fit(small)
    assert ranker.score(small) == pytest.approx(1 - ranker.objective_)
    assert ranker.score(small) >= ar.evaluate(ranker.predict(small), small, "p@1").means["p@1"] - 1e-12


def test_sparse_features_and_stopping_short_are_heard_of(data):
    with pytest.warns(ArgrankWarning, match="still rising"):
        ar.make_ranker("direct-rank", folds=0, max_iter=1, tol=0.0).fit(
            sparse.csr_matrix(data.X), data.y, group=data.sizes
        )
    for wrong in ({"coordinates": "all"}, {"point": "left"}, {"n_starts": 0}, {"folds": -1}):
        with pytest.raises(OptionError):
            ar.make_ranker("direct-rank", **wrong).fit(data)


def best_is_elsewhere(n_queries, seed):
    """Queries whose best document lies along another feature than the good ones, which RankSVM ranks first."""
    rng = np.random.default_rng(seed)
    y = np.tile([2, 1, 0, 0, 0, 0], n_queries)
    noise = rng.standard_normal((len(y), 2))
    X = np.column_stack(((y == 2) + 0.5 * noise[:, 0], np.choose(y, [0.0, 2.0, 0.3]) + 0.1 * noise[:, 1]))
    return ar.Dataset(X, y, group=np.full(n_queries, 6))


def test_a_climb_that_helps_is_kept():
    train, new = best_is_elsewhere(60, 0), best_is_elsewhere(500, 1)
    ranker = ar.make_ranker("direct-rank", measure="P(rel=2)@1").fit(train)
    svm = ar.evaluate(ar.make_ranker("rank-svm").fit(train).predict(new), new, "P(rel=2)@1").means["P(rel=2)@1"]
    assert ranker.n_iter_ > 0
    assert ranker.gain_ > 0.2
    assert ranker.score(new) > svm + 0.2


@pytest.mark.parametrize("n_queries", [10, 30])
def test_a_climb_that_hurts_is_not_kept(n_queries):
    """Whether there are enough queries to try it or not, the start is the model."""
    made = ar.make_ranking(n_queries + 400, (20, 60), 20, noise=1.0, random_state=7)
    train, new = made.select(np.arange(n_queries)), made.select(np.arange(n_queries, made.n_queries))
    start = ar.make_ranker("direct-rank").fit(train)
    assert start.n_iter_ == 0
    assert np.isnan(start.gain_) == (n_queries < 15)
    svm = ar.make_ranker("rank-svm").fit(train)
    assert (start.coef_ / svm.coef_ == start.coef_[0] / svm.coef_[0]).all()  # as a user gets it, times a power of two
    said = "too few queries to try the climb" if n_queries < 15 else f"held-out queries gained {start.gain_:+.4f}"
    assert f"kept its start, RankSVM: {said}" in str(start.stayed_)
    for text in (repr(start), start.summary(), repr(start.model_)):
        assert str(start.stayed_) in text
    assert ar.make_ranker("direct-rank", folds=0).fit(train).score(new) < start.score(new) - 0.01


def test_the_gain_is_that_of_whole_climbs_on_queries_left_out(data):
    options = {"coordinates": "greedy"}  # the order of features does not matter then
    fold_of = np.random.default_rng(0).permutation(data.n_queries) % 3
    gains = []
    for fold in range(3):
        train, held = data.select(fold_of != fold), data.select(fold_of == fold)
        start, end = (ar.make_ranker("direct-rank", folds=folds, **options).fit(train) for folds in (50, 0))
        assert start.n_iter_ == 0 < end.n_iter_
        before, after = (ar.evaluate(one.predict(held), held, "ndcg@10").values["ndcg@10"] for one in (start, end))
        gains.extend((after - before)[np.isfinite(before)])
    ranker = ar.make_ranker("direct-rank", **options).fit(data)
    assert ranker.gain_ == pytest.approx(np.mean(gains), abs=1e-12)
    assert (ranker.n_iter_ > 0) == (np.mean(gains) > 2 * np.std(gains, ddof=1) / np.sqrt(len(gains)))


def test_a_climb_is_judged_once_where_there_is_a_checkpoint(tmp_path, monkeypatch):
    train, options = best_is_elsewhere(60, 0), {"measure": "P(rel=2)@1"}
    whole = ar.make_ranker("direct-rank", **options).fit(train)
    path, offer = tmp_path / "fit.ckpt", Checkpoint.offer

    def killed(self, *state):
        offer(self, *state)
        raise RuntimeError("killed")

    monkeypatch.setattr(Checkpoint, "offer", killed)
    with pytest.raises(RuntimeError, match="killed"):
        ar.make_ranker("direct-rank", **options).fit(train, checkpoint=path, every=1e-9)
    monkeypatch.setattr(Checkpoint, "offer", offer)
    monkeypatch.delattr(ar.rankers.DirectRank, "_is_worth_climbing")
    resumed = ar.make_ranker("direct-rank", **options).fit(train, checkpoint=path)
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    assert (resumed.n_iter_, resumed.gain_) == (whole.n_iter_, whole.gain_)


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
def test_features_that_change_no_ranking_have_no_weight(name, data):
    query = 1000.0 * np.random.default_rng(1).standard_normal(data.n_queries)
    X = np.column_stack((np.repeat(query, data.sizes), data.X, np.full(data.n_documents, 7.0)))
    ranker = ar.make_ranker(name, n_starts=4, **whole(name)).fit(X, data.y, group=data.sizes)
    assert ranker.coef_[0] == ranker.coef_[-1] == 0.0
    assert ranker.coef_[1:-1].any()


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
@pytest.mark.filterwarnings("ignore:.*nothing to learn")
def test_where_nothing_can_be_learned_the_weights_are_0(name, data, tmp_path):
    for part in (ar.Dataset(data.X, np.zeros(data.n_documents), group=data.sizes), ar.Dataset([[3.0]], [1], group=[1])):
        ranker = ar.make_ranker(name).fit(part)
        assert not ranker.coef_.any()
        if not part.y.any():
            assert ranker.objective_ == 1.0
        ranker.save(tmp_path / "model.json")


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_features_of_any_size(name, factor, data):
    ranker = ar.make_ranker(name, **whole(name)).fit(factor * data.X, data.y, group=data.sizes)
    scores = ranker.predict(factor * data.X)
    assert ar.evaluate(scores, data, "ndcg@10").means["ndcg@10"] > 0.8


def test_trial_steps_are_those_of_plain_evaluation():
    """Coordinate ascent as it is written down, one evaluation a step; rounded features make documents tie."""
    rng = np.random.default_rng(4)
    data = ar.Dataset(np.round(rng.standard_normal((120, 3))), rng.integers(0, 3, 120), group=np.full(12, 10))

    def value(weights):
        return ar.evaluate(data.X @ weights, data, "ndcg@5").means["ndcg@5"]

    order, weights = np.random.default_rng(0), np.full(3, 1 / 3)
    for number in order.permutation(3).tolist():
        unit, best, reached = np.eye(3)[number], 0.0, value(weights)
        growing = np.cumsum(0.05 * (abs(weights[number]) or 1.0) * 2.0 ** np.arange(8))
        for steps in (growing, -growing, [-weights[number]]):
            for step in steps:
                if value(weights + step * unit) > reached:
                    best, reached = step, value(weights + step * unit)
            if best != 0.0:
                break
        weights = weights + best * unit
        weights /= np.abs(weights).sum()
    options = {"measure": "ndcg@5", "n_starts": 1, "n_steps": 8, "max_iter": 1, "tol": 0.0}
    with pytest.warns(ArgrankWarning, match="still rising"):
        ranker = ar.make_ranker("coordinate-ascent", **options).fit(data)
    np.testing.assert_allclose(ranker.coef_, weights, rtol=1e-12)


def test_a_kept_start_is_known_to_model_files_and_reports(tmp_path):
    train = ar.make_ranking(10, 8, 3, random_state=1)
    ranker = ar.make_ranker("direct-rank").fit(train, checkpoint=tmp_path / "fit.ckpt")
    again = ar.make_ranker("direct-rank").fit(train, checkpoint=tmp_path / "fit.ckpt")
    assert again.stayed_ == ranker.stayed_
    ranker.save(tmp_path / "model.json")
    model = ar.load_model(tmp_path / "model.json")
    ar.write_report(tmp_path / "report.html", train, {"direct-rank": model}, ["ndcg@10"])
    said = "direct-rank kept its start, RankSVM: too few queries"
    assert said in (tmp_path / "report.html").read_text()
    assert "kept its start" not in repr(ar.make_ranker("direct-rank", folds=0).fit(train))


def test_a_gain_that_may_be_chance_says_so():
    assert str(Stayed("RankSVM", 0.0, "the climb", 0.01, 0.007)).endswith("less than two standard errors of 0.0070")
    assert str(Stayed("RankSVM", 0.0, "the climb", -0.003, 0.007)).endswith("gained -0.0030 from the climb")


def test_the_start_is_rank_svm_as_a_user_gets_it_on_raw_features():
    """A solve that ends early is far from the optimum where features have spreads of 1e-3 to 1e5."""
    made = ar.make_ranking(12, 30, 12, noise=1.0, random_state=3)
    raw = ar.Dataset(made.X * 10.0 ** np.linspace(-3, 5, 12), made.y, group=made.sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)  # of the scales
        start, svm = (ar.make_ranker(name).fit(raw).coef_ for name in ("direct-rank", "rank-svm"))
    np.testing.assert_array_equal(start / np.abs(start).max(), svm / np.abs(svm).max())
