"""Judgements and runs in every form that tools produce, as ``Qrels`` and ``Run``.

Files of TREC, tables with named columns (CSV, TSV, Parquet, Arrow), ``{qid: {docid: number}}`` as in pytrec_eval, data
frames of ir_measures and PyTerrier, records with ``query_id`` and ``doc_id``, and the ``Qrels`` and ``Run`` of ranx.
None of these packages is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from argrank._files import open_bytes, split_suffixes
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.frames import eager_frame, is_frame
from argrank.data.grouping import objects
from argrank.data.io.arrow import read_columns
from argrank.data.io.delimited import DELIMITERS, header_of, texts_of
from argrank.data.io.kinds import EXTENSIONS, kind_of
from argrank.data.io.load import load
from argrank.data.io.tables import TABLES
from argrank.data.io.text import text_lines
from argrank.data.io.trec.files import Qrels, Run, dataset_names, document_names, read_qrels, read_run
from argrank.errors import FormatError, InputError, shown

#: Recognised names of columns; the first that occurs is used.
QUERY = ("qid", "query_id", "q_id", "topic")
DOCUMENT = ("docno", "doc_id", "docid", "document_id")
RELEVANCE = ("relevance", "rel", "label", "grade", "judgement", "rating")
SCORE = ("score", "sim")

QRELS_FIELDS, RUN_FIELDS = 4, 6
SCORE_FIELDS = (1, 3)  # of a score for each row, alone or as RankLib writes it

Kind = TypeVar("Kind", Qrels, Run)


def as_qrels(source: Any) -> Qrels:
    """Return judgements from any of the forms above, or from a judged Dataset (its labels and document ids)."""
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Dataset):
        return _of_dataset(source)
    if isinstance(source, str | os.PathLike):
        if is_table(source):
            return _read(Qrels, table_columns(source), RELEVANCE, os.fspath(source))
        return read_qrels(source) if is_qrels_file(source) else _of_dataset(load(source))
    return _read(Qrels, _columns(source, "qrels"), RELEVANCE, "qrels")


def as_run(source: Any) -> Run:
    """Return a run from any of the forms above."""
    if isinstance(source, Run):
        return source
    if isinstance(source, str | os.PathLike):
        return _read(Run, table_columns(source), SCORE, os.fspath(source)) if is_table(source) else read_run(source)
    return _read(Run, _columns(source, "run"), SCORE, "run")


def is_run(source: Any) -> bool:
    """Tell whether an object is a run: scores by query and document, not one score for each row."""
    if isinstance(source, Run):
        return True
    if isinstance(source, str | os.PathLike):
        return is_run_file(source)
    if isinstance(source, Mapping):
        return _is_nested(source)
    if is_frame(source):
        names = eager_frame(source).columns
        return _found(QUERY, names) is not None and _found(DOCUMENT, names) is not None
    return _is_ranx(source) or _are_records(source)


def is_qrels_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file holds TREC judgements, by its name or its first line of four words without a colon."""
    suffix = split_suffixes(path)[0]
    if suffix in (".qrels", ".qrel"):
        return True
    words = [] if suffix in EXTENSIONS else _first_words(path)
    return len(words) == QRELS_FIELDS and not any(":" in word for word in (words[1], words[3]))


def is_run_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file holds a run: a TREC run, or a table with columns for query, document and score.

    A file of the name of a run that is neither a run nor one score per row is a damaged run, which its reader reports.
    """
    if is_table(path):
        return _has_columns(path, QUERY, DOCUMENT, SCORE)
    words = _first_words(path)
    if split_suffixes(path)[0] == ".run":
        return len(words) not in SCORE_FIELDS
    return len(words) == RUN_FIELDS and ":" not in words[1]


def is_qrels_table(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a table with columns for query, document and relevance; it may have others."""
    return is_table(path) and _has_columns(path, QUERY, DOCUMENT, RELEVANCE)


