"""Preparation: columns that a ranker can add up, made of missing values and texts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.prepare.preparation import LEAST_ROWS, MOST_TEXTS, Preparation, preparation_for
from argrank.errors import InputError, ModelError

NAN = float("nan")


def table(n: int = 240, n_brands: int = 4) -> ar.Dataset:
    """A shop's table: a price that is sometimes missing, a brand that is a text, a number that is complete."""
    rng = np.random.default_rng(5)
    price, brand, bm25 = rng.random(n) * 10, rng.integers(0, n_brands, n).astype(float), rng.standard_normal(n)
    labels = np.clip(np.round(bm25 + (brand == 1) + 0.2 * price), 0, 4)
    price[rng.random(n) < 0.25] = NAN
    brand[rng.random(n) < 0.1] = NAN
    names = tuple(f"b{number}" for number in range(n_brands))
    return ar.Dataset(
        np.column_stack((price, brand, bm25)),
        labels,
        qid=np.repeat(np.arange(n // 12), 12),
        feature_names=["price", "brand", "bm25"],
        categories={"brand": names},
    )


def test_columns_are_those_of_a_plain_computation() -> None:
    data = table()
    found = Preparation.fit(data)
    price, brand, bm25 = data.X.T
    known = price[~np.isnan(price)]
    expected = [np.where(np.isnan(price), np.median(known), price), np.zeros(len(brand)), bm25]
    expected += [np.isnan(price), np.isnan(brand), *(brand == code for code in range(4))]
    np.testing.assert_array_equal(found.apply(data.X), np.column_stack(expected))
    prepared = found.transform(data)
    assert prepared.feature_names == (
        *("price", "brand", "bm25", "price is missing", "brand is missing"),
        *("brand=b0", "brand=b1", "brand=b2", "brand=b3"),
    )
    assert prepared.categories is None


def test_sparse_columns_are_those_of_the_dense_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.5)
    X[rng.random((60, 5)) < 0.2] = NAN
    X[:, 3] = np.nan_to_num(X[:, 3])
    dense = ar.Dataset(X, np.arange(60) % 3, group=[30, 30])
    found = Preparation.fit(ar.Dataset(sparse.csr_matrix(X), dense.y, group=[30, 30]))
    other = Preparation.fit(dense)
    np.testing.assert_array_equal(found.source, other.source)
    holes = np.isnan(X).any(axis=0)
    np.testing.assert_array_equal(found.fill[holes], other.fill[holes])
    np.testing.assert_array_equal(found.apply(sparse.csr_matrix(X)).toarray(), other.apply(X))


def test_rare_and_unknown_texts_have_no_column() -> None:
    codes = np.concatenate(
        (np.repeat(np.arange(MOST_TEXTS + 20.0), LEAST_ROWS), [MOST_TEXTS + 20.0] * (LEAST_ROWS - 1))
    )
    codes = np.concatenate((codes, [7.0] * 3))
    names = tuple(f"t{number:03d}" for number in range(MOST_TEXTS + 21))
    n = len(codes)
    data = ar.Dataset(codes[:, None], np.arange(n) % 2, group=[n], feature_names=["kind"], categories={"kind": names})
    found = Preparation.fit(data)
    assert len(found.code) == MOST_TEXTS
    assert 7 in found.code
    assert MOST_TEXTS + 20 not in found.code
    assert not found.apply(np.array([[NAN], [MOST_TEXTS + 20.0]])).any()


def test_zero_knows_no_flag_and_native_rankers_keep_what_they_can() -> None:
    data = table()
    zero = preparation_for(data, "zero", native=True)
    assert zero is not None
    assert (zero.code >= 0).all()
    np.testing.assert_array_equal(zero.apply(data.X)[:, 0], np.nan_to_num(data.X[:, 0]))
    hot = preparation_for(data, "one-hot", native=True)
    assert hot is not None
    np.testing.assert_array_equal(hot.apply(data.X)[:, 0], data.X[:, 0])
    assert preparation_for(data, "auto", native=True) is None
    complete = ar.make_ranking(4, 5, 3, random_state=0)
    assert preparation_for(complete, "auto", native=False) is None
    assert preparation_for(complete, "always", native=False) is not None


@pytest.mark.parametrize("name", ["rank-svm", "regression", "coordinate-ascent", "rankboost", "adarank", "lambda-mart"])
@pytest.mark.parametrize("how", ["auto", "zero", "one-hot"])
def test_a_ranker_prepares_by_itself_and_its_file_remembers(name: str, how: str, tmp_path) -> None:
    train, test = table().split(0.7, 0.3)
    ranker = ar.make_ranker(name, prepare=how).fit(train)
    ranker.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(test), ranker.predict(test))
    # the same as preparing by hand with what the training part tells
    preparation = ranker.model_.preparation
    if preparation is not None and name != "lambda-mart":  # what trees draw depends on the raw rows
        prepared = preparation.transform(train)
        again = ar.make_ranker(name, prepare=None).fit(prepared)
        np.testing.assert_array_equal(again.predict(preparation.transform(test)), ranker.predict(test))


