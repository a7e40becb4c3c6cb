"""Match a run with judgements: the label of every returned document, query by query.

Measures need no more than this. `join_runs` also numbers the documents over all runs, which costs more than the
measures themselves. `match_dicts` and `match_words` skip that, and leave unusual input (ids that are not plain words,
queries without a match, errors) to `join_runs`, so that errors are reported in one place.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.grouping import objects
from argrank.data.io.trec.file_words import FileWords, rows_in
from argrank.data.unjudged import JUDGED, OUTSIDE, POOLED, Gaps
from argrank.errors import is_text

DICTS = {dict, defaultdict}  # pytrec_eval's readers return a defaultdict; other subclasses may look up differently


class Matched(NamedTuple):
    """The documents that a run returned for the judged queries, in their order, and all judgements of them.

    ``labels`` are those of the returned documents (0 without a judgement), ``gaps`` tells which have none and why.
    ``judged`` are the labels of all judged documents, ``n_judged`` their number in every query. ``strangers`` is the
    number of queries without judgements.
    """

    query_ids: NDArray[Any]
    sizes: Integers
    scores: Floats
    labels: Floats
    gaps: Gaps
    document_ids: Callable[[], NDArray[Any]]
    judged: Floats
    n_judged: Integers
    strangers: int


def match_dicts(run: Mapping[Any, Any], qrels: Mapping[Any, Any]) -> Matched | None:
    """Match ``{qid: {docid: score}}`` with ``{qid: {docid: relevance}}``; None if `join_runs` must handle them.

    Finding a label is one lookup in the dict of its query.
    """
    if not {type(run), type(qrels)} <= DICTS:
        return None
    if not {type(one) for given in (run, qrels) for one in given.values()} <= DICTS:
        return None
    asked = {qid: documents for qid, documents in qrels.items() if documents}
    answers = [run.get(qid, {}) for qid in asked]
    if not (_are_words(run) and _are_words(asked) and _are_words(*answers) and _are_words(*asked.values())):
        return None
    strangers = [documents for qid, documents in run.items() if documents and qid not in asked]
    if not _are_words(*strangers):
        return None
    outside = repeat(np.nan)
    try:
        scores = _numbers([one.values() for one in answers])
        relevance = _numbers([one.values() for one in asked.values()])
        found = _numbers([map(judged.get, one, outside) for judged, one in zip(asked.values(), answers, strict=True)])
        finite = np.isfinite(_numbers([one.values() for one in strangers])).all()
    except (TypeError, ValueError, OverflowError):
        return None
    if not (finite and np.isfinite(scores).all() and np.isfinite(relevance).all()):
        return None

    def names() -> NDArray[Any]:
        return objects([document for one in answers for document in one])

    sizes = np.array([len(one) for one in answers], np.int64)
    per_query = np.array([len(one) for one in asked.values()], np.int64)
    return matched(objects(asked), sizes, scores, found, names, relevance, per_query, len(strangers))


def match_words(run: FileWords, judged: FileWords) -> Matched | None:
    """Match the words of a run's file with those of judgements; None if `join_runs` must handle them."""
    rows = rows_in(judged, run)
    if rows is None:
        return None
    n_queries = len(judged.query_ids)
    sizes = np.diff(run.indptr)
    n_rows, strangers = int(run.indptr[n_queries]), len(sizes) - n_queries
    rows = rows[:n_rows]
    found = np.where(rows >= 0, judged.numbers[rows], np.nan)
    ids, names, per_query = objects(judged.query_ids), partial(run.document_ids, n_rows), np.diff(judged.indptr)
    scores = run.numbers[:n_rows]
    return matched(ids, sizes[:n_queries], scores, found, names, judged.numbers, per_query, strangers)


def matched(
    query_ids: NDArray[Any],
    sizes: Integers,
    scores: Floats,
    found: Floats,
    names: Callable[[], NDArray[Any]],
    relevance: Floats,
    per_query: Integers,
    strangers: int,
) -> Matched | None:
    """Return a run's documents with the relevance ``found`` for them, NaN for none; None if no document has one."""
    outside = np.isnan(found)
    if outside.all():
        return None
    gaps = np.where(outside, OUTSIDE, JUDGED).astype(np.int8)
    gaps[found < 0] = POOLED
    labels = np.where(outside | (found < 0), 0.0, found)
    pooled = relevance < 0
    if pooled.any():
        query = np.repeat(np.arange(len(per_query)), per_query)
        relevance, per_query = relevance[~pooled], np.bincount(query[~pooled], minlength=len(per_query))
    return Matched(query_ids, sizes, scores, labels, gaps, names, relevance, per_query, strangers)


def _are_words(*groups: Mapping[Any, Any]) -> bool:
    """Tell whether all keys are single words, which match only if they are equal."""
    if any("" in group for group in groups) or not {kind for one in groups for kind in set(map(type, one))} <= {str}:
        return False
    together = "".join(map("".join, groups))
    one_word = len(f"_{together}".split(None, 1)) == 1
    return one_word and "\0" not in together and (together.isascii() or is_text(together))


def _numbers(groups: list[Any]) -> Floats:
    """Return numbers, one group after the other, as float() reads them; a text or None is a TypeError."""
    together: list[Any] = []
    for group in groups:
        together += group
    return np.frombuffer(array("d", together)) if together else np.empty(0)
