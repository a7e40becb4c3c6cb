"""Position-dependent matching: which document goes to which slot of a page."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils.validation import check_is_fitted

from argrank._declared import Count, Jobs, NotNegative, Positive, checked
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.prepare.impute import refuse_missing, refuse_texts
from argrank.data.prepare.normalise import normaliser
from argrank.errors import ArgrankWarning, InputError
from argrank.models.slots import SlotModel
from argrank.rankers.estimator import Estimator, check_parameters
from argrank.rankers.trace import Trace, Watcher
from argrank.solvers import minimise

Page = tuple[NDArray[np.intp], NDArray[np.intp]]  # documents and their slots


@dataclass(eq=False, repr=False, kw_only=True)
class PositionMatch(Estimator[SlotModel]):
    """Fill the slots of a page: minimise ``|W|² / (2C) + mean over queries of a bound of the page's loss``.

    A document with features x scores ``x' W s`` at a slot with features s; a page is the best assignment of documents
    to slots (ORM section 7.3). The bound is the structured hinge: the greatest (score less gain) of any page, plus the
    gain of the best page, less its score. Pages are found by SciPy's assignment solver.

    Parameters
    ----------
    slots : array of shape (n_slots, n_slot_features), optional
        Features of the slots; by default every slot has its own weights.
    C
        Weight of the loss against the regulariser; choose it by validation, in powers of ten.
    tol
        Stop when the duality gap is this share of the objective. Lower it for a closer optimum, which rarely
        ranks better.
    max_iter
        Number of passes over the data after which to stop, with a warning. Raise it if a fit warns.

    Examples
    --------
    >>> articles, gains = [[1, 0], [0, 1]] * 2, [[5, 1], [1, 4]] * 2  # what each article gains at two slots
    >>> editor = PositionMatch().fit(articles, gains, qid=[1, 1, 2, 2])
    >>> [page.tolist() for page in editor.match([[0, 1], [1, 0]], qid=[3, 3])]  # the row at each slot
    [[1, 0]]
    """

    slots: Any = None
    C: Positive = 10.0
    normalise: str | None = None
    tol: NotNegative = 1e-3
    max_iter: Count = 1000
    n_jobs: Jobs = None
    verbose: int = 0

    @checked
    def fit(self, X: Any, gains: Any, *, qid: Any = None, group: Any = None) -> PositionMatch:
        """Learn from documents, and the gain of each at each slot.

        ``X`` are features, with ``qid`` or ``group``, or a Dataset, whose labels are not used; ``gains`` has the shape
        (n_documents, n_slots), its rows in the caller's order.
        """
        check_parameters(self)
        gains = _table("gains", gains, "documents by slots")
        data = X if isinstance(X, Dataset) else Dataset(X, None, qid, group=group)
        refuse_texts(data, type(self).__name__)
        refuse_missing(data)
        if len(gains) != data.n_documents:
            raise InputError(f"gains: expected {data.n_documents} rows, got {len(gains)}")
        n_slots = gains.shape[1]
        slots = np.eye(n_slots) if self.slots is None else _table("slots", self.slots, "slots by features")
        if len(slots) != n_slots:
            raise InputError(f"slots: expected features of {n_slots} slots, got shape {slots.shape}")
        scaling = None if self.normalise is None else normaliser(self.normalise).fit(data)
        scaled = data if scaling is None else scaling.transform(data)
        risk = _MatchRisk(scaled, gains if data.rows is None else gains[data.rows], slots, self.n_jobs)
        with Watcher(type(self).__name__, [], self.verbose) as watcher:
            result = minimise(cast(Any, risk), C=self.C, tol=self.tol, max_iter=self.max_iter, callback=watcher)
        if not result.converged:
            warnings.warn(f"PositionMatch: {result.message}", ArgrankWarning, stacklevel=2)
        self.objective_, self.gap_, self.n_iter_ = result.objective, result.gap, result.n_iter
        self.trace_: Trace = watcher.trace
        training = {"ranker": type(self).__name__, "objective": self.objective_, "queries": data.n_queries}
        weights = result.w.reshape(data.n_features, slots.shape[1])
        self.model_ = SlotModel(weights, slots, data.feature_names, scaling, training)
        return self

    @checked
    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """Return the score of every row at every slot; ``qid`` only where features are scaled per query."""
        check_is_fitted(self)
        return self.model_.predict(X, qid=qid, group=group)

    @checked
    def match(self, X: Any, *, qid: Any = None, group: Any = None) -> list[Integers]:
        """Return for every query the caller's row number for each slot; -1 for a slot that stays empty."""
        check_is_fitted(self)
        return self.model_.match(X, qid=qid, group=group)


class _MatchRisk:
    """The mean structured hinge of pages; scores are those of all documents at all slots, row by row."""

    convex = True
    smooth = second_order = difference = per_query = False

    def __init__(self, data: Dataset, gains: Floats, slots: Floats, n_jobs: int | None = 1) -> None:
        self._data, self._gains, self._slots, self._n_jobs = data, gains, slots, n_jobs
        self.n_features = data.n_features * slots.shape[1]
        self.n_passes, self.seconds = 0.0, 0.0
        self._queries = list(zip(data.indptr[:-1].tolist(), data.indptr[1:].tolist(), strict=True))
        self._best = self._pages(gains)

    def zero_scores(self) -> Floats:
        """Return the scores of W = 0."""
        return np.zeros(self._gains.size)

    def dot(self, u: Floats, v: Floats) -> float:
        """Return the inner product of two vectors of scores."""
        return float(u @ v)

    def spread(self, scores: Floats) -> float:
        """Return the standard deviation of scores."""
        return float(scores.std())

    def scores(self, w: Floats) -> Floats:
        """Return X W S', flat."""
        self.n_passes += 0.5
        return np.asarray(self._data.X @ (w.reshape(self._data.n_features, -1) @ self._slots.T)).ravel()

    def at_scores(self, scores: Floats) -> tuple[float, Floats]:
        """Return the mean hinge and its gradient by the scores."""
        begin = time.perf_counter()
        table, u, value = scores.reshape(self._gains.shape), np.zeros_like(self._gains), 0.0
        violated = self._pages(table - self._gains)
        for (a, b), best, page in zip(self._queries, self._best, violated, strict=True):
            here, gains, part = table[a:b], self._gains[a:b], u[a:b]
            value += (here[page] - gains[page]).sum() + (gains[best] - here[best]).sum()
            part[page] += 1.0
            part[best] -= 1.0
        self.seconds += time.perf_counter() - begin
        return value / len(self._queries), u.ravel() / len(self._queries)

    def _pages(self, table: Floats) -> list[Page]:
        """Return the best page of every query."""
        return map_threads(
            lambda rows: linear_sum_assignment(table[rows[0] : rows[1]], maximize=True), self._queries, self._n_jobs
        )

    def pull_back(self, u: Floats) -> Floats:
        """Return X' U S, flat."""
        self.n_passes += 0.5
        return np.asarray(self._data.X.T @ (u.reshape(self._gains.shape) @ self._slots)).ravel()


def _table(name: str, given: Any, what: str) -> Floats:
    """Return a matrix of finite numbers, or raise."""
    try:
        table = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: expected finite numbers, {what}, got {error}") from error
    if table.ndim != 2:
        raise InputError(f"{name}: expected finite numbers, {what}, got shape {table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0].tolist()
        raise InputError(
            f"{name}: expected finite numbers, {what}, got {table[row, column]} in row {row}, column {column}"
        )
    return table
