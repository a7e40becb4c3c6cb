"""evaluate: measures of any system's scores or run, per query and on average."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from argrank._declared import Jobs, Share, checked
from argrank._once import reading_once
from argrank._threads import map_threads
from argrank._types import Floats
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, shown
from argrank.evaluation.counterfactual.result import ClickEvaluation, ClickEvaluations
from argrank.evaluation.ranking_blocks import Block, Judgements, query_blocks, rank_queries
from argrank.evaluation.result import Evaluation, Evaluations
from argrank.evaluation.segments import segments_of
from argrank.evaluation.systems import Lists, in_precision, lists_of, named_systems
from argrank.measures.conventions import Convention, make_convention
from argrank.measures.judged import Judged
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.names import measure_list


@runtime_checkable
class Elsewhere(Protocol):
    """Data that computes measures itself, such as data on a cluster."""

    def measure_queries(
        self, system: Any, measures: Sequence[Measure], convention: Convention
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Return every measure's values over the queries, and which queries have ties that matter."""


@overload
def evaluate(scores: NDArray[Any] | Sequence[float], data: Dataset, measures: Any, **options: Any) -> Evaluation: ...
@overload
def evaluate(scores: Any, data: Any, measures: Any, **options: Any) -> Any: ...
@checked
@reading_once()
def evaluate(
    scores: Any,
    data: Any,
    measures: Any,
    *,
    convention: str | Convention = "default",
    judgements: Dataset | Mapping[Any, Any] | None = None,
    by: Any = None,
    explain: Hashable | None = None,
    trusted: Any = None,
    probability: Mapping[Any, Any] | Share | None = None,
    propensities: Any = None,
    estimator: str | None = None,
    features: Any = None,
    min_coverage: float | None = None,
    min_clicks: float | None = None,
    n_jobs: Jobs = None,
    **switches: Any,
) -> Evaluation | Evaluations | ClickEvaluation | ClickEvaluations:
    """Evaluate scores or runs by one or several measures.

    Parameters
    ----------
    scores : array of shape (n_documents,), or a run
        One score per row of ``data``, in the caller's row order; greater is better. Or a run, which says which
        documents it returned: a TREC file, ``{qid: {docid: score}}``, a data frame with columns such as ``qid, docno,
        score``, records of ir_measures, or ranx's Run. A dict from names to several of these, or a list of runs, gives
        ``Evaluations``, a dict from names to results.
    data : Dataset, data frame, DistributedDataset, or judgements
        The judged documents; on a cluster, systems are rankers or models, which score the rows on the workers. For runs
        also judgements without features: a TREC file of qrels, ``{qid: {docid: label}}``, a data frame with columns
        such as ``qid, docno, label``, or ranx's Qrels.
    measures : str, Measure or a list of them
        Such as ``"ndcg@10"``, ``"map"``, ``"AP(rel=2)@100"``; see ``argrank.measure_names()``. Objects of ir_measures
        keep their own parameters.
    convention : str
        The rules: a preset of ``argrank.convention_names()``.
    judgements : Dataset or mapping from query id to labels, optional
        All judgements of every query, if the data holds only some of the judged documents: ideals and the number of
        relevant documents are then taken from here. Runs take them from ``data``.
    by : mapping from query id, array with one entry for each query, or name of a feature, optional
        Segments of queries: ``.segments`` of the result has every measure on each of them, with an interval.
    explain : query id, optional
        Show how the values of this query are computed: ``.explanation`` of the result.
    trusted : judgements, optional
        More reliable judgements of some of the queries, in any form of ``data``; ``data`` may then have cheap ones, for
        instance of a model or the crowd. The means estimate those of trusted judgements of all queries, with ``.low``
        and ``.high``, without bias from errors of the cheap ones; the better the cheap ones are, the shorter the
        interval. Trusted queries must be a random sample of all queries, with every judged document judged again.
    probability : mapping from query id to number, or number, optional
        The probability with which each trusted query was sampled, if they differ. Without it, queries that do not look
        like a random sample are an error; a number means that all had the same probability. For documents that were
        sampled individually, ``{qid: {docid: probability}}``, with measures that are sums over documents, such as
        ``"dcg@10"``.
    propensities, estimator, features, min_coverage, min_clicks : optional
        If ``data`` is a click log (``ar.load_clicks``), the result is the expected gain of the system per session, with
        intervals by groups of sessions, coverage and effective clicks. ``propensities`` is the examination curve
        (``ar.propensities``). ``estimator`` is "examinations" (clicks over examinations), "ips" (the mean of clicks
        over the examination of their rank), "dr" (examinations, and a model for documents that were never shown) or
        "model". ``features`` is the table of candidates, where the system is a model or scores of its rows. Measures
        have to add up gains with a constant divisor: "dcg@10", "p@5", "rbp", and "clicks@10", the expected clicks. A
        value is refused below a coverage of 0.9 or 100 effective clicks, those that were seen or those that are to be
        expected, unless ``min_coverage`` and ``min_clicks`` say otherwise.
    n_jobs : int, optional
        Number of threads, all cores by default; the result does not depend on it.
    **switches
        Single rules that differ from the preset, the fields of ``Convention``: ``ties="row"``, ``undefined=0``,
        ``gain="linear"``, ``relevant_at=2``, ``judged_only=True``, ….

    An unjudged document of a run keeps its rank and counts as not relevant, in every convention; the result counts such
    documents, and ``judged_only=True`` drops them. A judged document that a run did not return counts in ideals and in
    recall.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[3.0], [2.0], [1.0], [1.0]], [2, 0, 1, 0], qid=[1, 1, 1, 2])
    >>> result = ar.evaluate([0.3, 0.2, 0.1, 0.5], data, ["ndcg@10", "map"])
    >>> result.means, result.undefined
    ({'ndcg@10': 0.9639404333166532, 'map': 0.8333333333333333}, {'ndcg@10': 1, 'map': 1})

    A run against judgements: ``x`` is not judged, ``b`` was not returned.

    >>> result = ar.evaluate({"q1": {"x": 3.0, "a": 2.0}}, {"q1": {"a": 1, "b": 2}}, ["p@2", "recall", "judged@10"])
    >>> result.means, result.coverage.unjudged, result.coverage.not_returned
    ({'p@2': 0.5, 'recall': 0.5, 'judged@10': 0.5}, 1, 1)
    """
    rules = make_convention(convention, **switches)
    systems, several = named_systems(scores)
    on_log = {"propensities": propensities, "estimator": estimator, "features": features}
    on_log |= {"min_coverage": min_coverage, "min_clicks": min_clicks}
    on_log = {name: one for name, one in on_log.items() if one is not None}
    if isinstance(data, Clicks | ClickCounts):
        from argrank.evaluation.counterfactual.on_log import evaluate_on_log, refuse_on_log  # slow to import

        refuse_on_log(judgements=judgements, by=by, explain=explain, trusted=trusted, probability=probability)
        earned = evaluate_on_log(systems, data, measures, rules, **on_log)
        return ClickEvaluations(earned) if several else next(iter(earned.values()))
    if on_log:
        raise OptionError(f"{next(iter(on_log))}: expected a click log (ar.load_clicks) as data, got {shown(data)}")
    asked = measure_list(measures)
    if trusted is not None:
        from argrank.evaluation.judges.trusted import evaluate_trusted

        if judgements is not None or explain is not None:
            raise OptionError("trusted: expected neither judgements nor explain with it")
        found = evaluate_trusted(systems, data, trusted, asked, rules, probability, by, n_jobs)
    elif probability is not None:
        raise OptionError("probability: expected trusted judgements with it, got none")
    else:
        found = evaluate_systems(systems, data, asked, rules, judgements, by=by, explain=explain, n_jobs=n_jobs)
    return Evaluations(found) if several else next(iter(found.values()))


