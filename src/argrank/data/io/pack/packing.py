"""Sources on their way into the folder of a pack: once as they are and, if need be, once more sorted.

Where packs and files come together, the files become packs of their own first, of the kind that the first pack is.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from argrank._progress import Progress
from argrank.data.dataset import Dataset
from argrank.data.frames import is_frame
from argrank.data.io.dialects import Given
from argrank.data.io.kinds import kind_of
from argrank.data.io.naming import Naming
from argrank.data.io.pack.bucket_sort import count, sorted_chunks
from argrank.data.io.pack.chosen import Chosen
from argrank.data.io.pack.chunks import Chunk, normalised
from argrank.data.io.pack.contents import DESCRIPTION, Contents
from argrank.data.io.pack.loader import load_pack
from argrank.data.io.pack.packed_rows import PackedRows
from argrank.data.io.pack.row_readers import FileSource, Source, files_of
from argrank.data.io.pack.writer import ScatteredQueriesError, Writer
from argrank.errors import OptionError

CHUNK = 1 << 24  # bytes of features that are converted together, at most
LEAST = 1 << 20
BUCKETS = "buckets"  # folder of what is being sorted
PARTS = "parts"  # folder of the packs that files become, where they come together with packs


class How(NamedTuple):
    """How sources are packed, as the caller of `pack` says it."""

    dtype: Any
    n_features: int | None
    normalise: str | None
    said: Naming
    budget: int  # bytes
    bar: Progress

    @property
    def step(self) -> int:
        """Bytes of features that are converted together."""
        return max(LEAST, min(CHUNK, self.budget // 32))


def write(given: Sequence[Any], folder: Path, how: How) -> tuple[Contents, set[str]]:
    """Write the arrays of a pack; return its description, and what had no place in it."""
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
    """Yield Datasets with their names; files that follow each other become one pack in the folder."""
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
            "pack the data anew from what they came from"
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
    """Write chunks in which queries are together."""
    by_query = how.normalise if source.normalised is None else None
    with contextlib.closing(Writer(folder, how.dtype)) as writer:
        for chunk in chunks if by_query is None else normalised(chunks, by_query):
            writer.append(chunk)
            how.bar.advance(len(chunk.qid), f"{how.bar.done + len(chunk.qid):,.0f}")
            del chunk  # a view of a bucket, which would stay in memory beside the next
        return writer.finish(
            source.feature_names, source.feature_base, source.categories, source.normalised or by_query
        )
