"""What all rankers on gradients share: constraints, starts, seeds, continuing, callbacks, SHAP values."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, OptionError
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.trees import TreesModel

TREES = ["lambda-mart", "mart", "mcrank", "pair-mart", "query-mart", "xendcg-mart"]
ONE_OUTPUT = [name for name in TREES if name != "mcrank"]


@pytest.fixture(scope="module")
def data():
    made = ar.make_ranking(60, (5, 30), 6, truth="nonlinear", random_state=3)
    return ar.Dataset(made.X, made.y, group=made.sizes, feature_names=list("abcdef"))


def make(name, **parameters):
    return ar.make_ranker(name, **{"n_trees": 12, "n_seeds": 1, "start": None} | parameters)


def test_the_defaults_are_those_that_were_measured():
    for name in TREES:
        got = ar.make_ranker(name).get_params()
        query, own = name == "query-mart", ("query-mart", "xendcg-mart", "mcrank")
        assert (got["n_trees"], got["n_seeds"]) == ((100, 5) if query else (180, 1))
        assert (got["start"], got["l2"]) == ("linear" if name in own else None, 10.0 if name == "xendcg-mart" else 0.0)
        assert (got["learning_rate"], got["n_leaves"], got["min_documents"]) == (0.05, 31, 20)
        assert (got["feature_fraction"], got["bagging_fraction"], got["extra_trees"]) == (0.5, 0.6, True)
    assert ar.make_ranker("lambda-mart").lambda_norm is False


def test_query_residuals_are_centred(data):
    """The first tree without draws is LightGBM's on labels less the mean of their query."""
    centred = data.y - np.repeat(np.add.reduceat(data.y, data.indptr[:-1]) / data.sizes, data.sizes)
    plain = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
    ours = make("query-mart", n_trees=1, **plain).fit(data).predict(data)
    parameters = {"objective": "regression", "learning_rate": 0.05, "boost_from_average": False, "verbosity": -1}
    theirs = lgb.train(parameters, lgb.Dataset(data.X, centred), 1).predict(data.X)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_xendcg_learns_as_well_as_lightgbms(data):
    train, test = data.split(0.7, 0.3)
    plain = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False, "learning_rate": 0.1}
    ours = make("xendcg-mart", n_trees=60, l2=0.0, **plain).fit(train).predict(test)
    theirs = lgb.LGBMRanker(objective="rank_xendcg", n_estimators=60, verbosity=-1, n_jobs=1)
    theirs.fit(train.X, train.y, group=train.sizes)
    assert np.corrcoef(ours, theirs.predict(test.X))[0, 1] > 0.9


def test_xendcg_gradient_is_lightgbms_series_by_hand():
    from argrank.rankers.boosted.trees.boosting import Draw
    from argrank.rankers.boosted.trees.xendcg_mart import RandomCrossEntropy

    small = ar.Dataset(np.eye(4), [2, 0, 1, 1], qid=[1, 1, 1, 2])
    scores = np.array([[0.3], [-0.2], [0.5], [1.0]])
    gradient, curvature = RandomCrossEntropy(small).slopes(scores, Draw(7, 3))
    u = np.random.default_rng([7, 3]).random(4)[:3]
    rho = np.exp(scores[:3, 0]) / np.exp(scores[:3, 0]).sum()
    phi = 2.0 ** np.array([2, 0, 1]) - u
    one = rho - phi / phi.sum()
    two = np.array([rho[i] * sum(one[j] / (1 - rho[j]) for j in range(3) if j != i) for i in range(3)])
    three = np.array([rho[i] * sum(two[j] / (1 - rho[j]) for j in range(3) if j != i) for i in range(3)])
    expected = one + two + three
    np.testing.assert_allclose(gradient[:3], expected, atol=1e-14)
    np.testing.assert_allclose(curvature[:3], rho * (1 - rho), atol=1e-14)
    assert gradient[3] == curvature[3] == 0.0


@pytest.mark.parametrize("factor", [0.01, 1.0, 300.0])
def test_xendcg_scales_its_start_by_its_own_loss(data, factor):
    from argrank.rankers.boosted.trees.xendcg_mart import RandomCrossEntropy

    linear = make("query-mart", start="linear").fit(data).model_.members[0]
    loss, scores = RandomCrossEntropy(data), factor * linear.predict(data)
    found = loss.scale(scores)
    least = minimize_scalar(lambda t: loss.value(np.exp(t) * scores[:, None]), (-6.0, 6.0), tol=1e-10)
    assert loss.value(found * scores[:, None]) == pytest.approx(least.fun, rel=1e-12)
    assert found == pytest.approx(np.exp(least.x), rel=1e-4)
    weights = make("xendcg-mart", start="linear").fit(data).model_.members[0].weights
    np.testing.assert_allclose(weights, found * factor * linear.weights, rtol=1e-6)


