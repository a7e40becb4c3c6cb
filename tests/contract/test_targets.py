"""Every registered target keeps what targets promise; a new one joins by being registered."""

from __future__ import annotations

import pytest
from scripts.prove_targets import is_here, prove
from tests.contract.target_checks import CHECKS

from argrank.deploy.exporting import recorded
from argrank.deploy.registry import TARGETS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("to", TARGETS)
def test_every_target(to, check):
    if to == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed: its files were NOT written")
    check(to)


@pytest.mark.parametrize("to", TARGETS)
def test_the_printed_proof_is_what_was_run(to):
    if not is_here(to):
        pytest.skip(f"what loads the files of {to} is not installed: its proof was NOT run again")
    assert recorded().get(to) == prove(to), "run python scripts/prove_targets.py"
