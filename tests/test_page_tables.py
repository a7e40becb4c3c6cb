"""Tables that scripts wrote into pages are what the scripts write now."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import linesearch_growth, own
from experiments.defaults import _common, decay, near, scoring
from scripts import category_sizes, compare_fusions
from scripts.page_tables import rows_of_page, table_of

import argrank as ar

ROOT = Path(__file__).resolve().parent.parent


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_what_a_text_column_costs_in_every_target():
    """Sizes within 5 %: another LightGBM may grow other trees."""
    pytest.importorskip("onnx", reason="onnx is not installed: its files were NOT written")
    page = table_of(category_sizes.PAGE, category_sizes.SCRIPT)
    found = {row[0]: row for row in map(cells, category_sizes.table())}
    assert len(page) == len(found) == 12
    for target, without, with_texts, largest, reordered in map(cells, page[2:]):
        own = found[target]
        assert [float(own[1]), float(own[2])] == pytest.approx([float(without), float(with_texts)], rel=0.05)
        assert (own[4], reordered) == ("0", "0")
        assert float(own[3]) <= 2 * float(largest)


@pytest.mark.slow
def test_what_fusing_is_worth():
    """All but the last column, which is time."""
    page = table_of(compare_fusions.PAGE, compare_fusions.SCRIPT)
    assert [cells(row)[:-1] for row in compare_fusions.table()] == [cells(row)[:-1] for row in page]


CLICKS = ("agreement", "days", "learning_peers", "learning_summary", "preferences", "recovery", "value")


@pytest.mark.parametrize("name", [*(f"experiments/clicks/{name}" for name in CLICKS), "benchmarks/clicks"])
def test_the_guide_on_clicks_has_the_tables_of_its_experiments(name):
    page = (ROOT / "docs" / "guide" / "clicks.md").read_text("utf-8").splitlines()
    written = (ROOT / f"{name}.md").read_text("utf-8").splitlines()
    rows = [line for line in written if line.startswith("|")]
    assert len(rows) > 5
    assert [row for row in rows if row not in page] == []


@pytest.mark.parametrize("benchmark", [own, linesearch_growth], ids=["own", "linesearch_growth"])
def test_tables_of_benchmarks_are_on_their_pages(benchmark):
    rows = rows_of_page(benchmark.TABLE)
    assert len(rows) > 5
    assert table_of(benchmark.PAGE, benchmark.SCRIPT) == rows


@pytest.mark.parametrize("script", [decay, near, scoring], ids=["decay", "near", "scoring"])
def test_tables_of_defaults_are_made_of_their_rows(script):
    name = script.__name__.rpartition(".")[2]
    rows = _common.Store(script.HERE / f"{name}.csv", ("data",))
    assert (script.HERE / f"{name}.md").read_text("utf-8") == script.table(rows)


def test_the_default_decay_is_no_worse_on_validation_parts():
    """On the mean over sets, at its default C, and cheaper."""
    rows = (decay.HERE / "decay.md").read_text("utf-8").splitlines()
    ranker = ar.make_ranker("orm")
    (mean,) = [cells(row) for row in rows if row.startswith(f"| {ranker.C:g} | **mean")]
    sqrt, measure, _, sqrt_seconds, seconds = mean[3:]
    assert (ranker.decay, float(measure) >= float(sqrt), float(seconds) < float(sqrt_seconds)) == (
        "measure",
        True,
        True,
    )


@pytest.mark.parametrize(("name", "table"), [("auto", "symmetric/efforts.md"), ("models", "compress/table.md")])
def test_guides_have_the_means_of_an_experiment(name, table):
    page = (ROOT / "docs" / "guide" / f"{name}.md").read_text("utf-8")
    last = (ROOT / "experiments" / table).read_text("utf-8").split("\n\n")[-1]
    assert last.count("\n") >= 4
    assert last in page
