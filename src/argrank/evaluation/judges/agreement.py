"""agreement: how well judges agree, beyond chance, by grade, by segment and by query."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from argrank._declared import Above, Below, checked
from argrank._once import reading_once
from argrank._tables import counted
from argrank._types import Floats, Integers
from argrank.data.grouping import objects
from argrank.data.io.text import id_texts
from argrank.data.io.trec.files import Qrels, words_of
from argrank.data.io.trec.forms import as_qrels, is_run, run_name
from argrank.errors import InputError, shown
from argrank.evaluation.defaults import LEVEL
from argrank.evaluation.judges import coefficients
from argrank.evaluation.judges.audit import Agreement, GradeAgreement, PairAgreement, QueryAgreement, SegmentAgreement
from argrank.evaluation.judges.coefficients import MOST_GROUPS, Estimate, estimate
from argrank.evaluation.segments import groups, segments_by_id

MOST_GRADES = 101  # 0 to 100; more values are hardly grades


@checked
@reading_once()
def agreement(
    *judges: Any,
    names: Sequence[str] | None = None,
    weights: Literal["linear", "quadratic"] = "quadratic",
    metric: Literal["nominal", "ordinal", "interval"] = "ordinal",
    by: Mapping[Any, Any] | None = None,
    level: Annotated[float, Above(0), Below(1)] = LEVEL,
) -> Agreement:
    """Compare the judgements of two or more judges: people, a model, grades made from clicks.

    Parameters
    ----------
    *judges : judgements
        Two or more, each in any form of ``ar.evaluate``: a file of qrels, ``{qid: {docid: grade}}``, a data frame, a
        judged Dataset. Or one dict from names to such judgements. Documents match by the texts of their ids.
    names : sequence of str, optional
        Of the judges; by default the names of their files, else a, b, ….
    weights : {"quadratic", "linear"}
        How ``weighted_kappa`` weights a difference of grades: squared or linearly.
    metric : {"ordinal", "nominal", "interval"}
        Of ``alpha``; ``alphas`` has all three.
    by : mapping from query id, optional
        Segments of queries: ``segments`` of the result has the coefficients on each of them.
    level : float
        The intervals cover 1 - level. They come from leaving out queries in turn, because judgements of the documents
        of one query are not independent.

    Kappa compares two judges on the documents that both judged; for more than two judges it is the mean over all pairs.
    Alpha takes any number of judges, and every document that at least two of them judged. Both are 1 for full agreement
    and 0 for agreement by chance. Grades below 0, TREC's mark of documents without a judgement, are left out.

    Examples
    --------
    >>> import argrank as ar
    >>> expert = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "b": 0, "d": 2}}
    >>> model = {"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 0, "b": 0, "d": 1, "e": 2}}
    >>> found = ar.agreement(expert, model)
    >>> round(found.kappa, 3), round(found.weighted_kappa, 3), found.table.tolist()
    (0.52, 0.739, [[2, 1, 0], [0, 1, 0], [0, 1, 1]])
    """
    judged = join_judges(judges, names)
    segment_of = None if by is None else segments_by_id(by, judged.query_ids)
    pairs = list(itertools.combinations(range(len(judged.names)), 2))
    whole = np.zeros(len(judged.query), np.int64)
    return Agreement(
        judges=judged.names,
        grades=judged.grades,
        n_documents=len(judged.given),
        query_ids=judged.query_ids,
        weights=weights,
        metric=metric,
        level=level,
        estimates=_estimates(judged, weights, level),
        table=np.sum([judged.counts(a, b, whole)[0] for a, b in pairs], axis=0).astype(np.int64),
        pairs=tuple(_pair(judged, a, b, weights, level) for a, b in pairs),
        prevalence={name: _shares(judged, place) for place, name in enumerate(judged.names)},
        by_grade=_by_grade(judged, level),
        queries=_queries(judged, weights),
        segments=() if segment_of is None else tuple(
            SegmentAgreement(name, int(own.sum()), len(some.given), _estimates(some, weights, level))
            for name, own in groups(segment_of) for some in (judged.of(own),)
        ),
        alone=judged.alone,
        pooled=judged.pooled,
    )  # fmt: skip


def _estimates(judged: Judged, weights: str, level: float) -> dict[str, Estimate]:
    """Return every coefficient by its name, with its interval by query."""
    grades, together = judged.grades, judged.coincidences(judged.groups)
    duels = itertools.combinations(range(len(judged.names)), 2)
    # groups x pairs x grades x grades
    counts = np.stack([judged.counts(a, b, judged.groups) for a, b in duels], axis=1)
    found = {
        "raw": estimate(coefficients.raw_agreement, together, level),
        "kappa": estimate(lambda some: _mean(coefficients.kappa(some, grades)), counts, level),
        "weighted_kappa": estimate(lambda some: _mean(coefficients.kappa(some, grades, weights)), counts, level),
    }
    for metric in coefficients.METRICS:
        alpha = functools.partial(coefficients.alpha, grades=grades, metric=metric)
        found[f"alpha_{metric}"] = estimate(alpha, together, level)
    return found


def _mean(values: Floats) -> Floats:
    """Return the mean over pairs of judges, without those that have no kappa."""
    known = ~np.isnan(values)
    n = known.sum(axis=-1)
    return np.where(n > 0, np.where(known, values, 0.0).sum(axis=-1) / np.maximum(n, 1), np.nan)


def _pair(judged: Judged, a: int, b: int, weights: str, level: float) -> PairAgreement:
    grades, counts = judged.grades, judged.counts(a, b, judged.groups)
    total = counts.sum(axis=0)
    n = float(total.sum())
    gap = float((total.sum(axis=1) - total.sum(axis=0)) @ grades / n) if n else np.nan
    return PairAgreement(
        judged.names[a], judged.names[b], int(n), float(coefficients.raw_agreement(total)),
        estimate(lambda some: coefficients.kappa(some, grades), counts, level),
        estimate(lambda some: coefficients.kappa(some, grades, weights), counts, level), gap,
    )  # fmt: skip


def _shares(judged: Judged, judge: int) -> Floats:
    given = judged.given[judged.given[:, judge] >= 0, judge]
    counts = np.bincount(given, minlength=len(judged.grades)).astype(np.float64)
    return counts / max(len(given), 1)


def _by_grade(judged: Judged, level: float) -> tuple[GradeAgreement, ...]:
    together = judged.coincidences(judged.groups)
    shares = together.sum(axis=(0, 2)) / together.sum()
    found = []
    for place, grade in enumerate(judged.grades.tolist()):
        again, alpha = (estimate(_of_grade(one, place), together, level) for one in GRADE_COEFFICIENTS)
        found.append(GradeAgreement(grade, float(shares[place]), again, alpha))
    return tuple(found)


GRADE_COEFFICIENTS = (coefficients.grade_agreement, coefficients.grade_alpha)


def _of_grade(coefficient: Callable[[Floats], Floats], place: int) -> Callable[[Floats], Floats]:
    return lambda tables: coefficient(tables)[..., place]


def _queries(judged: Judged, weights: str) -> tuple[QueryAgreement, ...]:
    """Return the queries by their share of all disagreement, the largest first."""
    n, power = len(judged.query_ids), coefficients.WEIGHTS_POWER[weights]
    equal, cost, compared = np.zeros(n), np.zeros(n), np.zeros(n)
    for a, b in itertools.combinations(range(len(judged.names)), 2):
        rows = (judged.given[:, a] >= 0) & (judged.given[:, b] >= 0)
        query, values = judged.query[rows], judged.grades[judged.given[rows][:, [a, b]]]
        distance = np.abs(values[:, 0] - values[:, 1])
        compared += np.bincount(query, minlength=n)
        equal += np.bincount(query, weights=distance == 0, minlength=n)
        cost += np.bincount(query, weights=distance**power, minlength=n)
    documents = np.bincount(judged.query, minlength=n)
    shares = cost / cost.sum() if cost.any() else cost
    return tuple(
        QueryAgreement(judged.query_ids[place], int(documents[place]), float(equal[place] / compared[place]),
                       float(shares[place]))
        for place in np.argsort(-cost, kind="stable").tolist()
    )  # fmt: skip


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
