"""evaluate(…, trusted=…): cheap judgements of all queries, corrected by trusted judgements of a sample of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from argrank._tables import counted
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import objects
from argrank.data.io.text import id_texts
from argrank.data.io.trec.files import Qrels, Run, document_names, words_of
from argrank.data.io.trec.forms import as_qrels, as_run
from argrank.errors import InputError, OptionError, shown
from argrank.evaluation.defaults import LEVEL
from argrank.evaluation.evaluate import Elsewhere, evaluate_lists
from argrank.evaluation.judges.prediction_powered import Powered, powered_mean
from argrank.evaluation.result import Evaluation
from argrank.evaluation.segments import Segment, groups
from argrank.evaluation.systems import is_run_for, judged_source, lists_of, stored_scores
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure

DOUBT = 0.001  # p below which trusted queries are not accepted as a random sample
Probability = Mapping[Any, Any] | float | None


@dataclass(frozen=True, eq=False)
class Correction:
    """Values by trusted judgements of a sample of the queries.

    ``where`` are the indices of trusted queries among all, ``probability`` their sampling probabilities (None if
    equal), ``values`` each measure by trusted judgements, ``powered`` the corrected means.
    """

    where: Integers
    probability: Floats | None
    values: dict[str, Floats]
    powered: dict[str, Powered]

    def segments(self, found: Evaluation, segment_of: NDArray[Any]) -> tuple[Segment, ...]:
        """Return the corrected mean of every measure on every segment, with the number of its trusted queries."""
        segments = []
        for name in found.means:
            for segment, own in groups(segment_of):
                one = self._on(found, name, own)
                segments.append(Segment(segment, name, int(own[self.where].sum()), one.mean, one.low, one.high))
        return tuple(segments)

    def _on(self, found: Evaluation, name: str, queries: NDArray[np.bool_]) -> Powered:
        mine = queries[self.where]
        places = (np.cumsum(queries) - 1)[self.where[mine]]
        weight = np.ones(int(queries.sum())) if found.query_weight is None else found.query_weight[queries]
        chances = None if self.probability is None else self.probability[mine]
        cheap, trusted = found.values[name][queries], self.values[name][mine]
        return powered_mean(cheap, trusted, places, weight, chances, found.bounds[name], LEVEL)


def evaluate_trusted(
    systems: Mapping[str, Any],
    data: Any,
    trusted: Any,
    asked: list[tuple[str, Measure]],
    rules: Convention,
    probability: Probability,
    by: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Evaluation]:
    """Return the result of ``evaluate`` by cheap judgements, with means corrected by the trusted ones."""
    if isinstance(data, Elsewhere):
        raise InputError(f"trusted: expected data on one machine for it, got {type(data).__name__}")
    sums = next((name for name, measure in asked if measure.adds_up), None)
    if sums is not None:
        raise OptionError(f"trusted: expected measures that are means over queries, got {sums!r}, which adds up")
    cheap = judged_source(data, systems)
    runs = {name: as_run(one) if is_run_for(one, cheap) else _run_of(one, cheap, name) for name, one in systems.items()}
    judged, better = as_qrels(cheap), as_qrels(trusted)
    for what, qrels in (("data", judged), ("trusted", better)):
        if not (qrels.rel >= 0).any():
            raise InputError(f"{what}: expected judgements, got none")
    found = {
        name: evaluate_lists(lists, asked, rules, by=by, n_jobs=n_jobs)
        for name, lists in lists_of(systems, cheap).items()
    }
    if isinstance(probability, Mapping) and any(isinstance(one, Mapping) for one in probability.values()):
        from argrank.evaluation.judges.scattered import ScatteredSample

        if by is not None:
            raise OptionError("by: expected no segments with probabilities of single documents")
        scattered = ScatteredSample(judged, better, probability)
        return {name: scattered.corrected(one, runs[name], asked, rules) for name, one in found.items()}
    sample = _Sample(judged, better, probability)
    for name, one in found.items():
        own = lists_of({name: runs[name]}, sample.qrels)[name]
        sample.corrected(one, evaluate_lists(own, asked, rules, n_jobs=n_jobs))
    return found


class _Sample:
    """The trusted queries, checked to be a sample of all: complete judgements and known probabilities."""

    def __init__(self, cheap: Qrels, trusted: Qrels, probability: Probability) -> None:
        all_queries, documents = _by_query(cheap)
        some, seen = _by_query(trusted)
        self.known = {qid: number for number, qid in enumerate(all_queries)}
        self.names = [qid for qid in some if qid in self.known]
        self.strangers = len(some) - len(self.names)
        if not self.names:
            raise InputError(
                f"trusted: expected some of the cheaply judged queries, such as {shown(next(iter(all_queries)))}, got "
                f"others, such as {shown(next(iter(some)))}"
            )
        short = {qid: documents[qid] - seen[qid] for qid in self.names if documents[qid] - seen[qid]}
        if short:
            qid, lacking = next(iter(short.items()))
            raise InputError(
                f"trusted: expected every judged document of a trusted query, got "
                f"{len(documents[qid]) - len(lacking)} of {len(documents[qid])} for query {shown(qid)} "
                f"({len(short)} of {len(self.names)} queries lack some); "
                "judge whole queries, drawn at random; documents that were drawn one by one need their chances, "
                "probability={qid: {docid: chance}}, and a measure that adds up over documents, such as dcg@10"
            )
        self.facts = _facts(cheap, list(all_queries))
        self.told = probability is not None
        self.probability = self._probabilities(probability)
        rows = np.isin(words(trusted.qid, "qid"), self.names) & (trusted.rel >= 0)
        self.qrels = Qrels(trusted.qid[rows], trusted.docno[rows], trusted.rel[rows])

    def _probabilities(self, given: Probability) -> Floats | None:
        """Return the chance of each trusted query; None where all had the same."""
        if not isinstance(given, Mapping):
            return None
        by_name = dict(zip(words_of([str(qid) for qid in given]), given.values(), strict=True))
        missing = next((qid for qid in self.names if qid not in by_name), None)
        if missing is not None:
            raise InputError(f"probability: expected one for every trusted query, got none for query {shown(missing)}")
        chances = [by_name[qid] for qid in self.names]
        wrong = next((one for one in chances if not isinstance(one, int | float) or not 0 < one <= 1), None)
        if wrong is not None:
            raise InputError(f"probability: expected numbers above 0 and at most 1, got {shown(wrong)}")
        return np.array(chances, np.float64)

    def corrected(self, found: Evaluation, own: Evaluation) -> Evaluation:
        """Return an evaluation by cheap judgements with its means corrected by that of the trusted ones."""
        place = {qid: number for number, qid in enumerate(words(found.query_ids, "qid"))}
        order = {qid: number for number, qid in enumerate(words(own.query_ids, "qid"))}
        where = np.array([place[qid] for qid in self.names])
        rows = np.array([order[qid] for qid in self.names])
        if not self.told:
            self._check_random(found, where)
        weight = np.ones(found.n_queries) if found.query_weight is None else found.query_weight
        values = {name: column[rows] for name, column in own.values.items()}
        powered = {
            name: powered_mean(column, values[name], where, weight, self.probability, found.bounds[name], LEVEL)
            for name, column in found.values.items()
        }
        found.correction = Correction(where, self.probability, values, powered)
        return found.with_means(powered, self._notes(powered))

    def _check_random(self, found: Evaluation, where: Integers) -> None:
        """Raise if trusted queries differ from the others more than a random sample would."""
        drawn = np.zeros(found.n_queries, bool)
        drawn[where] = True
        facts = {f"{name} by cheap judgements": column for name, column in found.values.items()}
        order = [self.known[qid] for qid in words(found.query_ids, "qid")]
        facts |= {name: column[order] for name, column in self.facts.items()}
        for what, column in facts.items():
            own, others = (some[~np.isnan(some)] for some in (column[drawn], column[~drawn]))
            if _differs(own, others) * len(facts) < DOUBT:
                raise InputError(
                    f"trusted: expected a random sample of the queries, got one whose mean {what} is "
                    f"{own.mean():.4g}, of the other queries {others.mean():.4g}, which is unlikely by chance; "
                    "queries that were picked (for instance by disagreement) need "
                    "probability={qid: chance of being picked}; if they were drawn at random nevertheless, give "
                    f"probability={len(where) / found.n_queries:.3g}"
                )

    def _notes(self, powered: Mapping[str, Powered]) -> list[str]:
        queries = counted(len(self.names), "trusted query", "trusted queries")
        drawn = "by the probabilities given" if self.told else "at random, as assumed"
        notes = [f"means by cheap judgements of {len(self.known):,} queries, corrected by {queries}, drawn {drawn}"]
        for name, one in powered.items():
            saved = round(one.worth - len(self.names)) if one.worth == one.worth else 0
            if saved > 0:
                notes.append(
                    f"{name}: as good as {round(one.worth):,} trusted queries without cheap judgements; {saved:,} saved"
                )
            else:
                notes.append(f"{name}: the cheap judgements save no trusted queries here")
        if self.strangers:
            notes.append(f"{counted(self.strangers, 'trusted query has', 'trusted queries have')} no cheap judgements")
        return notes


def _differs(a: Floats, b: Floats) -> float:
    """Return the p-value of Welch's test; 1 where it is undefined."""
    if len(a) < 2 or len(b) < 2:
        return 1.0
    first, second = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    if first == 0 or second == 0:
        return 1.0
    freedom = (first + second) ** 2 / (first**2 / (len(a) - 1) + second**2 / (len(b) - 1))
    return float(2 * stdtr(freedom, -abs(a.mean() - b.mean()) / np.sqrt(first + second)))


