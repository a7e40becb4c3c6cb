"""Tables that scripts write into pages, between a line with the script's path and a line that ends the table."""

from __future__ import annotations

import csv
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
END = "% end\n"


def _parts(page: str, script: str) -> tuple[str, str, str]:
    before, begin, rest = (DOCS / page).read_text("utf-8").partition(f"% begin: {script}.py\n")
    table, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{page}: expected lines that begin and end the table of {script}")
    return before + begin, table, end + after


def table_of(page: str, script: str) -> list[str]:
    """Return the lines of a table on a page."""
    return _parts(page, script)[1].splitlines()


def write_table(page: str, script: str, rows: list[str]) -> None:
    """Put a table in the place of the one that is there."""
    before, _, after = _parts(page, script)
    (DOCS / page).write_text(before + "\n".join(rows) + "\n" + after, "utf-8")


def rows_of_page(table: Path) -> list[str]:
    """Return a CSV file as the lines of a table."""
    with table.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
