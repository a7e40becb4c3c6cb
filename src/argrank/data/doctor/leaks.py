"""Checks of two data sets that are used together: leaks, and features that differ."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from argrank._tables import counted
from argrank.data.doctor.diagnosis import Finding
from argrank.data.doctor.facts import Facts


def other_features(a: Facts, b: Facts) -> Iterator[Finding]:
    """Report sets whose features do not agree in number or name."""
    ours, theirs = a.data.feature_names, b.data.feature_names
    if ours and theirs:
        if lacking := [name for name in ours if name not in theirs]:
            what = f"{counted(len(lacking), 'feature of the first is', 'features of the first are')} not in the other"
            advice = "a model trained on one cannot score the other: features are matched by name"
            yield Finding("other-features", "error", what, len(lacking), lacking[0], advice, _names(a, b))
    elif a.data.n_features != b.data.n_features:
        what = f"{a.data.n_features} features against {b.data.n_features}"
        advice = "a model trained on one cannot score the other; read both with the same number of features"
        yield Finding("other-features", "error", what, 1, "", advice, _names(a, b))


def shared_queries(a: Facts, b: Facts) -> Iterator[Finding]:
    """Report queries with identical documents in both sets, even if their ids differ."""
    shared = _same(a, b) & (b.data.sizes > 1)
    if shared.any():
        count = int(shared.sum())
        what = f"{counted(count, 'query has', 'queries have')} exactly the same documents in both"
        advice = "a leak: results on one say nothing about unseen queries; split by query, ar.QueryKFold does"
        yield Finding("shared-queries", "error", what, count, b.query(int(np.argmax(shared))), advice, _names(a, b))


def shared_ids(a: Facts, b: Facts) -> Iterator[Finding]:
    """Report query ids that occur in both sets with different documents."""
    known = set(a.data.query_ids.tolist())
    shared = np.array([query in known for query in b.data.query_ids.tolist()], bool) & ~_same(a, b)
    if shared.any():
        count = int(shared.sum())
        what = f"{counted(count, 'query id is', 'query ids are')} in both, with other documents"
        advice = "a leak if an id means the same query in both; harmless if the sets number their queries separately"
        yield Finding("shared-ids", "warning", what, count, b.query(int(np.argmax(shared))), advice, _names(a, b))


def shared_documents(a: Facts, b: Facts) -> Iterator[Finding]:
    """Report feature vectors, other than zero, that are in both sets under different queries."""
    known = np.isin(b.fingerprints, a.fingerprints, kind="sort")
    shared = known & (b.fingerprints != 0) & ~_same(a, b)[b.data.query_of_row]
    if shared.any():
        count = int(shared.sum())
        what = f"features of {counted(count, 'document', 'documents')} ({shared.mean():.1%}) are also in the other set"
        advice = "normal for coarse features; many of them may be the same queries with some documents removed"
        yield Finding("shared-documents", "note", what, count, b.row(int(np.argmax(shared))), advice, _names(a, b))


def _same(a: Facts, b: Facts) -> NDArray[np.bool_]:
    """Tell for every query of b whether a has one with the same documents, which are not all zero.

    The sum of the documents' bits does not depend on their order. By sorting, as NumPy's other way of ``isin``
    overflows on numbers above 2**63 in some versions.
    """
    ours, theirs = (np.add.reduceat(facts.fingerprints, facts.data.indptr[:-1]) for facts in (b, a))
    return np.asarray(np.isin(ours, theirs, kind="sort") & (ours != 0))


def _names(a: Facts, b: Facts) -> str:
    return f"{a.name} and {b.name}"
