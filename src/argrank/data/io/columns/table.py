"""Convert a table with named columns to the arguments of a Dataset, for files and data frames alike."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._lazy import LazyModule
from argrank._types import Floats
from argrank.data.grouping import group_by_id
from argrank.data.io.columns.dates import day_numbers, iso_texts
from argrank.data.io.columns.filled import Filled
from argrank.data.io.columns.kinds import Decided, Kind, Marks, decide, flag_values, number_values
from argrank.data.io.columns.numbers import PERCENT, PLAIN, WHOLE, Writing, numbers
from argrank.data.io.columns.roles import COLUMNS, FEATURE, NUMBERS, TEXTS, is_id_name, meanings_of, tell
from argrank.data.io.columns.texts import CellError, Texts
from argrank.errors import InputError, shown

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa
else:
    nw, pa = LazyModule("narwhals"), LazyModule("pyarrow")


CATEGORICAL = ("Categorical", "Enum")
BLOCK = 1 << 16  # values of a column written into X at a time: few enough for the cache


class Reading(NamedTuple):
    """Options for reading a table.

    ``given`` are meanings and kinds of columns; ``known`` meanings that are given elsewhere; ``features`` the columns
    of a model: only these become X, as far as they exist, whatever their names. ``where`` is the table's name in
    messages, ``told`` what is already to be logged.
    """

    given: Mapping[str, str | None] = {}
    known: Collection[str] = ()
    features: Sequence[str] | None = None
    marks: Marks = Marks()
    where: str = ""
    told: Sequence[str] = ()
    strict: bool = False  # whether a missing or negative label or weight is reported here, with its cell
    days: bool = False  # whether dates are accepted without being requested


def arguments_of(
    table: Any,
    reading: Reading = Reading(),  # noqa: B008 - it is frozen
    filled: Filled | None = None,
) -> dict[str, Any]:
    """Split a table of narwhals into the arguments of Dataset: features become X.

    Numbers that a reader has already ``filled`` into X are not columns of the table.
    """
    everything = table.columns if filled is None else filled.columns
    wanted = [name for name in reading.features or () if name in everything]
    meant = meanings_of(everything, reading.given, reading.known, wanted)
    told = [*reading.told, *([", ".join(meant.told)] if meant.told else [])]
    found: dict[str, Any] = {
        COLUMNS[meaning]: _role_values(str(name), meaning, table.get_column(name), reading.marks)
        for name, meaning in meant.roles.items()
        if meaning is not None and name in everything
    }
    for name, meaning in meant.roles.items():
        right = found[COLUMNS[meaning]] >= 0 if reading.strict and meaning in NUMBERS else np.ones(1, bool)
        if not right.all():
            raise CellError(str(name), int(np.argmin(right)), "a number from 0 up", "")
    names = wanted or [name for name in everything if name not in meant.roles]
    kinds = {name: meant.kinds.get(name, FEATURE if wanted else None) for name in names}
    ids = [name for name in names if kinds[name] == "id" or (kinds[name] is None and is_id_name(str(name)))]
    there = set() if filled is None else set(filled.numbers)
    columns = {name: _column(table.get_column(name), kinds[name]) for name in names if name not in {*ids, *there}}
    decided = _decided(columns, kinds, found.get("qid"), reading.marks)
    unasked = [name for name, column in columns.items() if _is_date(column) or _is_date(decided.get(name))]
    if unasked and not reading.days:
        raise _refused_dates(unasked, table.get_column(unasked[0]))
    columns |= {name: _column(table.get_column(name), "date") for name in unasked}
    decided |= {name: decide(str(name), columns[name], None, reading.marks, "date") for name in unasked}
    free = {name: one.kind for name, one in decided.items() if kinds[name] in (None, "id", "text")}
    ids += [name for name, kind in free.items() if kind is Kind.ID]
    reads = [name for name, kind in free.items() if kind is Kind.TEXT]
    told += _told(columns, decided, ids, reads, found, "docid" in reading.known)
    for argument, sources in (("document_ids", ids), ("titles", reads)):
        if sources and argument not in found:
            found[argument] = _role_values(sources[0], "docid", table.get_column(sources[0]), reading.marks)
    if told:
        tell(f"{reading.where}{': ' if reading.where else ''}{'; '.join(told)}")
    names = [name for name in names if name not in ids and name not in reads]
    if filled is None:
        found["X"], coded = _matrix(columns, decided, names, len(table))
    else:
        found["X"], coded = _completed(filled, columns, decided, names)
    if coded.dates:
        days = ", ".join(f"{name!r} up to {newest}" for name, newest in coded.dates.items())
        ask = "; training asks for --date {0} or --drop {0}".format(_pasted(unasked)) if unasked else ""
        tell(f"{reading.where}{': ' if reading.where else ''}dates {days}{ask}")
    return found | {"feature_names": names, "categories": coded.categories or None, "dates": coded.dates or None}


def arguments_of_pieces(
    pieces: Iterator[Any], reading: Reading, path: str | os.PathLike[str]
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of Dataset for every piece of a file, a table; what the first one shows applies to all.

    Text features are refused, since their categories are known only after the last piece.
    """
    row = 0
    for piece in pieces:
        try:
            found = arguments_of(piece, reading)
        except CellError as error:
            raise CellError(error.column, row + error.row, error.expected, error.got, error.advice) from error
        for name in (*(found.pop("categories") or ()), *(found.pop("dates") or ())):
            raise InputError(
                f"{os.fspath(path)}: column {name!r}: expected numbers, got texts or dates, which need all rows; "
                "leave it out (--drop), replace it by numbers, or pack data in memory: ar.pack(ar.load(…), …)"
            )
        if row == 0:  # with a known decimal mark there is nothing to decide
            marks = Marks(reading.marks.decimal or decimal_of(piece, found["feature_names"]), reading.marks.thousands)
            reading = reading._replace(features=found["feature_names"], marks=marks, told=())
        row += len(piece)
        yield found


