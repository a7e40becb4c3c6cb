"""Join runs and judgements: every document that is judged or returned by some run, query by query."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import group_by_id, objects, offsets
from argrank.data.io.text import id_texts
from argrank.data.io.trec.files import Qrels, Run, words_of
from argrank.data.io.trec.forms import as_qrels, as_run
from argrank.data.unjudged import JUDGED, OUTSIDE, POOLED, Gaps
from argrank.errors import ArgrankWarning, InputError, shown


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Judgements and what each of some runs returned, over the same queries: those of the judgements.

    A document without a judgement has label 0, as usual, and ``gaps`` distinguishes it from one that was judged not
    relevant. Because this is a separate mask and not a special label, most code (measures, rankers, plots) needs no
    special case; the few measures that depend on it read the mask.

    Attributes
    ----------
    data : Dataset
        Every judged document, and every document of these queries that some run returned. Its features are the runs'
        scores, one column per run in the order given, NaN if the run did not return the document.
    gaps : array of shape (n_documents,)
        For every row of ``data``: JUDGED, OUTSIDE (no judgement at all) or POOLED (a relevance below 0, by which TREC
        marks documents of the pool that were not judged, and spam).
    rows, scores : dict of arrays
        What each run returned, as rows of ``data`` and with its scores: query by query, in the run's own order.
    strangers : dict of int
        For each run the number of its queries that have no judgements; they are left out.
    """

    data: Dataset
    gaps: Gaps
    rows: dict[str, Integers]
    scores: dict[str, Floats]
    strangers: dict[str, int]

    def filled(self, name: str) -> Floats:
        """Return one run's scores for every row of ``data``; documents it did not return are below all others."""
        scores = np.full(self.data.n_documents, np.nan)
        scores[self.rows[name]] = self.scores[name]
        lowest = np.fmin.reduceat(scores, self.data.indptr[:-1])
        below = np.where(np.isnan(lowest), 0.0, np.minimum(lowest - 1.0, np.nextafter(lowest, -np.inf)))
        return np.where(np.isnan(scores), np.repeat(below, self.data.sizes), scores)

    def returned(self, name: str) -> Dataset:
        """Return what one run returned as a Dataset of the same queries, some of which may have no documents."""
        rows, data = self.rows[name], self.data
        sizes = np.bincount(data.query_of_row[rows], minlength=data.n_queries)
        documents = cast(NDArray[Any], data.document_ids)[rows]
        return _dataset(self.scores[name][:, None], data.y[rows], offsets(sizes), documents, (name,), data)


def join_runs(runs: Mapping[str, Any], qrels: Any) -> JudgedRuns:
    """Join runs, by their names, with judgements; both in any form of ``argrank.data.io.trec.forms``.

    Queries and documents match if their ids have the same text. Judgements may also be a judged Dataset, whose query
    weights and texts are kept.

    Examples
    --------
    >>> joined = join_runs({"bm25": {"q1": {"a": 2.0, "x": 3.0}}}, {"q1": {"a": 1, "b": 2}})
    >>> joined.data.document_ids.tolist(), joined.data.y.tolist(), joined.gaps.tolist()
    (['a', 'b', 'x'], [1.0, 2.0, 0.0], [0, 0, 1])
    >>> joined.data.X[:, 0].tolist(), joined.rows["bm25"].tolist()
    ([2.0, nan, 3.0], [0, 2])
    """
    judged = as_qrels(qrels)
    read = {name: as_run(run) for name, run in runs.items()}
    queries = group_by_id(judged.qid, len(judged))
    query_of = {text: number for number, text in enumerate(words_of(id_texts(queries.query_ids, "qid")))}
    if len(query_of) < len(queries.query_ids):
        raise InputError("qrels: expected query ids with different texts, got two with the same text")
    query, documents, first_row = _numbered(judged, read, query_of)
    order = np.argsort(query, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    labels = np.concatenate((judged.rel, np.zeros(len(documents) - len(judged))))[order]
    gaps = np.where(np.arange(len(documents)) < len(judged), JUDGED, OUTSIDE).astype(np.int8)[order]
    gaps[labels < 0] = POOLED
    X = np.full((len(documents), len(read)), np.nan)
    rows: dict[str, Integers] = {}
    scores: dict[str, Floats] = {}
    strangers: dict[str, int] = {}
    for column, (name, run) in enumerate(read.items()):
        known = first_row[name] >= 0
        strangers[name] = len({str(qid) for qid in run.qid[~known].tolist()})
        where, values = place[first_row[name][known]], run.score[known]
        X[where, column] = values
        by_query = np.argsort(query[order][where], kind="stable")
        rows[name], scores[name] = where[by_query], values[by_query]
        _check_overlap(name, run, judged, known, gaps[where])
    sizes, ids = np.bincount(query, minlength=len(query_of)), queries.query_ids
    names = objects(documents)[order]
    data = _dataset(X, np.maximum(labels, 0.0), offsets(sizes), names, tuple(read), qrels, query_ids=ids)
    return JudgedRuns(data, gaps, rows, scores, strangers)


def _numbered(
    judged: Qrels, runs: Mapping[str, Run], query_of: Mapping[str, int]
) -> tuple[Integers, list[str], dict[str, Integers]]:
    """Return query and name of every document, judged ones first, and for each run the documents' numbers."""
    known: list[dict[str, int]] = [{} for _ in query_of]  # by query, the number of a document
    queries: list[int] = []
    documents: list[str] = []

    def number(source: Qrels | Run) -> Integers:
        found = np.full(len(source), -1, np.int64)
        texts = id_texts(source.docno, "docno")
        words = zip(words_of(id_texts(source.qid, "qid")), words_of(texts), strict=True)
        for line, (qid, docno) in enumerate(words):
            query = query_of.get(qid)
            if query is None:
                continue
            place = found[line] = known[query].setdefault(docno, len(documents))
            if place == len(documents):
                queries.append(query)
                documents.append(texts[line])
        return found

    number(judged)
    found = {name: number(run) for name, run in runs.items()}
    return np.array(queries), documents, found


def _check_overlap(name: str, run: Run, judged: Qrels, known: NDArray[np.bool_], gaps: Gaps) -> None:
    if not known.any():
        got = f"only others in run {name!r}, such as {shown(run.qid[0])}" if len(run) else f"no lines in {name!r}"
        raise InputError(f"expected queries of the judgements, such as {shown(judged.qid[0])}, got {got}")
    if (gaps == OUTSIDE).all():
        warnings.warn(
            f"run {name!r}: none of its documents is judged, for example {shown(run.docno[known][0])}; judged "
            f"documents have ids such as {shown(judged.docno[0])}",
            ArgrankWarning,
            stacklevel=2,
        )


def _dataset(
    X: Floats,
    y: Floats,
    indptr: Integers,
    document_ids: NDArray[Any],
    names: tuple[str, ...],
    like: Any,
    query_ids: NDArray[Any] | None = None,
) -> Dataset:
    """Return a Dataset with these features; queries, their weights and texts as another one has them, if it is one."""
    held = {"query_weight": like.query_weight, "query_texts": like.query_texts} if isinstance(like, Dataset) else {}
    ids = like.query_ids if query_ids is None else query_ids
    fields = {"document_ids": document_ids, "feature_names": names, "query_ids": ids, **held}
    return Dataset._assemble(X=X, y=y, indptr=indptr, **fields)
