from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.deploy.conftest import random_tree

from argrank.data.prepare.normalise import Normaliser
from argrank.deploy import cuts
from argrank.deploy.plain import plain
from argrank.models.stumps import StumpsModel
from argrank.models.tree import Tree
from argrank.models.trees import TreesModel

F = np.float32
EDGES = [0.0, -0.0, 1e-45, -1e-45, 1.1754944e-38, 1e-35, -1e-35, 1.0, -1.0, 3.4028235e38, -3.4028235e38, 1e308, -1e308]
numbers = st.one_of(st.sampled_from(EDGES), st.floats(allow_nan=False, allow_infinity=False))
single_numbers = st.one_of(
    st.sampled_from([float(F(x)) for x in EDGES[:-2]]), st.floats(width=32, allow_nan=False, allow_infinity=False)
)


def stump(threshold: float) -> Tree:
    return Tree(
        np.array([0]), np.array([threshold]), np.array([True]), np.array([0]), np.array([-1]), np.array([-2]),
        np.ones(1), np.array([1.0, 2.0]), np.ones(2, np.int64), {},
    )  # fmt: skip


def near(cut, more):
    with np.errstate(all="ignore"):
        beside = [cut, np.nextafter(cut, F(-np.inf)), np.nextafter(cut, F(np.inf)), F(0), F(-0.0), *map(F, more)]
    return np.array([x for x in beside if np.isfinite(x)], F)


def normaliser(shift, scale):
    return None if shift is None else Normaliser("standard", np.array([shift]), np.array([scale]))


@settings(max_examples=300, deadline=None)
@given(
    numbers,
    st.none() | st.floats(-1e6, 1e6),
    st.sampled_from([0.0, 1.0, 1e-3, 7.3, 1e5]) | st.floats(1e-8, 1e8),
    st.lists(single_numbers, max_size=5),
)
def test_below_the_cut_is_argranks_left_for_every_float32(threshold, shift, scale, more):
    model = TreesModel((stump(threshold),), 1, normaliser=normaliser(shift, scale))
    forest = plain(model, "as-trained").forest
    X = near(forest.cut[0], more)[:, None]
    with np.errstate(over="ignore"):
        left = model.scores(X) == 1.0
    assert np.array_equal(X[:, 0] <= forest.cut[0], left)
    cut = plain(model, "as-trained").doubles.cut[0]
    with np.errstate(all="ignore"):
        beside = [x for x in (cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf)) if np.isfinite(x)]
    doubles = np.concatenate([beside, X[:, 0].astype(np.float64)])
    with np.errstate(over="ignore"):
        assert np.array_equal(doubles <= cut, model.scores(doubles[:, None]) == 1.0)


@settings(max_examples=300, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_solr_never_goes_beyond_the_cut_and_is_as_near_as_it_can_be(cut):
    with np.errstate(over="ignore"):
        (t,) = cuts.solr_threshold(np.array([cut], F))
        assert F(t + cuts.SOLR_SLACK) <= F(cut)
        assert F(np.nextafter(t, F(np.inf)) + cuts.SOLR_SLACK) > F(cut) or not np.isfinite(t)


def test_solr_hits_nearly_all_cuts_of_ordinary_size():
    random = np.random.default_rng(0)
    c = (random.normal(size=200_000) * 10.0 ** random.integers(-4, 6, 200_000)).astype(F)
    c = c[np.abs(c) > 1e-5]
    hit = (cuts.solr_threshold(c) + cuts.SOLR_SLACK).astype(F)
    assert (hit != c).mean() < 2e-3
    gap = np.abs(hit.astype(float) - c)
    assert gap[c > 0].max() < 4e-12
    assert (gap <= 2 * np.spacing(np.abs(c))).all()


@pytest.mark.parametrize("kind", [F, np.float64])
def test_keys_keep_the_order_of_floats(kind):
    values = np.array([-np.inf, -1.5, -1e-40, 0.0, 1e-40, 1.5, np.inf], kind)
    keys = cuts.to_key(values)
    assert (np.diff(keys) > 0).all()
    assert np.array_equal(cuts.from_key(keys, kind), values)
    assert cuts.to_key(np.array([-0.0], kind))[0] == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 20), st.lists(numbers, min_size=19, max_size=19), st.booleans())
def test_random_trees_send_float32_rows_argranks_way(seed, n_leaves, thresholds, normalises):
    random = np.random.default_rng(seed)
    tree = random_tree(random, 2, n_leaves, thresholds[: n_leaves - 1])
    how = Normaliser("minmax", random.normal(size=2), np.array([random.random(), 0.0])) if normalises else None
    model = TreesModel((tree,), 2, normaliser=how)
    forest = plain(model, "as-trained").forest
    values = np.concatenate([near(cut, [1e-45, -3.0]) for cut in [F(0), *forest.cut]] + [np.array([np.nan], F)])
    X = random.choice(values, (200, 2)).astype(F)
    with np.errstate(over="ignore"):
        assert np.array_equal(forest.sums(X, np.float64), model.scores(X))


def test_a_constant_feature_sends_all_rows_one_way():
    for threshold, side in ((0.5, np.inf), (-0.5, -np.inf)):
        model = TreesModel((stump(threshold),), 1, normaliser=normaliser(3.0, 0.0))
        assert plain(model, "as-trained").forest.cut[0] == side


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=6), st.integers(0, 2**31))
def test_stumps_are_trees_of_two_leaves(thresholds, seed):
    random = np.random.default_rng(seed)
    model = StumpsModel(
        np.zeros(len(thresholds), np.int64), np.array(thresholds), random.normal(size=len(thresholds)), 1
    )
    forest = plain(model, "as-trained").forest
    X = np.concatenate([near(cut, []) for cut in forest.cut])[:, None]
    np.testing.assert_allclose(forest.sums(X, np.float64), model.scores(X), atol=1e-12)


def test_doubles_that_round_across_a_float32_threshold_go_as_in_an_engine_of_floats():
    t = np.array([0.1], F)
    (threshold,) = cuts.double_of_single(lambda x: x < t, 1)
    assert F(threshold) < t[0] <= F(np.nextafter(threshold, np.inf))