@pytest.mark.parametrize("name", ONE_OUTPUT)
def test_a_linear_start_is_served_saved_and_explained_with_the_trees(data, name, tmp_path):
    ranker = make(name, start="linear", n_seeds=2).fit(data)
    linear, trees = ranker.model_.members
    assert isinstance(linear, LinearModel)
    assert isinstance(trees, TreesModel)
    np.testing.assert_allclose(ranker.predict(data), linear.predict(data.X) + trees.predict(data.X), atol=1e-12)
    ranker.save(tmp_path / "model.json")
    assert ar.load_model(tmp_path / "model.json").predict(data).tobytes() == ranker.predict(data).tobytes()
    for explained in (ranker.model_.contributions(data.X), ranker.shap_values(data)):
        rest = ranker.predict(data) - explained.sum(axis=1)
        np.testing.assert_allclose(rest, rest[0], atol=1e-9)
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)


def test_the_linear_start_is_the_scaled_ridge_regression(data):
    linear = make("query-mart", start="linear").fit(data).model_.members[0]
    w = ar.make_ranker("regression", ridge=100.0).fit(data).coef_
    means = np.repeat(np.add.reduceat(data.X, data.indptr[:-1]) / data.sizes[:, None], data.sizes, axis=0)
    a, y = (data.X - means) @ w, data.y - np.repeat(np.add.reduceat(data.y, data.indptr[:-1]) / data.sizes, data.sizes)
    np.testing.assert_allclose(linear.weights, w * (a @ y) / (a @ a), rtol=1e-9)


def test_the_linear_start_leaves_out_gaps_and_categories(data):
    X = data.X.copy()
    X[:, 2] = np.abs(np.rint(X[:, 2]))
    coded = make("mart", start="linear", categorical_features=[2]).fit(X, data.y, group=data.sizes)
    assert coded.model_.members[0].weights[2] == 0.0
    X[0, 0] = np.nan
    assert isinstance(make("mart", start="linear").fit(X, data.y, group=data.sizes).model_, TreesModel)


@pytest.mark.parametrize("name", ["mart", "symmetric-mart", "mcrank"])
def test_a_linear_start_refuses_missing_values_in_validation_data(data, name):
    holes = data.X.copy()
    holes[3, 0] = np.nan
    valid = ar.Dataset(holes, data.y, group=data.sizes, feature_names=data.feature_names)
    with pytest.raises(InputError, match="eval_set: expected no missing values, as in training, got NaN"):
        make(name, start="linear").fit(data, eval_set=valid)
    assert len(make(name).fit(data, eval_set=valid).trace_) == 12


def test_several_seeds_are_the_mean_of_each(data):
    both = make("mart", n_seeds=2, random_state=4).fit(data)
    assert len(both.model_.trees) == 24
    first = make("mart", random_state=4).fit(data)
    half = TreesModel(both.model_.trees[:12], 6).predict(data.X) * 2
    np.testing.assert_allclose(half - half.mean(), first.predict(data) - first.predict(data).mean(), atol=1e-12)
    assert both.predict(data).tobytes() == make("mart", n_seeds=2, random_state=4).fit(data).predict(data).tobytes()
    assert both.objective_ == pytest.approx(((both.predict(data) - data.y) ** 2).sum())


@pytest.mark.parametrize("start", [None, "linear"])
def test_monotone_features_move_the_score_one_way(data, start):
    free = make("mart", start=start).fit(data)
    held = make("mart", start=start, monotone={"a": 1, "b": -1, 2: 1, 3: -1}).fit(data)
    steps = np.linspace(-3, 3, 40)
    bent = 0
    for column, sign in enumerate((1, -1, 1, -1)):
        rows = np.repeat(data.X[:5], 40, axis=0)
        rows[:, column] = np.tile(steps, 5)
        assert (sign * np.diff(held.predict(rows).reshape(5, 40), axis=1) >= -1e-12).all()
        bent += (sign * np.diff(free.predict(rows).reshape(5, 40), axis=1) < -1e-12).any()
    assert bent


