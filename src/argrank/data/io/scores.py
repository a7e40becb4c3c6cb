"""Scores of any system from a file, for the rows of a Dataset; and back to a file."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from argrank._declared import checked
from argrank._files import open_bytes, split_suffixes, write_text
from argrank._once import reading_once
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.io.arrow import read_columns
from argrank.data.io.columns.kinds import number_values
from argrank.data.io.columns.numbers import PLAIN, writings
from argrank.data.io.columns.texts import Texts
from argrank.data.io.delimited import DELIMITERS, opened
from argrank.data.io.kinds import EXTENSIONS
from argrank.data.io.naming import told_naming
from argrank.data.io.tables import TABLES
from argrank.data.io.text import id_texts, read_number, text_lines
from argrank.data.io.trec.files import align_run, read_run
from argrank.errors import FormatError, InputError, OptionError, shown

PathLike = str | os.PathLike[str]
DEFAULT_COLUMN = "score"
RANKLIB_FIELDS, TREC_FIELDS = 3, 6


@checked
@reading_once()
def read_scores(path: PathLike, data: Dataset, column: str | None = None) -> Floats:
    """Read one score for each row of the data, in the caller's row order.

    The format is detected from the file's name or its first line:

    - one number per line, in the order of the data's rows (LightGBM, XGBoost, SVMrank, LETOR);
    - ``qid index score`` in the order of the data's rows, as RankLib's ``-score`` writes it; the qids must agree;
    - a TREC run, ``qid Q0 docno rank score tag`` in any order, found by query and document id (to evaluate a run, give
      the file itself to ``ar.evaluate``, which also counts unjudged documents);
    - a column of a .csv, .tsv, .parquet or .arrow table in the order of the data's rows: ``column``, by default
      ``score``, or the only one there is.
    """
    kind = EXTENSIONS.get(split_suffixes(path)[0])
    if kind in DELIMITERS:
        scores = _delimited_column(path, DELIMITERS[kind], column)
    elif kind in TABLES:
        scores = _arrow_column(path, kind, column)
    elif column is not None:
        raise OptionError(
            f"column: {os.fspath(path)} is not a table (.csv .tsv .parquet .arrow) with a column {column!r}"
        )
    else:
        scores = _text(path, data)
    if len(scores) != data.n_documents:
        raise FormatError(path, None, f"{data.n_documents} scores, one for each row of the data", str(len(scores)))
    return scores


@checked
def write_scores(scores: Any, path: PathLike) -> None:
    """Write one score per line, exact when read back; a failed write leaves no file."""
    values = checks.as_array(scores, "scores")
    values = checks.numbers(values, values.size, "scores", "score")
    write_text(path, "".join(f"{value!r}\n" for value in values.tolist()))


def _text(path: PathLike, data: Dataset) -> Floats:
    with open_bytes(path) as stream:
        lines = [line.strip() for line in text_lines(stream, path)]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise FormatError(path, None, "one score per line", "an empty file")
    n_fields = len(lines[0].split())
    if n_fields == TREC_FIELDS:
        return _trec(path, data)
    if n_fields == RANKLIB_FIELDS:
        return _ranklib(path, lines, data)
    return _numbers(path, lines)


def _numbers(path: PathLike, texts: list[str]) -> Floats:
    values = np.empty(len(texts))
    for line, text in enumerate(texts, 1):
        try:
            values[line - 1] = read_number(text)
        except ValueError:
            values[line - 1] = math.nan
        if not math.isfinite(values[line - 1]):
            raise FormatError(path, line, "a finite number as score", shown(text) if text else "nothing")
    return values


def _ranklib(path: PathLike, lines: list[str], data: Dataset) -> Floats:
    rows = [line.split() for line in lines]
    qids = data.to_caller(np.repeat(np.array(id_texts(data.query_ids, "qid"), object), data.sizes)).tolist()
    for line, row in enumerate(rows, 1):
        if len(row) != RANKLIB_FIELDS:
            raise FormatError(path, line, "qid, index and score as in line 1", shown(lines[line - 1]))
        if line <= len(qids) and row[0] != qids[line - 1]:
            raise FormatError(path, line, f"qid {qids[line - 1]} as in the data's row {line}", f"qid {shown(row[0])}")
    return _numbers(path, [row[2] for row in rows])


def _trec(path: PathLike, data: Dataset) -> Floats:
    run = read_run(path)
    known = set(id_texts(data.query_ids, "qid"))
    if known.isdisjoint(run.qid.tolist()):
        raise FormatError(path, None, f"queries of the data such as {min(known)!r}", f"{shown(run.qid[0])} and others")
    if data.document_ids is not None:
        documents = set(id_texts(data.document_ids, "document_ids"))
        if documents.isdisjoint(run.docno.tolist()):
            expected = f"documents of the data such as {min(documents)!r}"
            raise FormatError(path, None, expected, f"{shown(run.docno[0])} and others")
    return align_run(run, data)


# ---- tables -------------------------------------------------------------------------------------------------------


def _choose(path: PathLike, names: list[str], column: str | None) -> str:
    if column is None and len(names) == 1:
        return names[0]
    wanted = DEFAULT_COLUMN if column is None else column
    if wanted not in names:
        hint = "; choose one with column=" if column is None else ""
        raise FormatError(path, None, f"a column {wanted!r}", f"{shown(', '.join(names), 200)}{hint}")
    return wanted


def _delimited_column(path: PathLike, usual: str, column: str | None) -> Floats:
    with opened(path, usual, told_naming().written) as content, content.explained():
        name = _choose(path, content.dialect.names, column)
        texts = Texts(content.table([name]).column(name))
        texts.missing[:] = False  # a score is never missing
        ways = writings(texts) or [PLAIN]
        return number_values(name, texts, ways[0])


def _arrow_column(path: PathLike, kind: str, column: str | None) -> Floats:
    table = read_columns(path, kind)
    name = _choose(path, list(table.column_names), column)
    try:
        return checks.numbers(table.column(name).to_numpy(), table.num_rows, f"column {name!r}", "score")
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from error
