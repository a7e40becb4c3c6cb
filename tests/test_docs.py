"""The documentation's Python blocks run, page by page, and the site builds without a warning."""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import argrank as ar

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts)
WITH_CODE = [path for path in PAGES if "```python" in path.read_text("utf-8")]

GENERATOR = runpy.run_path(str(ROOT / "scripts" / "make_docs.py"))


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")  # a page may show one
def test_python_blocks_run(path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(path), "exec"), names)
    assert "ar" in names


def test_every_preset_and_ranker_is_documented():
    conventions, rankers = GENERATOR["conventions"](), GENERATOR["rankers"]()
    for name in ar.convention_names():
        assert f"| **{name}** |" in conventions
    for name in ar.ranker_names():
        assert f"| `{name}` |" in rankers


def test_the_reference_has_every_public_name():
    reference = GENERATOR["api"]()
    for name in set(ar.__all__) - {"__version__"}:
        assert f"\n## ar.{name}\n" in reference


def test_recipes_include_the_sources_themselves():
    page = GENERATOR["contributing"]()
    for paths in GENERATOR["RECIPES"].values():
        for path in paths:
            assert (ROOT / path).read_text("utf-8").rstrip() in page


def test_results_show_every_table_and_figure_of_an_experiment():
    for folder in GENERATOR["experiment_folders"]():
        page = GENERATOR["results"](folder)
        for picture in folder.glob("*.png"):
            assert f"({folder.name}/{picture.name})" in page
        for table in folder.glob("*.md"):
            rows = [line for line in table.read_text("utf-8").splitlines() if line.startswith("|--")]
            assert all(row in page for row in rows)


def test_the_table_of_rankers_is_that_of_the_experiment():
    table = (ROOT / "experiments" / "choosing" / "rankers.md").read_text("utf-8")
    assert table in (ROOT / "docs" / "guide" / "choosing.md").read_text("utf-8")


def test_the_site_builds_without_a_warning(tmp_path):
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed; `make docs` builds the site in CI")
    GENERATOR["main"]()
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert (tmp_path / "site" / "generated" / "conventions.html").exists()
