"""The policy for model files: a file of one version loads in all later ones, with the same scores.

The files were written by the first version, one for each kind of model, and are never written anew: a new kind
gets a file of its own, and a change that an old file does not survive is a mistake.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank.models import KINDS

STORED = Path(__file__).parent / "stored"
EXPECTED = json.loads((STORED / "expected.json").read_text())


def test_every_kind_has_a_stored_file():
    assert {path.stem for path in STORED.glob("*.json")} - {"expected"} == set(KINDS) == set(EXPECTED["scores"])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_files_of_the_first_version_load_and_score_as_they_did(kind):
    model = ar.load_model(STORED / f"{kind}.json")
    assert model.kind == kind
    if kind == "factors":
        scores = model.predict(["ann", 7, "nobody"], ["b", 3, "a"])
        assert model.recommend("ann", 2) == [item for item in model.recommend("ann", 3, seen=True) if item != "a"][:2]
    else:
        scores = model.predict(np.array(EXPECTED["rows"]))
    assert scores == pytest.approx(np.array(EXPECTED["scores"][kind]), rel=1e-13, abs=1e-13)