@pytest.mark.parametrize("name", ["mart", "symmetric-mart"])
def test_categories_have_no_order_to_be_monotone_in(data, name):
    with pytest.raises(OptionError, match="monotone: expected features with an order, got 'b', which is categorical"):
        make(name, monotone={"a": 1, "b": -1}, categorical_features=[1]).fit(data)


def test_interactions_keep_features_apart(data):
    ranker = make("mart", n_trees=30, interactions=[["a", "b"], [2, 3], ["e"], ["f"]]).fit(data)
    groups = [{0, 1}, {2, 3}, {4}, {5}]
    assert all(any(set(tree.feature.tolist()) <= group for group in groups) for tree in ranker.model_.trees)


def test_depth_penalties_and_further_parameters_reach_lightgbm(data):
    shallow = make("mart", max_depth=2).fit(data)
    assert max(tree.n_leaves for tree in shallow.model_.trees) <= 4
    plain, small, same = (make("mart", **more).fit(data).predict(data) for more in ({}, {"l2": 50.0}, {"l1": 0.0}))
    assert small.std() < plain.std()
    assert plain.tobytes() == same.tobytes()
    for name in ("lambda_l2", "reg_lambda"):  # by LightGBM's first name and by another one
        by_hand = make("mart", lightgbm_params={name: 50.0}).fit(data).predict(data)
        assert by_hand.tobytes() == small.tobytes()


def test_training_continues_from_a_model_a_file_and_a_booster(data, tmp_path):
    plain = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
    whole, half = make("query-mart", **plain).fit(data), make("query-mart", n_trees=6, **plain).fit(data)
    half.save(tmp_path / "half.json")
    (tmp_path / "half.txt").write_text(half.model_.to_lightgbm())
    booster = lgb.Booster(model_str=half.model_.to_lightgbm())
    for given in (half, half.model_, tmp_path / "half.json", str(tmp_path / "half.txt"), booster):
        again = make("query-mart", n_trees=6, init_model=given, **plain).fit(data)
        np.testing.assert_allclose(again.predict(data), whole.predict(data), atol=1e-12)
        assert len(again.model_.trees) == 12
        assert again.objective_ == pytest.approx(whole.objective_)


def test_continuing_keeps_linear_parts_and_normalisers(data):
    first = make("mart", start="linear", normalise="standard").fit(data)
    again = make("mart", init_model=first).fit(data)
    assert [type(part).__name__ for part in again.model_.members] == ["LinearModel", "TreesModel"]
    assert len(again.model_.members[1].trees) == 24
    assert again.model_.normaliser.name == "standard"
    assert again.objective_ < first.objective_
    with pytest.raises(OptionError, match="that of init_model"):
        make("mart", init_model=first, normalise="minmax").fit(data)
    with pytest.raises(OptionError, match="TreeClassesModel"):
        make("mart", init_model=make("mcrank").fit(data)).fit(data)


def test_lightgbms_callbacks_work(data):
    train, valid = data.split(0.6, 0.4)
    seen: dict = {}
    rates = [0.3] * 6 + [1e-9] * 24
    calls = [lgb.record_evaluation(seen), lgb.reset_parameter(learning_rate=rates)]
    ranker = make("mart", n_trees=30, n_seeds=2, callbacks=calls).fit(train, eval_set=valid)
    assert seen["validation"]["ndcg@10"] == ranker.trace_["validation"].tolist()
    assert abs(ranker.model_.trees[29].value).max() < 1e-6  # of the first seed; so is the last of the second
    assert abs(ranker.model_.trees[59].value).max() < 1e-6
    stopped = make("mart", n_trees=200, learning_rate=0.3, callbacks=[lgb.early_stopping(5, verbose=False)])
    stopped.fit(train, eval_set=valid)
    assert stopped.n_iter_ == np.argmax(stopped.trace_["validation"]) + 1 == len(stopped.trace_) - 5
    assert stopped.score(valid) == max(stopped.trace_["validation"])
    assert stopped.objective_ == pytest.approx(((stopped.predict(train) - train.y) ** 2).sum())


@pytest.mark.parametrize(
    ("callback", "message"),
    [
        (lgb.early_stopping(2, verbose=False), "at least one dataset"),
        (lgb.reset_parameter(learning_rate=[0.1]), "has to be equal to 'num_boost_round'"),
        (lgb.reset_parameter(learning_rate=lambda number: -1.0), r"\(learning_rate\) > \(0.0\)$"),
    ],
)
def test_errors_of_lightgbms_callbacks_are_ours(data, callback, message):
    with pytest.raises(OptionError, match=f"callbacks: LightGBM says: .*{message}"):
        make("mart", callbacks=[callback]).fit(data)


