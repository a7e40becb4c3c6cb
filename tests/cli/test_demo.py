from __future__ import annotations

import re
import subprocess
import sys

import pytest

import argrank as ar
from argrank import cli


@pytest.fixture(scope="module")
def output() -> str:
    done = subprocess.run([sys.executable, "-m", "argrank", "demo"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_walks_through_all_steps(output):
    steps = re.findall(r"^(\d)\. ", output, re.MULTILINE)
    assert steps == ["1", "2", "3", "4", "5", "6"]
    assert "300 queries" in output
    assert "Doctor:" in output


def test_its_numbers_are_those_of_evaluate(output):
    data = ar.load_bundled()
    scores = data.X[:, data.feature_names.index("bm25_title")]
    means = ar.evaluate(scores, data, ["ndcg@10", "map", "mrr@10"]).means
    for name, value in means.items():
        assert re.search(rf"^{re.escape(name)} +{value:.4f} ", output, re.MULTILINE)


def test_names_only_commands_that_exist(output):
    named = re.findall(r"^  argrank (\w+)", output, re.MULTILINE)
    assert named
    assert set(named) <= set(cli.COMMANDS)
