"""The plots show the rows they are given."""

from __future__ import annotations

import numpy as np
import pytest

from argrank.errors import OptionError
from experiments.logrank import sampler_plots

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def no_window():
    matplotlib.use("agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_accuracy_shows_means_over_seeds():
    rows = [{"n_samples": n, "seed": s, "map": n / 100 + s / 10} for n in (10, 30) for s in (0, 1)]
    axes = sampler_plots.sampling_accuracy(rows, "n_samples", "map")
    line = axes.lines[0]
    assert line.get_xdata().tolist() == [10, 30]
    assert line.get_ydata().tolist() == pytest.approx([0.15, 0.35])
    assert axes.get_xscale() == "log"


def test_names_stand_in_the_order_of_the_rows():
    rows = [{"skew": name, "seed": 0, "map": 0.5} for name in ("worst", "best")]
    axes = sampler_plots.sampling_accuracy(rows, "skew", "map")
    assert [text.get_text() for text in axes.get_xticklabels()] == ["worst", "best"]


def test_smear_shows_shares():
    rows = [{"wanted": 0.0, "losses": np.array([0.05, 0.55])}, {"wanted": 1.0, "losses": np.array([1.0])}]
    axes = sampler_plots.smear(rows, bins=2)
    assert [patch.get_data().values.tolist() for patch in axes.patches] == [[0.5, 0.5], [0.0, 1.0]]


def test_objectives_are_relative_to_the_first():
    rows = [{"iteration": 0, "sampled": 4.0, "exact": 8.0}, {"iteration": 1, "sampled": 2.0, "exact": 6.0}]
    assert [line.get_ydata().tolist() for line in sampler_plots.objective_dynamics(rows).lines] == [[1, 0.5], [1, 0.75]]


def test_scatter_leaves_out_the_first_iteration():
    rows = [{"loss": 0.3, "w_phi": np.array([0.0, -2.0, 4.0])}]
    assert sampler_plots.scores_against_losses(rows).collections[0].get_offsets().tolist() == [[0.3, 3.0]]


def test_resampling_has_a_line_for_each_sample():
    rows = [{"sample": name, "evaluation": n, "shown": 1.0 / (1 + n)} for name in ("fixed", "redrawn") for n in (0, 1)]
    axes = sampler_plots.resampling(rows)
    assert [line.get_label() for line in axes.lines] == ["fixed", "redrawn"]
    assert axes.lines[1].get_ydata().tolist() == [1.0, 0.5]


def test_rows_of_another_kind_are_refused():
    with pytest.raises(OptionError, match="losses"):
        sampler_plots.smear([{"wanted": 0.0}])
    with pytest.raises(OptionError, match="at least one row"):
        sampler_plots.smear([])
