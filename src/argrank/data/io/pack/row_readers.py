"""Read rows chunk by chunk from files of every format that `ar.load` reads, and from data in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

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
from argrank.data.io.pack.packed_rows import LEFT_OUT
from argrank.errors import InputError, OptionError


class Source(Protocol):
    """A source that can be packed: rows that can be read more than once, and facts known at the end."""

    feature_names: tuple[str, ...] | None
    feature_base: int
    categories: Mapping[str, tuple[str, ...]] | None
    left_out: set[str]
    normalised: str | None

    def chunks(self, n_bytes: int) -> Iterator[Chunk]:
        """Yield all rows, about ``n_bytes`` of features at a time."""

    def ids(self, n_bytes: int) -> Iterator[NDArray[Any]]:
        """Yield the query ids of all rows."""


class FileSource:
    """Files, one after the other, with the same features; a query may continue in the next file."""

    def __init__(
        self,
        files: Sequence[tuple[str, str]],
        said: Naming,
        n_features: int | None,
        sparse: bool | Literal["auto"] = "auto",
    ) -> None:
        self._files, self._said, self._n_features, self._sparse = files, said, n_features, sparse
        self.feature_names: tuple[str, ...] | None = None
        self.feature_base = 1
        self.categories: Mapping[str, tuple[str, ...]] | None = None  # texts are refused
        self.left_out: set[str] = set()
        self.normalised: str | None = None
        if {"letor"} < {kind for _, kind in files}:
            raise OptionError("expected LETOR text alone or tables alone, got both; pack one of them")

    def chunks(self, n_bytes: int) -> Iterator[Chunk]:
        """Yield all rows in the order of the files."""
        base = None
        for path, kind in self._files:
            if kind == "letor":
                for data in stream_letor(
                    path, chunk_bytes=n_bytes, sparse=self._sparse, n_features=self._n_features, feature_base=base
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
        """Yield the query ids; in Parquet and Arrow files nothing else is read."""
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


def files_of(names: Sequence[str | os.PathLike[str]]) -> list[tuple[str, str]]:
    """Return the files of the given names, and their kinds; a folder means all files in it."""
    files: list[tuple[str, str]] = []
    for name in names:
        check_path(name)
        for file in _files_of(os.fspath(name)):
            kind = kind_of(file)
            if kind in ("qrels", "run", "pack"):
                raise OptionError(f"{file}: expected data with features in a file, got a {kind}")
            files.append((file, kind))
    if not files:
        raise InputError("expected at least one file to pack, got none")
    return files


def _files_of(name: str) -> list[str]:
    """Return a file's name, or those of the files in a folder, sorted, without hidden ones.

    Subfolders called ``column=value``, as written by Spark and Hive, are included; the value in the name is ignored.
    """
    if is_stream(name):
        return [name]
    if is_remote(name):
        found = remote_files(name)
    elif Path(name).is_dir():
        found = sorted(path.as_posix() for path in Path(name).rglob("*") if path.is_file())
    elif not Path(name).exists():
        raise InputError(f"{name}: expected a file, got a name that does not exist")
    else:
        found = None
    if found is None:
        return [name]
    begin = len(name.rstrip("/")) + 1 if is_remote(name) else len(Path(name).as_posix()) + 1
    kept = [file for file in found if _is_part(file[begin:])]
    if not kept:
        raise InputError(f"{name}: expected files in the folder, got none")
    return kept


def _is_part(place: str) -> bool:
    """Tell whether a file in a folder belongs to the data, by its relative path."""
    *folders, file = place.split("/")
    return not file.startswith((".", "_")) and all("=" in folder for folder in folders)