def _column(column: Any, kind: str | None) -> Any:
    """Return a column of texts as Texts, others as they are."""
    base = str(column.dtype).partition("(")[0]
    if base == "Object":  # pandas' object type: texts, booleans or anything else, with None among them
        return _of_objects(column, kind)
    if base == "String":
        return Texts(column.to_arrow())
    if kind == "date" and base in ("Date", "Datetime"):
        return Texts(iso_texts(column.to_arrow()))
    if kind in ("category", "date", "id", "text") and base not in CATEGORICAL:
        return Texts(column.cast(nw.String).to_arrow())
    return column


def _of_objects(column: Any, kind: str | None) -> Any:
    values = [None if value is None or value != value else value for value in column.to_list()]
    try:
        array = pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        wrong = shown(next(value for value in values if value is not None))
        raise InputError(f"column {column.name!r}: expected values of one plain type, got {wrong}") from None
    plain = nw.from_native(pa.chunked_array([array]), series_only=True).alias(column.name)
    return _column(plain, kind) if pa.types.is_null(array.type) is False else Texts(array.cast(pa.string()))


def _decided(columns: Mapping[str, Any], kinds: Mapping[str, str | None], qid: Any, marks: Marks) -> dict[str, Decided]:
    """Decide the kinds of all text columns; if one is ambiguous, the others decide."""
    decided = {}
    has_texts = any(isinstance(column, Texts) for column in columns.values())
    queries = group_by_id(qid, len(qid)).query_of_row if has_texts and qid is not None else None
    for name, column in columns.items():
        if isinstance(column, Texts):
            decided[name] = decide(str(name), column, queries, marks, kinds[name])
    certain = _certain_marks(decided)
    if len(certain) == 1:
        for name, one in decided.items():
            ways = [way for way in one.ways if way.decimal in certain]
            decided[name] = one._replace(ways=tuple(ways)) if ways else one
    return decided


