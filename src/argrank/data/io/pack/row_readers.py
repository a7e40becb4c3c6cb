"""Read rows chunk by chunk: from files of every format that `ar.load` reads, from packs, and from data in memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from argrank._files import check_path, is_remote, remote_files
from argrank._once import is_stream
from argrank.data.categories import align, union
from argrank.data.dataset import Dataset
from argrank.data.io import arrow, delimited
from argrank.data.io.columns.table import Reading
from argrank.data.io.delimited import DELIMITERS
from argrank.data.io.kinds import kind_of
from argrank.data.io.letor.stream import stream_letor
from argrank.data.io.naming import Naming
from argrank.data.io.pack.chosen import Chosen
from argrank.data.io.pack.chunks import BY_ROW, Chunk
from argrank.data.mapped import size_of
from argrank.errors import InputError, OptionError

LEFT_OUT = ("comments", "titles", "query_texts")  # free texts, which a pack cannot hold


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


class PackedRows:
    """Packs and Datasets as a source of rows.

    Features are matched by name, in the order of the first part; categories are the union of all parts. Row numbers
    continue from part to part.
    """

    def __init__(self, parts: Sequence[tuple[str, Dataset]], said: Naming, strict: bool = True) -> None:
        self._parts = [data for _, data in parts]
        for where, data in parts:
            if data.preferences is not None:
                raise InputError(f"{where}: preferences: a pack cannot hold them; give labels instead")
            if data.dates:
                raise InputError(
                    f"{where}: {next(iter(data.dates))!r}: a pack cannot hold reference dates; replace dates by "
                    f"numbers of days"
                )
        self._chosen = [Chosen(data, said, where, strict) for where, data in parts]
        first = self._chosen[0]
        self.feature_names, self.feature_base = first.feature_names, self._parts[0].feature_base
        for (where, _), other in zip(parts, self._chosen, strict=True):
            names = [None if one.feature_names is None else set(one.feature_names) for one in (first, other)]
            if names[0] != names[1]:
                raise InputError(f"{where}: expected the features of {parts[0][0]}, {_differ(first, other)}")
        texts = {frozenset(one.categories or ()) for one in self._chosen}
        if len(texts) > 1:
            raise InputError(f"{parts[0][0]}: expected the same features to be texts in every part, got different ones")
        self.categories: Mapping[str, tuple[str, ...]] | None = union(one.categories for one in self._chosen) or None
        self.normalised = self._parts[0].normalised
        if any(part.normalised != self.normalised for part in self._parts):
            raise InputError("expected parts that are all normalised in the same way, or none of them, got others")
        if self.normalised is not None:
            self._refuse_continued()
        self.left_out = {name for name in LEFT_OUT for part in self._parts if getattr(part, name) is not None}

    def chunks(self, n_bytes: int) -> Iterator[Chunk]:
        """Yield the stored rows."""
        first, has_rows = 0, any(data.rows is not None for data in self._parts)
        for data, chosen in zip(self._parts, self._chosen, strict=True):
            for chunk in _chunks(data, n_bytes):
                taken, rows = chosen.of(chunk), chunk.rows
                X = align(taken.X, chosen.feature_names, chosen.categories, self.feature_names, self.categories)
                yield taken._replace(X=X, rows=rows + first if has_rows and rows is not None else None)
            first += data.n_documents

    def ids(self, n_bytes: int) -> Iterator[NDArray[Any]]:
        """Yield the query ids of the stored rows."""
        yield from (chunk.qid for chunk in self.chunks(n_bytes))

    def _refuse_continued(self) -> None:
        """Raise if a query has rows in two parts that were normalised separately."""
        seen: set[str] = set()
        for data in self._parts:
            own = set(map(str, data.query_ids.tolist()))
            if not seen.isdisjoint(own):
                raise InputError(
                    f"expected queries that are each in one part, since parts were normalised separately, got query "
                    f"{min(seen & own)} in two; pack all of the data again from the original files"
                )
            seen |= own


def _chunks(data: Dataset, n_bytes: int) -> Iterator[Chunk]:
    """Yield the stored rows of a Dataset with the numbers of the caller's rows."""
    by_row = {name: getattr(data, name) for name in BY_ROW if name != "query_weight"}
    step = max(1, int(n_bytes * data.n_documents / max(1, size_of(data.X))))
    for start in range(0, data.n_documents, step):
        rows = slice(start, min(start + step, data.n_documents))
        query = np.searchsorted(data.indptr, np.arange(rows.start, rows.stop), side="right") - 1
        extras = {name: values[rows] for name, values in by_row.items() if values is not None}
        if data.query_weight is not None:
            extras["query_weight"] = data.query_weight[query]
        y = data.y[rows] if data.is_judged else None
        number = np.arange(rows.start, rows.stop) if data.rows is None else data.rows[rows]
        yield Chunk(data.X[rows], y, data.query_ids[query], extras, number)


def _differ(first: Chosen, other: Chosen) -> str:
    """Describe how the features of two parts differ."""
    mine, theirs = first.feature_names, other.feature_names
    if mine is None or theirs is None:
        return f"which have {'no ' if mine is None else ''}names, got features with{'out' if theirs is None else ''}"
    lacking, more = [name for name in mine if name not in theirs], [name for name in theirs if name not in mine]
    parts = [f"without {', '.join(lacking)[:100]}"] if lacking else []
    parts += [f"with {', '.join(more)[:100]} besides"] if more else []
    return f"got features {' and '.join(parts)}"
