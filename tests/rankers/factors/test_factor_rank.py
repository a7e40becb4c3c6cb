"""factor-rank: alternation only descends, recommendations, cold users and items, model files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import argrank as ar
from argrank.engines import make_risk
from argrank.errors import InputError, ModelError, OptionError
from argrank.rankers.factors.factor_rank import Alternation
from argrank.rankers.factors.factor_ranker import Triples
from argrank.solvers import Squared, minimise
from argrank.solvers.problem import Offset


def some_ratings(n_users=40, n_items=30, per_user=12, random_state=0):
    """Ratings that two hidden factors explain, and the true taste."""
    rng = np.random.default_rng(random_state)
    taste = rng.standard_normal((n_users, 2)) @ rng.standard_normal((2, n_items)) + 0.3 * rng.standard_normal(n_items)
    users = np.repeat(np.arange(n_users), per_user)
    items = np.concatenate([rng.permutation(n_items)[:per_user] for _ in range(n_users)])
    ratings = np.digitize(taste[users, items], [-1.5, -0.5, 0.5, 1.5]) + 1
    return users, items, ratings, taste


@pytest.fixture(scope="module")
def fitted():
    """Ratings and a ranker that two rounds have trained."""
    users, items, ratings, _ = some_ratings()
    ranker = ar.make_ranker("factor-rank", rank=2, rounds=2, max_iter=10).fit(np.column_stack((users, items, ratings)))
    return users, items, ranker


def test_it_learns_tastes_that_popularity_cannot_see():
    users, items, ratings, taste = some_ratings()
    ranker = ar.make_ranker("factor-rank", rank=2, C=10.0, decay="measure", rounds=3, max_iter=15)
    ranker.fit(users, items, ratings)
    everybody, everything = np.repeat(np.arange(40), 30), np.tile(np.arange(30), 40)
    unseen = np.ones((40, 30), bool)
    unseen[users, items] = False
    keep = unseen[everybody, everything]
    truth = np.digitize(taste[everybody, everything], [-1.5, -0.5, 0.5, 1.5])[keep]
    test = ar.Dataset(np.zeros((keep.sum(), 1)), truth, qid=everybody[keep])
    mine = ranker.predict(everybody[keep], everything[keep])
    popular = np.bincount(items, ratings, 30) / np.maximum(np.bincount(items, minlength=30), 1)
    found = [ar.evaluate(scores, test, "ndcg@10").means["ndcg@10"] for scores in (mine, popular[everything[keep]])]
    assert found[0] > found[1] + 0.1


@pytest.mark.parametrize(
    ("bound", "parameters"),
    [
        ("convex", {"near_start": False}),
        ("tight", {"near_start": False}),
        ("convex", {"user_weight": "ratings", "near_start": False}),
        ("tight", {}),
        ("convex", {}),
    ],
)
def test_the_objective_only_falls_and_is_what_it_says(bound, parameters):
    users, items, ratings, _ = some_ratings()
    few = (users >= 20) | (np.arange(len(users)) % 12 < 6)  # half of the users have half of the ratings
    users, items, ratings = users[few], items[few], ratings[few]
    options = {"rank": 3, "C": 2.0, "bound": bound, "tol": 1e-6, "max_iter": 10} | parameters
    ranker = ar.make_ranker("factor-rank", rounds=3, **options).fit(users, items, ratings)
    assert (np.diff(ranker.trace_["objective"]) <= 0).all()
    weight = np.bincount(users) if "user_weight" in parameters else None
    data = ar.Dataset(np.zeros((len(users), 1)), ratings, qid=users, query_weight=weight)
    loss = ar.objective("orm", bound=bound, decay="measure")(ranker.predict(users, items), data)[0]
    U, V = ranker.model_.user_factors, ranker.model_.item_factors
    if "near_start" not in parameters:  # a tiny C stays there
        assert len(ranker.trace_) > 1
        start = ar.make_ranker("factor-rank", rounds=1, **options | {"C": 1e-12}).fit(users, items, ratings).model_
        assert np.abs(start.item_factors).max() > 0.01
        U, V = U - start.user_factors, V - start.item_factors
    penalty = ((U**2).sum() + (V**2).sum()) / (2 * 2.0 * 40)
    assert ranker.objective_ == pytest.approx(loss + penalty, rel=1e-9)


def test_a_tight_bound_ranks_the_ratings_it_saw_better_than_its_start(real_data):
    """From scores as short as suit the convex bound it ranks them worse: .79 instead of .82 at this C."""
    train, _ = ar.load_ratings(folder=real_data / "ml-100k")
    ranker = ar.make_ranker("factor-rank", bound="tight")
    start = clone(ranker).set_params(C=1e-12, rounds=1).fit(train).score(train)
    assert ranker.fit(train).score(train) > start > 0.8


def test_one_solve_for_all_users_is_as_good_as_one_for_each(monkeypatch):
    """Given the items, users do not depend on each other; a solve for each is slower, not better."""
    users, items, ratings, _ = some_ratings(20)

    def one_by_one(self, features, block, base, start, centre):
        if len(start) != self.n_users or start.shape[1] != self.U.shape[1]:
            return together(self, features, block, base, start, centre)
        found = []
        for user in range(self.n_users):
            rows = slice(*self.data.indptr[user : user + 2])
            part = self.data.select([user]).with_features(np.ascontiguousarray(features[rows]))
            risk, near = Offset(make_risk(part, self.loss, 1), base[rows]), Squared(centre=centre[user])
            solved = {"C": self.asked.C, "regulariser": near, "tol": 1e-8, "start": start[user]}
            found.append(minimise(risk, "l-bfgs", max_iter=200, **solved).w)
        return np.array(found)

    together = Alternation._improve
    joint = ar.make_ranker("factor-rank", rank=3).fit(users, items, ratings)
    monkeypatch.setattr(Alternation, "_improve", one_by_one)
    apart = ar.make_ranker("factor-rank", rank=3).fit(users, items, ratings)
    assert joint.objective_ == pytest.approx(apart.objective_, rel=1e-3)


def test_recommendations_leave_out_what_was_rated(fitted):
    users, items, ranker = fitted
    for user in (0.0, 7.0):
        rated = set(items[users == user].tolist())
        found = ranker.recommend(user, n=5)
        assert len(found) == 5
        assert not rated & set(found)
        scores = ranker.predict([user] * 30, range(30))
        assert (
            ranker.recommend(user, n=30, seen=True) == np.argsort(-scores, kind="stable").tolist()
            or len(set(ranker.model_.items)) < 30
        )
    with pytest.raises(OptionError, match="n: expected"):
        ranker.recommend(0, n=0)


def test_unknown_users_and_items():
    users, items, ratings, _ = some_ratings()
    names = np.array([f"film {i}" for i in range(30)])[items]
    features = {f"film {i}": [float(i), float(i % 2)] for i in range(35)}
    ranker = ar.make_ranker("factor-rank", rank=2, rounds=1, max_iter=5)
    ranker.fit(users, names, ratings, item_features=features)
    assert "film 34" in ranker.model_.items
    assert ranker.recommend("nobody", n=3) == ranker.recommend("someone else", n=3)
    mean = ranker.predict([0], ["a film nobody knows"])[0]
    every = ranker.predict([0] * 35, [f"film {i}" for i in range(35)])
    assert mean == pytest.approx(every.mean(), rel=1e-9)


def test_a_saved_model_recommends_the_same(fitted, tmp_path):
    users, items, ranker = fitted
    ranker.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    assert loaded.recommend(3) == ranker.recommend(3)
    np.testing.assert_array_equal(loaded.predict(users, items), ranker.predict(users, items))
    text = (tmp_path / "model.json").read_text()
    (tmp_path / "model.json").write_text(text.replace('"users"', '"people"'))
    with pytest.raises(ModelError):
        ar.load_model(tmp_path / "model.json")


def test_many_users_scores_and_validation(fitted):
    users, items, ranker = fitted
    assert ranker.recommend([3.0, 7.0], n=4) == [ranker.recommend(3.0, n=4), ranker.recommend(7.0, n=4)]
    assert ranker.recommend(np.array([3.0])) == [ranker.recommend(3.0)]
    users, items, ratings, _ = some_ratings()
    held = np.arange(len(users)) % 4 == 0
    train, test = ((users[rows], items[rows], ratings[rows]) for rows in (~held, held))
    ranker = ar.make_ranker("factor-rank", rank=2, C=1.0, rounds=2, scoring="ndcg@3").fit(*train, eval_set=test)
    data = ar.Dataset(np.zeros((held.sum(), 1)), test[2], qid=test[0])
    wanted = ar.evaluate(ranker.predict(*test[:2]), data, "ndcg@3").means["ndcg@3"]
    assert ranker.score(*test) == ranker.trace_[-1]["validation"] == pytest.approx(wanted, abs=1e-12)


def test_a_sparse_matrix_of_users_by_items():
    users, items, ratings, _ = some_ratings()
    by_triples = ar.make_ranker("factor-regression", rank=2).fit(users, items, ratings)
    matrix = sparse.csr_matrix((ratings, (users, items)))
    by_matrix = ar.make_ranker("factor-regression", rank=2).fit(matrix)
    assert by_matrix.recommend(5) == by_triples.recommend(5)
    assert by_matrix.score(matrix) == pytest.approx(by_triples.score(users, items, ratings))


def test_ratings_from_files(tmp_path):
    users, items, ratings, _ = some_ratings()
    expected = ar.make_ranker("factor-regression", rank=2).fit(users, items, ratings)
    lines = ["user,rating,item", *(f"{u},{r},{i}" for u, i, r in zip(users, items, ratings, strict=True))]
    (tmp_path / "ratings.csv").write_text("\n".join(lines) + "\n")
    sparse.save_npz(tmp_path / "ratings.npz", sparse.csr_matrix((ratings, (users, items))))
    for path in (str(tmp_path / "ratings.csv"), tmp_path / "ratings.npz"):
        ranker = ar.make_ranker("factor-regression", rank=2).fit(path, eval_set=path)
        assert ranker.recommend([3, 5], n=4) == expected.recommend([3, 5], n=4)
        assert ranker.score(path) == pytest.approx(expected.score(users, items, ratings))
    (tmp_path / "wrong.csv").write_text("qid,label,source\n1,0,shop\n")
    with pytest.raises(InputError, match="columns user, item, rating, with numbers as ratings, got 'shop' in column"):
        ranker.fit(tmp_path / "wrong.csv")


def test_regression_minimises_the_squared_errors():
    """Its objective falls, and is flat along every direction: its gradient is 0 where it has converged."""
    users, items, ratings, _ = some_ratings(12, 8, 6)
    ranker = ar.make_ranker("factor-regression", rank=1, ridge=2.0, rounds=400).fit(users, items, ratings)
    assert (np.diff(ranker.trace_["objective"]) <= 1e-9).all()
    model = ranker.model_
    U, V = model.user_factors, model.item_factors
    user, item = users, np.array([model.items.index(one) for one in items])
    left = ratings - ratings.mean() - (U[user] * V[item, :-1]).sum(axis=1) - V[item, -1]
    worth = np.bincount(user, left) / (np.bincount(user) + 2.0)  # the best worth of every user
    errors = left - worth[user]
    objective = errors @ errors + 2.0 * ((U**2).sum() + (V**2).sum() + worth @ worth)
    assert ranker.objective_ == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(np.bincount(item, errors), 2.0 * V[:, -1], atol=1e-4)
    offsets = {one: float(one) for one in range(8)}
    shifted = ar.make_ranker("factor-regression", rank=1, ridge=2.0, rounds=400)
    shifted.fit(users, items, ratings + items, item_offsets=offsets)
    np.testing.assert_allclose(shifted.predict(users, items) - items, ranker.predict(users, items), atol=1e-3)


def test_one_round_of_regression_is_least_squares_from_small_random_factors():
    """Each user, then each item, by least squares with the ridge as further rows; items start at N(0, 0.1²)."""
    users, items, ratings, _ = some_ratings(12, 8, 6)
    ranker = ar.make_ranker("factor-regression", rank=2, ridge=3.0, rounds=1, random_state=5).fit(users, items, ratings)
    item = np.array([ranker.model_.items.index(one) for one in items])
    target = ratings - ratings.mean()
    U, V = np.zeros((12, 3)), np.zeros((8, 3))
    V[:, :2] = np.random.default_rng(5).normal(0.0, 0.1, (8, 2))

    def solved(own, mates):
        X = np.vstack((np.column_stack((mates[:, :2], np.ones(own.sum()))), np.sqrt(3.0) * np.eye(3)))
        return np.linalg.lstsq(X, np.append(target[own] - mates[:, 2], np.zeros(3)))[0]

    for user in range(12):
        U[user] = solved(users == user, V[item[users == user]])
    for one in range(8):
        V[one] = solved(item == one, U[users[item == one]])
    np.testing.assert_allclose(ranker.model_.item_factors, V, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ranker.model_.user_factors, U[:, :2], rtol=1e-8, atol=1e-12)


def test_a_measure_that_tells_no_rating_apart_is_refused():
    users, items, ratings, _ = some_ratings()
    with pytest.raises(
        InputError, match=r"measure='p@5': expected ratings with different gains, got 1 to 5.*relevant_at=1"
    ):
        ar.make_ranker("factor-rank", measure="p@5").fit(users, items, ratings)
    ranker = ar.make_ranker("factor-rank", rank=2, measure="p@5", relevant_at=4).fit(users, items, ratings)
    reported = ar.evaluate(
        ranker.predict(users, items), Triples.of(users, items, ratings).as_dataset(), "p@5", relevant_at=4
    )
    assert ranker.score(users, items, ratings) == reported.means["p@5"] < 1
    assert ranker.objective_ > 1e-3


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ratings_in_a_data_frame(library):
    frames = pytest.importorskip(library)
    columns = {"user": ["x", "x", "y", "y"], "film": [1, 2, 1, 3], "ratings": [5, 1, 2, 4]}
    ranker = ar.make_ranker("factor-rank", rank=1)
    assert ranker.fit(frames.DataFrame(columns)).recommend("x") == ranker.fit(*columns.values()).recommend("x") == [3]
    if library == "polars":
        assert ranker.fit(frames.LazyFrame(columns)).recommend("x") == [3]
    with pytest.raises(InputError, match=r"data frame of shape \(n, 3\)"):
        ranker.fit(frames.DataFrame({"user": ["x"], "film": [1]}))


def test_bad_ratings_are_refused():
    with pytest.raises(InputError, match="twice"):
        ar.make_ranker("factor-rank").fit([1, 1], ["a", "a"], [1, 2])
    with pytest.raises(InputError, match="shape"):
        ar.make_ranker("factor-rank").fit([1, 2])
    with pytest.raises(InputError, match="ratings: expected numbers >= 0, got -2 in row 1"):
        ar.make_ranker("factor-rank").fit([1, 1], ["a", "b"], [1, -2])
    with pytest.raises(InputError, match="ratings: expected finite numbers, got nan"):
        ar.make_ranker("factor-rank").fit([1, 1], ["a", "b"], [1, np.nan])
    with pytest.raises(InputError, match="items: expected one for each of 2 ratings, got 3"):
        ar.make_ranker("factor-rank").fit([1, 1], ["a", "b", "c"], [1, 2])
    with pytest.raises(OptionError, match="rank"):
        ar.make_ranker("factor-rank", rank=0).fit([1, 1], ["a", "b"], [1, 2])
    with pytest.raises(OptionError, match="user_weight"):
        ar.make_ranker("factor-rank", user_weight="all").fit([1, 1], ["a", "b"], [1, 2])
    with pytest.raises(OptionError, match="start_ridge"):
        ar.make_ranker("factor-rank", start_ridge=0.0).fit([1, 1], ["a", "b"], [1, 2])
    assert ar.ranker_names("factors") == ["factor-rank", "factor-regression"]
    assert "factor-rank" not in ar.ranker_names()
    assert "factor-rank" in ar.ranker_names(None)


OFFSETS = {item: float(np.sin(7 * item)) for item in range(30)}


@pytest.mark.parametrize("parameters", [{"bound": "convex", "near_start": False}, {"bound": "tight"}])
def test_offsets_are_added_to_scores_and_not_shrunk(parameters):
    users, items, ratings, _ = some_ratings()
    options = {"rank": 3, "C": 2.0, "tol": 1e-6, "max_iter": 10} | parameters
    ranker = ar.make_ranker("factor-rank", rounds=3, **options).fit(users, items, ratings, item_offsets=OFFSETS)
    assert (np.diff(ranker.trace_["objective"]) <= 0).all()
    data = ar.Dataset(np.zeros((len(users), 1)), ratings, qid=users)
    loss = ar.objective("orm", bound=parameters["bound"], decay="measure")(ranker.predict(users, items), data)[0]
    known = np.array([OFFSETS[item] for item in ranker.model_.items])
    U, V = ranker.model_.user_factors, ranker.model_.item_factors - np.eye(4)[-1] * known[:, None]
    if "near_start" not in parameters:  # a tiny C stays there
        near = ar.make_ranker("factor-rank", rounds=1, **options | {"C": 1e-12})
        start = near.fit(users, items, ratings, item_offsets=OFFSETS).model_
        U, V = U - start.user_factors, V + np.eye(4)[-1] * known[:, None] - start.item_factors
    penalty = ((U**2).sum() + (V**2).sum()) / (2 * 2.0 * 40)
    assert ranker.objective_ == pytest.approx(loss + penalty, rel=1e-9)


def test_where_everything_else_is_shrunk_to_nothing_the_offsets_rank():
    users, items, ratings, _ = some_ratings()
    ranker = ar.make_ranker("factor-rank", rank=2, C=1e-9, near_start=False)
    ranker.fit(users, items, ratings, item_offsets=OFFSETS)
    by_offset = sorted(OFFSETS, key=OFFSETS.__getitem__, reverse=True)
    assert ranker.recommend(0, n=30, seen=True) == ranker.recommend("nobody", n=30) == by_offset


def test_what_offsets_explain_is_not_learned_again():
    users, items, _, _ = some_ratings()
    ratings = np.digitize(3 * np.array([OFFSETS[item] for item in items]), [-1.5, -0.5, 0.5, 1.5]) + 1
    steep = {item: 1000 * value for item, value in OFFSETS.items()}
    ranker = ar.make_ranker("factor-rank", rank=2, C=1.0, near_start=False, rounds=3, bound="tight")
    plain, given = (clone(ranker).fit(users, items, ratings, item_offsets=offsets) for offsets in (None, steep))
    assert given.objective_ < 1e-3 < plain.objective_
    learned = given.model_.item_factors[:, -1] - [steep[item] for item in given.model_.items]
    assert np.abs(learned).max() < 0.05 * np.abs(plain.model_.item_factors[:, -1]).max()


@pytest.mark.parametrize("offsets", [{}, dict.fromkeys(range(30), 8.0)])
def test_offsets_that_are_the_same_for_all_items_change_nothing(offsets):
    users, items, ratings, _ = some_ratings()
    plain, given = (
        ar.make_ranker("factor-rank", rank=2, rounds=2, max_iter=5).fit(users, items, ratings, item_offsets=one)
        for one in (None, offsets)
    )
    constant = next(iter(offsets.values()), 0.0)
    assert given.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    np.testing.assert_allclose(given.predict(users, items), plain.predict(users, items) + constant, atol=1e-4)


def test_items_without_ratings_have_offsets_too(tmp_path):
    users, items, ratings, _ = some_ratings()
    features = {item: [item, item % 2] for item in range(32)}
    ranker = ar.make_ranker("factor-rank", rank=2, rounds=1, max_iter=5)
    offsets = {np.int64(30): 5.0, 31: -5.0, 40: 50.0, 41: 0.25}
    without = ranker.fit(users, items, ratings, item_features=features).model_
    unknown = without.predict([0], ["unknown"])[0]
    before = without.predict([0, 0], [30, 31])
    model = ranker.fit(users, items, ratings, item_features=features, item_offsets=offsets).model_
    np.testing.assert_allclose(model.predict([0, 0], [30, 31]), before + [5.0, -5.0])
    np.testing.assert_allclose(model.predict([0, 0], [40, 41]), [unknown + 50.0, unknown + 0.25])
    mean = np.mean([offsets.get(item, 0.0) for item in model.items])
    assert model.predict([0], ["unknown"])[0] == pytest.approx(unknown + mean)
    assert model.recommend(0, n=1) == model.recommend("nobody", n=1) == [40]
    ranker.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    everything = [*range(32), 40, 41, "unknown"]
    np.testing.assert_array_equal(loaded.predict([3] * 35, everything), model.predict([3] * 35, everything))
    assert loaded.recommend(3, n=34, seen=True) == model.recommend(3, n=34, seen=True)


@pytest.mark.parametrize("value", [np.nan, np.inf, "high", None, [1.0], 1j])
def test_offsets_that_are_no_numbers_are_refused(value):
    with pytest.raises(InputError, match=r"item_offsets\['b'\]: expected a finite number, got"):
        ar.make_ranker("factor-rank").fit([1, 1], ["a", "b"], [1, 2], item_offsets={"a": 1, "b": value})


def test_what_is_known_of_items_must_be_a_mapping():
    ranker = ar.make_ranker("factor-rank")
    with pytest.raises(InputError, match=r"item_offsets: expected a mapping from items, got \[1.0, 2.0\]"):
        ranker.fit([1, 1], ["a", "b"], [1, 2], item_offsets=[1.0, 2.0])
    with pytest.raises(InputError, match=r"item_features\['b'\]: expected 2 numbers, as before, got 1"):
        ranker.fit([1, 1], ["a", "b"], [1, 2], item_features={"a": [1, 2], "b": [3]})
    with pytest.raises(InputError, match=r"item_features\['b'\]: expected a vector of finite numbers, got"):
        ranker.fit([1, 1], ["a", "b"], [1, 2], item_features={"a": [1, 2], "b": [3, np.nan]})


@pytest.mark.parametrize("name", ["factor-rank", "position-match"])
def test_parameters_are_scikit_learns(name):
    ranker = ar.make_ranker(name, C=2.0)
    again = clone(ranker)
    assert again.get_params() == ranker.get_params()
    assert repr(again) == f"{type(ranker).__name__}(C=2.0)"
    assert again.set_params(tol=0.1).tol == 0.1
    with pytest.raises(OptionError, match="no parameter 'K'"):
        ar.make_ranker(name, K=1)
