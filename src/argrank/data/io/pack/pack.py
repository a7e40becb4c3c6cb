"""Write a pack: data from any source, converted once and memory-mapped from then on.

Sources are read once as they are and, if need be, once more sorted. If packs and files are mixed, the files are first
converted to packs like the first pack.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from argrank._declared import Count, FloatType, checked
from argrank._files import write_folder
from argrank._memory import parse_memory
from argrank._once import reading_once
from argrank._progress import Progress
from argrank.data.dataset import Dataset
from argrank.data.frames import is_frame
from argrank.data.io.dialects import Given
from argrank.data.io.kinds import kind_of
from argrank.data.io.letor.format import Options
from argrank.data.io.naming import Naming, told_naming
from argrank.data.io.pack.array_file import TRANSPOSED, write_transposed
from argrank.data.io.pack.bucket_sort import count, sorted_chunks
from argrank.data.io.pack.chosen import Chosen
from argrank.data.io.pack.chunks import Chunk, check_by_query, normalised
from argrank.data.io.pack.contents import DESCRIPTION, Contents
from argrank.data.io.pack.loader import Pack, load_pack
from argrank.data.io.pack.row_readers import FileSource, PackedRows, Source, files_of
from argrank.data.io.pack.writer import ScatteredQueriesError, Writer
from argrank.errors import InputError, OptionError

logger = logging.getLogger(__name__)
CHUNK = 1 << 24  # most bytes of features to convert at a time
LEAST = 1 << 20
BUCKETS = "buckets"  # folder for sorting
PARTS = "parts"  # folder for packs made from files, if files and packs are mixed


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
    """Write data as a pack: a folder of plain ``.npy`` files that `ar.load` maps into memory; written atomically.

    Rows of a query need not be adjacent: if they are not, they are sorted on disk, which temporarily needs space for
    another copy of the data. Queries are in order of first appearance, rows of a query in the order of the source. Free
    texts (comments, titles, query texts) are not stored.

    Parameters
    ----------
    source : path, Dataset or data frame, or a list of them
        Files as `ar.load` reads them: LETOR text, CSV, TSV, Parquet, Arrow, one after the other; a folder means all
        files in it; ``s3://``, ``gs://`` and other URLs are read with pyarrow. Packs can be packed again, alone,
        several together, or with files.
    path : path
        Name of the folder, usually ending in ``.pack``. An older pack of that name is replaced.
    dtype : "float64" or "float32", optional
        Of the features; by default as they are (text: float64).
    columns, features
        The meanings of columns, as in `ar.load`; the features of a pack without names are f1, f2, …
    n_features : int, optional
        Number of features of LETOR text, if the last ones may not occur at its beginning.
    normalise : "query-minmax", "query-zscore" or "query-sum", optional
        Normalise the features within each query. Rankers with the same ``normalise`` use them as they are; other
        per-query normalisers cannot be applied to a pack, as they would need a copy of it. Global normalisers are not
        given here: rankers apply them to a pack without a copy.
    by_column : bool
        Write the features a second time, column by column, for the rankers that read columns.
    memory : str
        Memory for data while packing: "500MB", "4GB", "50%". Not included are the program itself (about 200 MB), the
        ids of the queries (100 bytes each), and a row group of a Parquet file that is larger than an eighth of it.
    append : bool
        Add the rows to the existing pack ``path``: the result is the same as packing all sources at once. Types,
        features, normaliser and storage by column are those of the pack. The pack is rewritten and replaced atomically
        at the end; processes that have the old one open can keep using it. If a query continues, everything is sorted
        to bring its rows together.
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
            raise InputError(f"{os.fspath(path)}: expected a pack that does not change meanwhile, got another one")
    if left_out:
        logger.info("%s: without %s", os.fspath(path), ", ".join(sorted(left_out)).replace("_", " "))
    return contents


