"""A system's rankings of the log's queries: documents with their pair in the log and their discount."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from argrank._types import Floats, Integers
from argrank.clicks.matching import candidates_of, numbers_of, pairs_of
from argrank.data import checks
from argrank.data.clicks.counts import ClickCounts
from argrank.data.foreign_models import scores as predicted_scores
from argrank.data.io.trec.forms import as_run, is_run
from argrank.errors import InputError, shown


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
