"""Clean judged data by published rules, with a report of every dropped row and the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._declared import Share, checked
from argrank._tables import counted
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.identical import identical_in_query, labels_in_group
from argrank.data.prepare.impute import refuse_missing
from argrank.data.prepare.normalise import normaliser
from argrank.errors import InputError

PRODUCT_ROWS = 4096  # rows of one factor of a product of good and bad documents, to bound memory


@dataclass(frozen=True)
class Dropped:
    """What one step of the cleaning dropped: the caller's row numbers, and the ids of whole queries."""

    reason: str
    rows: Integers
    queries: tuple[Any, ...] = ()


@dataclass(frozen=True)
class CleaningReport:
    """The steps of a cleaning in their order; ``kept`` are the caller's numbers of the remaining rows."""

    rule: str
    dropped: tuple[Dropped, ...]
    kept: Integers
    n_queries: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and row numbers as plain values."""
        steps = [
            {"reason": step.reason, "rows": step.rows.tolist(), "queries": list(step.queries)} for step in self.dropped
        ]
        return {"rule": self.rule, "kept_rows": len(self.kept), "kept_queries": self.n_queries, "dropped": steps}

    def __repr__(self) -> str:
        lines = [f"Cleaned by {self.rule}: {len(self.kept):,} documents in {self.n_queries:,} queries are left"]
        for step in self.dropped:
            queries = f" ({counted(len(step.queries), 'query', 'queries')})" if step.queries else ""
            lines.append(f"  dropped {len(step.rows):,} documents{queries}: {step.reason}")
        return "\n".join(lines)


class Cleaned(NamedTuple):
    """The remaining rows as a Dataset, and the report on the dropped ones."""

    data: Dataset
    report: CleaningReport


@checked
def clean(
    data: Dataset, rule: Literal["kdd2008", "logrank"] = "kdd2008", *, relevant_at: float = 1, cosine: Share = 0.99
) -> Cleaned:
    """Drop documents whose ties or contradictions make results unstable, and queries that become useless.

    The papers clean the test parts too, so their results are not comparable with others: say so in reports.

    Parameters
    ----------
    data : Dataset
        Features are returned unchanged; the paper trained on scaled ones: ``clean(ar.normalise(data))``.
    rule : "kdd2008" or "logrank"
        "kdd2008" (Chakrabarti et al. 2008, section 4.1): after scaling to [0, 1] within each query, documents whose
        features are all zero, and every good and bad document of a query with a cosine above ``cosine`` between them,
        both of them; then queries without a good or without a bad document.
        "logrank" (section 5.1.1): documents of a query with identical features and different labels; then queries
        without a relevant document.
    relevant_at : float
        Labels from here up are good.
    cosine : float
        The similarity above which a good and a bad document contradict each other, for "kdd2008".

    Returns
    -------
    Cleaned
        ``data`` and ``report``. An InputError is raised when nothing would be left.
    """
    if not data.is_judged:
        raise InputError("clean: expected labels, got data without judgements")
    refuse_missing(data)
    good = data.y >= relevant_at
    kept = np.ones(data.n_documents, bool)
    caller = np.arange(data.n_documents) if data.rows is None else data.rows
    steps = []
    for reason, mask in _RULES[rule](data, good, cosine):
        rows = np.flatnonzero(mask & kept)
        kept[rows] = False
        steps.append(Dropped(reason, np.sort(caller[rows])))
    needs_bad = rule == "kdd2008"
    useful = _counts(data, kept & good) > 0
    if needs_bad:
        useful &= _counts(data, kept & ~good) > 0
    lost = kept & ~useful[data.query_of_row]
    names = tuple(data.query_ids[~useful].tolist())
    reason = f"the query has no good {'or no bad ' if needs_bad else ''}document (left)"
    steps.append(Dropped(reason, np.sort(caller[lost]), names))
    if not useful.any():
        raise InputError(
            f"clean: expected a query with a good{' and a bad' if needs_bad else ''} document after cleaning by "
            f"{rule}, got none of {data.n_queries}; is relevant_at={relevant_at:g} right?"
        )
    kept &= ~lost
    report = CleaningReport(rule, tuple(steps), np.sort(caller[kept]), int(useful.sum()))
    return Cleaned(data.keep(kept), report)


def _kdd2008(data: Dataset, good: NDArray[np.bool_], cosine: float) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    zero = np.zeros(data.n_documents, bool)
    similar = np.zeros(data.n_documents, bool)
    scaling = normaliser("query-minmax")
    for first, last in zip(data.indptr[:-1], data.indptr[1:], strict=True):
        rows = slice(int(first), int(last))
        X = scaling.apply(_dense(data.X[rows]), np.array([0, last - first]))
        length = np.linalg.norm(X, axis=1)
        zero[rows] = length == 0
        X = X / np.where(length == 0, 1, length)[:, None]  # a zero vector then has cosine 0 with all
        better, worse = np.flatnonzero(good[rows]), np.flatnonzero(~good[rows])
        for start in range(0, len(worse), PRODUCT_ROWS):
            some = worse[start : start + PRODUCT_ROWS]
            close = X[better] @ X[some].T > cosine
            similar[first + better[close.any(axis=1)]] = True
            similar[first + some[close.any(axis=0)]] = True
    yield "all features are zero after scaling within the query", zero
    yield f"a good and a bad document of the query have a cosine above {cosine:g}", similar


def _logrank(data: Dataset, good: NDArray[np.bool_], cosine: float) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    group = identical_in_query(data)
    low, high = labels_in_group(group, data.y)
    yield "identical features and different labels in one query", (low < high)[group]


_RULES = {"kdd2008": _kdd2008, "logrank": _logrank}


def _counts(data: Dataset, mask: NDArray[np.bool_]) -> Integers:
    return np.asarray(np.add.reduceat(mask.astype(np.int64), data.indptr[:-1]))


def _dense(X: Any) -> Floats:
    """Return the rows of one query as a dense float64 array; of CSR only the columns that hold anything."""
    if sparse.issparse(X):
        X = X[:, np.unique(X.indices)].toarray()
    return np.asarray(X, dtype=np.float64)
