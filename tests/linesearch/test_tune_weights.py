"""tune_weights: fusion weights, their value, curves and plot."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, MissingExtraError, OptionError


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(80, (5, 30), 4, noise=0.3, random_state=3)


@pytest.fixture(scope="module")
def systems(data):
    return {"bm25": data.X[:, 0], "vector": data.X[:, 1], "popularity": data.X[:, 2]}


@pytest.fixture(scope="module")
def tuned(systems, data):
    return ar.tune_weights(systems, data, "ndcg@5")


def test_the_value_is_that_of_the_fused_scores(tuned, systems, data):
    assert sum(map(abs, tuned.weights.values())) == pytest.approx(1)
    assert tuned.value == pytest.approx(ar.evaluate(tuned.fuse(systems), data, "ndcg@5").means["ndcg@5"], abs=1e-12)
    assert tuned.value >= max(tuned.single.values())
    for name, scores in systems.items():
        assert tuned.single[name] == ar.evaluate(scores, data, "ndcg@5").means["ndcg@5"]


def test_it_beats_a_fine_grid(tuned, systems, data):
    names = list(systems)
    matrix = np.column_stack(list(systems.values()))
    grid = [
        ar.evaluate(matrix @ np.array(w), data, "ndcg@5").means["ndcg@5"]
        for a in np.linspace(0, 2 * np.pi, 24, endpoint=False)
        for w in ([np.cos(a), np.sin(a), 0.0], [np.cos(a), 0.0, np.sin(a)], [0.5 * np.cos(a), np.sin(a), np.cos(a)])
    ]
    assert tuned.value >= max(grid)
    assert list(tuned.weights) == names


def test_curves_are_the_measure_along_each_weight(tuned, systems, data):
    for name, curve in tuned.curves.items():
        assert curve.values.max() <= tuned.value + 1e-12  # no single weight can still be moved to advantage
        weight = tuned.weights[name] + 0.05
        true = ar.evaluate(tuned.fuse(systems) + 0.05 * systems[name], data, "ndcg@5").means["ndcg@5"]
        assert curve.values[np.searchsorted(curve.breakpoints, weight)] == pytest.approx(true, abs=1e-12)


def test_the_cross_validated_value_is_honest(tuned):
    assert 0.5 * tuned.value < tuned.cv_value <= tuned.value + 0.02


def test_same_seed_same_weights_whatever_the_threads(systems, data):
    one, two = (ar.tune_weights(systems, data, "map", cv=2, n_starts=1, n_jobs=n) for n in (1, 2))
    assert one.weights == two.weights
    assert one.cv_value == two.cv_value


def test_plot_and_table(tuned, monkeypatch):
    pytest.importorskip("matplotlib")
    figure = tuned.plot()
    assert [axes.get_xlabel() for axes in figure.axes] == [f"weight of {name}" for name in tuned.weights]
    assert "popularity" in repr(tuned)
    assert "cross-validated" in tuned._repr_html_()
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="matplotlib"):
        tuned.plot()


def test_bad_input_is_refused(tuned, systems, data):
    with pytest.raises(InputError, match="at least one system"):
        ar.tune_weights({}, data, "map")
    with pytest.raises(InputError, match="scores of a: expected one score"):
        ar.tune_weights({"a": [1.0]}, data, "map")
    with pytest.raises(OptionError, match="cv"):
        ar.tune_weights(systems, data, "map", cv=1)
    with pytest.raises(InputError, match="expected those of"):
        tuned.fuse({"bm25": systems["bm25"]})