def is_table(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file's name is that of a table with named columns."""
    return _table_kind(path) is not None


def run_name(source: Any, number: int) -> str:
    """Return the name of a run: of its file, its tag, its name in ranx, else run1, run2, …."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return Path(path.stem if split_suffixes(path)[1] else path.name).stem
    own = getattr(source, "tag", None) or getattr(source, "name", None)
    return own if isinstance(own, str) and own else f"run{number}"


def _has_columns(path: str | os.PathLike[str], *wanted: tuple[str, ...]) -> bool:
    kind = _table_kind(path)
    if kind in DELIMITERS:
        names = header_of(path, DELIMITERS[kind])
    else:
        names = list(read_columns(path, str(kind)).column_names)
    return all(_found(one, names) is not None for one in wanted)


def _first_words(path: str | os.PathLike[str]) -> list[str]:
    if kind_of(path) == "pack":
        return []
    with open_bytes(path) as stream:
        try:
            return next((words for words in map(str.split, text_lines(stream, path)) if words), [])
        except FormatError:  # not text: the reader reports it
            return []


def _table_kind(path: str | os.PathLike[str]) -> str | None:
    kind = EXTENSIONS.get(split_suffixes(path)[0])
    return kind if kind in TABLES else None


# ---- columns ------------------------------------------------------------------------------------------------------


def _read(kind: type[Kind], columns: Mapping[str, Sequence[Any]], wanted: tuple[str, ...], where: str) -> Kind:
    """Return judgements, or a run, with the numbers of a wanted column."""
    qid, docno = _ids(columns, QUERY, where), _ids(columns, DOCUMENT, where)
    values = _numbers(columns, wanted, where)
    _check_once(qid, docno, where)
    return kind(qid, docno, values)


def _columns(source: Any, what: str) -> Mapping[str, Sequence[Any]]:
    if _is_ranx(source):
        source = source.to_dict()
    if isinstance(source, Mapping):
        return _of_mapping(source, what)
    if is_frame(source):
        table = eager_frame(source)
        return {name: table.get_column(name).to_list() for name in table.columns}
    if isinstance(source, Iterable) and not isinstance(source, np.ndarray | str | bytes):
        return _of_records(list(source), what)
    raise InputError(f"{what}: expected a file, a dict, a data frame or a ranx object, got {type(source).__name__}")


def _of_mapping(source: Mapping[Any, Any], what: str) -> Mapping[str, Sequence[Any]]:
    if not source:
        raise InputError(f"{what}: expected at least one query, got an empty dict")
    qid: list[Any] = []
    docno: list[Any] = []
    values: list[Any] = []
    for query, documents in source.items():
        if not isinstance(documents, Mapping):
            raise InputError(f"{what}: expected {{qid: {{docid: number}}}}, got {shown(documents)} for {shown(query)}")
        qid += [query] * len(documents)
        docno += documents.keys()
        values += documents.values()
    return {QUERY[0]: qid, DOCUMENT[0]: docno, RELEVANCE[0]: values, SCORE[0]: values}


def _of_records(records: list[Any], what: str) -> Mapping[str, Sequence[Any]]:
    if not _are_records(records):
        got = shown(records[0]) if records else "nothing"
        raise InputError(f"{what}: expected records with query_id and doc_id, got {got}")
    names = [name for name in (*QUERY, *DOCUMENT, *RELEVANCE, *SCORE) if hasattr(records[0], name)]
    return {name: [getattr(record, name) for record in records] for name in names}


def table_columns(path: str | os.PathLike[str]) -> Mapping[str, Sequence[Any]]:
    """Return the columns of a table (.csv, .tsv, .parquet, .arrow) by their names; cells of text files are texts."""
    kind = _table_kind(path)
    if kind is None:
        raise FormatError(path, None, "a table (.csv .tsv .parquet .arrow)", f"a file called {Path(path).name!r}")
    return texts_of(path, DELIMITERS[kind]) if kind in DELIMITERS else dict(read_columns(path, kind).to_pydict())


def numbers_by_query(path: str | os.PathLike[str], name: str) -> dict[str, float]:
    """Read a table with the columns qid and another one, of numbers."""
    columns, where = table_columns(path), os.fspath(path)
    return dict(zip(map(str, _ids(columns, QUERY, where)), _numbers(columns, (name,), where).tolist(), strict=True))


def _of_dataset(data: Dataset) -> Qrels:
    if not data.is_judged:
        raise InputError("qrels: expected judged data, got a Dataset without labels")
    dataset_names(data)  # raises for ids that cannot be distinguished
    qid = objects(data.query_ids.tolist())  # ids of the data: numbers stay numbers
    return Qrels(np.repeat(qid, data.sizes), objects(document_names(data)), data.y)


def _found(wanted: tuple[str, ...], names: Iterable[str]) -> str | None:
    there = {str(name).lower(): name for name in names}
    return next((there[name] for name in wanted if name in there), None)


def _column(columns: Mapping[str, Sequence[Any]], wanted: tuple[str, ...], where: str) -> tuple[str, Sequence[Any]]:
    name = _found(wanted, columns)
    if name is None:
        raise InputError(
            f"{where}: expected a column {' or '.join(wanted)}, got columns {', '.join(map(str, columns))}"
        )
    return name, columns[name]


def _ids(columns: Mapping[str, Sequence[Any]], wanted: tuple[str, ...], where: str) -> NDArray[Any]:
    name, values = _column(columns, wanted, where)
    for row, value in enumerate(values):
        if value is None or value != value:
            raise InputError(f"{where}: expected an id in column {name!r}, got none in row {row}")
    return objects(values)


def _numbers(columns: Mapping[str, Sequence[Any]], wanted: tuple[str, ...], where: str) -> Floats:
    name, values = _column(columns, wanted, where)
    try:
        numbers = np.array([float(value) for value in values], np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: expected numbers as {name}, got {error}") from error
    return checks.numbers(numbers, len(numbers), f"{where}: {name}", name)


def _check_once(qid: NDArray[Any], docno: NDArray[Any], where: str) -> None:
    seen: set[tuple[str, str]] = set()
    for key in zip(map(str, qid.tolist()), map(str, docno.tolist()), strict=True):
        if key in seen:
            raise InputError(
                f"{where}: expected every document of a query once, got document {shown(key[1])} of query "
                f"{shown(key[0])} twice"
            )
        seen.add(key)


# ---- forms --------------------------------------------------------------------------------------------------------


def _is_nested(source: Mapping[Any, Any]) -> bool:
    """Tell {qid: {docid: number}} from a dict of several runs."""
    inner = next((one for one in source.values() if not isinstance(one, Mapping) or one), None)
    return isinstance(inner, Mapping) and not isinstance(next(iter(inner.values())), Mapping | Iterable)


def _is_ranx(source: Any) -> bool:
    return type(source).__module__.split(".")[0] == "ranx" and hasattr(source, "to_dict")


def _are_records(source: Any) -> bool:
    first = source[0] if isinstance(source, list | tuple) and source else None
    return first is not None and _found(QUERY, dir(first)) is not None and _found(DOCUMENT, dir(first)) is not None
