"""The click log: one row for each document that was shown, sessions one after another, rows by position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from argrank._declared import IsData, checked
from argrank._jit import kernel
from argrank._tables import counted
from argrank._types import Filled, Floats, Integers
from argrank.data.checks import numbers_of
from argrank.data.clicks.coding import coded, groups_of, paired
from argrank.data.clicks.counts import ClickCounts, Unusable, count_rows
from argrank.data.grouping import offsets
from argrank.errors import InputError, OptionError, check_name, shown

REQUIRED = ("session", "qid", "docid", "position", "click")
OPTIONAL = ("ranker", "team", "propensity", "timestamp", "user", "weight")
LARGEST_POSITION = 100_000


@dataclass(frozen=True, eq=False)
class Clicks(IsData):
    """A click log: which documents were shown in each session, at which position, and which were clicked.

    ``Clicks.of`` makes one from columns, ``ar.load_clicks`` from files and frames. A session is one search: one query,
    one page. Rows are stored session by session and by position.

    Attributes
    ----------
    indptr : first row of every session, and the end
    query : number of every session's query in ``query_ids``
    group : group of every session, by a hash of its user (else of the session); for the jackknife, which deletes one
    group at a time
    pair : number of every row's (query, document) in ``pair_query`` and ``pair_document``
    position : rank at which the document was shown, from 1
    click : whether it was clicked
    user_ids : the user of every session, if known
    weight : the value of a click, 1 unless given
    extra : further columns of the source, one value for each row, such as the device
    """

    indptr: Integers
    query: Integers
    group: NDArray[np.uint8]
    pair: Integers
    position: Integers
    click: NDArray[np.bool_]
    query_ids: NDArray[Any]
    document_ids: NDArray[Any]
    pair_query: Integers
    pair_document: Integers
    session_ids: NDArray[Any]
    user_ids: NDArray[Any] | None = None
    weight: Floats | None = None
    propensity: Floats | None = None
    timestamp: NDArray[Any] | None = None
    ranker: NDArray[Any] | None = None
    team: NDArray[Any] | None = None
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    unusable: Unusable = field(default_factory=Unusable)

    @classmethod
    @checked
    def of(
        cls,
        columns: Mapping[str, Any],
        *,
        first_position: Literal[0, 1] = 1,
        repeated: Literal["error", "merge", "keep"] = "error",
        extra: Mapping[str, Any] | None = None,
        unusable: Unusable | None = None,
    ) -> Clicks:
        """Make a log from columns: session, qid, docid, position, click, and optional ones.

        Parameters
        ----------
        columns : mapping from names to arrays, one value for each shown document
            ``session``, ``qid``, ``docid``, ``position`` and ``click`` (0 or 1); optional ``user``, ``weight`` (the
            value of a click), ``timestamp``, ``ranker``, ``team`` and ``propensity``. A session with several queries is
            several searches of one user.
        first_position : int
            The position of the top document in these columns, 1 or 0.
        repeated : "error", "merge" or "keep"
            How to treat a document that a session shows twice: raise an error, keep the first row with all its clicks,
            or keep all rows.
        extra : mapping from names to arrays, optional
            Further columns, to estimate ``ar.propensities(log, by=…)`` for each of their values.
        """
        _check_names(columns)
        position = _positions(columns["position"], first_position)
        n_rows = len(position)
        session, query, document = (coded(name, columns[name]) for name in ("session", "qid", "docid"))
        for name, codes in (("session", session.codes), ("qid", query.codes), ("docid", document.codes)):
            _check_length(name, codes, n_rows)
        search = paired(session.codes, query.codes)
        pair = paired(query.codes, document.codes)
        order = _by_session(search.codes, position)
        click = _flags(columns["click"], n_rows)
        plain = ("timestamp", "ranker", "team")
        rows: dict[str, Any] = {"pair": pair.codes, "position": position, "click": click}
        rows |= {name: _numbers(name, columns[name], n_rows) for name in ("weight", "propensity") if name in columns}
        rows |= {name: _plain(name, columns[name], n_rows) for name in plain if name in columns}
        further = {name: _plain(name, values, n_rows) for name, values in (extra or {}).items()}
        codes = search.codes
        if order is not None:
            codes, rows, further = codes[order], _taken(rows, order), _taken(further, order)
        sizes = np.bincount(codes, minlength=len(search.ids))
        indptr = offsets(sizes)
        n_queries, n_documents = len(query.ids), len(document.ids)
        of_session = search.ids // n_queries
        group, users = groups_of(session.ids)[of_session], None
        if "user" in columns:
            user = coded("user", columns["user"])
            _check_length("user", user.codes, n_rows)
            of_row = user.codes if order is None else user.codes[order]
            of_session_user = of_row[indptr[:-1]]
            group, users = groups_of(user.ids)[of_session_user], user.ids[of_session_user]
        log = cls(
            indptr=indptr,
            query=search.ids % n_queries,
            group=group,
            query_ids=query.ids,
            document_ids=document.ids,
            pair_query=pair.ids // n_documents,
            pair_document=pair.ids % n_documents,
            session_ids=session.ids[of_session],
            user_ids=users,
            unusable=unusable or Unusable(),
            extra=further,
            **rows,
        )
        return log if repeated == "keep" else log._with_single_impressions(repeated)

    @property
    def n_rows(self) -> int:
        """Number of shown documents."""
        return len(self.pair)

    @property
    def n_sessions(self) -> int:
        """Number of searches."""
        return len(self.indptr) - 1

    @property
    def n_queries(self) -> int:
        """Number of different queries."""
        return len(self.query_ids)

    @property
    def n_pairs(self) -> int:
        """Number of different (query, document) pairs that were shown."""
        return len(self.pair_query)

    @property
    def n_clicks(self) -> int:
        """Number of clicks."""
        return int(np.count_nonzero(self.click))

    @property
    def sizes(self) -> Integers:
        """Number of documents that every session was shown."""
        return np.diff(self.indptr)

    @property
    def session_of_row(self) -> Integers:
        """Number of the session of every row."""
        return np.repeat(np.arange(self.n_sessions), self.sizes)

    @property
    def n_repeated(self) -> int:
        """Number of rows with a document that the session has shown before."""
        return int(_repeated_rows(self.indptr, self.pair, np.arange(self.n_rows)))

    def counts(self) -> ClickCounts:
        """Return impressions and clicks summed by (query, document), position and group of sessions."""
        group = np.repeat(self.group, self.sizes)
        value = self.click.astype(np.float64) if self.weight is None else self.click * self.weight
        cells = count_rows(self.pair, self.position, group, self.click, value)
        return ClickCounts(
            self.query_ids,
            self.document_ids,
            self.pair_query,
            self.pair_document,
            np.bincount(self.query, minlength=self.n_queries),
            *cells,
            unusable=self.unusable,
        )

    @checked
    def select(self, sessions: Any) -> Clicks:
        """Return the log of some sessions, given by their numbers or as a mask."""
        chosen = numbers_of(sessions, self.n_sessions, "select", "session", "sessions")
        starts, sizes = self.indptr[chosen], self.sizes[chosen]
        indptr = offsets(sizes)
        rows = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], sizes)
        return replace(
            self,
            indptr=indptr,
            query=self.query[chosen],
            group=self.group[chosen],
            session_ids=self.session_ids[chosen],
            user_ids=None if self.user_ids is None else self.user_ids[chosen],
            extra=_taken(self.extra, rows),
            **_taken(self._by_row(), rows),
        )

    @checked
    def split(self, before: Any) -> tuple[Clicks, Clicks]:
        """Return the sessions that began before a time, and the others; the log needs timestamps."""
        if self.timestamp is None:
            raise InputError("split: expected a log with a column 'timestamp', got none")
        begin = self.timestamp[self.indptr[:-1]]
        try:
            moment = np.datetime64(before) if begin.dtype.kind == "M" else begin.dtype.type(before)
            earlier = begin < moment
        except (TypeError, ValueError, OverflowError) as error:
            raise OptionError(f"before: expected a time like those of the log, got {shown(before)}") from error
        return self.select(earlier), self.select(~earlier)

    def __repr__(self) -> str:
        return (
            f"Clicks({counted(self.n_sessions, 'session', 'sessions')}, {counted(self.n_queries, 'query', 'queries')}, "
            f"{counted(self.n_rows, 'shown document', 'shown documents')}, {counted(self.n_clicks, 'click', 'clicks')})"
        )

    def _by_row(self) -> dict[str, NDArray[Any]]:
        """Return the columns that exist with a value for each row."""
        columns = {
            "pair": self.pair,
            "position": self.position,
            "click": self.click,
            "weight": self.weight,
            "propensity": self.propensity,
            "timestamp": self.timestamp,
            "ranker": self.ranker,
            "team": self.team,
        }
        return {name: values for name, values in columns.items() if values is not None}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the log as columns, one value for each shown document, by the names that ``Clicks.of`` takes."""
        rows = self._by_row()
        pair = rows.pop("pair")
        found = {
            "session": np.repeat(self.session_ids, self.sizes),
            "qid": self.query_ids[self.pair_query[pair]],
            "docid": self.document_ids[self.pair_document[pair]],
            **({} if self.user_ids is None else {"user": np.repeat(self.user_ids, self.sizes)}),
            **rows,
            **self.extra,
        }
        return {**found, "click": self.click.astype(np.int64)}

    @checked
    def column(self, name: str) -> NDArray[Any]:
        """Return a column by which the log can be split: "ranker", "team" or one of ``extra``."""
        known = {**{one: values for one, values in self._by_row().items() if one in ("ranker", "team")}, **self.extra}
        check_name("column of the log", name, known)
        return known[name]

    def _with_single_impressions(self, repeated: str) -> Clicks:
        """Raise for, or merge, rows that show a document twice in a session."""
        first = np.arange(self.n_rows)
        n_repeated = _repeated_rows(self.indptr, self.pair, first)
        if not n_repeated:
            return self
        again = first != np.arange(self.n_rows)
        if repeated == "error":
            row = int(np.argmax(again))
            session = self.session_ids.take([self.session_of_row[row]]).tolist()[0]
            document = self.document_ids.take([self.pair_document[self.pair[row]]]).tolist()[0]
            raise InputError(
                f"expected every document once in a session, got document {shown(document)} twice in session "
                f"{shown(session)} ({counted(n_repeated, 'such row', 'such rows')}); repeated='merge' keeps the "
                f"first with all clicks, repeated='keep' keeps all"
            )
        click = self.click.copy()
        click[first[again & self.click]] = True
        kept = ~again
        sizes = np.bincount(self.session_of_row[kept], minlength=self.n_sessions)
        columns = {**self._by_row(), "click": click}
        return replace(
            self,
            indptr=offsets(sizes),
            unusable=replace(self.unusable, merged_impressions=self.unusable.merged_impressions + n_repeated),
            extra=_taken(self.extra, kept),
            **_taken(columns, kept),
        )