def _certain_marks(decided: Mapping[str, Decided]) -> set[str]:
    """Return the decimal marks of unambiguous columns."""
    return {one.ways[0].decimal for one in decided.values() if one.ways and not one.ambiguous} - {""}


def decimal_of(table: Any, names: Sequence[str]) -> str:
    """Return the decimal mark of some columns of a table: the comma if all that show a mark show a comma."""
    columns = {name: _column(table.get_column(name), FEATURE) for name in names}
    decided = _decided(columns, dict.fromkeys(names, FEATURE), None, Marks())
    return "," if _certain_marks(decided) == {","} else "."


def _role_values(name: str, meaning: str, column: Any, marks: Marks) -> NDArray[Any]:
    """Return a column with a meaning as an array."""
    if meaning in NUMBERS and str(column.dtype) == "String":
        texts = Texts(column.to_arrow())
        try:
            one = decide(name, texts, None, marks, "number")
            return flag_values(texts) if one.kind is Kind.FLAG else number_values(name, texts, one.ways[0])
        except CellError as error:
            raise CellError(name, error.row, "a number from 0 up", error.got) from error
    if meaning in TEXTS and str(column.dtype) == "String" and column.null_count():
        column = column.fill_null("")
    return np.asarray(column.to_numpy())


def _told(
    columns: Mapping[str, Any],
    decided: Mapping[str, Decided],
    ids: Sequence[str],
    reads: Sequence[str],
    found: Mapping[str, Any],
    has_ids: bool,
) -> list[str]:
    """Return what to log about the columns, in a few words each."""
    told = []
    words: dict[str, list[str]] = {}
    for name, one in decided.items():
        if one.ways and one.ways[0] not in (PLAIN, WHOLE):
            words.setdefault(_way_text(one.ways[0]), []).append(repr(name))
        if len(one.ways) > 1:
            told.append(_ambiguity(name, columns[name], one.ways))
        if one.kind is Kind.NUMBER and columns[name].missing_words():
            told.append(f"{', '.join(map(repr, columns[name].missing_words()))} in {name!r} is missing")
    told = [f"{', '.join(names)} {text}" for text, names in words.items()] + told
    of_kind = {kind: [name for name, one in decided.items() if one.kind is kind] for kind in Kind}
    if of_kind[Kind.FLAG]:
        told.append(f"flags {', '.join(map(repr, of_kind[Kind.FLAG]))}")
    if of_kind[Kind.CATEGORY]:
        counts = [f"{name!r} ({len(columns[name].used):,})" for name in of_kind[Kind.CATEGORY]]
        told.append(f"categories {', '.join(counts)}")
    for sources, argument, what in ((ids, "document_ids", "docid"), (reads, "titles", "title")):
        vacant = argument not in found and not (has_ids and what == "docid")
        taken, left = (sources[:1], sources[1:]) if vacant else ([], sources)
        told += [f"{what} from column {name!r}" for name in taken]
        if left:
            told.append(f"left out as {'ids' if what == 'docid' else 'texts to read'} {', '.join(map(repr, left))}")
    return told


def _way_text(way: Writing) -> str:
    parts = ["with decimal comma"] if way.decimal == "," else []
    parts += [f"with {way.thousands!r} for thousands"] if way.thousands else []
    parts += ["in percent"] if way.beside == PERCENT else [f"in {way.beside}"] if way.beside else []
    return ", ".join(parts) or "as numbers"


def _ambiguity(name: str, texts: Texts, ways: Sequence[Writing]) -> str:
    """Return how an ambiguous number was read, and the option to read it differently."""
    values = [numbers(texts, way) for way in ways]
    other = next(place for place, one in enumerate(values) if not np.array_equal(values[0], one, equal_nan=True))
    row = int(np.argmax(~((values[0] == values[other]) | np.isnan(values[0]))))
    text = shown(texts.text_of(row))
    return (
        f"{text} in {name!r} is read as {values[0][row]:.15g}, not {values[other][row]:.15g} "
        f"(--decimal {ways[other].decimal!r} would)"
    )