def test_refusing_is_as_before() -> None:
    with pytest.raises(InputError, match="takes numbers, got texts"):
        ar.make_ranker("rank-svm", prepare=None).fit(table())
    holes = ar.Dataset([[1.0], [NAN], [2.0]], [0, 1, 2], group=[3])
    with pytest.raises(InputError, match="expected no missing values"):
        ar.make_ranker("rank-svm", prepare=None).fit(holes)
    plain = ar.make_ranker("rank-svm").fit(ar.make_ranking(5, 6, 1, random_state=0))
    assert plain.model_.preparation is None
    with pytest.raises(InputError, match="always"):
        plain.predict([[NAN]])
    assert np.isfinite(ar.make_ranker("rank-svm", prepare="always").fit(holes).predict([[NAN]])).all()


@pytest.mark.parametrize("name", ["rank-svm", "query-mart", "symmetric-mart", "direct-rank-trees", "mcrank", "auto"])
def test_always_takes_values_that_are_missing_only_later(name: str) -> None:
    """Trees then have no linear start, which could not score them."""
    data = ar.make_ranking(12, 8, 3, random_state=0)
    few = {"n_trees": 3} if "n_trees" in ar.make_ranker(name).get_params() else {}
    few = {"max_trees": 9} if name == "auto" else few
    ranker = ar.make_ranker(name, prepare="always", verbose=-1, **few).fit(data)
    X = np.array(data.X)
    X[::3, 1] = NAN
    assert np.isfinite(ranker.predict(X)).all()


def test_what_was_made_of_a_column_counts_as_its_own() -> None:
    data = table()
    ranker = ar.make_ranker("rank-svm").fit(data)
    own = ranker.model_.contributions(data.X)
    assert own.shape == (data.n_documents, 3)
    np.testing.assert_allclose(own.sum(axis=1), ranker.predict(data), atol=1e-12)
    weights = dict(zip(ranker.model_.column_names, ranker.coef_, strict=True))
    brand = [weights["brand is missing"] if code != code else weights[f"brand=b{int(code)}"] for code in data.X[:, 1]]
    np.testing.assert_allclose(own[:, 1], brand, atol=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [{}, {"fill": ["a"]}, {"fill": [0.0], "texts": [3], "source": [], "code": []},
     {"fill": [0.0], "texts": [], "source": [0], "code": []}, {"fill": [0.0], "texts": [], "source": [0], "code": [0]}],
)  # fmt: skip
def test_a_damaged_file_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="preparation"):
        Preparation.from_dict(wrong, None, None)


def test_auto_keeps_its_linear_members() -> None:
    data = table()
    ranker = ar.make_ranker("auto", members=["listnet", "rank-svm"]).fit(data)
    assert [member.name for member in ranker.members_] == ["listnet", "rank-svm"]
    assert all(member.preparation is not None for member in ranker.model_.members)
    assert ranker.model_.preparation is None
    engine = ar.make_ranker("auto", family="linear", target="opensearch").fit(data)
    assert engine.model_.preparation is not None
    assert (engine.model_.preparation.code >= 0).all()
    assert not engine.model_.preparation.fill.any()
