"""evaluate: scores of anybody's system to measures, per query and on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argrank._threads import map_threads
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.errors import InputError, shown
from argrank.evaluation.ranking_blocks import Block, query_blocks, rank_queries
from argrank.evaluation.result import Evaluation
from argrank.measures.conventions import Convention, make_convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure_list

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from argrank.measures.conventions import Switches


def evaluate(
    scores: Any,
    data: Dataset,
    measures: str | Measure | Sequence[str | Measure],
    *,
    convention: str | Convention = "default",
    judgements: Dataset | Mapping[Any, Any] | None = None,
    explain: Any = None,
    n_jobs: int | None = None,
    **switches: Unpack[Switches],
) -> Evaluation:
    """Evaluate scores by one or several measures.

    Parameters
    ----------
    scores : array of shape (n_documents,)
        One score per row, in the caller's row order; greater is better.
    data : Dataset
        The judged documents.
    measures : str, Measure or a list of them
        Such as ``"ndcg@10"``, ``"map"``, ``"AP(rel=2)@100"``; see ``argrank.measure_names()``.
    convention : str
        Whose rules: a preset of ``argrank.convention_names()``.
    judgements : Dataset or mapping from query id to labels, optional
        All judgements of every query, where the data holds only some of the judged documents: ideals and the number
        of relevant documents are then taken from here (the qrels of TREC).
    explain : query id, optional
        Show how the values of this query come about: ``.explanation`` of the result.
    n_jobs : int, optional
        Number of threads, all cores by default; the result has the same bits for any number.
    **switches
        Single rules that differ from the preset, the fields of ``Convention``: ``ties="row"``, ``undefined=0``,
        ``gain="linear"``, ``relevant_at=2``, ….

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[3.0], [2.0], [1.0], [1.0]], [2, 0, 1, 0], qid=[1, 1, 1, 2])
    >>> result = ar.evaluate([0.3, 0.2, 0.1, 0.5], data, ["ndcg@10", "map"])
    >>> result.means, result.undefined
    ({'ndcg@10': 0.9639404333166532, 'map': 0.8333333333333333}, {'ndcg@10': 1, 'map': 1})
    """
    rules = make_convention(convention, **switches)
    asked = measure_list(measures)
    stored = check_scores(scores, data, rules)
    judged = None if judgements is None else judged_labels(judgements, data)
    values, tied = measure_queries(stored, data, [one for _, one in asked], rules, judged, n_jobs)
    result = Evaluation.of(asked, values, tied, data, rules)
    if explain is not None:
        from argrank.evaluation.explain import explain_query

        result.explanation = explain_query(explain, stored, data, asked, rules, judged)
    return result


def mean_of(scores: Any, data: Dataset, measure: str | Measure, **options: Any) -> float:
    """Return the mean of one measure; options as in ``evaluate``."""
    (mean,) = evaluate(scores, data, measure, **options).means.values()
    return mean


def check_scores(scores: Any, data: Dataset, convention: Convention) -> Floats:
    """Return scores in stored row order, in the precision of the convention, or say what is wrong with them."""
    if not isinstance(data, Dataset):
        raise InputError(f"data: expected a Dataset, got {type(data).__name__}")
    if not data.is_judged:
        raise InputError("data: expected labels, got data without judgements; there is nothing to measure against")
    stored: Floats = data.from_caller(checks.numbers(scores, data.n_documents, "scores", "score"))
    if convention.score_dtype == "float32":
        greatest = float(np.finfo(np.float32).max)
        stored = np.clip(stored, -greatest, greatest).astype(np.float32).astype(np.float64)
    return stored


def judged_labels(judgements: Dataset | Mapping[Any, Any], data: Dataset) -> dict[Any, Floats]:
    """Return all judged labels of every query of the data."""
    if isinstance(judgements, Dataset):
        source: dict[Any, Any] = {
            qid: judgements.y[judgements.indptr[q] : judgements.indptr[q + 1]]
            for q, qid in enumerate(judgements.query_ids.tolist())
        }
    else:
        source = dict(judgements)
    found = {}
    for qid in data.query_ids.tolist():
        if qid not in source:
            raise InputError(f"judgements: expected labels for every query, got none for query {shown(qid)}")
        found[qid] = checks.labels(source[qid], len(source[qid]))
    return found


def measure_queries(
    scores: Floats,
    data: Dataset,
    measures: Sequence[Measure],
    convention: Convention,
    judged: Mapping[Any, Floats] | None = None,
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
