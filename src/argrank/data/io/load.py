"""Files of any known format in and out, chosen by the file's extension."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from argrank._declared import Count, FloatType, Jobs, checked
from argrank._files import is_remote
from argrank._once import STDIN, is_stream, reading_once
from argrank.data.dataset import Dataset
from argrank.data.io.dialects import Given
from argrank.data.io.kinds import kind_of
from argrank.data.io.letor.reader import read_letor, write_letor
from argrank.data.io.naming import told_naming
from argrank.data.io.pack.loader import Verify, load_pack
from argrank.data.io.pack.pack import pack
from argrank.data.io.tables import TABLES, read_table, write_table
from argrank.data.io.trec.files import write_qrels
from argrank.errors import InputError, OptionError

READABLE = ("letor", "pack", *TABLES)
WRITABLE = ("letor", "pack", "qrels", *TABLES)


@checked
@reading_once()
def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that users of pandas and polars expect
    columns: Mapping[str, str | None] | None = None,
    features: Sequence[str] | None = None,
    dates: Sequence[str] = (),
    dtype: FloatType | None = None,
    sparse: bool | Literal["auto"] = "auto",
    n_features: Count | None = None,
    feature_base: Literal[0, 1] | None = None,
    n_jobs: Jobs = None,
    progress: bool = True,
    verify: Verify = "lazy",
    sep: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Read judged query–document data from a file.

    The extension tells the format: ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` (also ``.feather``, ``.ipc``);
    everything else is read as LETOR/SVMlight text. ``.gz``, ``.xz``, ``.bz2`` and ``.zip`` after it are decompressed;
    ``-`` is standard input; URLs such as ``s3://bucket/train.parquet`` are read with pyarrow. A pack (`ar.pack`) is a
    folder; it is not read but memory-mapped, and may be larger than memory.

    Parameters
    ----------
    path : path
    format : "letor", "csv", "tsv", "parquet", "arrow" or "pack", optional
        Overrides the extension.
    columns : mapping of column name to meaning, optional
        For tables that name their columns differently: ``{"stars": "label", "ean": "docid"}``; None as meaning
        leaves a column out. The meanings are label, qid, docid, comment, sample_weight, query_weight, source, query
        and title; all other columns, and those with the meaning "feature", are features. If there is no column of that
        name, common alternatives are used and logged: query_id or query for qid, relevance, judgement or grade for
        label, doc_id, docno, product_id or item_id for docid. A feature can be a "number", a "category" or a "date"; a
        text that is not a feature can be an "id" or a "text" to read. By default this is detected from the values, and
        logged.
    features : sequence of str, optional
        The columns of a table that are features, in this order; by default all without a meaning.
    dates : sequence of str, optional
        The columns of a table that are dates; they become features, the number of days before the newest date. A model
        stores that date and uses it for new data.
    dtype : "float64" or "float32", optional
        Of the features. By default float64, or what a Parquet or Arrow file holds.
    sparse : "auto", True or False
        Whether LETOR text becomes a CSR matrix; "auto" decides by how many values are given.
    n_features : int, optional
        Number of features of LETOR text, if the last ones may not occur in the file.
    feature_base : 0 or 1, optional
        Number of the first feature in LETOR text; by default 0 if a feature 0 occurs, else 1.
    n_jobs : int, optional
        Threads that read LETOR text.
    progress : bool
        Whether LETOR text that takes longer than a second shows a progress bar on a terminal.
    verify : "lazy", "open" or "never"
        When a pack is compared with the checksums stored when it was written: every few megabytes on first use ("lazy",
        which costs about as much as reading them once more from memory), all of it now, or never.
    sep, decimal, thousands, encoding : str, optional
        The dialect of delimited text: ``sep=";"``, ``decimal=","``, ``thousands="."``, ``encoding="cp1252"``. By
        default it is detected, and logged.
    """
    if dates:
        columns = {**(columns or {}), **dict.fromkeys(dates, "date")}
    kind = kind_of(path, format)
    if kind not in READABLE:
        raise OptionError(
            f"{os.fspath(path)}: a TREC {kind} file has no features; expected one of the formats {', '.join(READABLE)} "
            "(ar.evaluate and `argrank evaluate` take judgements and runs as they are)"
        )
    if kind == "pack":
        told = (columns, features, dtype, n_features, feature_base, sep, decimal, thousands, encoding)
        if sparse != "auto" or told_naming().says or any(option is not None for option in told):
            raise OptionError(
                f"{os.fspath(path)}: these options do not apply to a pack; give them to ar.pack or argrank pack"
            )
        return load_pack(path, verify)
    if not is_stream(path) and not is_remote(path):
        if Path(path).is_dir():
            raise InputError(f"{os.fspath(path)}: expected a file or a pack, got a folder without pack.json")
        if not Path(path).exists():
            raise InputError(f"{os.fspath(path)}: expected a file, got a name that does not exist")
    if kind in TABLES:
        if sparse != "auto" or n_features is not None or feature_base is not None:
            raise OptionError(
                f"sparse, n_features and feature_base are options of LETOR text, got them for a {kind} file"
            )
        written = Given(sep, decimal, thousands, encoding)
        return read_table(path, kind, columns=columns, features=features, dtype=dtype, written=written)
    if columns or features is not None or told_naming().says:
        raise OptionError("columns and features are options of tables with named columns, got them for LETOR text")
    return read_letor(
        path,
        dtype=dtype or "float64",
        sparse=sparse,
        n_features=n_features,
        feature_base=feature_base,
        n_jobs=n_jobs,
        progress=progress,
    )


@checked
def dump(data: Dataset, path: str | os.PathLike[str], *, format: str | None = None) -> None:  # noqa: A002
    """Write a Dataset to a file, in the format and compression of its extension, atomically.

    ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` (``.feather``, ``.ipc``), ``.pack`` as `load` reads them, ``.qrels``
    the labels as TREC judgements, everything else LETOR/SVMlight text; ``format`` overrides the extension.
    """
    kind = kind_of(path, format)
    if kind not in WRITABLE:
        raise OptionError(f"{os.fspath(path)}: a TREC run needs scores; see argrank.data.io.trec.files.write_run")
    if os.fspath(path) == STDIN:
        raise OptionError("expected the name of a file to write, got '-'")
    if kind == "pack":
        pack(data, path)
    elif data.gains is not None:
        raise InputError(f"{os.fspath(path)}: expected labels, got row gains: only a pack (.pack) holds them")
    elif kind in TABLES:
        write_table(data, path, kind)
    elif kind == "qrels":
        write_qrels(data, path)
    else:
        write_letor(data, path)
