"""What kind of data a file holds, by its extension."""

from __future__ import annotations

import os
from pathlib import Path

from argrank._files import check_path, split_suffixes
from argrank.data.io.pack.contents import DESCRIPTION
from argrank.errors import check_name

EXTENSIONS = {
    ".arrow": "arrow",
    ".csv": "csv",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".pack": "pack",
    ".parquet": "parquet",
    ".qrel": "qrels",
    ".qrels": "qrels",
    ".run": "run",
    ".tsv": "tsv",
}


def kind_of(path: str | os.PathLike[str], given: str | None = None) -> str:
    """Return the kind of a file: the one given, a pack by its contents, else by the extension, else LETOR text."""
    if given is not None:
        check_name("format", given, {"letor", *EXTENSIONS.values()})
        return given
    check_path(path)
    if (Path(path) / DESCRIPTION).is_file():
        return "pack"
    return EXTENSIONS.get(split_suffixes(path)[0], "letor")
