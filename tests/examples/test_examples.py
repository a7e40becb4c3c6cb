"""The examples run where their package is installed: an objective of argrank drives somebody else's model."""

from __future__ import annotations

import importlib.util
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

import argrank as ar

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name, package):
    if importlib.util.find_spec(package) is None:
        warnings.warn(f"{package} is not installed: examples/{name} was not run", UserWarning, stacklevel=1)
        pytest.skip(f"{package} is not installed, which examples/{name} needs")
    return runpy.run_path(str(EXAMPLES / name))


def parts():
    data = ar.make_ranking(60, 20, 6, truth="nonlinear", noise=0.1, random_state=0)
    return data.split(0.7, 0.3, random_state=0)


def ndcg(scores, data):
    return ar.evaluate(scores, data, "ndcg@10").means["ndcg@10"]


def test_pytorch():
    names = example("torch_orm.py", "torch")
    train, test = parts()
    untrained = names["train"](train, steps=0)
    network = names["train"](train, steps=150, bound="tight", decay="measure")
    assert ndcg(names["predict"](network, test), test) > ndcg(names["predict"](untrained, test), test) + 0.05


@pytest.mark.parametrize("name", ["listnet", "svm-ndcg"])
def test_the_cross_encoder_learns(name):
    found = example("torch_cross_encoder.py", "torch")["main"](name, steps=60)
    assert found["after"] > found["before"] + 0.1


def test_xgboost():
    names = example("xgboost_orm.py", "xgboost")
    train, test = parts()
    booster = names["grow"](train, rounds=60, bound="tight", decay="measure")
    assert ndcg(names["predict"](booster, test), test) > ndcg(np.zeros(test.n_documents), test) + 0.05


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_is_tested_and_told_of(path):
    assert f'"{path.name}"' in Path(__file__).read_text("utf-8")
    page = EXAMPLES.parent / "docs" / "recipes" / "other-models.md"
    assert f"examples/{path.name}" in page.read_text("utf-8")