class Coded(NamedTuple):
    """Features converted to numbers: the texts of categories, and the reference dates of dates."""

    categories: dict[str, tuple[str, ...]]
    dates: dict[str, str]


def _matrix(
    columns: Mapping[str, Any], decided: Mapping[str, Decided], names: Sequence[str], n_rows: int
) -> tuple[Floats, Coded]:
    coded = Coded({}, {})
    single = bool(names) and all(name not in decided and str(columns[name].dtype) == "Float32" for name in names)
    X = np.empty((n_rows, len(names)), np.float32 if single else np.float64)
    step = max(1, BLOCK // max(1, len(names)))
    for start in range(0, len(names), step) if n_rows else ():
        some = names[start : start + step]
        values = [_values(name, columns[name], decided.get(name), coded) for name in some]
        for row in range(0, n_rows, step):  # in blocks: writing a whole column would miss the cache for every value
            for place, one in enumerate(values, start):
                X[row : row + step, place] = one[row : row + step]
    X.flags.writeable = False  # made here: a Dataset may keep it
    return X, coded


def _completed(
    filled: Filled, columns: Mapping[str, Any], decided: Mapping[str, Decided], names: Sequence[str]
) -> tuple[Floats, Coded]:
    """Return X with the remaining features filled in, without columns that are not features."""
    coded = Coded({}, {})
    for name in names:
        if name in columns:
            filled.X[:, filled.names.index(name)] = _values(name, columns[name], decided.get(name), coded)
    X = filled.X if names == filled.names else filled.X[:, [filled.names.index(name) for name in names]]
    X.flags.writeable = False
    return X, coded


def _values(name: str, column: Any, decided: Decided | None, coded: Coded) -> NDArray[Any]:
    """Return the numbers of a feature; their categories or reference date go into ``coded``."""
    if isinstance(column, Texts) and decided is not None:
        if decided.kind is Kind.NUMBER:
            return number_values(name, column, decided.ways[0])
        if decided.kind is Kind.FLAG:
            return flag_values(column)
        if decided.date is not None:
            values, coded.dates[name] = day_numbers(column, decided.date)
            return values
        values, coded.categories[name] = column.categories()
        return values
    base = str(column.dtype).partition("(")[0]
    if column.dtype.is_numeric() or base == "Boolean":
        missing = base == "Boolean" and column.null_count()  # which only a float can be
        return np.asarray((column.cast(nw.Float64) if missing else column).to_numpy())
    if base in CATEGORICAL:
        known = [str(one) for one in column.dtype.categories] if base == "Enum" else None
        values, coded.categories[name] = Texts(column.cast(nw.String).to_arrow()).categories(known)
        return values
    first = shown(column.head(1).to_list()[0] if len(column) else column.dtype)
    raise InputError(
        f"column {name!r}: expected numbers or texts, got {first}; columns with a meaning are {', '.join(COLUMNS)}"
    )


def _is_date(column: Any) -> bool:
    """Tell whether a column is a date that was not requested."""
    if isinstance(column, Decided):
        return column.kind is Kind.DATE and column.date is None
    return column is not None and not isinstance(column, Texts) and str(column.dtype).startswith("Date")


def _pasted(names: Sequence[str]) -> str:
    return shlex.quote(",".join(map(str, names)))


def _refused_dates(names: Sequence[str], first: Any) -> InputError:
    columns, asked = "column" if len(names) == 1 else "columns", _pasted(names)
    got = "".join(f" such as {shown(one)}" for one in first.drop_nulls().head(1).to_list())
    return InputError(
        f"{columns} {', '.join(map(repr, names))}: expected numbers or texts, got dates{got}; --date {asked} "
        f"(dates={list(names)}) takes the days before the newest, "
        f"--drop {asked} (columns={dict.fromkeys(names)}) leaves {'it' if len(names) == 1 else 'them'} out"
    )
