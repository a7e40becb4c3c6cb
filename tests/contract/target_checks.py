"""What every export target promises, as checks that take any registered name; none knows a target by name.

The models are the stored ones whose scores engines' own code gave, and generated ones: linear with and without
normalisers, trees, stumps, sums of both, and probabilities of labels.
"""

from __future__ import annotations

import functools
import json
from dataclasses import replace

import numpy as np
from scripts.prove_targets import STORED, _model
from tests.deploy.conftest import random_tree
from tests.models.test_symmetric import random_forest

import argrank as ar
from argrank.data.prepare.normalise import Normaliser
from argrank.deploy.exporting import Export, proof_of
from argrank.deploy.options import Options, names_of
from argrank.deploy.plain import plain
from argrank.deploy.registry import TARGETS, writer
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.tree_classes import TreeClassesModel
from argrank.models.trees import TreesModel

N_FEATURES = 5

#: Names of features that end strings, comments, tags and statements in one format or another.
HOSTILE = (
    'a"b', "a'b", "a\\b", "a\nb", "a b", "a,b", "a]b", "a<b", "\u00e9\u4e2d", "*/ /*", "# a", "{{a}}", "${a}",
    "</tree>", "%s{0}", "'; drop table t; --", '"); import os; ("', "a\u2028b", "NaN", "__class__", "null", "\u202ea",
)  # fmt: skip


@functools.cache
def models() -> dict[str, object]:
    """Return the models to try, by name."""
    random = np.random.default_rng(11)
    stored = {case["name"]: _model(case["model"]) for case in json.loads(STORED.read_text())["cases"]}
    shift, scale = random.normal(size=N_FEATURES) * 100, random.random(N_FEATURES) * 10 + 0.1
    far = Normaliser("standard", shift, scale)
    trees = tuple(random_tree(random, N_FEATURES, int(n)) for n in random.integers(1, 12, 20))
    linear = LinearModel(random.normal(size=N_FEATURES))
    return {
        **{f"stored: {name}": model for name, model in stored.items()},
        "linear": linear,
        "linear, normalised": LinearModel(random.normal(size=N_FEATURES), normaliser=far),
        "linear, with zeros": LinearModel(np.array([0.0, 1.5, 0.0, -2.0, 0.0]), normaliser=far),
        "trees": TreesModel(trees, N_FEATURES),
        "trees, normalised": TreesModel(trees, N_FEATURES, normaliser=far),
        "symmetric trees": random_forest(4, n=N_FEATURES),
        "symmetric trees, normalised": replace(random_forest(4, n=N_FEATURES), normaliser=far),
        "symmetric trees and a linear part": SumModel((random_forest(5, n=N_FEATURES), linear), np.array([0.5, 1.0])),
        "one leaf": TreesModel((random_tree(random, N_FEATURES, 1), trees[0]), N_FEATURES),
        "sum": SumModel((TreesModel(trees, N_FEATURES), linear), np.array([1.0, -0.5])),
        "classes": TreeClassesModel(trees[:8], N_FEATURES, np.arange(4.0), np.array([-0.5, 1.0, 3.0, 7.0])),
    }


@functools.cache
def kinds() -> dict[str, str]:
    """Return what a target would have to take, for every model."""
    return {name: plain(model, "zero").kind for name, model in models().items()}


def taken(to: str) -> dict[str, object]:
    """Return the models that a target says it takes."""
    return {name: model for name, model in models().items() if kinds()[name] in TARGETS[to].takes}


def attempt(model, to: str, **options) -> tuple[Export | None, str]:
    """Return an export, or the one line that refuses it."""
    try:
        return ar.export(model, to, **options), ""
    except ar.errors.ArgrankError as error:
        message = str(error)
    assert "\n" not in message, f"{to}: {message}"
    return None, message


def check_parity(to: str) -> None:
    """Scores of the written files are the model's, on rows on and around cuts and on ordinary ones, in every mode."""
    random = np.random.default_rng(5)
    for name, model in taken(to).items():
        X = (random.normal(size=(60, model.n_features)) * 20).astype(np.float32)
        data = ar.Dataset(X, random.integers(0, 3, 60), group=np.full(6, 10))
        sizes = plain(model, "zero").magnitudes(X.astype(np.float64)).max()
        for missing, shift in (("zero", False), ("zero", True), ("as-trained", False)):
            found, message = attempt(model, to, missing=missing, shift=shift, check=data)
            if found is None and missing == "as-trained" and 'missing="zero"' in message:
                continue
            assert found is not None, f"{to}, {name}: {message}"
            assert found.parity.holds, f"{to}, {name}, missing={missing}, shift={shift}: {found.parity}"
            options = Options("argrank", names_of(model.feature_names, None, model.n_features), missing)
            away = writer(to).simulate(found.files, options, X.astype(np.float64)) - model.predict(data)
            assert np.ptp(away) <= 1e-5 * sizes, f"{to}, {name}, missing={missing}: other scores"  # but for a constant
        assert attempt(model, to, missing="zero")[0].files == attempt(model, to, missing="zero")[0].files, (
            f"{to}, {name}: other bytes the second time"
        )


def check_refusals(to: str) -> None:
    """What a target does not take is refused in one line that names it and those that can."""
    assert taken(to), f"{to} takes no model"
    for name, model in models().items():
        if name not in taken(to):
            able = [one for one in TARGETS if name in taken(one)]
            found, message = attempt(model, to)
            assert found is None, f"{to}: expected {name} to be refused"
            assert all(word in message for word in (to, *able)), f"{to}: {message}"
    found, message = attempt(LinearModel(np.ones(2), normaliser=Normaliser("query-minmax")), to)
    assert found is None, f"{to} cannot normalise within queries"
    assert "normalises within queries" in message


def check_notes(to: str) -> None:
    """What is printed are whole sentences, and the last is what was run to prove the target."""
    for model in taken(to).values():
        found, _ = attempt(model, to, missing="zero")
        for note in found.notes:
            assert note == note.strip(), f"{to}: {note!r}"
            assert note.endswith("."), f"{to}: {note!r}"
            assert "\n" not in note, f"{to}: {note!r}"
            assert note in repr(found)
        assert found.notes[-1] == proof_of(to), f"{to}: {found.notes[-1]}"


def check_hostile_names(to: str) -> None:
    """A name that a format cannot hold is refused; with any other the files still give the model's scores.

    Names that cannot be told apart are refused, too, unless the target goes by number.
    """
    alike = [["a", "a", "b", "c", "d"], ["a", " ", "b", "c", "d"]]
    odd = [["first", name, "second", "third", "fourth"] for name in HOSTILE]
    for model in (models()[name] for name in ("linear, normalised", "one leaf") if name in taken(to)):
        for options in [*({"features": names} for names in (*alike, *odd)), *({"name": name} for name in HOSTILE)]:
            found, message = attempt(model, to, missing="zero", **options)
            if found is None:
                assert "expected" in message, f"{to}: {options}: {message}"
                continue
            assert found.parity.holds, f"{to}: {options}: {found.parity}"
            for name, content in found.files.items():
                assert not set(name) & set("/\\\0\n"), f"{to}: a file {name!r}"
                if name.endswith(".json"):
                    json.loads(content)


CHECKS = (check_parity, check_refusals, check_notes, check_hostile_names)
