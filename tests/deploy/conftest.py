from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argrank as ar
from argrank.data.prepare.normalise import Normaliser
from argrank.models.tree import Tree
from argrank.models.tree_classes import LINKS, TreeClassesModel, outputs_of
from argrank.models.trees import TreesModel

STORED = Path(__file__).parent / "stored"


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Models, rows and the scores that the engines' own code gave."""
    return json.loads((STORED / "export_scores.json").read_text())


@pytest.fixture(scope="session")
def rows(golden):
    return np.array(golden["rows"], np.float64)


@pytest.fixture(scope="session")
def rows_missing(golden):
    return np.array([[np.nan if x is None else x for x in row] for row in golden["rows_missing"]], np.float64)


@pytest.fixture(scope="session")
def cases(golden, tmp_path_factory):
    """Every golden case with its model loaded."""
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for number, case in enumerate(golden["cases"]):
        path = folder / f"{number}.json"
        path.write_text(json.dumps(case["model"]))
        found[case["name"]] = (ar.load_model(path), case)
    return found


def random_tree(random: np.random.Generator, n_features: int, n_leaves: int, thresholds: Any = None) -> Tree:
    """Return a tree with random splits, ways for missing values, and leaves."""
    n = n_leaves - 1
    if n == 0:
        return Tree.constant(float(random.normal()))
    left, right = np.zeros(n, np.int64), np.zeros(n, np.int64)
    open_places = [(0, "left"), (0, "right")]
    for node in range(1, n):
        parent, side = open_places.pop(random.integers(len(open_places)))
        (left if side == "left" else right)[parent] = node
        open_places += [(node, "left"), (node, "right")]
    for leaf, (parent, side) in enumerate(open_places):
        (left if side == "left" else right)[parent] = ~leaf
    chosen = random.normal(size=n) * 10.0 ** random.integers(-3, 4, n) if thresholds is None else thresholds
    return Tree(
        random.integers(0, n_features, n), np.asarray(chosen, np.float64), random.random(n) < 0.5,
        random.choice([0, 2], n), left, right, np.ones(n), random.normal(size=n_leaves),
        np.ones(n_leaves, np.int64), {},
    )  # fmt: skip


@pytest.fixture
def forest() -> TreesModel:
    random = np.random.default_rng(3)
    return TreesModel(tuple(random_tree(random, 5, int(n)) for n in random.integers(1, 12, 20)), 5)


CLASSES = [(link, n_labels, linear) for link in LINKS for n_labels, linear in ((4, False), (1, False), (4, True))]


@pytest.fixture(params=CLASSES, ids=lambda p: f"{p[0]}-{p[1]}{'-linear' * p[2]}")
def classes(request) -> TreeClassesModel:
    """Trees whose sums become probabilities of some labels, of a single one too, and with a linear part."""
    link, n_labels, linear = request.param
    random = np.random.default_rng(7)
    n_sums = outputs_of(n_labels, link)
    trees = tuple(random_tree(random, 5, int(n)) for n in random.integers(1, 9, 4 * n_sums))
    model = TreeClassesModel(
        trees, 5, np.arange(float(n_labels)), np.array([-0.5, 1.0, 3.0, 7.0])[:n_labels], link
    )  # fmt: skip
    if linear:
        return replace(model, weights=random.normal(size=5), slopes=np.sort(random.normal(size=n_sums)))
    return replace(model, normaliser=Normaliser("standard", np.arange(5.0), np.array([1, 2, 0, 3.7, 0.1])))
