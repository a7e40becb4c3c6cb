"""Every registered ranker: scikit-learn's checks, order of rows, same bits, save and load, bad input."""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, OptionError
from argrank.rankers.boosted.trees.boosted_ranker import BoostedRanker
from argrank.rankers.registry import RANKERS, ranker_class

NAMES = ar.ranker_names()

# a convex bound may rightly collapse on small generated data; tests/rankers/test_structured.py looks at that warning
pytestmark = pytest.mark.filterwarnings("ignore:.*the optimum is .*w = 0:argrank.errors.ArgrankWarning")

#: The checks of scikit-learn that every ranker fails, and why; docs/guide/scikit-learn.md lists them.
WITHOUT_QUERIES = dict.fromkeys(
    ("check_fit_score_takes_y", "check_n_features_in_after_fitting", "check_pipeline_consistency"),
    "score without query ids is an error: all rows as one query would be another number",
)
#: Those that a ranker without weights of rows fails in addition.
WEIGHTS_OF_ROWS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_sample_weights_not_overwritten",
    ),
    "unequal weights of rows are refused: the loss is one of pairs or queries",
)

#: What the contract asks holds for any number of trees, rounds, starts and steps: few of them keep its fits short.
FEW = {"n_trees": 10, "n_seeds": 2, "max_trees": 8, "n_rounds": 10, "n_starts": 1, "n_steps": 6}


def few(name, **more):
    """A ranker at its defaults, except that it does few rounds."""
    ranker = ar.make_ranker(name)
    asked = {**FEW, **more}
    return ranker.set_params(**{one: value for one, value in asked.items() if one in ranker.get_params()})


def expected_failures(ranker):
    return WITHOUT_QUERIES if ranker.uses_row_weights else WITHOUT_QUERIES | WEIGHTS_OF_ROWS


