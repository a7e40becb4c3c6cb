"""The rankings of a system, their value per session from a log, also without each group, and the evidence for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from argrank._types import Floats, Integers
from argrank.clicks.curve import Propensities
from argrank.clicks.evidence import ROUNDING, Estimator, Evidence, Worth
from argrank.clicks.matching import candidates_of, numbers_of, pairs_of
from argrank.data import checks
from argrank.data.clicks.counts import ClickCounts
from argrank.data.foreign_models import scores as predicted_scores
from argrank.data.io.trec.forms import as_run, is_run
from argrank.errors import InputError, OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.names import spelled_out
from argrank.measures.product import Product
from argrank.measures.structure import Structure, refused_gains

LEVEL = 0.95
NAMED = 3  # queries and documents named in the error
CLICKS = "clicks"


@dataclass(frozen=True, eq=False)
class Earning:
    """A measure on a log: discounts of ranks, the expected clicks due to each rank alone, and a name."""

    name: str
    structure: Structure
    owed: Floats  # of the ranks, beside what documents earn; of clicks@k by a curve with trust
    n_seen: int = 0  # ranks whose discount is the curve of examination: k of clicks@k

    def constant(self, n_shown: Floats) -> Floats:
        """Return the part of the value that depends only on the lengths of lists."""
        sums = np.concatenate(([0.0], np.cumsum(self.owed)))
        return sums[np.minimum(n_shown, len(self.owed)).astype(np.int64)]


def earnings(measures: Any, curve: Any, rules: Convention) -> list[Earning]:
    """Return asked measures, each one that adds up gains with a constant divisor, or clicks@k; others are an error."""
    asked = spelled_out(measures if isinstance(measures, list | tuple) else [measures])
    if not asked:
        raise OptionError("measures: expected at least one measure, got none")
    return [_earning(one, curve, rules) for one in asked]


def _earning(asked: Any, curve: Any, rules: Convention) -> Earning:
    if isinstance(asked, str) and asked.strip().lower().partition("@")[0] == CLICKS:
        return _expected_clicks(asked.strip(), curve, rules)
    measure: Measure = parse_measure(asked)
    structure = measure.structure(rules)
    if structure is None or not structure.takes_gains:
        raise refused_gains(measure.name)
    return Earning(asked if isinstance(asked, str) else measure.name, structure, np.zeros(0))


def _expected_clicks(name: str, curve: Any, rules: Convention) -> Earning:
    """Return the clicks that a session is expected to have, with the examination of a rank as its discount."""
    if not isinstance(curve, Propensities):
        raise OptionError(f"{name}: expected one curve of examination (propensities=), got {shown(curve)}")
    _, at, number = name.partition("@")
    if at and (not number.isdigit() or not 1 <= int(number) <= 100_000):
        raise OptionError(f"measure {name!r}: expected a cut-off such as clicks@10")
    k = min(int(number) if at else len(curve), len(curve))
    known = curve.values[:k]
    if np.isnan(known).any():
        rank = int(np.argmax(np.isnan(known))) + 1
        raise InputError(f"{name}: expected a curve with rank {rank}, got one without it")
    structure = Product(a=np.minimum.accumulate(known), b="linear").structure(rules)
    owed = np.zeros(k) if curve.offsets is None else curve.offsets[:k]
    return Earning(name, _with_discounts(structure, known), owed, k)


def _with_discounts(structure: Structure | None, known: Floats) -> Structure:
    """Return the structure with discounts as they are: an estimated curve may rise a little."""
    if structure is None:
        raise refused_gains(CLICKS)
    return dataclasses.replace(structure, discounts=_of_ranks(known))


def _of_ranks(known: Floats) -> Callable[[int], Floats]:
    """Return the discounts of any number of ranks; 0 below those that are known."""
    return lambda n: np.concatenate((known[:n], np.zeros(max(n - len(known), 0))))


class Ranked(NamedTuple):
    """Documents in the order of queries and scores; ``first`` and ``size`` are the ranks that tied documents share."""

    query: Integers  # number in the log
    document: Any  # ids
    pair: Integers  # number in the log, -1 if never shown
    first: Integers  # rank from 0 of the first document of the same score
    size: Integers  # documents of that score
    n_unknown: int  # queries of the system that the log does not have

    def discounts(self, of_ranks: Callable[[int], Floats]) -> Floats:
        """Return the discount of every document, expected over the orders of equal scores."""
        longest = int((self.first + self.size).max(initial=0))
        sums = np.concatenate(([0.0], np.cumsum(of_ranks(longest))))
        return np.asarray((sums[self.first + self.size] - sums[self.first]) / self.size, np.float64)


def ranked_by(system: Any, features: Any, counts: ClickCounts) -> Ranked:
    """Return a system's rankings: of a run, or with a table of candidates of a model or scores of its rows."""
    if features is None:
        if not is_run(system):
            raise InputError(
                f"evaluate on a log: expected a run, {{qid: {{docid: score}}}} or a file, got {type(system).__name__}; "
                "a model or scores need features=, the table of the candidates"
            )
        run = as_run(system)
        names, number = np.unique(np.asarray(run.qid).astype(str), return_inverse=True)
        query, documents, scores = numbers_of(names, counts.query_ids)[number], np.asarray(run.docno), run.score
        n_unknown = int((numbers_of(names, counts.query_ids) < 0).sum())
    else:
        data = candidates_of(features)
        by_row = predicted_scores(system, data, "system") if callable(getattr(system, "predict", None)) else system
        stored = data.from_caller(checks.numbers(by_row, data.n_documents, "scores", "score"))
        of_query = numbers_of(data.query_ids, counts.query_ids)
        query, documents, scores = np.repeat(of_query, data.sizes), data.document_ids, stored
        n_unknown = int((of_query < 0).sum())
    known = query >= 0
    if not known.any():
        raise InputError(
            f"expected queries of the log, such as {shown(str(counts.query_ids[0]))}, got a system without any of them"
        )
    query, documents, scores = query[known], np.asarray(documents)[known], np.asarray(scores, np.float64)[known]
    order = np.lexsort((-scores, query))
    query, documents, scores = query[order], documents[order], scores[order]
    new_query = np.diff(query, prepend=-1) != 0
    starts = np.flatnonzero(new_query)
    begin = np.repeat(starts, np.diff(np.append(starts, len(query))))
    ties = np.flatnonzero(new_query | (np.diff(scores, prepend=np.nan) != 0))
    size = np.diff(np.append(ties, len(query)))
    first = np.repeat(ties, size) - begin
    return Ranked(query, documents, pairs_of(query, documents, counts), first, np.repeat(size, size), n_unknown)


