"""Tables and notes as plain text, Markdown, LaTeX and HTML, with every outside string escaped for its format."""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from argrank.errors import printable, unknown_name

_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|~&$"})
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "{}$&#_%"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",  # \textquotedbl would need another font encoding
    }
)


@dataclass(frozen=True)
class Cell:
    """The text of a cell, whether it is the best of its column, and superscript letters."""

    text: str
    best: bool = False
    raised: str = ""


@dataclass(frozen=True)
class Table:
    """Cells under a header: the first ``n_names`` columns are names, aligned left, the others are values.

    ``widths``, one per column, wraps long sentences in plain text; the other formats wrap by themselves.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n_names: int
    widths: tuple[int, ...] = ()


def table(
    header: Sequence[str], rows: Iterable[Sequence[object]], n_names: int = 1, widths: tuple[int, ...] = ()
) -> Table:
    """Return a table of cells; anything that is not a Cell is converted to text."""
    cells = tuple(tuple(cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in row) for row in rows)
    return Table(tuple(header), cells, n_names, widths)


def render(format: str, tables: Sequence[Table], notes: Sequence[str] = ()) -> str:  # noqa: A002 (as on the command line)
    """Return tables and notes as "text", "markdown", "latex" or "html"."""
    if format not in FORMATS:
        raise unknown_name("format", format, FORMATS)
    return FORMATS[format](tables, notes)


def heading(format: str, text: str) -> str:  # noqa: A002 (as in render)
    """Return a title in the format of the tables below it."""
    forms = {
        "markdown": f"# {plain(text)}",
        "latex": rf"\section*{{{_latex(text)}}}",
        "html": f"<h1>{_html(text)}</h1>",
    }
    return forms.get(format, plain(text))


def text_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return one table as lines of text, for results that print other text too."""
    return _text_table(table(header, rows)).split("\n")


def measure_text(value: float) -> str:
    """Return the value of a measure with four digits, as is usual; "-" if it is undefined."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def number_text(value: Any, digits: int = 4) -> str:
    """Return a number in few digits, and anything else as it prints."""
    is_number = not isinstance(value, str | bool) and hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0
    return f"{float(value):.{digits}g}" if is_number else str(value)


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as ``C=0.1, loss=squared``; "-" where there are none."""
    return ", ".join(f"{name}={number_text(value)}" for name, value in parameters.items()) or "-"


def plain(text: str) -> str:
    """Return a text on one line, with line breaks and what `printable` escapes shown as Python escapes."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def to_text(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Return aligned columns: ``*`` behind the best, raised letters after a blank."""
    return "\n\n".join([*map(_text_table, tables), *(["\n".join(map(plain, notes))] if notes else [])])


def _text_table(table: Table) -> str:
    if table.widths:
        return _wrapped_table(table)
    columns = []
    for position, name in enumerate(table.header):
        cells = [row[position] for row in table.rows]
        marks = [("*" if cell.best else " ") + f" {cell.raised}".rstrip() for cell in cells]
        hang = max((len(mark.rstrip()) for mark in marks), default=0)
        texts = [
            plain(name),
            *(plain(cell.text) + mark[:hang].ljust(hang) for cell, mark in zip(cells, marks, strict=True)),
        ]
        width = max(map(len, texts))
        columns.append([text.ljust(width) if position < table.n_names else text.rjust(width) for text in texts])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _wrapped_table(table: Table) -> str:
    lines = []
    rules = ["-" * width for width in table.widths]
    for texts in (table.header, rules, *([plain(cell.text) for cell in row] for row in table.rows)):
        columns = [textwrap.wrap(text, width) for text, width in zip(texts, table.widths, strict=True)]
        for line in zip_longest(*columns, fillvalue=""):
            padded = (text.ljust(width) for text, width in zip(line, table.widths, strict=True))
            lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def to_markdown(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Return GitHub's tables: the best in bold, raised letters as superscripts."""
    parts = []
    for table in tables:
        rule = ["---" if position < table.n_names else "--:" for position in range(len(table.header))]
        lines = [[_markdown(name) for name in table.header], rule]
        lines += [[_markdown_cell(cell) for cell in row] for row in table.rows]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join([*parts, *(["\n".join(f"- {_markdown(note)}" for note in notes)] if notes else [])])


def _markdown(text: str) -> str:
    return plain(text).translate(_MARKDOWN)


def _markdown_cell(cell: Cell) -> str:
    text = f"**{_markdown(cell.text)}**" if cell.best else _markdown(cell.text)
    return text + (f"<sup>{cell.raised}</sup>" if cell.raised else "")


def to_latex(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Return tabulars that need no package: the best in bold, raised letters as superscripts."""
    parts = []
    for table in tables:
        alignment = "l" * table.n_names + "r" * (len(table.header) - table.n_names)
        lines = [" & ".join(map(_latex, table.header)) + r" \\", r"\hline"]
        for row in table.rows:
            line = " & ".join(_latex_cell(cell, position < table.n_names) for position, cell in enumerate(row))
            # after a double backslash LaTeX would take a bracket or star as its argument
            lines.append(f"{'{}' if line.startswith(('[', '*')) else ''}{line} \\\\")
        body = "\n".join([r"\hline", *lines, r"\hline"])
        parts.append(f"\\begin{{tabular}}{{{alignment}}}\n{body}\n\\end{{tabular}}")
    return "\n\n".join([*parts, *(["\n".join(rf"{_latex(note)}\par" for note in notes)] if notes else [])])


def _latex(text: str) -> str:
    return plain(text).translate(_LATEX)


def _latex_cell(cell: Cell, is_name: bool) -> str:
    text = _latex(cell.text)
    if not is_name:
        text = re.sub(r"-(?=\d)", "$-$", text)  # a minus sign, not a hyphen
    text = rf"\textbf{{{text}}}" if cell.best else text
    return text + (rf"$^{{\mathrm{{{cell.raised}}}}}$" if cell.raised else "")


def to_html(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Return plain tables for a notebook or a page: the best in bold, raised letters as superscripts."""
    parts = []
    for table in tables:
        head = "".join(f"<th>{_html(name)}</th>" for name in table.header)
        body = "".join(
            f"<tr>{''.join(_html_cell(cell, position < table.n_names) for position, cell in enumerate(row))}</tr>\n"
            for row in table.rows
        )
        parts.append(f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>")
    return "\n".join([*parts, *(f"<p>{_html(note)}</p>" for note in notes)])


def _html(text: str) -> str:
    return html.escape(plain(text))


def _html_cell(cell: Cell, is_name: bool) -> str:
    text = f"<strong>{_html(cell.text)}</strong>" if cell.best else _html(cell.text)
    raised = f"<sup>{cell.raised}</sup>" if cell.raised else ""
    return f'<td style="text-align:{"left" if is_name else "right"}">{text}{raised}</td>'


FORMATS = {"html": to_html, "latex": to_latex, "markdown": to_markdown, "text": to_text}


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number:,} {one if number == 1 else many}"


def facts_html(name: str, facts: Sequence[tuple[str, str]]) -> str:
    """Return facts about an object, as pairs of name and text, as HTML for a notebook."""
    rows = "".join(f"<tr><th>{_html(word)}</th><td>{_html(text)}</td></tr>" for word, text in facts)
    return f"<table><caption>argrank {name}</caption>{rows}</table>"
