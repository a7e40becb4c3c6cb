"""What Windows and macOS do differently, as far as it can be tried on one system."""

from __future__ import annotations

import collections
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import argrank as ar

ROOT = Path(__file__).resolve().parent.parent
#: Names that Windows keeps for devices.
RESERVED = {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}

#: A first session: files in and out, a model, a report. No text file may be opened in the system's own encoding, which
#: on Windows is not UTF-8.
SESSION = r"""
import warnings
import argrank as ar
warnings.filterwarnings("error", "'encoding' argument not specified", module=r"argrank\b")
size = "gr\u00f6\u00dfe \u2713"
data = ar.load_bundled().select(range(12))
ar.dump(data, "data.txt")
data.to_pandas().to_csv("data.csv", index=False, encoding="utf-8")
train = ar.load("data.csv")
ranker = ar.make_ranker("rank-svm").fit(train)
ranker.save("model.json")
ar.export(ar.load_model("model.json"), "python", check=train).write("deploy")
ar.write_report("report.html", train, {size: ranker, "b": train.X[:, 0]})
ar.write_judgements({size: {"d": 1}}, "judged.csv", "quepid")
assert ar.read_judgements("judged.csv") == {size: {"d": 1.0}}
ar.write_scores(ranker.predict(train), "scores.txt")
ar.pack("data.csv", "data.pack")
assert ar.load("data.pack").n_queries == 12
"""


def fitted_scores(seed: int) -> np.ndarray:
    """Fit on threads in this process, and predict."""
    data = ar.make_ranking(30, 10, 4, random_state=seed)
    return ar.make_ranker("svm-map", n_jobs=2).fit(data).predict(data)


def test_a_spawned_process_computes_the_same_bits():
    """Windows and macOS start processes anew instead of forking."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.map(fitted_scores, [0, 1])
    for seed, scores in enumerate(there):
        assert np.array_equal(scores, fitted_scores(seed))


def test_every_text_file_is_opened_as_utf_8(tmp_path):
    strict = ("-X", "warn_default_encoding")
    done = subprocess.run([sys.executable, *strict, "-c", SESSION], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")


def test_an_ascii_locale_changes_nothing(tmp_path, monkeypatch):
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run([sys.executable, "-c", SESSION], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")


def test_signals_that_windows_lacks_are_not_needed():
    code = (
        "import signal; del signal.SIGHUP\n"
        "import os; del os.fork\n"
        "import argrank as ar\nfrom argrank import cli\ncli.main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"argrank ")


def names_of(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*")]


def problems(names: list[str]) -> list[str]:
    """Return names that Windows refuses, and those that differ only by upper and lower case."""
    twice = [name for name, number in collections.Counter(name.casefold() for name in names).items() if number > 1]
    parts = {part for name in names for part in name.split("/")}
    bad = [part for part in parts if part.split(".")[0].casefold() in RESERVED or set(part) & set('<>:"|?*\\')]
    return [*twice, *bad, *(part for part in parts if part.endswith((".", " ")))]


def test_names_of_the_project_go_on_every_system():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    if listed == [""]:
        pytest.skip("no git repository here")
    assert problems([name for name in listed if name]) == []
    assert max(len(name) for name in listed) < 150  # Windows allows 260 with the folder


def test_names_of_files_that_are_written_go_on_every_system(tmp_path):
    data = ar.make_ranking(20, 10, 3, random_state=0)
    data = ar.Dataset(data.X, data.y, data.qid, feature_names=["A", "a", "con"])
    ar.dump(data, tmp_path / "data.txt")
    ar.pack(tmp_path / "data.txt", tmp_path / "data.pack")
    ranker = ar.make_ranker("regression").fit(data)
    for target in ("opensearch", "solr", "vespa", "python"):
        ar.export(ranker, target, check=data).write(tmp_path / target)
    assert problems(names_of(tmp_path)) == []


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
@pytest.mark.parametrize(("system", "folder"), [("Linux", "bin"), ("Windows_NT", "Scripts")])
def test_the_makefile_makes_its_environment_where_there_is_none(system, folder, tmp_path):
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    asked = ["make", "--dry-run", "--no-print-directory", f"OS={system}", "PYTHON=python3", "test"]
    clean = os.environ | {"MAKEFLAGS": ""}  # make may have started these tests
    done = subprocess.run(asked, cwd=tmp_path, env=clean, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "python3 -m venv .venv"
    assert lines[-1].startswith(f".venv/{folder}/python -m pytest")


@pytest.mark.parametrize("container", sorted((ROOT / "containers").glob("*.Dockerfile")), ids=lambda path: path.stem)
def test_a_container_copies_what_there_is(container):
    text = container.read_text("utf-8")
    copied = [name for line in text.splitlines() if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)


def test_what_the_slim_container_runs_needs_python_alone(tmp_path):
    data = ar.make_ranking(20, 10, 3, random_state=0)
    ranker = ar.make_ranker("lambda-mart", n_trees=5).fit(data)
    ar.export(ranker, "python", check=data).write(tmp_path)
    code = (
        "import sys; sys.path.insert(0, '.'); import model\n"
        f"print(model.score({data.X[0].tolist()!r}))\n"
        "print([name for name in ('numpy', 'argrank', 'lightgbm') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    score, modules = done.stdout.splitlines()
    assert float(score) == pytest.approx(ranker.predict(data)[0], rel=1e-6)
    assert modules == "[]"
