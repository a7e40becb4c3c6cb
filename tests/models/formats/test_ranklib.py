from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import FormatError, ModelError
from argrank.models.formats.ranklib import read_ranklib
from argrank.models.linear import LinearModel


def test_reads_what_ranklib_writes(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("## Coordinate Ascent\n## Restart = 5\n## Regularized = false\n1:0.11 3:0.47 2:-0.42\n")
    assert read_ranklib(path).weights.tolist() == [0.11, -0.42, 0.47]
    assert read_ranklib(path, 5).weights.tolist() == [0.11, -0.42, 0.47, 0.0, 0.0]


def test_weights_of_adarank_add_up_and_a_constant_is_left_out(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("## adarank\n## Iteration = 3\n2:0.5 1:0.25 2:0.5\n")
    assert read_ranklib(path).weights.tolist() == [0.25, 1.0]
    path.write_text("## Linear Regression\n## Lambda = 1.0E-10\n0:7.5 1:0.5 2:1.0E-3\n")
    assert read_ranklib(path).weights.tolist() == [0.5, 0.001]


def test_what_is_exported_is_read_to_the_last_bit(tmp_path):
    weights = np.random.default_rng(0).normal(size=7) * 10.0 ** np.arange(-3, 4)
    ar.export(LinearModel(weights), "ranklib").write(tmp_path)
    assert np.array_equal(read_ranklib(tmp_path / "model.txt").weights, weights)
    assert (tmp_path / "model.txt").read_text().startswith("## Coordinate Ascent\n## Restart = ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected"),
        ("## LambdaMART\n", "Coordinate Ascent"),
        ("## AdaRank\n1:x\n", ":2: expected a pair"),
        ("## AdaRank\n1:nan\n", ":2: expected a pair"),
        ("## AdaRank\n99999999999:1\n", ":2: expected a pair"),
        ("## AdaRank\n", "got none"),
    ],
)
def test_mistakes_name_the_place(tmp_path, text, message):
    path = tmp_path / "model.txt"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_ranklib(path)


def test_refuses_more_features_than_there_are(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_text("## AdaRank\n9:1\n")
    with pytest.raises(ModelError, match="at most 3"):
        read_ranklib(path, 3)
