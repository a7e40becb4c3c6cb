"""Models in which a click is an examination times an attraction: PBM and UBM.

In the position-based model the examination depends on the rank alone, in the user browsing model also on the rank of
the last click above it (Dupret and Piwowarski 2008).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from argrank._declared import checked
from argrank._jit import kernel
from argrank._types import Filled, Floats, Integers
from argrank.clicks.models.click_model import LEAST, ClickModel, chances, check_positions
from argrank.data.clicks.coding import paired
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks


@dataclass
class ExaminationModel(ClickModel):
    """P(click) = examination x attraction; an examination belongs to one of a table of situations."""

    _attraction: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _examination: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _seen: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _width: int = field(default=0, init=False, repr=False)  # the last rank of the log, plus 1

    @abstractmethod
    def _situations(self, log: Clicks) -> Integers:
        """Return the situation of every row, given the clicks above it."""

    @property
    @abstractmethod
    def _n_situations(self) -> int:
        """Number of situations."""

    def _estimate(self, log: Clicks) -> None:
        self._width = int(log.position.max()) + 1
        self._maximise(_cells(log.pair, self._situations(log), log.click), log.n_pairs)

    def _maximise(self, cells: tuple[Integers, Integers, Floats, Floats], n_pairs: int) -> None:
        """Set the parameters from pair, situation, impressions and clicks of cells."""
        weight = self.prior_weight
        attraction = np.full(n_pairs, self._rate)
        examination = np.full(self._n_situations, 0.5)
        sums = np.empty(n_pairs), np.empty(n_pairs), np.empty(self._n_situations), np.empty(self._n_situations)
        moved = np.inf
        for step in range(1, self.max_iter + 1):
            expect(*cells, attraction, examination, *sums)
            new = np.minimum((self._rate * weight + sums[0]) / (weight + sums[1]), 1 - LEAST)
            new_examination = np.minimum((weight / 2.0 + sums[2]) / (weight + sums[3]), 1 - LEAST)
            moved = max(np.abs(new - attraction).max(), np.abs(new_examination - examination).max())
            attraction, examination, self.n_iter_ = new, new_examination, step
            if moved <= self.tol:
                break
        self._attraction, self._examination = attraction, examination
        pair, situation, shown, _ = cells
        self._seen = np.bincount(pair, shown * examination[situation], n_pairs).astype(np.float64)

    def _assume(self, log: Clicks, given: Mapping[str, Floats]) -> None:
        self._width = int(log.position.max()) + 1
        self._attraction = chances("attraction", given, log.n_pairs)
        # nothing is shown at rank 0
        self._examination = np.append(np.zeros(self._n_situations // self._width), self._table(given))
        self._seen = np.zeros(log.n_pairs)

    @abstractmethod
    def _table(self, given: Mapping[str, Floats]) -> Floats:
        """Return the given examinations of ranks 1, 2, … as one row."""

    def _relevance(self) -> tuple[Floats, Floats]:
        return self._attraction, self._seen

    def _of_pairs(self, pairs: Integers) -> Floats:
        return np.append(self._attraction, self._rate)[pairs]

    def _known(self, situations: Integers) -> Floats:
        """Return the examination of situations; 1/2, the prior's, if the training log had none."""
        inside = situations < self._n_situations
        return np.where(inside, self._examination[np.where(inside, situations, 0)], 0.5)


@dataclass
class PositionModel(ExaminationModel):
    """Position-based model: the examination of a rank depends on nothing else."""

    name: ClassVar[str] = "pbm"

    @checked
    def fit(self, log: Clicks | ClickCounts) -> ClickModel:
        """Estimate the parameters from a log or its sums, which are all that this model needs; return the model."""
        if isinstance(log, Clicks):
            return super().fit(log)
        check_positions(log.position)
        self._begin(int(log.clicks.sum()), int(log.impressions.sum()))
        self._width = log.n_positions + 1
        cells = log.pair, log.position, log.impressions.astype(np.float64), log.clicks.astype(np.float64)
        self._maximise(cells, log.n_pairs)
        self._log = log
        return self

    def _table(self, given: Mapping[str, Floats]) -> Floats:
        return chances("examination", given, self._width - 1)

    def _situations(self, log: Clicks) -> Integers:
        return log.position

    @property
    def _n_situations(self) -> int:
        return self._width

    def _fill(self, log: Clicks, pairs: Integers, given_clicks: bool, filled: Floats) -> None:
        filled[:] = self._of_pairs(pairs) * self._known(log.position)

    def _draw(self, log: Clicks, pairs: Integers, uniform: Floats, click: NDArray[np.bool_]) -> None:
        click[:] = uniform[:, 0] < self._of_pairs(pairs) * self._known(log.position)

    def _parameters(self) -> Mapping[str, Floats]:
        return {"attraction": self._attraction, "examination": self._examination[1:]}


