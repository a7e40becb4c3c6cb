"""Where rows come from, one chunk at a time: files of every format that `ar.load` reads, and data in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from argrank._files import check_path, is_remote, remote_files
from argrank._once import is_stream
from argrank.data.dataset import Dataset
from argrank.data.io import arrow, delimited
from argrank.data.io.columns.table import Reading
from argrank.data.io.delimited import DELIMITERS
from argrank.data.io.kinds import kind_of
from argrank.data.io.letor.stream import stream_letor
from argrank.data.io.naming import Naming
from argrank.data.io.pack.chunks import BY_ROW, Chunk
from argrank.data.io.pack.loader import load_pack
from argrank.errors import InputError, OptionError

LEFT_OUT = ("comments", "titles", "query_texts")  # texts of any length, for which a pack has no place


class Source(Protocol):
    """What can be packed: rows that can be read more than once, and what is known of them at the end."""

    feature_names: tuple[str, ...] | None
    feature_base: int
    categories: Mapping[str, tuple[str, ...]] | None
    left_out: set[str]

    def chunks(self, n_bytes: int) -> Iterator[Chunk]:
        """Yield all rows, about ``n_bytes`` of features at a time."""

    def ids(self, n_bytes: int) -> Iterator[NDArray[Any]]:
        """Yield the query ids of all rows."""


class MemorySource:
    """A Dataset: its queries are together, and it remembers the caller's rows."""

    def __init__(self, data: Dataset) -> None:
        if data.preferences is not None:
            raise InputError("preferences: a pack has no place for them; give labels instead")
        self._data = data
        self.feature_names, self.feature_base, self.categories = data.feature_names, data.feature_base, data.categories
        self.left_out = {name for name in LEFT_OUT if getattr(data, name) is not None}

    def chunks(self, n_bytes: int) -> Iterator[Chunk]:
        """Yield the stored rows."""
        data = self._data
        size = data.X.data.nbytes + data.X.indices.nbytes if data.is_sparse else data.X.nbytes
        step = max(1, int(n_bytes * data.n_documents / max(1, size)))
        for start in range(0, data.n_documents, step):
            rows = slice(start, min(start + step, data.n_documents))
            query = np.searchsorted(data.indptr, np.arange(rows.start, rows.stop), side="right") - 1
            by_row = {name: getattr(data, name) for name in BY_ROW if name != "query_weight"}
            extras = {name: values[rows] for name, values in by_row.items() if values is not None}
            if data.query_weight is not None:
                extras["query_weight"] = data.query_weight[query]
            y = data.y[rows] if data.is_judged else None
            yield Chunk(data.X[rows], y, data.query_ids[query], extras, None if data.rows is None else data.rows[rows])

    def ids(self, n_bytes: int) -> Iterator[NDArray[Any]]:
        """Yield the query ids of the stored rows."""
        yield self._data.qid


class FileSource:
    """Files, one after the other, with the same features; a query may go on in the next file."""

    def __init__(
        self,
        files: Sequence[tuple[str, str]],
        said: Naming,
        n_features: int | None,
    ) -> None:
        self._files, self._said, self._n_features = files, said, n_features
        self.feature_names: tuple[str, ...] | None = None
        self.feature_base = 1
        self.categories: Mapping[str, tuple[str, ...]] | None = None  # texts are refused
        self.left_out: set[str] = set()
        if {"letor"} < {kind for _, kind in files}:
            raise OptionError("expected LETOR text alone or tables alone, got both; pack one of them")

    def chunks(self, n_bytes: int) -> Iterator[Chunk]:
        """Yield all rows in the order of the files."""
        base = None
        for path, kind in self._files:
            if kind == "letor":
                for data in stream_letor(
                    path, chunk_bytes=n_bytes, sparse="auto", n_features=self._n_features, feature_base=base
                ):
                    base = self.feature_base = data.feature_base
                    self._n_features = self._n_features if data.is_sparse else data.n_features
                    yield self._of_dataset(data)
            else:
                for found in self._table(path, kind, n_bytes, False):
                    names = tuple(found.pop("feature_names"))
                    self.feature_names = self.feature_names or names
                    yield self._of_columns(found)

    def ids(self, n_bytes: int) -> Iterator[NDArray[Any]]:
        """Yield the query ids; of Parquet and Arrow files nothing else is read."""
        if any(kind == "letor" for _, kind in self._files):
            yield from (chunk.qid for chunk in self.chunks(n_bytes))
            return
        for path, kind in self._files:
            yield from (found["qid"] for found in self._table(path, kind, n_bytes, True))

    def _table(self, path: str, kind: str, n_bytes: int, ids_alone: bool) -> Iterator[dict[str, Any]]:
        features = self._said.features if self.feature_names is None else self.feature_names
        reading = Reading(self._said.columns, (), features, where=path)
        if kind in DELIMITERS:
            return delimited.stream(path, DELIMITERS[kind], reading, self._said.written, n_bytes)
        return arrow.stream(path, kind, reading, n_bytes // 8, ids_alone)

    def _of_columns(self, found: Mapping[str, Any]) -> Chunk:
        self.left_out |= {name for name in LEFT_OUT if found.get(name) is not None}
        extras = {name: np.asarray(found[name]) for name in BY_ROW if found.get(name) is not None}
        return Chunk(found["X"], found.get("y"), np.asarray(found["qid"]), extras)

    def _of_dataset(self, data: Dataset) -> Chunk:
        """Return rows of LETOR text in the order of the file."""
        if data.comments is not None and data.document_ids is None:
            self.left_out.add("comments")
        order = data.to_caller(np.arange(data.n_documents)) if data.rows is not None else slice(None)
        extras = {} if data.document_ids is None else {"document_ids": data.document_ids[order]}
        return Chunk(data.X[order], data.y[order], data.qid[order], extras)


def source_of(
    given: Any,
    said: Naming,
    n_features: int | None,
) -> Source:
    """Return the source that something is: a Dataset, or the name of a file or folder, or several names."""
    if isinstance(given, Dataset):
        return MemorySource(given)
    names = list(given) if isinstance(given, list | tuple) else [given]
    if len(names) == 1 and kind_of(names[0]) == "pack":
        return MemorySource(load_pack(names[0]))
    files: list[tuple[str, str]] = []
    for name in names:
        check_path(name)
        files += [(file, _file_kind(file)) for file in _files_of(os.fspath(name))]
    if not files:
        raise InputError("expected at least one file to pack, got none")
    return FileSource(files, said, n_features)


def _file_kind(file: str) -> str:
    kind = kind_of(file)
    if kind in ("qrels", "run", "pack"):
        raise OptionError(f"{file}: expected data with features in a file, got a {kind}")
    return kind


def _files_of(name: str) -> list[str]:
    """Return a file's name, or those of the files in a folder, sorted, without hidden ones."""
    if is_stream(name):
        return [name]
    if is_remote(name):
        found = remote_files(name)
        inside = [] if found is None else found
    elif Path(name).is_dir():
        found = inside = sorted(str(file) for file in Path(name).iterdir() if file.is_file())
    elif not Path(name).exists():
        raise InputError(f"{name}: expected a file, got nothing of that name")
    else:
        found = None
    if found is None:
        return [name]
    kept = [file for file in inside if not file.rsplit("/", 1)[-1].startswith((".", "_"))]
    if not kept:
        raise InputError(f"{name}: expected files in the folder, got none")
    return kept