def test_errors_of_the_users_callbacks_are_theirs(data):
    def wrong(environment):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        make("mart", callbacks=[wrong]).fit(data)


@pytest.mark.parametrize("name", ["lambda-mart", "mart", "query-mart"])
@pytest.mark.parametrize("prepare", ["auto", "one-hot"])
def test_continuing_on_other_texts_and_dates_keeps_what_was_learned(name, prepare):
    random, worth = np.random.default_rng(0), {"a": 2, "b": 0, "c": 1, "d": 3, "e": 1}

    def table(texts, newest):
        brand, age = random.choice(list(texts), 300), random.integers(0, 30, 300)
        listed = np.datetime64(newest) - np.where(np.arange(300) == 0, 0, age)
        label = [worth[one] + (days < 15) for one, days in zip(brand, age, strict=True)]
        columns = {"qid": np.repeat(np.arange(20), 15), "label": label, "brand": brand, "listed": listed.astype(str)}
        return ar.Dataset(pd.DataFrame(columns), dates=["listed"])

    one, other = table("abcd", "2025-06-30"), table("dceb", "2025-12-31")
    first = make(name, n_trees=40, prepare=prepare).fit(one)
    again = make(name, n_trees=1, learning_rate=1e-9, init_model=first).fit(other, eval_set=one)
    for data in (one, other):
        change = again.predict(data) - first.predict(data)
        np.testing.assert_allclose(change, change[0], atol=1e-6)
    assert again.model_.categories == {"brand": ("a", "b", "c", "d", "e")}
    assert again.trace_["validation"][-1] == pytest.approx(again.score(one), abs=1e-12)


@pytest.mark.parametrize("name", ["mcrank", "query-mart", "symmetric-mart", "xendcg-mart"])
def test_values_missing_only_in_held_out_queries_leave_no_linear_start(data, name):
    settings = {"early_stopping": 3, "holdout": 0.7}
    for row in data.indptr[:4]:  # at least one of the queries is held out
        X = data.X.copy()
        X[row, 0] = np.nan
        lacking = ar.Dataset(X, data.y, group=data.sizes)
        begun, without = (make(name, start=start, **settings).fit(lacking) for start in ("linear", None))
        assert begun.predict(lacking).tobytes() == without.predict(lacking).tobytes()


def test_a_linear_model_continues_on_no_missing_values(data):
    X = data.X.copy()
    X[3, 0] = np.nan
    lacking = ar.Dataset(X, data.y, group=data.sizes, feature_names=data.feature_names)
    with pytest.raises(InputError, match="init_model: expected one that scores missing values"):
        make("mart", init_model=ar.make_ranker("rank-svm").fit(data)).fit(lacking)


@pytest.mark.parametrize("name", ["lambda-mart", "pair-mart", "xendcg-mart"])
def test_a_costly_objective_is_recorded_only_when_asked(data, name):
    silent, asked = make(name).fit(data), make(name, verbose=1).fit(data)
    assert "objective" not in silent.trace_.columns
    assert asked.trace_["objective"][-1] == silent.objective_ == asked.objective_
    assert silent.predict(data).tobytes() == asked.predict(data).tobytes()


