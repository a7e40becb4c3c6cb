"""Sum a log that is read in pieces, for logs larger than memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Integers
from argrank.data.clicks.counts import ClickCounts, Unusable
from argrank.data.clicks.log import Clicks
from argrank.errors import InputError

BITS = 32  # bits of a document's number in a key with its query's


@dataclass
class Numbers:
    """Ids of all pieces so far, in order of first appearance."""

    number: dict[Any, int] = field(default_factory=dict)

    def of(self, ids: NDArray[Any]) -> Integers:
        """Return the numbers of ids; new ones are added."""
        number = self.number
        return np.array([number.setdefault(one, len(number)) for one in ids.tolist()], np.int64)

    def ids(self) -> NDArray[Any]:
        """Return all ids."""
        found = list(self.number)
        return np.array(found) if all(isinstance(one, int) for one in found) else np.array(found, object)


@dataclass
class Sums:
    """Impressions, clicks and values by pair, position and group, added up piece by piece."""

    queries: Numbers = field(default_factory=Numbers)
    documents: Numbers = field(default_factory=Numbers)
    sessions: dict[int, int] = field(default_factory=dict)  # of every query
    searches: set[int] = field(default_factory=set)  # hashes: a few dozen bytes per search
    merged: int = 0
    split: int = 0
    cells: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    n_compact: int = 1_000_000

    def add(self, log: Clicks) -> None:
        """Add a piece of whole sessions."""
        query, document = self.queries.of(log.query_ids), self.documents.of(log.document_ids)
        for session, code in zip(log.session_ids.tolist(), query[log.query].tolist(), strict=True):
            search = hash((session, code))
            if search in self.searches:
                self.split += 1
            else:
                self.searches.add(search)
                self.sessions[code] = self.sessions.get(code, 0) + 1
        self.merged += log.unusable.merged_impressions
        counts = log.counts()
        key = (query[log.pair_query] << BITS) + document[log.pair_document]
        group = np.zeros(len(counts.pair), np.uint8) if counts.group is None else counts.group
        self.cells.append((key[counts.pair], counts.position, group, counts.impressions, counts.clicks, counts.value))
        if sum(len(cells[0]) for cells in self.cells) > 2 * self.n_compact:
            self._compact()

    def total(self) -> ClickCounts:
        """Return the sums of all pieces."""
        self._compact()
        key, position, group, impressions, clicks, value = self.cells[0]
        keys, pair = np.unique(key, return_inverse=True)
        return ClickCounts(
            self.queries.ids(),
            self.documents.ids(),
            keys >> BITS,
            keys & ((1 << BITS) - 1),
            np.array([self.sessions[code] for code in range(len(self.sessions))], np.int64),
            pair.astype(np.int64),
            position,
            group,
            impressions,
            clicks,
            value,
            Unusable(merged_impressions=self.merged, split_sessions=self.split),
        )

    def _compact(self) -> None:
        """Add up equal cells."""
        key, position, group, *sums = (np.concatenate(column) for column in zip(*self.cells, strict=True))
        order = np.lexsort((group, position, key))
        key, position, group = key[order], position[order], group[order]
        new = (np.diff(key) != 0) | (np.diff(position) != 0) | (np.diff(group.astype(np.int64)) != 0)
        starts = np.flatnonzero(np.concatenate(([True], new)))
        added = [np.add.reduceat(one[order], starts) for one in sums]
        self.cells = [(key[starts], position[starts], group[starts], *added)]
        self.n_compact = max(self.n_compact, len(starts))


def summed(pieces: Iterable[Mapping[str, Any]], how: Mapping[str, Any]) -> ClickCounts:
    """Return the sums of a log from pieces of its columns; a session may continue in the next piece.

    Sessions that appear again later are counted (``unusable.split_sessions``); whether they show a document twice is
    checked only within each part.
    """
    import pyarrow as pa

    sums, rest = Sums(), None
    for piece in pieces:
        table = pa.table(dict(piece))
        table = table if rest is None else pa.concat_tables([rest, table], promote_options="permissive")
        session = table.column("session")
        if not len(session):
            continue
        last = int(np.argmax((session.to_numpy() == session[-1].as_py())[::-1] == 0)) or len(session)
        rest = table.slice(len(session) - last)
        if last < len(session):
            _add(sums, table.slice(0, len(session) - last), how)
    if rest is None:
        raise InputError("expected at least one shown document, got an empty log")
    _add(sums, rest, how)
    return sums.total()


def _add(sums: Sums, table: Any, how: Mapping[str, Any]) -> None:
    sums.add(Clicks.of({name: table.column(name) for name in table.column_names}, **how))
