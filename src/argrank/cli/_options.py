"""Options that several commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from argrank._files import split_suffixes, write_bytes
from argrank.errors import OptionError

DEFAULT_MEASURES = ("ndcg@10", "map", "mrr@10")

DATA: Any = typer.Argument(
    ..., metavar="DATA", help="Judged data: LETOR/SVMlight text (.gz .xz .bz2 .zip too), .csv, .parquet, .arrow."
)
MEASURES: Any = typer.Option(
    list(DEFAULT_MEASURES), "--measure", "-m", metavar="NAME", help="Measure; repeat it, or separate with commas."
)
CONVENTION: Any = typer.Option(
    "default", "--convention", metavar="NAME", help="Whose rules for gains, ties and undefined queries: letor3, trec, …"
)
COLUMN: Any = typer.Option(None, "--column", metavar="NAME", help="Column with the scores, if SCORES is a table.")


def measure_names(given: list[str]) -> list[str]:
    """Split at commas, but not those inside parentheses: ``ndcg@10,AP(rel=2, undefined=0)@100`` is two names."""
    names = [name.strip() for text in given for name in re.split(r",(?![^(]*\))", text)]
    if not all(names):
        raise OptionError(f"-m: expected names of measures, got {', '.join(map(repr, given))}")
    return list(dict.fromkeys(names))


def system_files(given: list[str]) -> dict[str, str]:
    """Return file by system name; a file whose own name has an equals sign is taken as it is."""
    files: dict[str, str] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or not name or Path(text).exists():
            path = Path(text)
            name, file = Path(path.stem if split_suffixes(path)[1] else path.name).stem, text
        if name in files:
            raise OptionError(f"{text}: expected systems of different names, got {name!r} twice; say NAME=FILE")
        files[name] = file
    return files


def write_text(text: str, path: Path | None) -> None:
    """Print a text, or write it to a file that appears whole or not at all."""
    if path is None:
        typer.echo(text)
        return
    with write_bytes(path) as stream:
        stream.write(f"{text}\n".encode())