@pytest.mark.parametrize("name", TREES)
def test_features_that_never_split_end_with_a_warning(name):
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = ar.make_ranker(name).fit(np.ones((60, 1)), np.arange(60) % 3, group=[30, 30])
    assert np.ptp(ranker.predict(np.ones((3, 1)))) == 0.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": "cold"}, {"n_seeds": 0}, {"bagging_fraction": 0.0}, {"max_depth": 0}, {"l1": -1.0},
        {"monotone": {"a": 2}}, {"monotone": {"z": 1}}, {"interactions": [[9]]}, {"holdout": 1.0},
        {"learning_rate": 0.0}, {"lightgbm_params": {"objective": "regression"}},
        {"lightgbm_params": {"max_bin": 0}}, {"init_model": 3},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(data, wrong):
    with pytest.raises(OptionError):
        make("mart", **wrong).fit(data)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reg_lamda": 1.0}, "unknown name in lightgbm_params 'reg_lamda'; did you mean .*reg_lambda"),
        ({3: 1.0}, "lightgbm_params: expected a dict from a name"),
        ({"n_estimators": 5}, "n_estimators is argrank's own to set; use n_trees"),
        ({"application": "regression"}, "application is argrank's own to set"),
        ({"max_bin": 15, "max_bins": 15}, "max_bins is another name of max_bin"),
        ({"cat_feature": [0], "mc": [1] * 6}, "cat_feature is argrank's own to set; use categorical_features"),
        ({"monotone_constraints": [1] * 6}, "monotone_constraints is argrank's own to set; use monotone"),
        ({"interaction_constraints": [[0, 99]]}, "interaction_constraints is argrank's own to set; use interactions"),
        ({"data": "x"}, "data is argrank's own to set"),
        ({"bagging_fraction": "half"}, "expected a number as bagging_fraction, got 'half'"),
        ({"colsample_bytree": None}, "expected a number as colsample_bytree, got None"),
        ({"max_bin": {}}, "expected a number, a text or a list as max_bin, got {}"),
        ({"max_bin": 1}, r"LightGBM says: Check failed: \(max_bin\) > \(1\)$"),
    ],
)
def test_names_of_lightgbms_parameters_are_checked(data, given, message):
    with pytest.raises(OptionError, match=message):
        make("mart", lightgbm_params=given).fit(data)


@pytest.mark.parametrize("name", ["direct-rank-trees", "mart", "pair-mart", "query-mart"])
def test_gradients_beyond_float32_are_refused(data, name):
    settings = {"n_trees": 3, "scoring": "map"} | ({"folds": 0, "measure": "map"} if "direct" in name else {})
    ranker = ar.make_ranker(name, **settings)
    assert ranker.fit(data.X, 1e30 * data.y, group=data.sizes).score(data) > 0.5
    with pytest.raises(InputError, match=r"gradients below 1.7e\+38, which LightGBM can hold"):
        ranker.fit(data.X, 1e40 * data.y, group=data.sizes)


def test_mcrank_continues_no_model(data):
    with pytest.raises(OptionError, match="continues no model"):
        make("mcrank", init_model=make("mart").fit(data)).fit(data)
    with pytest.raises(OptionError, match="expected a linear model, trees"):
        make("mcrank").fit(data).shap_values(data)


def test_sums_explain_like_their_members(data):
    ranker = make("mart", start="linear").fit(data)
    assert isinstance(ranker.model_, SumModel)
    why = ar.why_above(ranker, data, 0, 1)
    scores = ranker.predict(data)
    assert why.difference == pytest.approx(scores[0] - scores[1])


@pytest.mark.parametrize("name", ["mart", "mcrank", "direct-rank-trees"])
@pytest.mark.parametrize("value", [0.0, 5e-324])
def test_features_without_a_split_are_no_noise(name, value, capfd):
    ranker = ar.make_ranker(name, n_trees=3, verbose=-1)
    with pytest.warns(ar.errors.ArgrankWarning, match="no tree found a split|too few"):
        ranker.fit(np.full((12, 2), value), [0, 1, 2] * 4, group=[6, 6])
    assert capfd.readouterr().err == ""  # LightGBM writes there by itself


def test_objectives_are_the_training_losses_of_the_predictions():
    data = ar.make_ranking(20, 10, 4, grades=3, random_state=1)
    scores, labels = {}, data.y.reshape(20, 10)
    for name in ("query-mart", "xendcg-mart", "mcrank"):
        ranker = ar.make_ranker(name, n_trees=5, n_leaves=4, min_documents=5, verbose=-1).fit(data)
        scores[name] = ranker.objective_, ranker.predict(data).reshape(20, 10)
    value, found = scores["query-mart"]
    errors = (found - found.mean(axis=1, keepdims=True)) - (labels - labels.mean(axis=1, keepdims=True))
    assert value == pytest.approx(0.5 * (errors**2).sum(), rel=1e-9)
    value, found = scores["xendcg-mart"]
    targets = 2.0**labels - 0.5
    targets /= targets.sum(axis=1, keepdims=True)
    chances = np.exp(found) / np.exp(found).sum(axis=1, keepdims=True)
    assert value == pytest.approx(-(targets * np.log(chances)).sum(axis=1).mean(), rel=1e-9)
    of_labels = ranker.predict_probabilities(data)[np.arange(200), data.y.astype(int)]
    assert scores["mcrank"][0] == pytest.approx(-np.log(of_labels).sum(), rel=1e-9)