# what the checks ask holds wherever a solver stops
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")  # scikit-learn gives no query ids
@parametrize_with_checks([few(name, max_iter=10) for name in NAMES], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    failed = None
    try:
        check(estimator)  # an expected failure that does not fail is a failure: xfail_strict
    except (InputError, AssertionError) as error:
        if check.func.__name__ not in expected_failures(estimator):
            raise
        failed = error
    if failed:
        pytest.xfail(str(failed))  # without its traceback, which takes longer to write than the check


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_the_expected_failures_fail_for_the_reason_that_is_given():
    told = {}
    for estimator, check in estimator_checks_generator(few("adarank")):
        name = check.func.__name__
        if name in expected_failures(estimator):
            with pytest.raises((InputError, AssertionError)) as failed:
                check(estimator)
            told[name] = str(failed.value.__cause__ or failed.value)  # one check expects another error than ours
    assert {name for name, text in told.items() if "query ids" in text} == set(WITHOUT_QUERIES)
    assert {name for name, text in told.items() if "does not support weights per row" in text} == set(WEIGHTS_OF_ROWS)


def test_the_guide_lists_the_checks_that_fail():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "scikit-learn.md").read_text("utf-8")
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `check_")]
    listed = {kind.strip(): set(re.findall(r"`(check_\w+)`", names)) for names, kind in rows}
    assert listed == {"all": set(WITHOUT_QUERIES), "those without weights of rows": set(WEIGHTS_OF_ROWS)}
    assert set(re.findall(r"`(check_\w+)`", page)) == set(WITHOUT_QUERIES) | set(WEIGHTS_OF_ROWS)
    with_weights = {name for name in NAMES if ar.make_ranker(name).uses_row_weights}
    sentence = re.search(r"Row weights are supported by (.*?)\.", page, re.DOTALL)[1]
    assert set(re.findall(r"`([\w-]+)`", sentence)) == with_weights


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(24, (4, 14), 6, random_state=3)


@pytest.fixture(scope="module")
def frame(data):
    import pandas as pd

    columns = {f"f{i}": data.X[:, i] for i in range(data.n_features)}
    return pd.DataFrame(columns | {"qid": data.query_ids[data.query_of_row], "label": data.y})


def closeness(ranker):
    """How near two fits of the same data must be: a gap of 1e-9 leaves the weights a distance of sqrt(2 C gap)."""
    exact = isinstance(ranker, ranker_class("rank-svm") | ranker_class("regression"))
    return {"rtol": 1e-6, "atol": 1e-8} if exact else {"rtol": 1e-4, "atol": 1e-5}


def qid_of(data):
    return data.query_ids[data.query_of_row]


def learned(ranker, data):
    """What a fitted ranker learned, as numbers to compare: the weights of a linear model, or its scores."""
    return ranker.coef_ if hasattr(ranker, "coef_") else ranker.model_.predict(data)


@pytest.fixture(params=NAMES)
def ranker(request):
    return few(request.param)


@pytest.fixture
def exact(ranker):
    """A ranker solved as far as comparisons of weights need, which is only possible for the convex bound."""
    if hasattr(ranker, "bound"):
        ranker.set_params(bound="convex", C=1.0)
    loose = not isinstance(ranker, ranker_class("rank-svm")) and getattr(ranker, "tol", 0) in (None, 1e-3)
    return ranker.set_params(tol=1e-9) if loose else ranker


def test_it_learns_something(ranker):
    train, test = ar.make_ranking(60, (5, 30), 6, random_state=3).split(0.5, 0.5)
    nothing = ar.evaluate(np.zeros(test.n_documents), test, "ndcg@10").means["ndcg@10"]
    assert ranker.fit(train).score(test) > nothing + 0.1


def test_the_order_of_rows_does_not_matter(exact, data):
    trees = isinstance(exact, BoostedRanker | ranker_class("auto"))
    if hasattr(exact, "folds") and not trees:  # queries of a fold are drawn by their number
        exact.set_params(folds=0)
    shuffled = np.random.default_rng(0).permutation(data.n_documents)
    expected = clone(exact).fit(data).predict(data)
    fitted = exact.fit(data.X[shuffled], data.y[shuffled], qid=qid_of(data)[shuffled])
    same = {"rtol": 0, "atol": 0} if trees else closeness(exact)
    np.testing.assert_allclose(fitted.predict(data.X[shuffled]), expected[shuffled], **same)
    orders = fitted.rank(data.X[shuffled], qid=qid_of(data)[shuffled])
    for order in orders:
        assert len({qid_of(data)[shuffled][row] for row in order}) == 1
        assert (np.diff(fitted.predict(data.X[shuffled])[order]) <= 0).all()
    assert sorted(np.concatenate(orders).tolist()) == list(range(data.n_documents))


def test_frames_groups_and_arrays_are_the_same_data(ranker, data, frame):
    import polars as pl

    data = data.select(np.arange(8))
    frame = frame.iloc[: data.n_documents]
    expected = learned(clone(ranker).fit(data), data)
    for fitted in (
        clone(ranker).fit(data.X, data.y, qid=qid_of(data)),
        clone(ranker).fit(data.X, data.y, group=data.sizes),
        clone(ranker).fit(frame),
        clone(ranker).fit(frame.drop(columns="label"), frame["label"]),
        clone(ranker).fit(pl.from_pandas(frame)),
    ):
        np.testing.assert_array_equal(learned(fitted, data.X), expected)


def test_sparse_and_dense_agree(exact, data):
    X = np.where(np.abs(data.X) < 0.5, 0.0, data.X)
    dense = clone(exact).fit(X, data.y, group=data.sizes)
    thin = clone(exact).fit(sparse.csr_matrix(X), data.y, group=data.sizes)
    np.testing.assert_allclose(learned(thin, X), learned(dense, X), **closeness(exact))
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(X)), dense.predict(X), **closeness(exact))


def test_same_bits_for_any_number_of_threads(ranker, monkeypatch):
    monkeypatch.setattr("argrank.data.grouping.BLOCK_ROWS", 30)  # several blocks of queries
    monkeypatch.setattr("argrank.data.grouping.SMALL_ROWS", 0)
    data = ar.make_ranking(12, (8, 14), 5, random_state=5)
    one, two = (clone(ranker).set_params(n_jobs=n).fit(data) for n in (1, 2))
    assert learned(one, data).tobytes() == learned(two, data).tobytes()
    assert one.objective_ == two.objective_
    again = clone(ranker).set_params(n_jobs=2).fit(data)
    assert learned(again, data).tobytes() == learned(two, data).tobytes()


@pytest.mark.parametrize("normalise", [None, "standard", "query-minmax"])
def test_a_saved_model_scores_the_same(ranker, data, tmp_path, normalise):
    ranker.set_params(normalise=normalise).fit(data)
    ranker.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    assert loaded.predict(data).tobytes() == ranker.predict(data).tobytes()
    assert [a.tolist() for a in loaded.rank(data)] == [a.tolist() for a in ranker.rank(data)]
    assert loaded.training["data"] == data.fingerprint
    assert loaded.training["parameters"]["normalise"] == normalise
    assert ranker.feature_importances_.shape == (data.n_features,)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert loaded.feature_importances.tobytes() == ranker.feature_importances_.tobytes()


def test_per_query_normalisation_needs_the_queries(ranker, data):
    ranker.set_params(normalise="query-minmax").fit(data)
    with pytest.raises(InputError, match="qid or group, got neither"):
        ranker.predict(data.X)
    shuffled = np.random.default_rng(1).permutation(data.n_documents)
    np.testing.assert_array_equal(
        ranker.predict(data.X[shuffled], qid=qid_of(data)[shuffled]), ranker.predict(data)[shuffled]
    )


def test_pickle_and_joblib_keep_a_fitted_ranker(ranker, data, tmp_path):
    expected = ranker.fit(data).predict(data)
    joblib.dump(ranker, tmp_path / "ranker.joblib")
    for again in (pickle.loads(pickle.dumps(ranker)), joblib.load(tmp_path / "ranker.joblib")):
        np.testing.assert_array_equal(again.predict(data), expected)


def test_grid_search_by_query_with_routing(ranker, data):
    grids = {"C": [0.01, 1.0], "ridge": [0.0, 10.0], "n_leaves": [4, 8], "normalise": [None, "standard"]}
    grid = next({name: values} for name, values in grids.items() if name in ranker.get_params())
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(ranker, grid, cv=GroupKFold(3))
        search.fit(data.X, data.y, qid=qid_of(data), groups=qid_of(data))
    assert set(search.best_params_) == set(grid)
    assert 0 < search.best_score_ <= 1


def test_grid_search_by_query_with_a_frame_and_no_routing(ranker, frame):
    scores = cross_val_score(ranker, frame.drop(columns="label"), frame["label"], groups=frame["qid"], cv=GroupKFold(3))
    assert (scores > 0).all()


def test_a_pipeline_passes_the_queries_on(ranker, data):
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), ranker).fit(data.X, data.y, qid=qid_of(data))
        assert pipeline.score(data.X, data.y, qid=qid_of(data)) > 0.5


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="scikit-learn 1.8 passes them to a pipeline's score",
)
def test_a_search_passes_the_queries_on_to_a_pipeline(data):
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), ar.make_ranker("regression"))
        search = GridSearchCV(pipeline, {"regression__ridge": [0.1, 1.0]}, cv=GroupKFold(3), error_score="raise")
        search.fit(data.X, data.y, qid=qid_of(data), groups=qid_of(data))
    assert 0 < search.best_score_ <= 1


def test_pyterrier_calling_convention(ranker, data):
    train, valid = data.split(0.7, 0.3, random_state=None)
    ranker.fit(train.X, train.y, group=train.sizes, eval_set=[(valid.X, valid.y)], eval_group=[valid.sizes])
    assert ranker.predict(valid.X).shape == (valid.n_documents,)
    assert ranker.trace_["validation"][-1] == pytest.approx(ranker.score(valid))


@pytest.mark.parametrize("spelling", ["dataset", "list", "pair", "qid"])
def test_validation_sets_in_every_spelling(ranker, data, spelling):
    train, valid = data.split(0.7, 0.3)
    arguments = {
        "dataset": {"eval_set": valid},
        "list": {"eval_set": [valid, train]},
        "pair": {"eval_set": (valid.X, valid.y), "eval_group": valid.sizes},
        "qid": {"eval_set": [(valid.X, valid.y)], "eval_qid": [qid_of(valid)]},
    }[spelling]
    ranker.fit(train, **arguments)
    assert ranker.trace_["validation"][-1] == pytest.approx(ranker.score(valid))
    if spelling == "list":
        assert ranker.trace_["validation_1"][-1] == pytest.approx(ranker.score(train))


def test_query_weights_count_like_repeated_queries(exact, data):
    # bins and the least size of a leaf count rows, and folds count queries, so only equal weights can agree
    if hasattr(exact, "n_trees") or isinstance(exact, ranker_class("auto")):
        weighted = clone(exact).fit(data.X, data.y, group=data.sizes, query_weight=np.full(data.n_queries, 3.0))
        np.testing.assert_allclose(weighted.predict(data), exact.fit(data).predict(data), **closeness(exact))
        return
    weight = np.random.default_rng(2).integers(1, 4, data.n_queries)
    repeated = [data.select([q]) for q, times in enumerate(weight) for _ in range(times)]
    X = np.concatenate([part.X for part in repeated])
    y = np.concatenate([part.y for part in repeated])
    many = clone(exact).fit(X, y, group=[part.n_documents for part in repeated])
    weighted = clone(exact).fit(data.X, data.y, group=data.sizes, query_weight=weight)
    np.testing.assert_allclose(learned(weighted, data.X), learned(many, data.X), **closeness(exact))


def test_unequal_row_weights_are_used_or_refused(ranker, data):
    weight = np.random.default_rng(2).uniform(0.5, 2.0, data.n_documents)
    given = {"group": data.sizes, "sample_weight": weight}
    if not ranker.uses_row_weights:
        with pytest.raises(InputError, match="does not support weights per row"):
            ranker.fit(data.X, data.y, **given)
        return
    weighted = clone(ranker).fit(data.X, data.y, **given)
    assert not np.array_equal(learned(weighted, data.X), learned(ranker.fit(data), data.X))


def test_missing_values_and_unjudged_data_are_refused(ranker, data):
    X = data.X.copy()
    X[3, 2] = np.nan
    if ranker.takes_missing:
        assert np.isfinite(clone(ranker).fit(X, data.y, group=data.sizes).predict(X)).all()
    else:
        with pytest.raises(InputError, match=r"(?s)missing.*impute"):
            clone(ranker).set_params(prepare=None).fit(X, data.y, group=data.sizes)
        assert np.isfinite(clone(ranker).fit(X, data.y, group=data.sizes).predict(X)).all()
    with pytest.raises(InputError, match="without labels"):
        ranker.fit(ar.Dataset(data.X, group=data.sizes))
    ranker.fit(data)
    if not ranker.takes_missing:
        with pytest.raises(InputError, match="missing"):
            ranker.predict(X)
    with pytest.raises(InputError, match="put it into the Dataset"):
        ranker.fit(data, data.y)


def test_other_features_are_refused(ranker, frame, data):
    expected = ranker.fit(frame).predict(frame)
    other = frame[["f1", "qid", "f0", "f2", "f3", "f4", "f5"]].assign(more=1.0)
    np.testing.assert_array_equal(ranker.predict(other), expected)
    np.testing.assert_array_equal(ranker.predict(ar.Dataset(other)), expected)
    with pytest.raises(InputError, match="expected a feature 'f3', as in training, got f0, f1, f2, f4"):
        ranker.predict(other.drop(columns="f3"))
    named = ar.Dataset(data.X, data.y, group=data.sizes, feature_names=list("abcdef"))
    with pytest.raises(InputError, match="expected a feature 'f0' and 5 more"):
        ranker.predict(named)
    with pytest.raises(InputError, match="eval_set: expected 6 features"):
        ranker.fit(data, eval_set=data.with_features(data.X[:, :4]))


def test_without_queries_there_is_a_warning(ranker, data):
    with pytest.warns(ArgrankWarning, match="one query"):
        ranker.fit(data.X[:100], data.y[:100])


def test_queries_without_pairs_are_harmless(ranker):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.2], [0.3, 0.9]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "[^:]*: no tree found a split")  # five documents are too few for a leaf
        ranker.fit(X, [1, 0, 0, 0, 2], qid=[1, 1, 2, 2, 3])
    assert np.isfinite(learned(ranker, X)).all()


def test_parameters_are_stored_as_given_and_unknown_ones_refused():
    for name in NAMES:
        cls = ranker_class(name)
        ranker = cls()
        assert clone(ranker).get_params() == ranker.get_params()
        with pytest.raises(OptionError, match="no parameter 'nonsense'"):
            ar.make_ranker(name, nonsense=1)
    with pytest.raises(OptionError, match="did you mean rank-svm"):
        ar.make_ranker("ranksvm")


@pytest.mark.parametrize("name", [name for name in NAMES if RANKERS[name].scale_free])
def test_features_need_no_scaling(name):
    """A linear start depends on scales a little, and so does what is drawn by row; what follows does not.

    Boosted rankers draw rows, folds and random targets in the order of a hash of the content.
    """
    if name == "xendcg-mart":
        pytest.skip("targets of documents are drawn in the order of their content")
    data = ar.make_ranking(30, 10, 4, random_state=3, grades=3)
    scaled = data.with_features(np.asarray(data.X) * [1.0, 4.0, 0.25, 8.0])
    whole = {"start": None, "bagging_fraction": 1.0, "folds": 0}
    plain, other = (few(name, **whole).fit(part).predict(part) for part in (data, scaled))
    trees = isinstance(few(name), BoostedRanker)  # whose constants are means in another order
    np.testing.assert_allclose(plain, other, rtol=1e-9 if trees else 0, atol=1e-12 if trees else 0)
