from __future__ import annotations

import html
import re

import pytest

from argrank._tables import FORMATS, Cell, Table, plain, to_html, to_latex, to_markdown, to_text

NASTY = r"a|b`c*_{d}[e]<script>&\%$#~^" + '"\n'


@pytest.fixture
def table() -> Table:
    rows = (
        (Cell("first"), Cell("0.5", best=True, raised="bc"), Cell("10")),
        (Cell(NASTY), Cell("-0.25"), Cell("7")),
    )
    return Table(("name", "value", "n"), rows, 1)


def test_text_is_aligned():
    rows = (
        (Cell("first"), Cell("0.5", best=True, raised="bc"), Cell("10")),
        (Cell("b"), Cell("-0.25"), Cell("7")),
    )
    assert to_text([Table(("name", "value", "n"), rows, 1)], ["a note"]).split("\n") == [
        "name       value   n",
        "first    0.5* bc  10",
        "b      -0.25       7",
        "",
        "a note",
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_no_control_character_survives(table, name):
    text = FORMATS[name]([table], ["note \x1b[31m\u2028"])
    assert "\x1b" not in text
    assert "\u2028" not in text
    assert r"\x1b".replace("\\", {"latex": r"\textbackslash{}", "markdown": r"\\"}.get(name, "\\")) in text


def test_markdown_cells_stay_cells(table):
    lines = to_markdown([table], [NASTY]).split("\n")
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines[:4])
    assert lines[1] == "| --- | --: | --: |"
    assert "**0.5**<sup>bc</sup>" in lines[2]
    assert r"a\|b\`c\*\_\{d\}\[e\]\<script\>\&\\%\$\#\~^" in lines[3]
    assert lines[-1].startswith(r"- a\|b")


def test_latex_specials_are_printed_not_obeyed(table):
    text = to_latex([table], [NASTY])
    row = text.split("\n")[5]
    assert row.startswith(
        r"a\textbar{}b`c*\_\{d\}[e]\textless{}script\textgreater{}\&\textbackslash{}"
        r"\%\$\#\textasciitilde{}\textasciicircum{}''\textbackslash{}n & $-$0.25 & 7 \\"
    )
    assert r"\textbf{0.5}$^{\mathrm{bc}}$" in text
    assert r"\begin{tabular}{lrr}" in text
    body = text[text.index(r"\hline") :]
    assert body.count(r" \\") == 3


def test_a_latex_row_that_begins_with_a_bracket_is_no_argument():
    text = to_latex([Table(("name",), ((Cell("[x]"),), (Cell("*y"),)), 1)], [])
    assert "{}[x] \\\\\n{}*y \\\\\n" in text


def test_html_is_escaped(table):
    text = to_html([table], [NASTY])
    assert "<script>" not in text
    assert html.escape(plain(NASTY)) in text
    assert "<strong>0.5</strong><sup>bc</sup>" in text
    for tag in ("table", "thead", "tbody", "tr", "td", "th", "p"):
        assert len(re.findall(rf"<{tag}[ >]", text)) == text.count(f"</{tag}>")
