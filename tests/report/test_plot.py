from __future__ import annotations

import sys

import numpy as np
import pytest

import argrank as ar
from argrank.errors import MissingExtraError, OptionError

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def no_window():
    matplotlib.use("agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def data() -> ar.Dataset:
    return ar.make_ranking(20, 12, 5, random_state=1)


@pytest.fixture(scope="module")
def ranker(data):
    return ar.make_ranker("svm-auc").fit(data, eval_set=data)


def test_curves_show_the_means(data, ranker):
    axes = ar.plot.measure_curves({"svm": ranker.predict(data), "one": data.X[:, 0]}, data, "ndcg", [1, 5])
    heights = axes.lines[1].get_ydata()
    assert heights == pytest.approx(list(ar.evaluate(data.X[:, 0], data, ["ndcg@1", "ndcg@5"]).means.values()))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["svm", "one"]


def test_differences_are_sorted_and_complete(data, ranker):
    found = ar.compare({"svm": ranker.predict(data), "one": data.X[:, 0]}, data, ["map"])
    heights = [bar.get_height() for bar in ar.plot.differences(found, "map", "svm", "one").patches]
    assert heights == sorted(heights, reverse=True)
    assert sum(heights) == pytest.approx(np.nansum(found.differences("map", "svm", "one")))


def test_trace(ranker):
    axes = ar.plot.trace({"svm": ranker}, "gap")
    assert axes.get_yscale() == "log"
    assert axes.lines[0].get_ydata() == pytest.approx(ranker.trace_["gap"])
    with pytest.raises(OptionError, match="objective"):
        ar.plot.trace(ranker, "objectiv")


@pytest.mark.parametrize("what", ["value", "ratio", "norm", "average_slack", "coefs"])
def test_path(data, what):
    found = ar.regularisation_path("svm-auc", [0.1, 1, 10], data, data, "map", progress=False)
    axes = ar.plot.path(found, what)
    assert len(axes.lines) == (5 if what == "coefs" else 1)
    assert axes.lines[0].get_xdata() == pytest.approx([0.1, 1, 10])


def test_a_path_without_slack_says_so(data):
    with pytest.raises(OptionError, match="average slack"):
        ar.plot.path(ar.regularisation_path("rank-svm", [0.1, 1], data, progress=False), "average_slack")


def test_weights_with_and_without_intervals(data, ranker):
    plain = ar.plot.weights(ranker, top=3)
    largest = np.sort(np.abs(ranker.coef_))[-3:]
    assert [abs(bar.get_width()) for bar in plain.patches] == pytest.approx(largest)
    found = ar.bootstrap_weights(ranker, data, n_resamples=3, progress=False)
    assert len(ar.plot.weights(found).containers) == 2  # bars and whiskers
    with pytest.raises(OptionError, match="linear"):
        ar.plot.weights(object())


def test_histograms_count_everything(data):
    assert sum(bar.get_height() for bar in ar.plot.histogram(data).patches) == data.n_documents
    assert sum(bar.get_height() for bar in ar.plot.histogram(data, "lengths").patches) == data.n_queries


def test_many_labels_are_shown_in_ranges():
    rng = np.random.default_rng(0)
    data = ar.Dataset(rng.normal(size=(400, 1)), rng.uniform(0, 9, 400), group=[400])
    axes = ar.plot.histogram(data)
    assert sum(bar.get_height() for bar in axes.patches) == 400
    assert len(axes.patches) <= 24


def test_draws_into_given_axes(data):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    assert ar.plot.histogram(data, axes=axes) is axes


def test_without_matplotlib_the_extra_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"argrank\[plot\]"):
        ar.plot.histogram(data)


def test_agreement_shows_the_table_of_counts():
    found = ar.agreement({"q": {"a": 0, "b": 1, "c": 1}}, {"q": {"a": 0, "b": 1, "c": 0}}, names=["expert", "model"])
    axes = ar.plot.agreement(found)
    assert [text.get_text() for text in axes.texts] == ["1", "0", "1", "1"]
    assert np.asarray(axes.images[0].get_array()).tolist() == [[1, 0], [0.5, 0.5]]  # shares of the expert's grade
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("grade of model", "grade of expert")
