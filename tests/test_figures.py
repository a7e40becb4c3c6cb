"""Pages state no number that their tables do not have: ``experiments/*/claims.toml`` and the pages of experiments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiments._cells import cell, number, short
from experiments._claims import COLOURS, Claim, Verdict, page, read_claims, summary

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {name: ROOT / "experiments" / name for name in ("kdd2008", "orm", "directrank", "logrank")}
#: What must have a source: two and more digits after the point. Settings have one (a weight in [0.1, 0.5]).
DECIMAL = re.compile(r"(?<![\w.,/])\d*\.\d{2,}(?![\w%]|\.\d)")
LEVELS = re.compile(r"p (?:<|at most) \.\d+")
SCRIPT = re.compile(r"python -m ((?:experiments|benchmarks)[. ][\w. ]*\w)")
TABLES = (".csv", ".md")
TOGETHER = re.compile(rf"{DECIMAL.pattern}(?:\s(?:±|/)\s[-+]?{DECIMAL.pattern})*")

pytestmark = pytest.mark.skipif(
    not (FOLDERS["kdd2008"] / "facts.csv").exists(), reason="the tables of the experiments are not in this copy"
)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_claim_states_what_its_tables_have(name):
    folder = FOLDERS[name]
    claims = read_claims(folder)
    assert len({one.claim for one in claims}) == len(claims) > 20
    for one in claims:
        assert "{" not in one.stated(folder)
        assert set(re.findall(r"\{(\w+)\}", one.figure)) == set(one.cells)
        for source in one.sources:
            assert (ROOT / source if source.startswith("tests/") else folder / source).exists(), source
    assert page(folder).count("\n") == len(claims) + 2


def test_generated_data_are_called_so():
    """What is neither a collection at hand nor a proof is generated."""
    real = {"OHSUMED", "MQ2008", "MQ2007-agg", "MSLR-sample", "MovieLens 100k"}
    used = {name for folder in FOLDERS.values() for one in read_claims(folder) for name in one.here}
    assert {name for name in used if not name.endswith(" (generated)")} == real


def test_a_verdict_needs_data_that_can_bear_it():
    facts = {"item": "a", "where": "1", "claim": "c", "figure": "f", "paper": ("Yahoo",), "here": ("MQ2008",)}
    with pytest.raises(ValueError, match="cannot fail on other data"):
        Claim(verdict=Verdict.FAILS, **facts)
    assert Claim(verdict=Verdict.NOT_HERE, **facts).verdict == "does not come out here"
    with pytest.raises(ValueError, match=r"states \.51"):
        Claim(verdict=Verdict.NOT_HERE, **facts | {"figure": "MAP .51"})
    assert set(COLOURS) == set(Verdict)
    assert len(set(COLOURS.values())) == len(Verdict)


def test_a_cell_is_found_once_or_named(tmp_path):
    (tmp_path / "a.csv").write_text("data,C,map\nx,1,0.51234\nx,10,0.6\ny,1,1200\n")
    (tmp_path / "b.md").write_text(
        "# t\n\n## one\n\n| r | v |\n|---|--:|\n| p | **0.5** |\n\n## two\n\n| r | v |\n|---|--:|\n| p | 0.7 |\n"
    )
    assert cell("a.csv | data=x | C=1.0 | map:.3f", tmp_path) == ".512"
    assert cell("a.csv | data=y | map:,.0f", tmp_path) == "1,200"
    assert cell("a.csv | data=x | mean map:.2f", tmp_path) == ".56"
    assert cell("a.csv | data=x | C=1 | rank map", tmp_path) == "3"
    assert cell("b.md#one | r=p | v:.1f", tmp_path) == ".5"
    for wrong in ("a.csv | data=x | map", "a.csv | data=z | map", "a.csv | data=z | mean map", "b.md | r=p | v"):
        with pytest.raises(ValueError, match="rows match"):
            cell(wrong, tmp_path)
    assert short("0.5 ± 0.02, 10.5") == ".5 ± .02, 10.5"
    assert number("**1,200** (1)") == 1200


def test_the_summary_counts_every_claim():
    rows = [[int(cell) for cell in line.split("|")[2:-1]] for line in summary(FOLDERS).splitlines()[2:]]
    *parts, total = rows
    assert len(parts) == len(Verdict)
    assert (
        [sum(column) for column in zip(*parts, strict=True)] == total == [len(read_claims(f)) for f in FOLDERS.values()]
    )


def rows_of(folder: Path, names: list[str]) -> list[list[float]]:
    """Return the numbers of every line of tables, without sign."""
    return [row for name in names for row in numbers((folder / name).read_text("utf-8"))]


def numbers(text: str) -> list[list[float]]:
    """Return the numbers of every line, without sign."""
    found = (re.findall(r"(?<![\w.])\d*\.?\d+(?:e[-+]?\d+)?", line) for line in text.splitlines())
    return [[float(one) for one in line] for line in found]


def has(row: list[float], text: str) -> bool:
    """Tell whether a row has a number that rounds to what a page states."""
    return any(abs(one - float(text)) <= 0.5000001 * 10 ** -len(text.split(".")[1]) for one in row)


def paragraphs(text: str, tables: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield paragraphs with the tables that they name, else those that their part of the page names, else all."""
    for part in re.split(r"\n(?=## )", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        of_part = [one for one in tables if one in part] or tables
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", part):
            yield paragraph, [one for one in tables if one in paragraph] or of_part


def unsourced(text: str, rows: list[list[float]]) -> Iterator[str]:
    """Yield the figures of a text, with a few words before them, that no row of the tables has."""
    for found in TOGETHER.finditer(LEVELS.sub(lambda level: " " * len(level.group()), text)):
        group = DECIMAL.findall(found.group())
        if not any(all(has(row, one) for one in group) for row in rows):
            yield text[max(0, found.start() - 60) : found.end()]


@pytest.mark.parametrize("name", [*FOLDERS, "defaults", "intervals", "judges", "letor"])
def test_prose_states_what_the_tables_that_it_names_have(name):
    """Every decimal is a rounded number of a named table; figures that belong together are of one row of it.

    Together are a difference and its standard error (".012 ± .007") and what slashes join (".72 / .56 / .52"). A lone
    number may be found by chance in a large table: about a third of small slips are not seen.
    """
    folder = ROOT / "experiments" / name
    page = ROOT / "experiments" / "README.md" if name == "letor" else folder / "README.md"
    tables = sorted(path.name for path in folder.iterdir() if path.suffix in (".csv", ".md", ".toml") and path != page)
    whole, marked = page.read_text("utf-8"), re.compile(r"<!-- (\w+) -->(.*?)<!-- end of \1 -->", re.DOTALL)
    made = numbers("".join(table for _, table in marked.findall(whole)))  # compared with its queries below
    wrong, stated = [], 0
    for text, named in paragraphs(marked.sub("", whole), tables):
        stated += len(TOGETHER.findall(text))
        rows = rows_of(folder, [one for one in named if one != "claims.toml"])
        wrong += unsourced(text, rows if any(one in text for one in tables) else rows + made)
    assert not wrong
    assert stated > 20 or name in ("intervals", "judges")


def scripted(text: str) -> Iterator[tuple[str, list[Path] | None]]:
    """Yield paragraphs with the tables of the scripts that they, or the paragraph above a table, name; else None."""
    named: list[Path] | None = None
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?```|% begin: .*?% end", "", text, flags=re.DOTALL)):
        if found := SCRIPT.findall(paragraph):
            places = [ROOT.joinpath(*re.split(r"[. ]", one)) for one in found]
            named = [table for one in places for table in one.parent.glob(f"{one.name}*") if table.suffix in TABLES]
        elif not paragraph.lstrip().startswith("|"):
            named = None
        yield paragraph, named


GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guides_state_what_the_scripts_that_they_name_wrote(path):
    """Speed, which other machines do not repeat, may be without a table; the value of a measure may not."""
    for text, tables in scripted(path.read_text("utf-8")):
        if tables:
            rows = [row for table in tables for row in rows_of(table.parent, [table.name])]
            assert list(unsourced(text, rows)) == []
        elif tables is None and not text.startswith("|"):
            sentences = re.split(r"(?<=[.;:])\s", re.sub(r"`[^`]*`", "", text))
            stated = [one for one in sentences if DECIMAL.search(one) and re.search(r"NDCG|MAP|MRR", one)]
            assert stated == []


def test_a_figure_that_no_table_has_is_found():
    """The tests above see a slip in a page's prose, in its tables and in a difference with its standard error."""
    page = (ROOT / "docs" / "guide" / "models.md").read_text("utf-8")
    (table,) = [tables for text, tables in scripted(page) if text.startswith("| data | ranker")]
    rows = [row for one in table for row in rows_of(one.parent, [one.name])]
    right = "| listnet | +.199 ± .025 |"
    assert right in page
    assert list(unsourced(right, rows)) == []
    for wrong in (right.replace(".199", ".207"), right.replace(".025", ".023"), "gains .9371"):
        assert len(list(unsourced(wrong, rows))) == 1


def test_the_page_of_peers_is_made_of_their_runs():
    from benchmarks.peers.page import page

    lines = (ROOT / "benchmarks" / "peers" / "runs.jsonl").read_text("utf-8").splitlines()
    assert page([json.loads(line) for line in lines]) == (ROOT / "docs" / "guide" / "peers.md").read_text("utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "theory").glob("*.md")), ids=lambda path: path.stem)
def test_theory_leaves_measured_figures_to_the_pages_of_experiments(path):
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
    sentences = re.split(r"(?<=[.;:])\s", text)
    measured = [one for one in sentences if DECIMAL.search(one) and re.search(r"NDCG|MAP|MRR|second|MB", one)]
    assert not measured


def test_the_mistakes_are_counted_as_in_the_tables():
    page = " ".join((ROOT / "docs" / "theory" / "mistakes.md").read_text("utf-8").split())
    facts = FOLDERS["kdd2008"]
    for discount, rest in (("the paper's", "of 3,000 of them"), ("1/log2(2 + rank)", "with the other")):
        least, most = (cell(f"facts.csv | discount={discount} | {one} each alone:.0f", facts) for one in ("min", "max"))
        assert f"in {least} to {most} {rest}" in page
    wrong = cell("algorithm2.csv | kind=whole numbers | wrong", FOLDERS["directrank"])
    assert f"In {wrong} of 1,000 random lists" in page


def test_the_tables_of_defaults_are_made_of_their_queries():
    from experiments.defaults.table import HERE, Queries, Store, table, verdicts

    made = Store(HERE / "table.csv", ("data", "fold", "ranker")), Queries(HERE / "queries.jsonl.gz")
    page = (HERE / "README.md").read_text("utf-8")
    assert verdicts(*made) in page
    assert table(*made) in page
