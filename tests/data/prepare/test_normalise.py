from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import argrank as ar
from argrank.data.prepare import query_statistics
from argrank.data.prepare.normalise import Normaliser, normaliser, normaliser_names
from argrank.errors import InputError, ModelError, OptionError

RNG_SEED = 3


def ragged(dtype=np.float64, missing: bool = False, zeros: float = 0.3) -> ar.Dataset:
    rng = np.random.default_rng(RNG_SEED)
    sizes = rng.integers(1, 9, size=12)
    X = rng.normal(size=(sizes.sum(), 6)) * 10.0 ** rng.integers(-3, 4, size=6)
    X[rng.random(X.shape) < zeros] = 0
    X[:, 2] = 0.1  # constant, and its mean over three rows is not exactly 0.1
    X[:, 3] = np.repeat(rng.normal(size=len(sizes)), sizes)  # constant within queries
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
        X[: sizes[0], 4] = np.nan  # missing in a whole query
        X[:, 5] = np.nan  # missing everywhere
    return ar.Dataset(X.astype(dtype), np.zeros(len(X)), group=sizes)


def by_hand(values: np.ndarray, name: str) -> np.ndarray:
    """One feature in one group of documents, as the definitions say."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return values
    if name.endswith("minmax"):
        shift, scale = known.min(), known.max() - known.min()
    elif name == "query-sum":
        shift, scale = 0.0, np.abs(known).sum()
    else:
        shift, scale = known.mean(), 0.0 if (known == known[0]).all() else known.std()
    return np.where(np.isnan(values), np.nan, 0.0) if scale == 0 else (values - shift) / scale


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", normaliser_names())
def test_follows_the_definition(name, missing):
    data = ragged(missing=missing)
    result = ar.normalise(data, name)
    expected = np.empty_like(data.X)
    bounds = data.indptr if normaliser(name).needs_queries else np.array([0, data.n_documents])
    for begin, end in itertools.pairwise(bounds):
        for column in range(data.n_features):
            expected[begin:end, column] = by_hand(data.X[begin:end, column], name)
    np.testing.assert_allclose(result.X, expected, rtol=1e-12, atol=1e-14)
    assert np.array_equal(np.isnan(result.X), np.isnan(data.X))
    assert not result.X[:, 2][~np.isnan(result.X[:, 2])].any() or name == "query-sum"


@pytest.mark.parametrize(("name", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())])
def test_global_ones_agree_with_scikit_learn(name, scaler):
    train, test = ar.make_ranking(20, n_features=5), ar.make_ranking(5, n_features=5, random_state=1)
    expected = scaler.fit(train.X).transform(test.X)
    np.testing.assert_allclose(ar.normalise(test, name, fit_on=train).X, expected, rtol=1e-12, atol=1e-13)


def test_query_minmax_reaches_exactly_0_and_1():
    X = ar.normalise(ar.make_ranking(50, (2, 9), 7), "query-minmax").X
    sizes = ar.make_ranking(50, (2, 9), 7).indptr[:-1]
    assert (np.minimum.reduceat(X, sizes) == 0).all()
    assert (np.maximum.reduceat(X, sizes) == 1).all()


@pytest.mark.parametrize("name", normaliser_names())
def test_float32_stays_and_nearly_agrees_with_float64(name):
    narrow, wide = ar.normalise(ragged(np.float32), name), ar.normalise(ragged(), name)
    assert narrow.X.dtype == np.float32
    np.testing.assert_allclose(narrow.X, wide.X, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", normaliser_names())
@pytest.mark.parametrize("missing", [False, True])
def test_sparse_equals_dense(name, missing):
    data = ragged(missing=missing, zeros=0.7)
    result = ar.normalise(data.with_features(sparse.csr_matrix(data.X)), name).X
    result = result.toarray() if sparse.issparse(result) else result
    np.testing.assert_allclose(result, ar.normalise(data, name).X, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["query-sum", "query-minmax", "minmax"])
def test_sparse_stays_sparse_where_zeros_stay_zeros(name):
    data = ragged(zeros=0.8)
    X = np.abs(data.X)
    X[0] = 0
    X[:, [2, 3]] = 0
    result = ar.normalise(data.with_features(sparse.csr_matrix(X)), name)
    assert result.is_sparse
    assert result.X.nnz <= np.count_nonzero(X)


def test_a_large_sparse_matrix_is_not_made_dense():
    X = sparse.csr_matrix(([-1.0], ([3], [5])), shape=(20_000, 20_000))
    data = ar.Dataset(X, np.zeros(20_000), group=[10_000, 10_000])
    with pytest.raises(OptionError, match=r"query-minmax: expected features whose zeros stay zeros.*query-sum"):
        ar.normalise(data, "query-minmax")
    assert ar.normalise(data, "query-sum").X[3, 5] == -1


@pytest.mark.parametrize("name", normaliser_names())
def test_blocks_do_not_change_a_bit(name, monkeypatch):
    data = ragged(missing=True)
    whole = ar.normalise(data, name).X
    monkeypatch.setattr(query_statistics, "BLOCK_VALUES", 1)
    assert np.array_equal(ar.normalise(data, name).X, whole, equal_nan=True)


def test_rows_of_a_query_need_not_be_together():
    data = ar.Dataset([[1.0], [10.0], [3.0], [30.0]], [0, 0, 0, 0], qid=["a", "b", "a", "b"])
    result = ar.normalise(data, "query-minmax")
    assert result.to_caller(result.X[:, 0]).tolist() == [0, 0, 1, 1]


def test_what_training_never_saw_vary_becomes_0():
    train = ar.Dataset([[1.0, 5.0], [2.0, 5.0]], [0, 1], qid=[1, 1])
    test = ar.Dataset([[4.0, 9.0], [np.nan, np.nan]], [0, 1], qid=[1, 1])
    result = ar.normalise(test, "minmax", fit_on=train).X
    assert result[0].tolist() == [3.0, 0.0]  # beyond 1: other data is not clipped
    assert np.isnan(result[1]).all()


@pytest.mark.parametrize("name", normaliser_names())
def test_model_file_keeps_every_bit(name):
    data = ragged(missing=True)
    fitted = normaliser(name).fit(data)
    again = Normaliser.from_dict(json.loads(json.dumps(fitted.to_dict())))
    assert again.name == name
    assert again.needs_queries == name.startswith("query-")
    assert np.array_equal(again.transform(data).X, fitted.transform(data).X, equal_nan=True)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"name": "eval"},
        [],
        {"name": "standard"},
        {"name": "standard", "shift": [0.0], "scale": [1.0, 2.0]},
        {"name": "minmax", "shift": ["x"], "scale": [1.0]},
        {"name": "minmax", "shift": [0.0], "scale": [float("nan")]},
        {"name": "minmax", "shift": [0.0], "scale": [-1.0]},
        {"name": "minmax", "shift": [[0.0]], "scale": [[1.0]]},
    ],
)
def test_a_damaged_model_is_refused(values):
    with pytest.raises(ModelError, match="normaliser"):
        Normaliser.from_dict(values)


def test_mistakes_are_named():
    data = ragged()
    with pytest.raises(OptionError, match="did you mean query-minmax"):
        ar.normalise(data, "query-min-max")
    with pytest.raises(InputError, match="call fit"):
        normaliser("standard").apply(data.X)
    with pytest.raises(InputError, match="indptr"):
        normaliser("query-sum").apply(data.X)
    with pytest.raises(InputError, match="expected the 6 features of fit, got 2"):
        normaliser("standard").fit(data).apply(data.X[:, :2])
    huge = ar.Dataset([[-1.7e308], [1.7e308]], [0, 1], qid=[1, 1])
    with pytest.raises(InputError, match="overflow"):
        ar.normalise(huge, "query-minmax")


def test_letor3_query_level_norm(real_data):
    """The NULL files of LETOR 3.0 give its QueryLevelNorm files to the six printed digits."""
    for part in ("S1.txt.xz", "S4.txt.xz"):
        raw = ar.load(real_data / "OHSUMED-LETOR3-null" / part)
        published = ar.load(real_data / "OHSUMED-LETOR3" / part)
        data = ar.impute(raw, "zero", features=[10, 11, 25, 26, 40, 41])  # BM25 and log BM25 of title, abstract, both
        data = ar.normalise(ar.impute(data, "query-min"), "query-minmax")
        assert np.isnan(raw.X).any()
        assert np.array_equal(raw.y, published.y)
        np.testing.assert_allclose(data.X, published.X, rtol=0, atol=5.0001e-7)  # half a unit of the sixth digit


@pytest.mark.parametrize("how", normaliser_names())
def test_categories_stay_as_they_are(how):
    brands = ("Acme", "Orbit", "Zeta")
    X = np.array([[3.0, 2.0], [1.0, 0.0], [2.0, np.nan], [5.0, 1.0], [4.0, 2.0], [9.0, 0.0]])
    names = {"feature_names": ["price", "brand"], "categories": {"brand": brands}}
    data = ar.Dataset(X, [1, 0, 0, 1, 0, 2], group=[3, 3], **names)
    scaled = ar.normalise(data, how)
    assert scaled.categories == {"brand": brands}
    assert np.array_equal(scaled.X[:, 1], X[:, 1], equal_nan=True)
    plain = ar.Dataset(X[:, :1], data.y, group=[3, 3])
    assert np.array_equal(scaled.X[:, 0], ar.normalise(plain, how).X[:, 0])


def test_other_features_keep_the_categories_that_have_not_changed():
    names = {"feature_names": ["a", "b", "f"], "categories": {"a": ("x", "y"), "b": ("u", "v")}}
    data = ar.Dataset([[0.0, 1.0, 3.0], [1.0, np.nan, 4.0]], [0, 1], group=[2], **names)
    X = data.X.copy()
    X[:, 2] *= 2
    assert data.with_features(X).categories == data.categories
    X[:, 0] += 1
    changed = data.with_features(X)
    assert changed.categories == {"b": ("u", "v")}
    assert changed.feature_names == ("a", "b", "f")
    assert data.with_features(X[:, :2]).categories is None
    assert data.with_features(sparse.csr_array(np.nan_to_num(X))).categories is None
    assert ar.impute(data, "mean").categories == data.categories


def test_trees_learn_from_categories_beside_normalised_features(tmp_path):
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.normal(size=400), rng.integers(0, 6, 400)))
    names = {"feature_names": ["price", "brand"], "categories": {"brand": tuple("abcdef")}}
    y = np.isin(X[:, 1], (0, 2, 5)).astype(int)  # no order of the numbers tells
    data = ar.Dataset(X, y, group=[10] * 40, **names)
    # nothing is drawn: draws depend on the content of the rows, which a normaliser changes
    plain = {"n_trees": 3, "min_documents": 1, "feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
    for how in ("query-minmax", "standard"):
        ranker = ar.make_ranker("mart", **plain, normalise=how).fit(data)
        assert any(tree.categories for tree in ranker.model_.trees)
        ranker.save(tmp_path / "m.json")
        scores = ar.load_model(tmp_path / "m.json").predict(data)
        assert np.array_equal(scores, ranker.predict(data))
        outside = ar.make_ranker("mart", **plain).fit(ar.normalise(data, how))
        np.testing.assert_allclose(scores, outside.predict(ar.normalise(data, how)), rtol=1e-9)


def test_a_sparse_matrix_whose_values_are_all_stored_stays_sparse():
    data = ragged(zeros=0.0)
    X = sparse.csr_matrix((np.ravel(data.X), np.tile(np.arange(6), len(data.X)), np.arange(0, data.X.size + 1, 6)))
    found = ar.normalise(ar.Dataset(X, data.y, group=data.sizes), "query-minmax").X
    assert sparse.issparse(found)
    np.testing.assert_array_equal(found.toarray(), ar.normalise(data, "query-minmax").X)


@pytest.mark.parametrize("name", ["standard", "minmax"])
def test_statistics_are_those_of_the_blocks_that_are_elsewhere(name):
    here, there = ragged(), ar.Dataset(2.0 * ragged().X + 1.0, ragged().y, group=ragged().sizes)
    found = normaliser(name).fit(here, over=lambda function: [function(there.X[:20]), function(there.X[20:])])
    wanted = normaliser(name).fit(there)
    np.testing.assert_allclose(found.shift, wanted.shift, rtol=1e-12)
    np.testing.assert_allclose(found.scale, wanted.scale, rtol=1e-12)