def evaluate_systems(
    systems: Mapping[str, Any],
    data: Any,
    asked: list[tuple[str, Measure]],
    rules: Convention,
    judgements: Any = None,
    *,
    by: Any = None,
    explain: Any = None,
    n_jobs: int | None = None,
) -> dict[str, Evaluation]:
    """Return the measures of several systems on the same data, local or on a cluster."""
    is_elsewhere = isinstance(data, Elsewhere)
    if not is_elsewhere:
        return {
            name: evaluate_lists(lists, asked, rules, by=by, explain=explain, n_jobs=n_jobs)
            for name, lists in lists_of(systems, data, judgements).items()
        }
    given = {"judgements": judgements, "explain": explain, "by": by if isinstance(by, str) else None}
    for name, one in given.items():
        if one is not None:
            raise InputError(f"{name}: expected data on one machine for it, got {type(data).__name__}")
    kinds = [one for _, one in asked]
    found = {}
    for name, one in systems.items():
        values, tied = data.measure_queries(one, kinds, rules)
        found[name] = Evaluation.of(asked, values, tied, data, rules)
        if by is not None:
            found[name].segment_of = segments_of(by, data)
    return found


def evaluate_lists(
    lists: Lists,
    asked: list[tuple[str, Measure]],
    rules: Convention,
    *,
    by: Any = None,
    explain: Any = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Return the measures of one system's lists."""
    data, scores = lists.data, in_precision(lists.scores, rules)
    kinds, coverage = [one for _, one in asked], None
    if lists.missing is not None:
        kinds = [*kinds, Judged(10, judged_only=False)]
    values, tied = measure_queries(scores, data, kinds, rules, lists.judgements, n_jobs)
    if lists.missing is not None:
        coverage = lists.coverage(float(values.pop()[~lists.missing].mean()))
    result = Evaluation.of(asked, values, tied, data, rules, lists.missing, coverage)
    if by is not None:
        result.segment_of = segments_of(by, data)
    if explain is not None:
        from argrank.evaluation.explain import explain_query

        result.explanation = explain_query(explain, scores, data, asked, rules, lists.judgements)
    return result


def mean_of(scores: Any, data: Any, measure: str | Measure, **options: Any) -> float:
    """Return the mean of one measure; options as in ``evaluate``."""
    parse_measure(measure)
    (mean,) = evaluate(scores, data, measure, **options).means.values()
    return float(mean)


def measure_queries(
    scores: Floats,
    data: Dataset,
    measures: Sequence[Measure],
    convention: Convention,
    judged: Judgements | None = None,
    n_jobs: int | None = None,
) -> tuple[list[Floats], NDArray[np.bool_]]:
    """Return each measure's values over the queries, NaN where undefined, and which queries have ties that matter."""

    def work(queries: NDArray[np.intp]) -> tuple[Block, list[Floats]]:
        block = rank_queries(scores, data, queries, convention, judged)
        columns = [measure.values(block.rankings, convention) for measure in measures]
        if convention.empty == "skip":
            without = block.rankings.n_relevant(convention.relevant_at) == 0
            columns = [np.where(without, np.nan, column) for column in columns]
        return block, columns

    values = [np.empty(data.n_queries) for _ in measures]
    tied = np.zeros(data.n_queries, bool)
    for block, columns in map_threads(work, query_blocks(data.sizes), n_jobs):
        tied[block.tied] = True
        for target, column in zip(values, columns, strict=True):
            target[block.queries] = column
    return values, tied
