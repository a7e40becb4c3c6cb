"""A short command loads neither pandas nor scipy.stats, and both work for whoever asks for them later."""

from __future__ import annotations

import subprocess
import sys

import pytest

import argrank as ar

CODE = """
import sys
from argrank import cli
try:
    cli.main(["train", "-r", sys.argv[1], "train.txt", "-q"])
except SystemExit as ended:
    assert ended.code == 0, ended.code
print("pandas" in sys.modules, any(name.startswith("scipy.stats.") for name in sys.modules))
import pandas
import scipy.stats
from scipy.stats import norm
import scipy.stats._morestats
from sklearn.model_selection import GroupKFold
print(pandas.DataFrame({"a": [1]}).shape, norm.cdf(0.0), scipy.stats.mode([1, 1, 2]).mode)
"""


@pytest.mark.parametrize("ranker", ["rank-svm", "lambda-mart"])
def test_training_loads_what_it_needs(ranker, tmp_path):
    ar.dump(ar.make_ranking(10, 8, 3, random_state=1), tmp_path / "train.txt")
    command = [sys.executable, "-c", CODE, ranker]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["False False", "(1, 1) 0.5 1"]


PLAIN = """
import sys
import argrank as ar
data = ar.make_ranking(5, 8, 3, random_state=1)
ar.evaluate(data.X[:, 0], data, "ndcg@10")
print([name for name in ("scipy.stats", "scipy.optimize", "pandas", "pyarrow", "lightgbm") if name in sys.modules])
"""


def test_evaluation_loads_nothing_that_it_does_not_need():
    done = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
