"""Write a pack: data from anywhere, converted once, to be read by memory map from then on."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from argrank._declared import Count, FloatType, checked
from argrank._files import write_folder
from argrank._memory import parse_memory
from argrank._once import reading_once
from argrank._progress import Progress
from argrank.data.io.kinds import kind_of
from argrank.data.io.letor.format import Options
from argrank.data.io.naming import Naming, told_naming
from argrank.data.io.pack.array_file import TRANSPOSED, write_transposed
from argrank.data.io.pack.chunks import check_by_query
from argrank.data.io.pack.contents import DESCRIPTION, Contents
from argrank.data.io.pack.loader import Pack
from argrank.data.io.pack.packing import How, write
from argrank.errors import InputError

logger = logging.getLogger(__name__)


@checked
@reading_once()
def pack(
    source: Any,
    path: str | os.PathLike[str],
    *,
    dtype: FloatType | None = None,
    columns: Mapping[str, str | None] | None = None,
    features: Sequence[str] | None = None,
    n_features: Count | None = None,
    normalise: str | None = None,
    by_column: bool = False,
    memory: str = "4GB",
    append: bool = False,
    progress: bool = True,
) -> Contents:
    """Write data as a pack: a folder of plain ``.npy`` files that `ar.load` maps into memory, whole or not at all.

    Rows of a query need not be adjacent: where they are not, they are sorted on the disk, which needs room for another
    copy of the data while it lasts. Queries come in order of first appearance, rows of a query in the order of the
    source. Texts of any length (comments, titles, what was searched for) stay behind.

    Parameters
    ----------
    source : path, Dataset or data frame, or a list of them
        Files as `ar.load` reads them: LETOR text, CSV, TSV, Parquet, Arrow, one after the other; a folder means all
        files in it; ``s3://``, ``gs://`` and other addresses go through pyarrow. Packs are packed anew, alone, several
        of them, or together with files.
    path : path
        Name of the folder, by custom with the ending ``.pack``. An older pack of that name is replaced.
    dtype : "float64" or "float32", optional
        Of the features; by default as they are (text: float64).
    columns, features
        Which column means what, as in `ar.load`; the features of a pack without names are f1, f2, …
    n_features : int, optional
        Number of features of LETOR text, where its beginning may not mention the last ones.
    normalise : "query-minmax", "query-zscore" or "query-sum", optional
        Normalise the features within each query. Rankers with the same ``normalise`` take them as they are; others
        cannot be applied to a pack, as they would need a copy of it. Normalisers over all data need no mention here:
        rankers apply them to a pack without a copy.
    by_column : bool
        Write the features a second time, column by column, for the rankers that read columns.
    memory : str
        What packing may use for data: "500MB", "4GB", "50%". The program itself, about 200 MB, and the ids of the
        queries, 100 bytes each, come on top; a row group of a Parquet file, too, if it is larger than an eighth.
    append : bool
        Add the rows to the pack ``path``, after those that it has: the result is the pack of all sources at once.
        Types, features, normaliser and storage by column are those of the pack. The pack is written anew and
        replaced at the end, whole or not at all; who has the old one open keeps it. A query that goes on
        gets its rows together, for which everything is sorted.
    progress : bool
        Whether to show a progress bar on a terminal.

    Returns
    -------
    contents
        The description that is written to ``pack.json``.

    Examples
    --------
    >>> import tempfile, argrank as ar
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     contents = ar.pack(ar.load_bundled(), f"{folder}/train.pack", dtype="float32")
    ...     ar.load(f"{folder}/train.pack").n_queries
    300
    """
    Options.checked("float64" if dtype is None else dtype, "auto", n_features, None)
    check_by_query(normalise)
    given = list(source) if isinstance(source, list | tuple) else [source]
    before = None
    if append:
        if kind_of(path) != "pack" or not Path(path).exists():
            raise InputError(f"{os.fspath(path)}: expected a pack to append to; argrank pack -o (ar.pack) makes one")
        before, given = Pack(path).contents, [path, *given]
        by_column = by_column or TRANSPOSED in before.arrays
    with write_folder(path, DESCRIPTION) as folder, Progress("packing rows", None, progress) as bar:
        said = Naming(columns or {}, features).over(told_naming())
        how = How(dtype, n_features, normalise, said, parse_memory(memory, "memory"), bar)
        contents, left_out = write(given, folder, how)
        if by_column:
            contents = write_transposed(folder, contents, how.step)
        (folder / DESCRIPTION).write_bytes(contents.to_json())
        if before is not None and Pack(path).contents != before:
            raise InputError(f"{os.fspath(path)}: expected a pack that stays the same meanwhile, got another one")
    if left_out:
        logger.info("%s: without %s", os.fspath(path), ", ".join(sorted(left_out)).replace("_", " "))
    return contents