def _taken(columns: Mapping[str, Any], rows: Any) -> dict[str, Any]:
    return {name: values[rows] for name, values in columns.items()}


def _check_names(columns: Mapping[str, Any]) -> None:
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise InputError(f"expected the columns {', '.join(REQUIRED)}, got none called {', '.join(missing)}")
    unknown = [name for name in columns if name not in (*REQUIRED, *OPTIONAL)]
    if unknown:
        raise InputError(f"expected columns of {', '.join((*REQUIRED, *OPTIONAL))}, got {', '.join(map(str, unknown))}")


def _check_length(name: str, values: NDArray[Any], n_rows: int) -> None:
    if len(values) != n_rows:
        raise InputError(f"{name}: expected {n_rows} values, as many as positions, got {len(values)}")


def _positions(given: Any, first_position: int) -> Integers:
    values = _numbers("position", given, None)
    if not len(values):
        raise InputError("expected at least one shown document, got an empty log")
    whole = np.asarray(values, np.int64) if np.all(np.abs(values) < 2**62) else np.zeros(0, np.int64)
    wrong = (values != whole) if len(whole) else np.ones(len(values), bool)
    wrong |= (values < 0) | (values > LARGEST_POSITION)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"position: expected whole numbers from 1 to {LARGEST_POSITION}, got {values[row]:g} in row {row}"
        )
    return whole + (1 - first_position)


