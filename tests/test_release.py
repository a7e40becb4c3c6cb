"""What a release changes, its workflows and its recipe; nothing is tagged or built."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from argrank.cli import PACKAGES, versions

ROOT = Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)
PYPROJECT = (ROOT / "pyproject.toml").read_text("utf-8")
UNRELEASED = "## Unreleased: 0.1.0\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("name", release.PAGES)
def test_the_install_lines_become_those_of_a_release(name):
    new = release.released((ROOT / name).read_text("utf-8"))
    assert 'pip install "argrank[all]"' in new
    assert '".[all]"' not in new
    assert not re.search(r"no release\b", new)
    assert release.released(new) == new


@pytest.mark.skipif(not UNRELEASED, reason="0.1.0 is released")
def test_a_release_changes_versions_and_the_changelog():
    new = release.changes("0.1.0", "2030-01-02")
    assert '\n__version__ = "0.1.0"\n' in new["src/argrank/_version.py"]
    assert "\nversion: 0.1.0\n" in new["CITATION.cff"]
    assert "## 0.1.0 (2030-01-02)\n" in new["CHANGELOG.md"]
    assert "Unreleased" not in new["CHANGELOG.md"]


def test_a_release_changes_the_version_of_the_recipe(monkeypatch):
    changelog = "# Changelog\n\n## Unreleased: 7.8.9\n"
    read = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, *rest: changelog if self.stem == "CHANGELOG" else read(self, *rest)
    )
    recipe = release.changes("7.8.9", "2030-01-02")["conda.recipe/meta.yaml"]
    assert recipe.startswith('{% set name = "argrank" %}\n{% set version = "7.8.9" %}\n')


@pytest.mark.parametrize("version", ["", "1", "v0.1.0", "0.1.0.dev0", "9.9.9"])
def test_what_is_no_version_or_has_no_section_ends_it(version):
    with pytest.raises(SystemExit, match=r"VERSION|CHANGELOG"):
        release.changes(version, "2030-01-02")


def test_versions_name_what_matters():
    text = versions()
    assert text.startswith("argrank ")
    assert all(f"{name} " in text for name in PACKAGES)


def test_the_recipe_asks_for_what_pyproject_asks_for():
    block = re.search(r"^dependencies = \[\n(.*?)^\]", PYPROJECT, re.DOTALL | re.MULTILINE)[1]
    wanted = dict(re.findall(r'"([\w-]+)>=([\d.]+)', block))
    run = (ROOT / "conda.recipe" / "meta.yaml").read_text("utf-8").partition("  run:\n")[2].partition("\n\n")[0]
    found = dict(re.findall(r"- ([\w-]+) >=([\d.]+)", run))
    assert found.pop("python") == "3.10"
    assert found == wanted


def test_the_workflows_try_every_python_that_is_claimed_and_run_targets_that_exist():
    claimed = set(re.findall(r"Python :: (3\.\d+)", PYPROJECT))
    flows = {path.name: path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")}
    assert set(flows) == {"docs.yml", "nightly.yml", "release.yml", "test.yml"}
    assert set(re.findall(r'"(3\.\d+)"', re.search(r"python: \[.*\]", flows["test.yml"])[0])) == claimed
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    asked = {one for text in flows.values() for one in re.findall(r"run: make ([\w-]+)", text)}
    asked |= set(re.search(r"target: \[(.*)\]", flows["nightly.yml"])[1].split(", "))
    assert {"check", "test", "docs", "dist", "fuzz", "test-slow", "test-lowest"} <= asked <= targets
