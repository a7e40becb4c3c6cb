"""Write a pack: data from anywhere, converted once, to be read by memory map from then on."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from argrank._declared import Count, checked
from argrank._files import write_folder
from argrank._memory import parse_memory
from argrank._once import reading_once
from argrank._progress import Progress
from argrank.data.dataset import Dataset
from argrank.data.frames import is_frame
from argrank.data.io.letor.format import Options
from argrank.data.io.naming import Naming, told_naming
from argrank.data.io.pack.array_file import write_transposed
from argrank.data.io.pack.bucket_sort import count, sorted_chunks
from argrank.data.io.pack.chunks import Chunk, check_by_query, normalised
from argrank.data.io.pack.contents import DESCRIPTION, Contents
from argrank.data.io.pack.row_readers import Source, source_of
from argrank.data.io.pack.writer import ScatteredQueriesError, Writer

logger = logging.getLogger(__name__)

CHUNK = 1 << 24  # bytes of features that are converted together, at most
LEAST = 1 << 20
BUCKETS = "buckets"  # folder of what is being sorted


@checked
@reading_once()
def pack(
    source: Any,
    path: str | os.PathLike[str],
    *,
    dtype: Any = None,
    columns: Mapping[str, str | None] | None = None,
    features: Sequence[str] | None = None,
    n_features: Count | None = None,
    normalise: str | None = None,
    by_column: bool = False,
    memory: str = "4GB",
    progress: bool = True,
) -> Contents:
    """Write data as a pack: a folder of plain ``.npy`` files that `ar.load` maps into memory, whole or not at all.

    Rows of a query need not be adjacent: where they are not, they are sorted on the disk, which needs room for another
    copy of the data while it lasts. Queries come in order of first appearance, rows of a query in the order of the
    source. Texts of any length (comments, titles, what was searched for) stay behind.

    Parameters
    ----------
    source : path, list of paths, Dataset or data frame
        Files as `ar.load` reads them: LETOR text, CSV, TSV, Parquet, Arrow, one after the other; a folder means all
        files in it; ``s3://``, ``gs://`` and other addresses go through pyarrow. A pack is packed anew.
    path : path
        Name of the folder, by custom with the ending ``.pack``. An older pack of that name is replaced.
    dtype : "float64" or "float32", optional
        Of the features; by default as they are (text: float64).
    columns, features
        Which column means what, as in `ar.load`.
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
    budget = parse_memory(memory, "memory")
    if is_frame(source):
        source = Dataset(source)
    found = source_of(source, Naming(columns or {}, features).over(told_naming()), n_features)
    with write_folder(path, DESCRIPTION) as folder, Progress("packing rows", None, progress) as bar:
        work = _Packing(found, folder, dtype, normalise, budget, bar)
        try:
            contents = work.write(found.chunks(work.step))
        except ScatteredQueriesError:
            contents = work.sort_and_write()
        if by_column:
            contents = write_transposed(folder, contents, work.step)
        (folder / DESCRIPTION).write_bytes(contents.to_json())
    if found.left_out:
        logger.info("%s: without %s", os.fspath(path), ", ".join(sorted(found.left_out)).replace("_", " "))
    return contents


class _Packing:
    """One source on its way into one folder, once as it is and, if need be, once more sorted."""

    def __init__(
        self, source: Source, folder: Path, dtype: Any, normalise: str | None, budget: int, bar: Progress
    ) -> None:
        self._source, self._folder, self._dtype, self._normalise = source, folder, dtype, normalise
        self._budget, self._bar = budget, bar
        self.step = max(LEAST, min(CHUNK, budget // 32))

    def write(self, chunks: Iterator[Chunk]) -> Contents:
        """Write chunks in which queries are together."""
        with contextlib.closing(Writer(self._folder, self._dtype)) as writer:
            for chunk in chunks if self._normalise is None else normalised(chunks, self._normalise):
                writer.append(chunk)
                self._bar.advance(len(chunk.qid), f"{self._bar.done + len(chunk.qid):,.0f}")
                del chunk  # a view of a bucket, which would stay in memory beside the next
            source = self._source
            return writer.finish(source.feature_names, source.feature_base, source.categories, self._normalise)

    def sort_and_write(self) -> Contents:
        """Forget what was written, bring the queries together and write them."""
        for file in self._folder.iterdir():
            file.unlink()
        buckets = self._folder / BUCKETS
        buckets.mkdir()
        places = count(self._source.ids(self.step))
        chunks = sorted_chunks(self._source.chunks(self.step), places, buckets, self._budget // 4, self.step)
        contents = self.write(chunks)
        shutil.rmtree(buckets)
        return contents