def _numbers(name: str, given: Any, n_rows: int | None) -> Floats:
    try:
        values = np.asarray(_native(given), np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: expected numbers, got {shown(str(error))}") from error
    if values.ndim != 1:
        raise InputError(f"{name}: expected one number for each row, got shape {values.shape}")
    if n_rows is not None:
        _check_length(name, values, n_rows)
    lacks = ~np.isfinite(values)
    if lacks.any():
        row = int(np.argmax(lacks))
        raise InputError(f"{name}: expected a finite number in every row, got {values[row]} in row {row}")
    if name in ("weight", "propensity") and (values < 0).any():
        row = int(np.argmax(values < 0))
        raise InputError(f"{name}: expected numbers from 0 up, got {values[row]:g} in row {row}")
    return values


def _flags(given: Any, n_rows: int) -> NDArray[np.bool_]:
    values = _numbers("click", given, n_rows)
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"click: expected 0 or 1, got {values[row]:g} in row {row}; read sums of clicks with format='counts', "
            f"and give the value of a click in the column 'weight'"
        )
    return np.asarray(values == 1, bool)


def _plain(name: str, given: Any, n_rows: int) -> NDArray[Any]:
    values = np.asarray(_native(given))
    if values.ndim != 1:
        raise InputError(f"{name}: expected one value for each row, got shape {values.shape}")
    _check_length(name, values, n_rows)
    return values


def _native(given: Any) -> Any:
    import pyarrow as pa

    return given.to_numpy() if isinstance(given, pa.ChunkedArray) else given


def _by_session(search: Integers, position: Integers) -> Integers | None:
    """Return the order of rows by session and position; None if they are already in order."""
    step = np.diff(search)
    if np.all((step > 0) | ((step == 0) & (np.diff(position) >= 0))):
        return None
    return np.lexsort((position, search))


@kernel()
def _repeated_rows(indptr: Integers, pair: Integers, first: Filled[np.int64]) -> int:
    """For every row, fill in the first row of its session with the same document; return how many rows are repeated."""
    count = 0
    for session in range(len(indptr) - 1):
        for row in range(indptr[session], indptr[session + 1]):
            for other in range(indptr[session], row):
                if pair[other] == pair[row]:
                    first[row] = other
                    count += 1
                    break
    return count
