"""Click-through rates as a model: one for all, one for each rank, or one for each document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.clicks.models.click_model import ClickModel, chances, numbers_of_rows
from argrank.data.clicks.log import Clicks


@dataclass
class RateModel(ClickModel):
    """Click-through rates: the simplest model, as a baseline for the others.

    Parameters
    ----------
    by : "rank", "document" or "all"
        What has a rate of its own.
    """

    by: Literal["rank", "document", "all"] = "rank"
    name: ClassVar[str] = "ctr"
    _rates: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _of_pair: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _seen: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)

    def _estimate(self, log: Clicks) -> None:
        which, n = numbers_of_rows(self.by, log, log.pair), self._n(log)
        shown, clicks = np.bincount(which, minlength=n), np.bincount(which, log.click, n)
        self._rates = (self._rate * self.prior_weight + clicks) / (self.prior_weight + shown)
        self._seen = np.bincount(log.pair, minlength=log.n_pairs).astype(np.float64)
        self._of_pair = np.bincount(log.pair, self._rates[which], log.n_pairs) / self._seen

    def _assume(self, log: Clicks, given: Mapping[str, Floats]) -> None:
        n = self._n(log) - (self.by == "rank")
        rates = chances("rate", given, n)
        self._rates = np.append(0.0, rates) if self.by == "rank" else rates
        self._seen = np.zeros(log.n_pairs)
        shown = np.bincount(log.pair, minlength=log.n_pairs)
        self._of_pair = np.bincount(log.pair, self._rates[numbers_of_rows(self.by, log, log.pair)], log.n_pairs) / shown

    def _n(self, log: Clicks) -> int:
        return {"document": log.n_pairs, "rank": int(log.position.max()) + 1, "all": 1}[self.by]

    def _fill(self, log: Clicks, pairs: Integers, given_clicks: bool, filled: Floats) -> None:
        which = numbers_of_rows(self.by, log, pairs)
        filled[:] = np.append(self._rates, self._rate)[np.where(which < len(self._rates), which, -1)]

    def _draw(self, log: Clicks, pairs: Integers, uniform: Floats, click: NDArray[np.bool_]) -> None:
        filled = np.empty(log.n_rows)
        self._fill(log, pairs, False, filled)
        click[:] = uniform[:, 0] < filled

    def _relevance(self) -> tuple[Floats, Floats]:
        return self._of_pair, self._seen

    def _parameters(self) -> Mapping[str, Floats]:
        return {"rate": self._rates[1:] if self.by == "rank" else self._rates}