@dataclass
class BrowsingModel(ExaminationModel):
    """User browsing model: a rank is examined depending on how far above it the last click was."""

    name: ClassVar[str] = "ubm"

    def _table(self, given: Mapping[str, Floats]) -> Floats:
        return chances("examination", given, (self._width - 1) * self._width)

    def _situations(self, log: Clicks) -> Integers:
        last = np.empty(log.n_rows, np.int64)
        _last_clicks(log.indptr, log.position, log.click, last)
        return log.position * self._width + np.minimum(last, self._width - 1)

    @property
    def _n_situations(self) -> int:
        return self._width * self._width

    def _fill(self, log: Clicks, pairs: Integers, given_clicks: bool, filled: Floats) -> None:
        if given_clicks:
            filled[:] = self._of_pairs(pairs) * self._known(
                np.where(log.position < self._width, self._situations(log), self._n_situations)
            )
        else:
            work, table = np.empty(int(log.sizes.max())), (self._examination, self._width)
            _browse(log.indptr, log.position, self._of_pairs(pairs), *table, work, filled)

    def _draw(self, log: Clicks, pairs: Integers, uniform: Floats, click: NDArray[np.bool_]) -> None:
        numbers = np.ascontiguousarray(uniform[:, 0])
        table = self._examination, self._width
        _draw_browsing(log.indptr, log.position, self._of_pairs(pairs), *table, numbers, click)

    def _parameters(self) -> Mapping[str, Floats]:
        table = self._examination.reshape(self._width, self._width)
        return {"attraction": self._attraction, "examination": table[1:]}


def _cells(pair: Integers, situation: Integers, click: NDArray[np.bool_]) -> tuple[Integers, Integers, Floats, Floats]:
    """Return pair, situation, impressions and clicks of every combination that occurs."""
    n, found = int(situation.max()) + 1, paired(pair, situation)
    shown, clicks = np.bincount(found.codes), np.bincount(found.codes, click)
    return found.ids // n, found.ids % n, shown.astype(np.float64), clicks.astype(np.float64)


@kernel()
def expect(
    pair: Integers,
    situation: Integers,
    shown: Floats,
    clicks: Floats,
    attraction: Floats,
    examination: Floats,
    attracted: Filled[np.float64],
    of_pair: Filled[np.float64],
    examined: Filled[np.float64],
    of_situation: Filled[np.float64],
) -> None:
    """Fill in expected attractions and their number for every pair, expected examinations for every situation."""
    attracted[:] = 0.0
    of_pair[:] = 0.0
    examined[:] = 0.0
    of_situation[:] = 0.0
    for cell in range(len(pair)):
        alpha, theta = attraction[pair[cell]], examination[situation[cell]]
        without = (shown[cell] - clicks[cell]) / (1.0 - alpha * theta)
        attracted[pair[cell]] += clicks[cell] + without * alpha * (1.0 - theta)
        of_pair[pair[cell]] += shown[cell]
        examined[situation[cell]] += clicks[cell] + without * theta * (1.0 - alpha)
        of_situation[situation[cell]] += shown[cell]


@kernel()
def _last_clicks(indptr: Integers, position: Integers, click: NDArray[np.bool_], last: Filled[np.int64]) -> None:
    """Fill in the rank of the last click above every row, 0 where there is none."""
    for session in range(len(indptr) - 1):
        latest = 0
        for row in range(indptr[session], indptr[session + 1]):
            last[row] = latest
            if click[row]:
                latest = position[row]


@kernel()
def _browse(
    indptr: Integers,
    position: Integers,
    attraction: Floats,
    table: Floats,
    width: int,
    chance: Filled[np.float64],
    filled: Filled[np.float64],
) -> None:
    """Fill in the probability of a click, summed over where the last click above may have been."""
    for session in range(len(indptr) - 1):
        begin = indptr[session]
        none = 1.0  # probability of no click so far
        for row in range(begin, indptr[session + 1]):
            rank = position[row]
            known = rank < width
            p = attraction[row] * (table[rank * width] if known else 0.5)
            total = none * p
            none *= 1.0 - p
            for above in range(begin, row):
                p = attraction[row] * (table[rank * width + position[above]] if known else 0.5)
                total += chance[above - begin] * p
                chance[above - begin] *= 1.0 - p
            chance[row - begin] = total  # that this is now the last click
            filled[row] = total


@kernel()
def _draw_browsing(
    indptr: Integers,
    position: Integers,
    attraction: Floats,
    table: Floats,
    width: int,
    uniform: Floats,
    click: Filled[np.bool_],
) -> None:
    for session in range(len(indptr) - 1):
        latest = 0
        for row in range(indptr[session], indptr[session + 1]):
            known = position[row] < width
            examined = table[position[row] * width + latest] if known else 0.5
            click[row] = uniform[row] < attraction[row] * examined
            if click[row]:
                latest = position[row]
