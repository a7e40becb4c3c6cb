"""load_logged: features that a search engine logged, joined with judgements, as data to train on."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from argrank._declared import checked
from argrank.data.dataset import Dataset
from argrank.data.io.responses import Hit, read_responses
from argrank.data.io.trec.forms import as_qrels
from argrank.data.judgement_lists import FORMATS, read_judgements
from argrank.errors import FormatError, InputError

logger = logging.getLogger("argrank")


@checked
def load_logged(
    path: str | os.PathLike[str],
    *,
    engine: str | None = None,
    judgements: Any = None,
    features: Sequence[str] | None = None,
) -> Dataset:
    """Load features that a search engine logged, with the grades of judgements.

    Parameters
    ----------
    path : path
        Responses as JSON lines, one for each query, with its id or text as ``"qid"``: ``{"qid": …, "response": {…}}``.
        A page of results may be continued in another line with the same ``qid``.
    engine : str, optional
        "opensearch" or "elasticsearch" (``_ltrlog`` of the plugins), "solr" (``[features]``, dense) or "vespa"
        (``summaryfeatures``, ``matchfeatures``); by default detected from each response.
    judgements : path, mapping or anything else that ``evaluate`` takes, optional
        Grades of documents by query; a file may be qrels, Quepid's CSV, JSON of the Search Relevance Workbench or of
        RRE. Logged documents without a grade are left out. Without judgements the data has no labels.
    features : sequence of str, optional
        Names of the features, in this order; by default all that are logged, in the order of the log.

    Returns
    -------
    Dataset
        With the names of features, ids of queries and documents; a feature that was not logged for a document is NaN.
    """
    hits = read_responses(path, engine)
    seen: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        first = seen.setdefault((hit.qid, hit.docid), hit)
        if first is not hit and not _same(first, hit):
            where = f"document {hit.docid!r} of query {hit.qid!r}"
            raise FormatError(path, hit.line, f"{where} with the features of line {first.line}", "others")
    kept = list(seen.values())
    labels = None
    if judgements is not None:
        grades = _grades(judgements)
        judged = [hit for hit in kept if hit.docid in grades.get(hit.qid, ())]
        if not judged:
            queries = ", ".join(map(repr, list(dict.fromkeys(hit.qid for hit in kept))[:3]))
            raise InputError(
                f"judgements: expected grades of logged documents, got none; queries of the log: {queries}; "
                f"of the judgements: {', '.join(map(repr, list(grades)[:3]))}"
            )
        if len(judged) < len(kept):
            logger.warning(
                "%d of %d logged documents have no judgement and are left out", len(kept) - len(judged), len(kept)
            )
        kept, labels = judged, np.array([grades[hit.qid][hit.docid] for hit in judged])
    names = list(dict.fromkeys(name for hit in kept for name in hit.features)) if features is None else list(features)
    unknown = next((name for name in names if not any(name in hit.features for hit in kept)), None)
    if unknown is not None or not names:
        raise FormatError(path, None, f"feature {unknown!r} in the log" if names else "logged features", "none")
    X = np.array([[hit.features.get(name, np.nan) for name in names] for hit in kept])
    qid = np.array([hit.qid for hit in kept], object)
    order = np.argsort(np.unique(qid, return_inverse=True)[1], kind="stable")  # lines of a query may be apart
    return Dataset(
        X[order],
        None if labels is None else labels[order],
        qid[order],
        document_ids=np.array([hit.docid for hit in kept], object)[order],
        feature_names=names,
    )


def _same(one: Hit, other: Hit) -> bool:
    return set(one.features) == set(other.features) and all(
        np.array_equal(value, other.features[name], equal_nan=True) for name, value in one.features.items()
    )


def _grades(judgements: Any) -> dict[str, dict[str, float]]:
    """Return query -> document -> grade, with ids as texts."""
    if isinstance(judgements, str | os.PathLike) and any(form.is_own(judgements) for form in FORMATS.values()):
        return read_judgements(judgements)
    qrels = as_qrels(judgements)
    grades: dict[str, dict[str, float]] = {}
    for qid, docid, grade in zip(qrels.qid.tolist(), qrels.docno.tolist(), qrels.rel.tolist(), strict=True):
        grades.setdefault(str(qid), {})[str(docid)] = grade
    return grades
