"""The documentation's Python blocks run, page by page; ``make docs`` builds the site with warnings as errors."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank.cli import COMMANDS
from argrank.measures import MEASURES
from argrank.rankers.registry import RANKERS, ranker_class

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"generated", "gallery"} & set(path.parts))
WITH_CODE = [path for path in PAGES if "```python" in path.read_text("utf-8")]

GENERATOR = runpy.run_path(str(ROOT / "scripts" / "make_docs.py"))


@pytest.fixture(scope="module")
def few_queries():
    return ar.load_bundled().select(np.arange(60))


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")  # a page may show one
def test_python_blocks_run(path, tmp_path, monkeypatch, few_queries):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ar, "load_bundled", lambda: few_queries)  # the pages run as well on a fifth of the data
    blocks = re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(path), "exec"), names)
    assert "ar" in names


def test_every_name_has_a_page_with_its_parameters():
    conventions = GENERATOR["conventions"]()
    for name in ar.convention_names():
        assert f"| **{name}** |" in conventions
    for make, names in (
        ("ranker_pages", RANKERS),
        ("measure_pages", MEASURES),
        ("api_pages", set(ar.__all__) - {"__version__"}),
        ("command_pages", COMMANDS),
    ):
        pages = GENERATOR[make]()
        assert set(pages) == {"index", *names}
        for name in names:
            assert f"({name}.md)" in pages["index"]
            assert name in pages[name]
    for name in RANKERS:
        described = ranker_class(name).__doc__
        for parameter in ranker_class(name)._get_param_names():
            assert re.search(rf"^[\w, ]*\b{parameter}\b[\w, ]*( : .*)?$", described, re.MULTILINE), (name, parameter)


def test_a_command_page_shows_every_option():
    page = GENERATOR["command_pages"]()["train"]
    for option in ("`--ranker`", "`--valid`", "`--measure`", "`TRAIN`"):
        assert option in page


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
