"""Join the judgements of several judges: every judged document, and the grade that each judge gave it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._tables import counted
from argrank._types import Floats, Integers
from argrank.data.grouping import objects
from argrank.data.io.text import id_texts
from argrank.data.io.trec.files import Qrels, words_of
from argrank.data.io.trec.forms import as_qrels, is_run, run_name
from argrank.errors import InputError, shown
from argrank.evaluation.judges.coefficients import MOST_GROUPS

MOST_GRADES = 101  # 0 to 100; more values are hardly grades


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents that at least two judges judged.

    Attributes
    ----------
    names : tuple of str
        Of the judges.
    grades : array of shape (n_grades,)
        The values that occur, ascending.
    given : array of shape (n_documents, n_judges)
        Index of the grade that a judge gave, -1 if none.
    query, query_ids : arrays of shape (n_documents,) and (n_queries,)
        The number of each document's query, and the ids of the queries, in the order in which they come.
    alone : int
        Documents that only one judge judged; they are left out.
    pooled : int
        Judgements below 0, TREC's mark of documents that were not judged; they are left out.
    """

    names: tuple[str, ...]
    grades: Floats
    given: Integers
    query: Integers
    query_ids: NDArray[Any]
    alone: int
    pooled: int

    @property
    def groups(self) -> Integers:
        """The group of each document in the jackknife: its query or, with very many queries, several of them."""
        return self.query % min(len(self.query_ids), MOST_GROUPS)

    def of(self, queries: NDArray[np.bool_]) -> Judged:
        """Return the documents of some queries."""
        rows = queries[self.query]
        number = np.cumsum(queries) - 1
        query = number[self.query[rows]]
        return Judged(self.names, self.grades, self.given[rows], query, self.query_ids[queries], 0, 0)

    def counts(self, a: int, b: int, by: Integers) -> Floats:
        """Return for each group the table of the grades of two judges, over the documents that both judged."""
        rows = (self.given[:, a] >= 0) & (self.given[:, b] >= 0)
        return self._tables(by, rows, a, b, np.ones(len(rows)))

    def coincidences(self, by: Integers) -> Floats:
        """Return for each group Krippendorff's table of coincidences of all judges."""
        known = self.given >= 0
        each = 1.0 / (known.sum(axis=1) - 1)
        size = len(self.grades)
        found = np.zeros((int(by.max()) + 1, size, size))
        for a, b in itertools.permutations(range(len(self.names)), 2):
            found += self._tables(by, known[:, a] & known[:, b], a, b, each)
        return found

    def _tables(self, by: Integers, rows: NDArray[np.bool_], a: int, b: int, each: Floats) -> Floats:
        size, groups = len(self.grades), int(by.max()) + 1
        cell = (by[rows] * size + self.given[rows, a]) * size + self.given[rows, b]
        flat: Floats = np.bincount(cell, weights=each[rows], minlength=groups * size * size).astype(np.float64)
        return flat.reshape(groups, size, size)


def join_judges(given: Sequence[Any], names: Sequence[str] | None) -> Judged:
    """Join judgements in any form of ``ar.evaluate``; documents match if their ids have the same text."""
    judges = _named(given, names)
    known: dict[tuple[str, str], int] = {}
    queries: dict[str, int] = {}
    query: list[int] = []
    query_ids: list[Any] = []
    columns, pooled = [], 0
    for qrels in judges.values():
        rows = np.empty(len(qrels), np.int64)
        words = zip(words_of(id_texts(qrels.qid, "qid")), words_of(id_texts(qrels.docno, "docno")), strict=True)
        for line, key in enumerate(words):
            rows[line] = known.setdefault(key, len(known))
            if rows[line] == len(query):
                if key[0] not in queries:
                    queries[key[0]] = len(queries)
                    query_ids.append(qrels.qid[line])
                query.append(queries[key[0]])
        fine = qrels.rel >= 0
        pooled += int(np.count_nonzero(~fine))
        columns.append((rows[fine], qrels.rel[fine] + 0.0))  # -0 is 0
    grades = np.unique(np.concatenate([values for _, values in columns]))
    if len(grades) > MOST_GRADES:
        raise InputError(
            f"expected at most {MOST_GRADES} different grades, got {counted(len(grades), 'value', 'values')} such as "
            f"{grades[0]:g} and {grades[1]:g}; round them to grades first"
        )
    table = np.full((len(known), len(judges)), -1, np.int64)
    for judge, (rows, values) in enumerate(columns):
        table[rows, judge] = np.searchsorted(grades, values)
    times = np.count_nonzero(table >= 0, axis=1)
    if not (times >= 2).any():
        first = [f"{name} has {shown(one.docno[0])} of query {shown(one.qid[0])}" for name, one in judges.items()]
        raise InputError(f"expected documents that two judges judged, got none; {', '.join(first)}")
    rows = times >= 2
    old = np.unique(np.array(query)[rows])
    number = np.full(len(query_ids), -1)
    number[old] = np.arange(len(old))
    return Judged(
        tuple(judges), grades, table[rows], number[np.array(query)[rows]], objects(query_ids)[old],
        int(np.count_nonzero(times == 1)), pooled,
    )  # fmt: skip


def _named(given: Sequence[Any], names: Sequence[str] | None) -> dict[str, Qrels]:
    """Return judgements by the judges' names: those given, the files' names, else a, b, …."""
    if len(given) == 1 and isinstance(given[0], Mapping) and not is_run(given[0]):
        names, given = [str(name) for name in given[0]], list(given[0].values())
    if len(given) < 2:
        raise InputError(f"expected judgements of at least two judges, got {len(given)}")
    if names is None:
        files = isinstance(given[0], str | os.PathLike)
        own = [run_name(one, 0) if isinstance(one, str | os.PathLike) else "" for one in given]
        letters = [chr(ord("a") + place % 26) + str(place // 26 or "") for place in range(len(given))]
        names = own if files and all(own) and len(set(own)) == len(own) else letters
    if len(names) != len(given) or len(set(names)) < len(names):
        raise InputError(f"names: expected {len(given)} different names, got {', '.join(map(shown, names))}")
    judges = {str(name): as_qrels(one) for name, one in zip(names, given, strict=True)}
    for name, one in judges.items():
        if not len(one):
            raise InputError(f"{name}: expected judgements, got none")
    return judges
