"""Tables that scripts write into pages, between a line that names the script and a line that ends the table."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
END = "% end\n"


def _parts(page: str, script: str) -> tuple[str, str, str]:
    before, begin, rest = (DOCS / page).read_text("utf-8").partition(f"% begin: scripts/{script}.py\n")
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
