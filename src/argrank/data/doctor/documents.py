"""Checks of documents within a query: repeated, contradictory, indistinguishable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from argrank._tables import counted
from argrank.data.doctor.diagnosis import Finding
from argrank.data.doctor.facts import Facts
from argrank.data.grouping import group_by_id
from argrank.data.identical import labels_in_group

MANY = 0.05  # share of documents with unavoidable ties above which there is a warning


def repeated_documents(facts: Facts) -> Iterator[Finding]:
    """Report documents whose id occurs more than once in a query."""
    data = facts.data
    if data.document_ids is None:
        return
    documents = group_by_id(data.document_ids, data.n_documents)
    pair = data.query_of_row * len(documents.query_ids) + documents.query_of_row
    _, first, counts = np.unique(pair, return_index=True, return_counts=True)
    repeated = counts > 1
    if repeated.any():
        count = int((counts[repeated] - 1).sum())
        what = f"{counted(count, 'document is', 'documents are')} listed again under the same query and document id"
        advice = "keep one row of each: a document can be shown only once, and repeated ones distort every measure"
        example = facts.row(int(first[np.argmax(repeated)]))
        yield Finding("repeated-documents", "warning", what, count, example, advice, facts.name)


def conflicting_labels(facts: Facts) -> Iterator[Finding]:
    """Report identical features with different labels in one query."""
    if not facts.data.is_judged:
        return
    low, high = labels_in_group(facts.identical, facts.data.y)
    conflict = (low < high)[facts.identical]
    if conflict.any():
        count = int(conflict.sum())
        what = f"{count:,} documents have the same features as one with another label in their query"
        advice = 'no model can tell them apart, so scores depend on ties; drop them with ar.clean(data, "logrank")'
        example = facts.row(int(np.argmax(conflict)))
        yield Finding("conflicting-labels", "warning", what, count, example, advice, facts.name)


def identical_vectors(facts: Facts) -> Iterator[Finding]:
    """Report documents that share all features with another one of their query, and so tie in every model."""
    tied = np.bincount(facts.identical)[facts.identical] > 1
    if tied.any():
        count = int(tied.sum())
        what = f"{count:,} documents ({tied.mean():.1%}) share all features with another one of their query"
        advice = "every model gives them tied scores; evaluate with the expected value over ties (the default)"
        severity = "warning" if tied.mean() > MANY else "note"
        yield Finding("ties", severity, what, count, facts.row(int(np.argmax(tied))), advice, facts.name)
