"""Read a table logged by an engine: a column for each feature, the score, perhaps qid and docid."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from argrank._files import split_suffixes
from argrank._types import Floats
from argrank.data.categories import days_between
from argrank.data.io.arrow import read_columns
from argrank.data.io.columns.checks import check_names
from argrank.data.io.columns.dates import date_format, day_numbers, iso_texts
from argrank.data.io.columns.filled import number_types
from argrank.data.io.columns.kinds import Kind, Marks, decide, flag_values, number_values
from argrank.data.io.columns.roles import meanings_of
from argrank.data.io.columns.table import decimal_of
from argrank.data.io.columns.texts import CellError, Texts
from argrank.data.io.delimited import DELIMITERS, opened
from argrank.data.io.dialects import Given
from argrank.data.io.kinds import kind_of
from argrank.data.io.responses import read_responses
from argrank.data.io.tables import TABLES
from argrank.deploy.one_hot import texts_of
from argrank.deploy.options import Term
from argrank.deploy.plain import Plain
from argrank.errors import FormatError, shown


class Logged(NamedTuple):
    """The model's features, with texts as codes; scores; and the position of each row in the file."""

    X: Floats
    scores: Floats
    places: list[str]


class _Table(NamedTuple):
    """The columns of a file, of Arrow, with the line of every row where it has lines, and of the names."""

    path: str | os.PathLike[str]
    columns: dict[str, Any]
    lines: Sequence[int] | None
    header: int | None
    marks: Marks = Marks()

    def numbers(self, name: str, may_miss: bool = True) -> Floats:
        """Return a column of numbers or flags, NaN where there is none."""
        column = self.columns[name]
        if isinstance(column, Texts):
            found = decide(name, column, None, self.marks, "number")
            values = flag_values(column) if found.kind is Kind.FLAG else number_values(name, column, found.ways[0])
        else:
            values = column
        wrong = np.isinf(values) if may_miss else ~np.isfinite(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            got = shown(column.text_of(row)) if isinstance(column, Texts) else f"{values[row]}"
            raise CellError(name, row, "a number", got)
        return values

    def days(self, name: str, reference: str) -> Floats:
        """Return the days from the dates of a column to a reference date; a column of numbers as it is."""
        column = self.columns[name]
        form = date_format(column) if isinstance(column, Texts) else None
        if form is None:
            return self.numbers(name)
        values, newest = day_numbers(column, form)
        return values + days_between(newest, reference)

    def words(self, name: str) -> list[str]:
        """Return a column as texts."""
        column = self.columns[name]
        if not isinstance(column, Texts):
            return ["" if value != value else f"{value:.15g}" for value in column.tolist()]
        words = [*column.words.to_pylist(), ""]  # the last one, -1, where there is none
        return [words[code] for code in column.codes]

    def place(self, row: int) -> str:
        """Return the position of a row, as text."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"


def read_logged(path: str | os.PathLike[str], served: Any, parts: Plain, names: tuple[str, ...]) -> Logged:
    """Read a table as `ar.load` does; a category may be logged as text, or as columns of 0 and 1."""
    if split_suffixes(path)[0] == ".jsonl":
        table = _responses(path)
    else:
        table = _delimited(path) if kind_of(path) not in TABLES or kind_of(path) in DELIMITERS else _arrow(path)
    try:
        texts = [name for name in names if isinstance(table.columns.get(name), Texts)]
        scores = table.numbers("score", False) if "score" in table.columns else None
        table = table._replace(marks=Marks(_decimal(table, texts)))
        X = [_feature(table, served, parts, names[feature], feature) for feature in range(len(names))]
        if scores is None:
            raise FormatError(path, table.header, "a column 'score'", shown(",".join(table.columns)))
    except CellError as error:
        line = None if table.lines is None else table.lines[error.row]
        raise FormatError(path, line, f"{error.expected} in column {error.column!r}", error.got) from error
    if not len(scores):
        raise FormatError(path, None, "logged rows", "none")
    roles = meanings_of(list(table.columns), {}, (), names).roles
    ids = {role: name for name, role in roles.items() if role in ("qid", "docid")}
    labels = [[f", {role} {word}" for word in table.words(ids[role])] for role in sorted(ids, reverse=True)]
    places = [table.place(row) + "".join(label[row] for label in labels) for row in range(len(scores))]
    return Logged(np.column_stack(X), scores, places)


def _responses(path: str | os.PathLike[str]) -> _Table:
    """Return an engine's responses; columns that are always empty are missing features."""
    import pyarrow as pa

    hits = read_responses(path)
    names = list(dict.fromkeys(name for hit in hits for name in hit.features))
    columns: dict[str, Any] = {
        name: np.array([hit.features.get(name, np.nan) for hit in hits], np.float64) for name in names
    }
    columns["score"] = np.array([hit.score for hit in hits])
    columns["qid"] = Texts(pa.array([hit.qid for hit in hits], pa.string()))
    columns["docid"] = Texts(pa.array([hit.docid for hit in hits], pa.string()))
    return _Table(path, columns, [hit.line for hit in hits], None)


def _delimited(path: str | os.PathLike[str]) -> _Table:
    import pyarrow as pa

    with opened(path, DELIMITERS.get(kind_of(path), ","), Given()) as content:
        names = [name.strip() for name in content.dialect.names]
        check_names(names, path, content.dialect.line)
        content.refuse_damage()
        found = list(content.rows())
    cells = zip(*(row for _, row in found), strict=True) if found else ([] for _ in names)
    columns = {name: Texts(pa.array(one, pa.string())) for name, one in zip(names, cells, strict=True)}
    return _Table(path, columns, [line for line, _ in found], content.dialect.line)


def _arrow(path: str | os.PathLike[str]) -> _Table:
    import pyarrow as pa

    table = read_columns(path, kind_of(path))
    check_names(table.column_names, path, None)
    numbers = number_types(table.schema, table.column_names)
    columns: dict[str, Any] = {}
    for name in table.column_names:
        column = table.column(name)
        if name in numbers:
            columns[name] = column.cast(pa.float64(), safe=False).to_numpy()
        elif pa.types.is_temporal(column.type):
            columns[name] = Texts(iso_texts(column))
        else:
            columns[name] = Texts(column.cast(pa.string()))
    return _Table(path, columns, None, None)


def _decimal(table: _Table, names: Sequence[str]) -> str | None:
    """Return the decimal mark of the columns of numbers, where it is a comma."""
    import narwhals as nw
    import pyarrow as pa

    texts = {name: pa.array(table.words(name), pa.string()) for name in names}
    frame = nw.from_native(pa.table(texts), eager_only=True)
    try:
        return "," if names and decimal_of(frame, names) == "," else None
    except CellError:  # reported when the column is read
        return None


def _feature(table: _Table, served: Any, parts: Plain, name: str, feature: int) -> Floats:
    """Return one feature of all rows."""
    texts = texts_of(served).get(feature)
    reference = (served.dates or {}).get(name)
    if name in table.columns and texts is None:
        return table.numbers(name) if reference is None else table.days(name, reference)
    if name in table.columns:
        codes = {text: float(code) for code, text in enumerate(texts or ())}
        codes = {str(code): float(code) for code in range(len(codes))} | codes  # logged by engines without texts
        words = table.words(name)
        return np.array([codes.get(word, codes.get(word.removesuffix(".0"), np.nan)) for word in words], np.float64)
    categories, listed = parts.categories, shown(",".join(table.columns))
    if texts is None and feature not in categories:
        raise FormatError(table.path, table.header, f"a column {name!r}", listed)
    terms = {Term(name, str(code) if texts is None else texts[code]).name: code for code in categories.get(feature, [])}
    absent = next((one for one in terms if one not in table.columns), None)
    if absent is not None:
        raise FormatError(table.path, table.header, f"a column {name!r}, or {absent!r} and the like", listed)
    return _category(table, name, terms)


def _category(table: _Table, name: str, terms: dict[str, int]) -> Floats:
    """Return the number of the category whose column is 1, NaN where none is."""
    columns = np.column_stack([table.numbers(one) for one in terms])
    wrong = ~(np.isin(columns, (0, 1)) | np.isnan(columns)).all(axis=1) | ((columns == 1).sum(axis=1) > 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        expected = f"0 or 1 in the columns of {name!r}, 1 at most once"
        line = None if table.lines is None else table.lines[row]
        raise FormatError(table.path, line, expected, shown(columns[row].tolist()))
    codes = np.array(list(terms.values()), np.float64)
    return np.where((columns == 1).any(axis=1), codes[np.argmax(columns == 1, axis=1)], np.nan)
