"""auto: honest choice, the blend it serves, limits and interruptions, small and strange data."""

from __future__ import annotations

import signal
import sys
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import argrank as ar
from argrank.errors import ArgrankWarning, OptionError
from argrank.rankers.boosted.symmetric.symmetric_boosters import SymmetricBoosters
from argrank.rankers.boosted.trees.seeded_boosters import LightGBMBoosters
from argrank.rankers.trace import Watcher
from argrank.solvers.problem import Stop
from argrank.trials.auto import blend
from argrank.trials.auto import members as members_module
from argrank.trials.auto.blend import Blend, compressed_estimate
from argrank.trials.auto.members import EFFORTS, MEMBERS, PAIRS, Folding, Member, Stage, TreeMember, member_of
from argrank.trials.auto.search import Search
from argrank.trials.compress import follow, n_trees_of


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    """Few trees: what is tested here does not depend on their number."""
    stages = (4, 8, 12, 16)
    monkeypatch.setattr("argrank.trials.auto.ranker.STAGES", stages)
    monkeypatch.setattr(members_module, "STAGES", stages)


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(24, (6, 14), 5, grades=3, random_state=3)


def auto(**parameters):
    return ar.make_ranker("auto", **{"n_folds": 3, "verbose": -1} | parameters)


@pytest.fixture(scope="module")
def fitted(data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("argrank.trials.auto.ranker.STAGES", (4, 8, 12, 16))
        return auto().fit(data)


def test_the_public_face():
    parameters = ar.make_ranker("auto").get_params()
    expected = {"scoring": "ndcg@10", "family": "all", "members": None, "time_limit": None, "max_trees": None}
    assert expected.items() <= parameters.items()
    assert (parameters["n_folds"], parameters["random_state"], parameters["target"]) == (None, 0, None)


def test_it_says_what_each_member_got_and_what_to_expect(fitted, data):
    names = ["listnet", "rank-svm", "query-mart", "symmetric-mart", "symmetric-mart on pair-mart"]
    assert [member.name for member in fitted.members_] == names
    assert sum(member.weight for member in fitted.members_) == pytest.approx(1.0)
    assert all(0 < member.value <= 1 for member in fitted.members_)
    estimate = fitted.estimate_
    assert estimate.low < estimate.value < estimate.high
    values = ar.evaluate(np.zeros(data.n_documents), data, "ndcg@10").values["ndcg@10"]
    assert estimate.n_queries == np.isfinite(values).sum()
    text = fitted.summary()
    assert all(name in text for name in (*names, "out of fold", "a test set has its own noise"))


def test_what_is_asked_for_is_what_it_goes_by(data):
    found = ar.select(auto(family="linear"), {"n_folds": [3]}, data, data, "map", progress=False)
    assert (found.ranker.scoring, found.ranker.estimate_.measure) == ("map", "map")
    said = "optimised: no measure (it minimises the losses of its members); reported: map."
    assert said in " ".join(found.ranker.summary().split())


@pytest.mark.parametrize("asked", ["ndcg@10", "map", "mrr@10", "p@5", "err@10"])
def test_the_measure_chooses_the_numbers_of_trees(data, asked):
    made = ar.make_ranker("mart", n_leaves=4, min_documents=2, verbose=-1, n_jobs=1)
    member = member_of("mart", made, Folding.of(data, 3, 0), asked, (2, 4, 8, 16, 32))
    while member.advance():
        pass
    means = [ar.evaluate(data.to_caller(stage.scores), data, asked).means[asked] for stage in member.stages]
    assert len(means) > 2
    assert member.best == int(np.argmax(means))
    assert n_trees_of(member.refit(data, 1)) == member.stages[member.best].n_trees
    chosen = auto(members=["mart"], scoring=asked)
    assert chosen._minimised == f"the losses of its members, and {asked} chooses the numbers of trees"


def test_the_model_is_the_weighted_sum_of_refitted_members(fitted, data):
    """Each member's scores, divided by their deviation within queries, count by the reported share."""
    model = fitted.model_
    kept = [member for member in fitted.members_ if member.weight > 0]
    assert [member.name for member in kept if member.name == "listnet"] == ["listnet"]
    listnet = ar.make_ranker("listnet").fit(data)
    scores = listnet.predict(data)
    centred = scores - np.repeat(np.add.reduceat(scores, data.indptr[:-1]) / data.sizes, data.sizes)
    place = [member.name for member in kept].index("listnet")
    np.testing.assert_allclose(model.members[place].weights, listnet.coef_)
    assert model.weights[place] == pytest.approx(kept[place].weight / np.sqrt(np.mean(centred**2)))
    total = sum(weight * member.predict(data.X) for weight, member in zip(model.weights, model.members, strict=True))
    np.testing.assert_allclose(fitted.predict(data), total, atol=1e-12)
    grown = [(one, part) for one, part in zip(kept, model.members, strict=True) if one.n_trees is not None]
    assert grown
    for one, part in grown:  # the ranker itself, with the number of trees that is told, trained on everything
        name, given = PAIRS if one.name == "symmetric-mart on pair-mart" else (one.name, MEMBERS["trees"][one.name])
        settings = {**given, "n_trees": one.n_trees, "n_seeds": EFFORTS["default"].seeds}
        alone = ar.make_ranker(name, **settings, verbose=-1).fit(data).model_
        assert len(part.trees) == len(alone.trees)
        np.testing.assert_array_equal(part.predict(data.X), alone.predict(data.X))


def test_it_saves_loads_and_explains(fitted, data, tmp_path):
    fitted.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    assert loaded.predict(data).tobytes() == fitted.predict(data).tobytes()
    assert [member["name"] for member in loaded.training["members"]] == [one.name for one in fitted.members_]
    assert loaded.training["estimate"]["value"] == fitted.estimate_.value
    scores = fitted.predict(data)
    assert ar.why_above(fitted, data, 0, 1).difference == pytest.approx(scores[0] - scores[1])


def test_same_seed_same_bits(fitted, data):
    again = clone(fitted).set_params(n_jobs=2).fit(data)
    assert again.predict(data).tobytes() == fitted.predict(data).tobytes()
    assert again.estimate_ == fitted.estimate_


def test_the_estimate_is_of_queries_that_had_no_say(data, monkeypatch):
    """Labels of a fold, changed where only that fold is held out, do not move the scores it is judged by."""
    from argrank.trials.auto import blend as module

    seen = []
    weigh = module.blend_weights
    monkeypatch.setattr(module, "blend_weights", lambda Z, part: seen.append(part.query_ids.tolist()) or weigh(Z, part))
    auto(family="linear").fit(data)
    every, *others = seen[:1] + seen[1:]
    assert sorted(every) == sorted(data.query_ids.tolist())
    left_out = [set(every) - set(one) for one in others]
    assert len(others) == 3
    assert set.union(*left_out) == set(every)
    assert sum(map(len, left_out)) == len(every)


def test_a_large_set_holds_a_quarter_out(data, monkeypatch):
    monkeypatch.setattr(members_module, "HOLDOUT_ROWS", 100)
    few = members_module.Folding.of(data, 3, 0)
    assert [part.n_queries for part in few.held] == [8, 8, 8], "too few queries to hold out"
    monkeypatch.setattr(members_module, "HOLDOUT_QUERIES", 5)
    folding = members_module.Folding.of(data, 3, 0)
    assert [part.n_queries for part in folding.train] == [18]
    assert folding.pool.n_queries == 6
    ranker = auto(members=["mart", "listnet"]).fit(data)
    judged = ar.evaluate(np.zeros(folding.pool.n_documents), folding.pool, "ndcg@10").values["ndcg@10"]
    assert ranker.estimate_.n_queries == np.isfinite(judged).sum()


@pytest.fixture
def large(monkeypatch):
    """Make data of a hundred documents large."""
    monkeypatch.setattr(members_module, "HOLDOUT_ROWS", 100)
    monkeypatch.setattr(members_module, "HOLDOUT_QUERIES", 5)


def losses(ranker, data, families=("all",)):
    rankers = ranker._rankers(data, families)
    return [(one.objective, one.start) if name[:4] == "symm" else name for name, one in rankers.items()]


def test_a_large_set_has_symmetric_trees_on_losses_for_the_order(data, large):
    linear, pairs = ["listnet", "rank-svm"], ("pair-mart", None)
    trees = [pairs, ("xendcg-mart", None)]
    assert losses(auto(), data) == losses(auto(effort="best"), data) == [*linear, *trees, ("xendcg-mart", "linear")]
    assert losses(auto(effort="fast"), data) == [*linear, pairs]
    assert losses(auto(), data, ("linear",)) == linear
    assert losses(auto(), data, ("trees",)) == trees, "one forest has no linear part"
    assert losses(auto(), data, ("trees", "linear")) == [*linear, *trees]
    xendcg = "symmetric-mart on xendcg-mart"
    names = [*linear, "symmetric-mart on pair-mart", xendcg, f"{xendcg} 2"]
    ranker = auto().fit(data)
    assert [member.name for member in ranker.members_] == names
    assert {part.kind for part in ranker.model_.members} <= {"linear", "symmetric-trees"}, "a flat sum"
    assert families(auto(family="trees").fit(data)) == {"trees"}


LETTERS = {
    "l": "listnet", "r": "rank-svm", "q": "query-mart", "s": ("query-mart", None), "p": ("pair-mart", None),
    "x": ("xendcg-mart", None), "+": ("xendcg-mart", "linear"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("effort", "rows", "kind", "members"),
    [
        ("fast", 100, "whole", "lrp"), ("default", 100, "whole", "lrpx+"), ("best", 100, "whole", "lrpx+"),
        ("fast", 100, "missing", "lrp"), ("default", 100, "missing", "lrpx"), ("best", 100, "missing", "lrpx"),
        ("fast", 100, "texts", "lrp"), ("default", 100, "texts", "lrpx"), ("best", 100, "texts", "lrpx"),
        *[("fast", 10_000, kind, "lrs") for kind in ("whole", "missing", "texts", "gains")],
        *[("default", 10_000, kind, "lrqsp") for kind in ("whole", "missing", "texts", "gains")],
        *[("best", 10_000, kind, "lrqspx") for kind in ("whole", "missing", "texts")],
        ("fast", 100, "gains", "lrs"), ("default", 100, "gains", "lrqsp"),
        *[("best", rows, "gains", "lrqsp") for rows in (100, 10_000)],
    ],
)  # fmt: skip
def test_the_members_of_every_effort_on_every_kind_of_data(data, large, monkeypatch, effort, rows, kind, members):
    monkeypatch.setattr(members_module, "HOLDOUT_ROWS", rows)
    X, known = data.X.copy(), {"group": data.sizes}
    if kind == "missing":
        X[0, 0] = np.nan
    if kind == "texts":
        X[:, 0] = np.arange(len(X)) % 2
        known |= {"feature_names": tuple("abcde"), "categories": {"a": ("new", "old")}}
    if kind == "gains":
        given = ar.Dataset(X, None, gains=np.asarray(data.y, float), **known)
    else:
        given = ar.Dataset(X, data.y, **known)
    linear, trees = members[:2], members[2:]
    forest = trees.replace("+", "")
    for families, expected in {
        ("all",): members, ("trees",): forest, ("linear",): linear, ("trees", "linear"): linear + forest
    }.items():  # fmt: skip
        assert losses(auto(effort=effort), given, families) == [LETTERS[one] for one in expected]
        few = losses(auto(effort=effort, max_trees=1), given, families)
        assert few == [LETTERS[one] for one in expected if one in linear + trees[0]]
    if kind in ("missing", "texts"):
        assert losses(auto(effort=effort, prepare=None), given) == [LETTERS[one] for one in forest]


def test_trees_of_a_large_set_have_no_linear_start_without_features_for_it(data, large):
    X = data.X.copy()
    X[0, 0] = np.nan
    linear, trees = ["listnet", "rank-svm"], [("pair-mart", None), ("xendcg-mart", None)]
    missing = ar.Dataset(X, data.y, group=data.sizes)
    assert losses(auto(), missing) == [*linear, *trees]
    assert losses(auto(prepare=None), missing) == trees
    assert losses(auto(prepare="always"), data) == [*linear, *trees], "values may be missing later"


def test_a_large_set_needs_no_lightgbm(data, large, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert losses(auto(), data)[2:] == [("pair-mart", None), ("xendcg-mart", None), ("xendcg-mart", "linear")]


@pytest.mark.parametrize(("holdout", "most", "seeds"), [(100, 720, 3), (100, 1, 1), (10_000, 1, 3)])
def test_long_forests_of_large_data_get_fewer_seeds(data, large, monkeypatch, holdout, most, seeds):
    monkeypatch.setattr(members_module, "HOLDOUT_ROWS", holdout)
    monkeypatch.setattr(members_module, "SEEDED_TREES", most)
    given, refit = [], TreeMember.refit
    monkeypatch.setattr(TreeMember, "refit", lambda *all_of: given.append(all_of[2]) or refit(*all_of))
    auto(members=["mart"]).fit(data)
    assert given == [seeds]


def families(ranker):
    return {members_module.FAMILY_OF[part.kind] for part in ranker.model_.members}


@pytest.mark.parametrize("family", ["trees", "linear"])
def test_a_family_is_one_forest_or_one_weight_vector(data, family):
    ranker = auto(family=family).fit(data)
    assert families(ranker) == {family}
    assert "opensearch" in ar.targets(ranker)


def test_a_target_gets_a_blend_that_it_can_express(data):
    both = auto(target="opensearch").fit(data)
    assert len(both.members_) == 5
    assert len(families(both)) == 1  # the better of trees and linear
    assert "opensearch" in ar.targets(both)
    best = {}
    for family in ("trees", "linear"):
        best[family] = auto(family=family).fit(data).estimate_.value
    assert families(both) == {max(best, key=best.get)}
    assert families(auto(target="xgboost").fit(data)) == {"trees"}
    assert families(auto(target="onnx").fit(data)) == {"trees", "linear"}
    with pytest.raises(OptionError, match="xgboost expresses a blend of trees"):
        auto(target="xgboost", family="linear").fit(data)
    with pytest.raises(OptionError, match="unknown target"):
        auto(target="opensearsh").fit(data)


def test_a_target_of_neither_trees_nor_linear_models_is_refused(data, monkeypatch):
    monkeypatch.setattr("argrank.trials.auto.ranker.blend_families", lambda name: ())
    with pytest.raises(OptionError, match="target: expected one that takes linear models or trees, got 'solr'"):
        auto(target="solr").fit(data)


@pytest.mark.parametrize("most", [1, 7, 30])
def test_max_trees_bounds_the_whole_model(data, most):
    ranker = auto(family="trees", max_trees=most).fit(data)
    assert 1 <= n_trees_of(ranker.model_) <= most


@pytest.mark.parametrize("better", ["few trees", "one forest that follows many"])
def test_max_trees_takes_what_is_better_on_held_out_queries(data, monkeypatch, better):
    estimates = []

    def estimated(*given):
        estimates.append(compressed_estimate(*given))
        return estimates[-1]._replace(value=0.0 if better == "few trees" else 0.999)

    monkeypatch.setattr("argrank.trials.auto.ranker.compressed_estimate", estimated)
    ranker = auto(max_trees=30).fit(data)
    assert n_trees_of(ranker.model_) <= 30
    assert 0.0 < estimates[0].value < 1.0
    follows = any("follows the blend" in note for note in ranker.notes_)
    assert follows == all(part.kind != "trees" for part in ranker.model_.members)
    assert follows == (better != "few trees")
    assert (ranker.estimate_.value == 0.999) == follows
    assert ranker.score(data) > 0.5


@pytest.mark.parametrize(("limit", "n_parts"), [(1000.0, 3), (48.0, 3), (47.0, 1), (15.0, 1)])
def test_compressing_keeps_to_the_time_limit(data, monkeypatch, limit, n_parts):
    """A clock of our own: a part takes ten seconds, all else none; the blend of all data is followed after three."""
    clock, original = [0.0], blend.follow
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def slow(*given):
        clock[0] += 10.0
        return original(*given)

    monkeypatch.setattr(blend, "follow", slow)
    made = auto(max_trees=20, n_folds=3, time_limit=limit)
    if n_parts == 3:
        ranker = made.fit(data)
    else:
        with pytest.warns(ArgrankWarning, match="time limit"):
            ranker = made.fit(data)
        assert not any("follows the blend" in note for note in ranker.notes_)
    assert clock[0] == 10.0 * n_parts
    assert n_trees_of(ranker.model_) <= 20
    assert all(member.refitted for member in ranker.members_ if member.weight > 0)


def test_what_is_expected_of_a_small_forest_comes_from_queries_that_it_did_not_see(data, monkeypatch):
    seen = []
    original = blend.follow

    def follow(teacher, train, *given):
        small = original(teacher, train, *given)
        seen.append(set(train.query_ids.tolist()))
        return small

    monkeypatch.setattr(blend, "follow", follow)
    auto(max_trees=20, n_folds=3).fit(data)
    everything = set(data.query_ids.tolist())
    left_out = [everything - train for train in seen]
    assert len(seen) == 3
    assert all(left_out)
    assert set.union(*left_out) == everything
    assert sum(map(len, left_out)) == len(everything)


def test_own_members_by_name_and_as_rankers(data):
    ranker = auto(members=["regression", ar.make_ranker("mart", n_leaves=4), "query-mart", "mart"]).fit(data)
    assert [member.name for member in ranker.members_] == ["regression", "mart", "query-mart", "mart 2"]
    started = auto(members=[ar.make_ranker("query-mart", n_seeds=1), "rank-svm"]).fit(data)  # sums inside sums
    assert all(part.kind != "sum" for part in started.model_.members)
    with pytest.raises(OptionError, match="expected names or rankers"):
        auto(members=[3]).fit(data)


def test_the_measure_chooses_the_number_of_trees(data):
    ranker = auto(scoring="map", members=["mart"]).fit(data)
    assert ranker.estimate_.measure == "map"
    assert ranker.score(data) == ar.evaluate(ranker.predict(data), data, "map").means["map"]


def interrupting(monkeypatch, kind, call):
    """Let the given call of ``advance`` or ``refit`` be interrupted."""
    calls = []
    for cls in (Member, TreeMember):
        original = getattr(cls, kind)

        def stopped(self, *arguments, original=original):
            calls.append(1)
            if len(calls) == call:
                raise KeyboardInterrupt
            return original(self, *arguments)

        monkeypatch.setattr(cls, kind, stopped)


@pytest.mark.parametrize(("kind", "call", "n_members"), [("advance", 2, 1), ("advance", 5, 3), ("refit", 2, 5)])
def test_interrupting_keeps_the_blend_of_what_is_finished(data, monkeypatch, kind, call, n_members):
    interrupting(monkeypatch, kind, call)
    with pytest.warns(ArgrankWarning, match="interrupted; the best blend"):
        ranker = auto().fit(data)
    assert len(ranker.members_) == n_members
    assert sum(member.refitted for member in ranker.members_) == (1 if kind == "refit" else 0)
    assert ranker.score(data) > 0.6
    assert ranker.estimate_.value > 0


def test_a_signal_in_the_middle_of_growth_keeps_what_is_finished(data, monkeypatch):
    """Ctrl-C as the system sends it, with Python's own handler, while LightGBM's trees grow."""
    rounds, grow = [], LightGBMBoosters.grow

    def interrupted(self):
        rounds.append(1)
        if len(rounds) == 20:
            signal.raise_signal(signal.SIGINT)
        return grow(self)

    monkeypatch.setattr(LightGBMBoosters, "grow", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.warns(ArgrankWarning, match="interrupted; the best blend"):
            ranker = auto().fit(data)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(rounds) == 20
    assert [member.name for member in ranker.members_] == ["listnet", "rank-svm", "query-mart"]
    assert ranker.score(data) > 0.6


def test_interrupting_before_anything_is_finished_is_an_interruption(data, monkeypatch):
    interrupting(monkeypatch, "advance", 1)
    with pytest.raises(KeyboardInterrupt):
        auto().fit(data)


@pytest.mark.parametrize("round_", [0, 5])
@pytest.mark.parametrize("part", [2, 4])
def test_interrupting_the_compression_keeps_the_blend(data, monkeypatch, part, round_):
    """In a part of the estimate a blend of few trees, on all data the blend that was to be compressed."""
    parts, grow = [], SymmetricBoosters.grow

    def following(*given):
        parts.append(0)
        if len(parts) == part and round_ == 0:
            raise KeyboardInterrupt
        return follow(*given)

    def interrupted(self):
        if len(parts) == part:
            parts[-1] += 1
            if parts[-1] == round_:
                signal.raise_signal(signal.SIGINT)
        return grow(self)

    monkeypatch.setattr(blend, "follow", following)
    monkeypatch.setattr("argrank.trials.auto.ranker.follow", following)
    estimates = []
    monkeypatch.setattr(
        "argrank.trials.auto.ranker.compressed_estimate",
        lambda *given: estimates.append(compressed_estimate(*given)) or estimates[-1]._replace(value=0.999),
    )
    monkeypatch.setattr(SymmetricBoosters, "grow", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.warns(ArgrankWarning, match="Auto: interrupted"):
            ranker = auto(max_trees=30).fit(data)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ranker.stop_ is Stop.INTERRUPTED
    assert ranker.score(data) > 0.6
    assert 0.0 < ranker.estimate_.value < 0.999
    if part == 4:
        assert n_trees_of(ranker.model_) > 30
        assert any("not compressed" in note for note in ranker.notes_)
    else:
        assert n_trees_of(ranker.model_) <= 30


def test_a_fit_that_was_cut_short_is_not_taken_for_a_member(data, monkeypatch):
    from argrank.rankers.boosted.trees.seeded_boosters import LightGBMBoosters

    grow, calls = LightGBMBoosters.grow, []

    def interrupted(self):
        calls.append(len(self.boosters))
        if len(self.boosters) == 3 and calls.count(3) == 2:  # in the second round of fitting again
            raise KeyboardInterrupt
        return grow(self)

    monkeypatch.setattr(LightGBMBoosters, "grow", interrupted)
    with pytest.warns(ArgrankWarning, match="interrupted; the best blend"):
        ranker = auto(members=["mart"]).fit(data)
    assert not ranker.members_[0].refitted
    assert len(ranker.model_.members) == 3  # the models of the folds


def test_no_time_at_all_still_gives_a_model(data):
    with pytest.warns(ArgrankWarning, match="time limit"):
        ranker = auto(time_limit=1e-6).fit(data)
    assert [member.name for member in ranker.members_] == ["listnet"]
    assert ranker.score(data) > 0.6


def test_five_seconds_are_enough_for_all(data):
    ranker = auto(members=["listnet", "mart"], time_limit=5.0).fit(data)
    assert len(ranker.members_) == 2
    assert all(member.refitted for member in ranker.members_)


def test_three_queries_one_query_and_one_feature(data):
    few = auto().fit(data.select([0, 1, 2]))
    assert np.isfinite(few.predict(data)).all()
    one = auto().fit(data.select([3]))
    assert np.isnan(one.estimate_.value)
    assert np.isfinite(one.predict(data)).all()
    thin = auto().fit(data.X[:, :1], data.y, group=data.sizes)
    assert np.isfinite(thin.predict(data.X[:, :1])).all()


def test_missing_values_are_prepared_for_linear_members(data):
    X = data.X.copy()
    X[::7, 2] = np.nan
    ranker = auto().fit(X, data.y, group=data.sizes)
    assert families(ranker) == {"linear", "trees"}
    assert np.isfinite(ranker.predict(X)).all()
    linear = auto(family="linear").fit(X, data.y, group=data.sizes)
    assert np.isfinite(linear.predict(X)).all()


@pytest.mark.parametrize("normalise", [None, "query-zscore"])
def test_texts_are_saved_with_the_blend(data, normalise, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(data.X, columns=[f"f{i}" for i in range(data.n_features)]).assign(label=data.y)
    frame["shop"] = np.array(["new", "old", "used"])[np.arange(len(frame)) % 3]
    members = [ar.make_ranker(name, n_trees=3, normalise=normalise) for name in ("mart", "query-mart")]
    ranker = auto(members=members).fit(frame, qid=data.qid)
    ranker.save(tmp_path / "model.json")
    again = ar.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(frame, qid=data.qid), ranker.predict(frame, qid=data.qid))
    assert dict(again.categories) == {"shop": ("new", "old", "used")}


def test_sparse_features(data):
    X = np.where(np.abs(data.X) < 0.5, 0.0, data.X)
    thin = auto().fit(sparse.csr_matrix(X), data.y, group=data.sizes)
    dense = auto().fit(X, data.y, group=data.sizes)
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(X)), dense.predict(X), rtol=1e-4, atol=1e-5)


def test_linear_members_standardise_what_is_far_from_one(data):
    wide = ar.Dataset(data.X * [1.0, 1e4, 1.0, 1.0, 1e3], data.y, group=data.sizes)
    ranker = auto(family="linear").fit(wide)
    assert all(part.normaliser.name == "standard" for part in ranker.model_.members)
    np.testing.assert_allclose(ranker.score(wide), auto(family="linear", normalise="standard").fit(wide).score(wide))


def test_without_lightgbm_linear_and_symmetric_members_are_blended(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.warns(ArgrankWarning, match=r"listnet, rank-svm, symmetric-mart alone; .*argrank\[trees\]"):
        ranker = auto().fit(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast = auto(effort="fast").fit(data)
    names = ["listnet", "rank-svm", "symmetric-mart", "symmetric-mart on pair-mart"]
    for one, n_members in ((ranker, 4), (fast, 3)):
        assert [member.name for member in one.members_] == names[:n_members]


def test_efforts_have_more_and_more_members_folds_and_seeds(data):
    found = {effort: auto(effort=effort, n_folds=None).fit(data) for effort in ("fast", "default", "best")}
    names = [{member.name for member in ranker.members_} for ranker in found.values()]
    assert names[0] < names[1] < names[2]
    assert [EFFORTS[effort].n_folds for effort in found] == [4, 4, 8]
    for effort, ranker in found.items():
        grown = [one for one in ranker.members_ if one.n_trees is not None and one.weight > 0]
        n_trees = sum(len(part.trees) for part in ranker.model_.members if part.kind != "linear")
        assert n_trees <= EFFORTS[effort].seeds * sum(one.n_trees for one in grown)


@pytest.mark.parametrize(
    ("limit", "members", "seeds", "used"),
    [
        (100.0, {"long": 40, "short": 3}, [3, 3], 43 + 43),  # all is done
        (90.0, {"long": 40, "short": 3}, [2, 3], 43 + 80 / 3 + 3),  # more seeds, but others keep the time for one
        (20.0, {"long": 11, "short": 3}, [1, 1], 14 + 11 / 3 + 1),  # 7 in its share, 4 in what is left over
        (20.0, {"doubling": 3, "short": 3}, [3, 2], 10 + 7 + 2),  # no time for its 8 seconds
        (2.0, {"long": 1}, [2], 1 + 2 / 3),  # none for another member
    ],
)
def test_a_time_limit_is_kept_to_and_used(monkeypatch, limit, members, seeds, used):
    """A clock of our own: a stage takes a second or more in four folds, so a third to fit it again on all data."""
    clock, data = [0.0], ar.make_ranking(24, 10, 5, random_state=3)
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    class Slow(Member):
        def advance(self):
            seconds = self.next_seconds
            clock[0] += seconds
            better = np.full(data.n_queries, 0.001 * len(self.stages))
            self.stages.append(Stage(np.zeros(data.n_documents), better, None, seconds))
            return len(self.stages) < (3 if self.name == "short" else 40)

        @property
        def next_seconds(self):
            return 2.0 ** len(self.stages) if self.name == "doubling" else 1.0

        def seeds(self, most):
            return most

        def refit(self, whole, n_seeds):
            given[self.name] = n_seeds
            clock[0] += n_seeds * self.seconds / 3
            return self.name

    given, folding = {}, members_module.Folding.of(data, 4, 0)
    search = Search(Watcher("auto", [], -1), -1)
    names = list(dict.fromkeys([*members, "short"]))
    done, stop = search.run([Slow(name, None, folding, "ndcg@10") for name in names], limit)
    assert {member.name: len(member.stages) for member in done} == members
    blend = Blend(done, np.arange(len(done), 0, -1.0), np.ones(len(done)), None)
    models, refitted, late = search.refit(blend, data, 3, limit, hurry=False)
    assert models == [member.name for member in done]
    assert all(refitted)
    assert [given[member.name] for member in done] == seeds
    assert clock[0] == pytest.approx(used)
    assert clock[0] <= limit
    assert stop is (Stop.DONE if members == {"long": 40, "short": 3} else Stop.TIME)
    assert late is Stop.DONE


@pytest.mark.filterwarnings("ignore:.*nothing to learn")
def test_labels_that_are_all_the_same_are_no_error(data):
    flat = auto().fit(data.X, np.zeros(data.n_documents), group=data.sizes)
    assert np.isfinite(flat.predict(data.X)).all()
    assert np.isnan(flat.estimate_.value)


@pytest.mark.parametrize(
    "wrong", [{"family": "forest"}, {"n_folds": 1}, {"time_limit": 0.0}, {"max_trees": 0}, {"members": []}]
)
def test_wrong_parameters_are_refused(data, wrong):
    with pytest.raises(OptionError):
        auto(**wrong).fit(data)


def test_one_measure_is_reported(data):
    with pytest.raises(OptionError, match="expected a name such as 'ndcg@10'"):
        auto(scoring=["ndcg@10", "map"], family="linear").fit(data)

    def first(labels):
        return float(labels[0] > 0)

    ranker = auto(scoring=first, family="linear").fit(data)
    assert ranker.estimate_.measure == "first"
    assert "reported: first." in ranker.summary()


def test_members_by_name_take_values_that_are_missing_in_a_held_out_part_alone():
    data = ar.make_ranking(8, 5, 2, random_state=0)
    X = data.X.copy()
    X[-1, 1] = np.nan
    ranker = auto(members=["rank-svm", "regression"], n_folds=2).fit(ar.Dataset(X, data.y, group=data.sizes))
    assert np.isfinite(ranker.predict(X)).all()