class How(NamedTuple):
    """Options of `pack`."""

    dtype: Any
    n_features: int | None
    normalise: str | None
    said: Naming
    budget: int  # bytes
    bar: Progress

    @property
    def step(self) -> int:
        """Bytes of features to convert at a time."""
        return max(LEAST, min(CHUNK, self.budget // 32))


def write(given: Sequence[Any], folder: Path, how: How) -> tuple[Contents, set[str]]:
    """Write the arrays of a pack; return its description, and the names of fields that were dropped."""
    given = [Dataset(one) if is_frame(one) else one for one in given]
    of_files = [not isinstance(one, Dataset) and kind_of(one) != "pack" for one in given]
    if all(of_files):
        return _written(FileSource(files_of(given), how.said, how.n_features), folder, how)
    if not any(of_files) and (how.n_features is not None or how.said.written != Given()):
        raise OptionError("n_features, sep, decimal, thousands and encoding are options of text, got them for packs")
    parts = list(_as_packs(given, of_files, folder / PARTS, how))
    found = _written(PackedRows(parts, how.said, strict=not any(of_files)), folder, how)
    shutil.rmtree(folder / PARTS, ignore_errors=True)
    return found


def _as_packs(given: list[Any], of_files: list[bool], folder: Path, how: How) -> Iterator[tuple[str, Dataset]]:
    """Yield Datasets with their names; consecutive files become one pack in the folder."""
    like = _opened(given[of_files.index(False)])
    for is_files, group in itertools.groupby(zip(of_files, given, strict=True), key=lambda pair: pair[0]):
        sources = [one for _, one in group]
        if is_files:
            names = [os.fspath(one) for one in sources]
            yield names[0], _pack_like(like[1], names, folder / str(given.index(sources[0])), how)
        else:
            yield from map(_opened, sources)


def _opened(one: Any) -> tuple[str, Dataset]:
    return ("data", one) if isinstance(one, Dataset) else (os.fspath(one), load_pack(one))


def _pack_like(like: Dataset, names: list[str], folder: Path, how: How) -> Dataset:
    """Pack files with the features, types and normaliser of other data."""
    folder.mkdir(parents=True)
    features = Chosen(like, how.said, "data", strict=False).feature_names
    said = how.said if features is None else Naming(features=features).over(how.said)
    files = files_of(names)
    n_features = how.n_features or (None if like.is_sparse else like.n_features)
    own = how._replace(dtype=how.dtype or like.X.dtype, said=said, normalise=like.normalised)
    contents, _ = _written(FileSource(files, said, n_features, like.is_sparse), folder, own)
    (folder / DESCRIPTION).write_bytes(contents.to_json())
    return load_pack(folder, verify="never")  # it was written just now


def _written(source: Source, folder: Path, how: How) -> tuple[Contents, set[str]]:
    if source.normalised is not None and how.normalise not in (None, source.normalised):
        raise OptionError(
            f"normalise: expected {source.normalised!r}, which the pack was written with, got {how.normalise!r}; "
            f"pack the data again from the original files"
        )
    try:
        return _in_order(source, source.chunks(how.step), folder, how), source.left_out
    except ScatteredQueriesError:
        pass
    for file in folder.iterdir():
        if file.is_file():
            file.unlink()
    buckets = folder / BUCKETS
    buckets.mkdir()
    places = count(source.ids(how.step))
    chunks = sorted_chunks(source.chunks(how.step), places, buckets, how.budget // 4, how.step)
    contents = _in_order(source, chunks, folder, how)
    shutil.rmtree(buckets)
    return contents, source.left_out


def _in_order(source: Source, chunks: Iterator[Chunk], folder: Path, how: How) -> Contents:
    """Write chunks in which the rows of a query are adjacent."""
    by_query = how.normalise if source.normalised is None else None
    with contextlib.closing(Writer(folder, how.dtype)) as writer:
        for chunk in chunks if by_query is None else normalised(chunks, by_query):
            writer.append(chunk)
            how.bar.advance(len(chunk.qid), f"{how.bar.done + len(chunk.qid):,.0f}")
            del chunk  # a view of a bucket, which would stay in memory with the next
        return writer.finish(
            source.feature_names, source.feature_base, source.categories, source.normalised or by_query
        )