def _by_query(qrels: Qrels) -> tuple[dict[str, None], dict[str, set[str]]]:
    """Return the queries in their order, and the documents judged for each."""
    documents: dict[str, set[str]] = {}
    judged = qrels.rel >= 0
    rows = zip(words(qrels.qid, "qid"), words(qrels.docno, "docno"), judged.tolist(), strict=True)
    for qid, document, is_judged in rows:
        own = documents.setdefault(qid, set())
        if is_judged:
            own.add(document)
    return dict.fromkeys(documents), documents


def _facts(cheap: Qrels, queries: list[str]) -> dict[str, Floats]:
    """Return facts about every query from cheap judgements: how many documents are judged, and their labels."""
    number = {qid: place for place, qid in enumerate(queries)}
    query = np.array([number[qid] for qid in words(cheap.qid, "qid")])
    sizes = np.bincount(query, minlength=len(queries)).astype(np.float64)
    grades = np.bincount(query, weights=cheap.rel, minlength=len(queries)) / sizes
    return {"number of judged documents": sizes, "cheap grade": grades}


def words(ids: NDArray[Any], what: str) -> list[str]:
    """Return ids as words, by which judgements are joined."""
    return words_of(id_texts(ids, what))


def _run_of(system: Any, data: Any, name: str) -> Run:
    """Return the scores of a Dataset's rows as a run."""
    if not isinstance(data, Dataset) or data.document_ids is None:
        raise InputError("trusted: expected data with document ids, by which trusted judgements find their documents")
    scores = stored_scores(system, data, name)
    return Run(np.repeat(data.query_ids, data.sizes), objects(document_names(data)), scores)
