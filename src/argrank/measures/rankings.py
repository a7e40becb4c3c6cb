"""Rankings: the documents of a block of queries, best score first, one query per row."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.unjudged import JUDGED, Gaps
from argrank.measures.gains import Gain, gains_of
from argrank.measures.ties import TieGroups, find_ties

Matrix = Floats


class Rankings:
    """Labels in ranked order, one query per row, rows padded at the end with labels of minus infinity.

    Padding is used only here. Gains, relevance and ideals are computed once for all measures. If ``ties`` is not None,
    gains at tied ranks are means over their group.

    Parameters
    ----------
    labels : array of shape (n_queries, width)
        Labels by rank.
    sizes : array of shape (n_queries,)
        Number of documents of every query.
    ties : TieGroups, optional
        Groups over which the expected value is taken; None if no tie matters or a rule breaks ties.
    keys : array of shape (n_queries, width), optional
        Sort keys, of which equal ones count as tied; None if the convention breaks ties by a rule.
    judged : array of shape (n_queries, any width), optional
        All judged labels of the query, padded alike, if the ideal includes more than the ranked documents.
    gaps : array of shape (n_queries, width), optional
        Which documents have no judgement (``argrank.data.unjudged``), JUDGED in the padding; None where all are judged.
        Such a document has label 0, is never relevant, and has gain 0, even if label 0 has another gain.
    order_keys : array of shape (n_queries, width), optional
        Sort keys (minus the scores), also if ties are broken by a rule; None without scores.
    are_gains : bool
        Whether the labels are the rows' own gains, to which no gain function applies.
    """

    def __init__(
        self,
        labels: Matrix,
        sizes: Integers,
        ties: TieGroups | None = None,
        keys: Matrix | None = None,
        judged: Matrix | None = None,
        gaps: Gaps | None = None,
        order_keys: Matrix | None = None,
        are_gains: bool = False,
    ) -> None:
        self.are_gains = are_gains
        self.labels, self.sizes, self.ties, self.keys, self.gaps = labels, sizes, ties, keys, gaps
        self._order_keys = order_keys
        self.judged = labels if judged is None else judged
        self.n_queries, self.width = labels.shape
        self.ranks = np.arange(1.0, self.width + 1.0)
        self._relevant: dict[float, NDArray[np.bool_]] = {}
        self._n_relevant: dict[float, Floats] = {}

    @cached_property
    def judged_only(self) -> Rankings:
        """The same rankings without the documents that have no judgement."""
        if self.gaps is None:
            return self
        order = np.argsort(self.gaps != JUDGED, axis=1, kind="stable")
        sizes = self.sizes - np.count_nonzero(self.gaps, axis=1)
        there = np.arange(self.width) < sizes[:, None]
        labels = np.where(there, np.take_along_axis(self.labels, order, axis=1), -np.inf)
        keys = None if self.keys is None else np.where(there, np.take_along_axis(self.keys, order, axis=1), np.inf)
        ties = None if keys is None else find_ties(keys, labels)
        known = None if self._order_keys is None else np.take_along_axis(self._order_keys, order, axis=1)
        return Rankings(labels, sizes, ties, keys, self.judged, order_keys=known)

    @cached_property
    def scores(self) -> Matrix | None:
        """The scores by rank, None if unknown; values in the padding are meaningless."""
        return None if self._order_keys is None else -self._order_keys

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which cells hold a document."""
        return np.asarray(np.arange(self.width) < self.sizes[:, None])

    @cached_property
    def best_first(self) -> Matrix:
        """The judged labels of every query from the greatest down."""
        ordered = -self.judged
        ordered.sort(axis=1)
        return np.negative(ordered, out=ordered)

    def relevant(self, relevant_at: float) -> NDArray[np.bool_]:
        """Return which documents are relevant, by rank; tied ones in arbitrary order."""
        if relevant_at not in self._relevant:
            self._relevant[relevant_at] = self.labels >= relevant_at
            if self.gaps is not None:
                self._relevant[relevant_at] &= self.gaps == JUDGED
        return self._relevant[relevant_at]

    def n_relevant(self, relevant_at: float) -> Floats:
        """Return how many judged documents of every query are relevant."""
        if relevant_at not in self._n_relevant:
            judged = self.relevant(relevant_at) if self.judged is self.labels else self.judged >= relevant_at
            self._n_relevant[relevant_at] = np.count_nonzero(judged, axis=1).astype(np.float64)
        return self._n_relevant[relevant_at]

    def expected(self, values: Callable[[Matrix], Matrix], k: int | None = None) -> Matrix:
        """Return a function of the labels at the ranks up to k, expected over ties; padding gives 0."""
        top = _padded(self.labels[:, :k], values, gaps=None if self.gaps is None else self.gaps[:, :k])
        if self.ties is None:
            return top
        ties, top = self.ties, np.array(top)
        gaps = None if self.gaps is None else self.gaps.reshape(-1)[ties.cells]
        means = ties.means(_padded(self.labels.reshape(-1)[ties.cells], values, gaps=gaps))
        above = ties.ranks <= top.shape[1]
        top[ties.cells[above] // self.width, ties.cells[above] % self.width] = means[above]
        return top

    def relevance(self, relevant_at: float, k: int | None = None) -> Matrix:
        """Return at the ranks up to k 1 for a relevant document, else 0; expected over ties."""
        if self.ties is None:
            return self.relevant(relevant_at)[:, :k].astype(np.float64)
        return self.expected(lambda labels: (labels >= relevant_at).astype(np.float64), k)

    def gains(self, gain: Gain, relevant_at: float, k: int | None = None) -> Matrix:
        """Return the gains at the ranks up to k, expected over ties; padding gains 0."""
        return self.expected(lambda labels: gains_of(labels, gain, relevant_at), k)

    def ideal_gains(self, gain: Gain, relevant_at: float, k: int | None = None) -> Matrix:
        """Return the gains of the judged documents from the greatest down, to depth k."""
        if isinstance(gain, str):  # with a named gain, a greater label never gains less
            return _padded(self.best_first[:, :k], lambda labels: gains_of(labels, gain, relevant_at))
        gains = _padded(self.judged, lambda labels: gains_of(labels, gain, relevant_at), filler=-np.inf)
        best = -np.sort(-gains, axis=1)[:, :k]
        return np.where(np.isneginf(best), 0.0, best)


def _padded(
    labels: Matrix, values: Callable[[Matrix], Matrix], filler: float = 0.0, gaps: Gaps | None = None
) -> Matrix:
    """Apply a function to the labels; padding and unjudged documents get the filler."""
    if gaps is None and not np.isneginf(labels[..., -1]).any():
        return values(labels)
    there = labels > -np.inf
    if gaps is not None:
        there &= gaps == JUDGED
    result = np.full(labels.shape, filler)
    result[there] = values(labels[there])
    return result


class Ranked(NamedTuple):
    """Rows sorted by score: their cells in the new order, labels and keys (minus the scores), groups, tied rows."""

    cells: NDArray[np.intp]
    labels: Matrix
    keys: Matrix
    ties: TieGroups | None
    tied: NDArray[np.intp]


def rank(
    scores: Matrix, labels: Matrix, tie_key: Callable[[NDArray[np.intp]], Any] | None, gaps: Gaps | None = None
) -> Ranked:
    """Sort every row by score, best first; scores and labels are padded with minus infinity.

    Equal scores are put in order by ``tie_key(cells)``, a second key for some cells of the matrix, smallest first.
    With None ties are not broken, and the groups that matter are returned for the expected value: those of documents
    with different labels, or judged and unjudged ones (``gaps``).
    """
    keys = -scores
    cells = np.argsort(keys, axis=1)
    cells += np.arange(0, keys.size, keys.shape[1])[:, None]
    keys, ranked = keys.reshape(-1)[cells], labels.reshape(-1)[cells]
    marks = ranked
    if gaps is not None:  # no label is below 0
        marks = np.where(gaps.reshape(-1)[cells] == JUDGED, ranked, -gaps.reshape(-1)[cells])
    ties = find_ties(keys, marks)
    tied = np.empty(0, np.intp) if ties is None else ties.rows
    if tie_key is None:
        return Ranked(cells, ranked, keys, ties, tied)
    every = find_ties(keys, ranked, mixed=False)
    if every is not None:
        flat = cells.reshape(-1)
        members = flat[every.cells]
        order = np.lexsort((tie_key(members), every.spread(every.first)))
        flat[every.cells] = members[order]
        ranked = labels.reshape(-1)[cells]
    return Ranked(cells, ranked, keys, None, tied)
