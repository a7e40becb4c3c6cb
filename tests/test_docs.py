"""The documentation's Python blocks run, page by page; ``make docs`` builds the site with warnings as errors."""

from __future__ import annotations

import csv
import inspect
import os
import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from experiments._claims import COLOURS, read_claims

import argrank as ar
from argrank.cli import COMMANDS
from argrank.measures import MEASURES
from argrank.rankers.registry import RANKERS, ranker_class

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if not {"generated", "gallery"} & set(path.parts))
WITH_CODE = [path for path in PAGES if "```python" in path.read_text("utf-8") and path.parent.name != "how-to"]

GENERATOR = runpy.run_path(str(ROOT / "scripts" / "make_docs.py"))


@pytest.fixture(scope="module")
def few_queries():
    return ar.load_bundled().select(np.arange(60))


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")  # a page may show one
def test_python_blocks_run_and_print_what_the_page_shows(path, tmp_path, monkeypatch, few_queries, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    page = path.read_text("utf-8")
    if "```text" not in page:
        monkeypatch.setattr(ar, "load_bundled", lambda: few_queries)  # the pages run as well on a fifth of the data
    found = re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", page, re.DOTALL)
    assert len(found) == page.count("```python")  # none is left out
    names: dict[str, object] = {}
    for block, shown in found:
        exec(compile(block, str(path), "exec"), names)
        printed = without_digits(capsys.readouterr().out)
        for line in shown.splitlines():
            assert without_digits(line.rstrip("…")) in printed
    assert "ar" in names


def without_digits(text: str) -> str:
    """Return a text whose numbers and blanks do not count: a page shows the form of an output, not its last digits."""
    return re.sub(r"\s+", " ", re.sub(r"[+-]?[\d.,]*\d(e[+-]?\d+)?", "#", text)).strip()


def test_results_include_the_claims_of_every_paper():
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    included = re.findall(r"\{include\} generated/claims/(\w+)\.md", page)
    assert included == ["summary", *(folder.name for folder in GENERATOR["PAPERS"].values())]
    for verdict, colour in COLOURS.items():
        assert f"{{bdg-{colour}}}`{verdict.value}`" in page  # each is explained


def test_results_have_every_claim_of_the_list():
    """The list of claims is not part of the repository: the rows are compared with it where it is at hand."""
    shown = {
        (paper, one.item.lower().replace(".", ""))
        for paper, folder in GENERATOR["PAPERS"].items()
        for one in read_claims(folder)
    }
    assert len(shown) > 30
    data = Path(os.environ.get("ARGRANK_DATA", ROOT.parent / "shared" / "data"))
    claims = data.parent / "published" / "seed_claims.csv"
    if not claims.exists():
        pytest.skip(f"{claims} is absent")
    with claims.open(encoding="utf-8", newline="") as file:
        claimed = {(row["paper"], row["item"].lower()) for row in csv.DictReader(file)}
    assert claimed - shown == set()


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
        page_of = {name: name.replace(" ", "-") for name in names}
        assert set(pages) == {"index", *page_of.values()}
        for name, page in page_of.items():
            assert f"({page}.md)" in pages["index"]
            assert name in pages[page]
    for name in RANKERS:
        described = ranker_class(name).__doc__
        for parameter in ranker_class(name)._get_param_names():
            assert re.search(rf"^[\w, ]*\b{parameter}\b[\w, ]*( : .*)?$", described, re.MULTILINE), (name, parameter)


def test_every_ranker_has_a_page_that_begins_with_when_to_use_it():
    assert set(GENERATOR["when_to_use"]()) == set(RANKERS)
    for name, page in GENERATOR["ranker_pages"]().items():
        if name != "index":
            assert page.index("**When to use it.**") < page.index("```py") < page.index("## Parameters"), name


@pytest.mark.parametrize("name", sorted(set(ar.ranker_names()) - {"auto", "custom"}))
def test_the_example_on_a_page_of_a_ranker_runs(name, capsys):
    code = re.search(r"```python\n(.*?)```", GENERATOR["ranker_page"](name), re.DOTALL)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a first example that warns is a bad one
        exec(compile(code, name, "exec"), {})
    assert re.search(r"^ndcg@10 +[01]\.\d{4}$", capsys.readouterr().out, re.MULTILINE)


def test_every_parameter_of_a_ranker_is_described():
    for name in RANKERS:
        found = described(inspect.getdoc(ranker_class(name)))
        for parameter in ranker_class(name)._get_param_names():
            assert len(found.get(parameter, "")) > 10, (name, parameter)


def described(text: str) -> dict[str, str]:
    """Return what a docstring says of each parameter."""
    section = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    entries = re.findall(r"^(\w[\w, ]*?)(?: : .*)?\n((?:[ ]+.*(?:\n|$))*)", section, re.MULTILINE)
    return {name: words.strip() for names, words in entries for name in names.split(", ")}


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
        pages = GENERATOR["results"](folder)
        page = pages[f"results-{folder.name}"]
        for picture in folder.glob("*.png"):
            assert f"({folder.name}/{picture.name})" in page
        for table in folder.glob("*.md"):
            rows = [line for line in table.read_text("utf-8").splitlines() if line.startswith("|--")]
            own = page if table.name == "README.md" else pages[f"results-{folder.name}-{table.stem}"]
            assert all(row in own for row in rows)


def test_the_table_of_rankers_is_that_of_the_experiment():
    page = ROOT / "docs" / "guide" / "choosing.md"
    (included,) = re.findall(r"\{include\} (\S+)", page.read_text("utf-8"))
    assert (page.parent / included).resolve() == ROOT / "experiments" / "choosing" / "rankers.md"