@dataclass(frozen=True, eq=False)
class Valued:
    """The value of one ranking by one measure, per session."""

    value: float
    by_query: Floats  # of every query of the log
    without: tuple[Floats, ...]  # the value without each group; also without each group of the curve's own log
    coverage: float  # share of the discount on documents that were shown
    effective_clicks: float
    expected_clicks: float  # the same, if documents that were hardly examined attract as others do
    logged: float  # of the pages that the log has
    discounts: Floats  # of every pair of the log, a session
    excess: Floats  # variance of every pair's worth above what its own clicks say

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the 95 % interval, by deleting one group of sessions at a time."""
        wide = half_width(*self.without, excess=float(self.discounts**2 @ self.excess))
        return self.value - wide, self.value + wide


def half_width(*without: Floats, excess: float = 0.0) -> float:
    """Return half the width of a 95 % interval, from the values without each group; NaN for fewer than two groups.

    For several independent logs, values without their groups are given separately: the variances add up.
    """
    n = len(without[0])
    if n < 2:
        return np.nan
    square = sum(float((len(one) - 1) / len(one) * ((one - one.mean()) ** 2).sum()) for one in without)
    square += max(excess, 0.0)
    return float(stats.t.ppf(0.5 + LEVEL / 2, n - 1) * np.sqrt(square))


def _over(top: float, bottom: float) -> float:
    return top / bottom if bottom > 0 else np.nan


def _effective(n_clicks: Floats, each: Floats) -> float:
    """Return the number of equally weighted clicks that say as much as these."""
    square = float((n_clicks * each**2).sum())
    return float((n_clicks * each).sum()) ** 2 / square if square > 0 else 0.0


class Bench:
    """A prepared log: the values of its pairs, from all sessions and without each group."""

    def __init__(self, found: Evidence, estimator: Estimator) -> None:
        self.evidence = found
        self.worth = found.worth(estimator)
        self.groups = found.groups
        self.without = [found.worth(estimator, int(group)) for group in self.groups]
        self.other_curves = np.zeros((0, 0)) if found.others is None else found.others
        self.by_curve = [found.worth_by(estimator, one) for one in self.other_curves]
        self.shown = found.sums(found.impressions) > 0
        self.examinations = found.sums(found.examinations)
        self.excess = found.excess(estimator)
        self.expected = found.worth("model").gains * self.examinations  # clicks
        self.n_clicks = np.bincount(found.counts.pair, found.counts.clicks, found.n_pairs).astype(np.float64)

    def value(self, ranked: Ranked, earning: Earning, parts: Sequence[Floats]) -> list[Valued]:
        """Return the value of a ranking on parts of the queries, each given by 1 for those that count and 0 else."""
        a = ranked.discounts(earning.structure.discounts)
        n_queries = len(self.worth.sessions)
        lengths = np.bincount(ranked.query, minlength=n_queries).astype(np.float64)
        constant = earning.constant(lengths)

        def by_query(worth: Worth, a: Floats) -> Floats:
            gains = np.where(ranked.pair >= 0, worth.gains[ranked.pair], worth.elsewhere)
            return np.asarray(np.bincount(ranked.query, a * gains, n_queries) + constant, np.float64)

        def by_curve(worth: Worth, curve: Floats | None) -> Floats:
            """Return the values with another curve as the discount of clicks@k."""
            if curve is None or not earning.n_seen:
                return by_query(worth, a)
            return by_query(worth, ranked.discounts(_of_ranks(curve[: earning.n_seen])))

        own = self.evidence.replicates
        curves = [None if own is None else own[group] for group in self.groups]
        others = [
            [(worth, by_curve(worth, curve)) for worth, curve in zip(worths, used, strict=True)]
            for worths, used in ((self.without, curves), (self.by_curve, self.other_curves))
        ]
        values, logged, there = by_query(self.worth, a), self._logged(earning), self.has_shown(ranked)
        return [self._on(part, ranked, a, there, values, others, logged) for part in parts]

    def _on(
        self, share: Floats, ranked: Ranked, a: Floats, there: Any, values: Floats, others: Any, logged: Floats
    ) -> Valued:
        """Return the value on a part of the queries."""

        def mean(worth: Worth, values: Floats) -> float:
            weight = worth.sessions * share
            return _over(float(weight @ values), float(weight.sum()))

        without = tuple(np.array([mean(*pair) for pair in some]) for some in others if some)
        weight = (self.worth.sessions * share)[ranked.query] * a
        total = float(np.abs(weight).sum())
        coverage = _over(float(np.abs(weight[there]).sum()), total)
        pair, n_sessions = ranked.pair[there], float(self.worth.sessions @ share)
        each = weight[there] / self.examinations[pair]  # of a click
        clicks, expected = (_effective(some[pair], each) for some in (self.n_clicks, self.expected))
        value, of_pages = mean(self.worth, values), _over(float(logged @ share), n_sessions)
        discounts = np.bincount(pair, weight[there], len(self.shown)) / max(n_sessions, 1.0)
        return Valued(value, values, without, coverage, clicks, expected, of_pages, discounts, self.excess)

    def has_shown(self, ranked: Ranked) -> NDArray[np.bool_]:
        """Tell which documents of a ranking the log has shown."""
        return np.asarray((ranked.pair >= 0) & self.shown[ranked.pair])

    def _logged(self, earning: Earning) -> Floats:
        """Return the value of the pages that the log has, summed over the sessions of every query."""
        counts = self.evidence.counts
        of_rank = earning.structure.discounts(counts.n_positions)
        owed = np.concatenate((earning.owed, np.zeros(max(counts.n_positions - len(earning.owed), 0))))
        terms = of_rank[counts.position - 1] * self.worth.gains[counts.pair] + owed[counts.position - 1]
        query = counts.pair_query[counts.pair]
        return np.bincount(query, counts.impressions * terms, len(self.worth.sessions)).astype(np.float64)

    def lacking(self, ranked: Ranked, earning: Earning) -> list[tuple[str, str]]:
        """Return the never shown documents with the largest discounts, and their queries."""
        a = ranked.discounts(earning.structure.discounts)
        return self._named(ranked, np.where(~self.has_shown(ranked), self.worth.sessions[ranked.query] * a, 0.0))

    def hardly_examined(self, ranked: Ranked, earning: Earning) -> list[tuple[str, str]]:
        """Return the queries and documents that make a value least certain."""
        weight = self.worth.sessions[ranked.query] * ranked.discounts(earning.structure.discounts)
        there, seen = self.has_shown(ranked), np.maximum(self.examinations[ranked.pair], ROUNDING)
        return self._named(ranked, np.where(there, self.expected[ranked.pair] * (weight / seen) ** 2, 0.0))

    def _named(self, ranked: Ranked, lost: Floats) -> list[tuple[str, str]]:
        worst = [one for one in np.argsort(-lost, kind="stable")[:NAMED].tolist() if lost[one] > 0]
        ids = self.evidence.counts.query_ids
        return [(str(ids[ranked.query[one]]), str(ranked.document[one])) for one in worst]
