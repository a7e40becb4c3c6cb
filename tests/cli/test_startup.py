"""A short command loads neither pandas nor scipy.stats, and both work for whoever asks for them later."""

from __future__ import annotations

import subprocess
import sys

import argrank as ar

CODE = """
import sys
from argrank import cli
try:
    cli.main(["train", "-r", "rank-svm", "train.txt", "-q"])
except SystemExit as ended:
    assert ended.code == 0, ended.code
print("pandas" in sys.modules, any(name.startswith("scipy.stats.") for name in sys.modules))
import pandas
import scipy.stats
from scipy.stats import norm
import scipy.stats._morestats
print(pandas.DataFrame({"a": [1]}).shape, norm.cdf(0.0), scipy.stats.mode([1, 1, 2]).mode)
"""


def test_training_loads_what_it_needs(tmp_path):
    ar.dump(ar.make_ranking(10, 8, 3, random_state=1), tmp_path / "train.txt")
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["False False", "(1, 1) 0.5 1"]
