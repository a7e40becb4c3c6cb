"""What is asked of an oracle: measure, cut-off, gains, map, all resolved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.measures.discounts import Discount, check_discount, discounts, ideal_dcg
from argrank.measures.gains import Gain, check_gain, gains_of
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.objectives.objective import require_labels
from argrank.objectives.pairwise import level_numbers

#: Loss terms of a good document by its index among the goods, its rank (both from 0) and the number of goods.
Terms = Callable[[Floats, Floats, int], Any]

GIVEN_TERMS = "terms"  # the kind of a problem whose loss is the user's own function


@dataclass(frozen=True)
class Problem:
    """A resolved question: which loss on which feature map.

    ``kind`` is the measure's spelling (``"nDCG"``, ``"AP"``, …) or ``"terms"`` for a user's own loss. Everything an
    oracle needs is here, in particular for oracles that users register.
    """

    name: str
    kind: str
    measure: Measure | Terms
    k: int | None
    gain: Gain
    discount: Discount
    relevant_at: float
    feature_map: str
    scale: str | None
    decay: Any
    reference: str
    margin: str

    def relevance(self, data: Dataset) -> Floats:
        """Return 1 for the good documents, whose label reaches ``relevant_at``, and 0 for the bad ones."""
        return (require_labels(data, self.name) >= self.relevant_at).astype(np.float64)

    def worth(self, n: int) -> Floats:
        """Return what the ranks 0 … n - 1 are worth in a measure of the form sum of gain times discount."""
        values = discounts(n, self._rank_discount)
        if self.k is not None:
            values[self.k :] = 0.0
        if (np.diff(values) > 0).any() or (values < 0).any():
            raise OptionError(f"{self.name}: expected a discount that never rises and is never negative")
        return values

    def gains(self, data: Dataset) -> Floats:
        """Return every row's gain over the best DCG of its query: the loss is 1 - sum of gain times worth.

        Queries whose best DCG is 0 have nothing to lose: gains of 0.
        """
        labels = require_labels(data, self.name)
        gain = self.gain if self.kind in ("nDCG", "DCG") else "binary"
        best = ideal_dcg(labels, data.indptr, self.k, gain, self._rank_discount, self.relevant_at)
        share = np.divide(1.0, best, out=np.zeros_like(best), where=best > 0)
        result: Floats = gains_of(labels, gain, self.relevant_at) * np.repeat(share, data.sizes)
        return result

    def levels(self, data: Dataset) -> Floats:
        """Return the level number of every row: documents of one level form no pair."""
        if self.kind == "AUC":
            return level_numbers(require_labels(data, self.name), data.indptr)
        worth = self.gains(data) if self.kind in ("nDCG", "DCG") else self.relevance(data)
        return level_numbers(worth, data.indptr)

    @property
    def _rank_discount(self) -> Discount:
        if self.kind in ("P", "WTA"):
            return np.ones_like
        return "reciprocal" if self.kind == "RR" else self.discount

    @property
    def scaled(self) -> float:
        """1 where the pairs map is a mean over pairs, 0 where it is a sum; the first constant of every kernel."""
        return 1.0 if self.scale == "pairs" else 0.0


def resolve(
    name: str, measure: Any, k: Any, default_k: int | None, gain: Any, discount: Any, relevant_at: float, **others: Any
) -> Problem:
    """Bring the parameters of a ranker and those inside its measure together."""
    if callable(measure) and not isinstance(measure, Measure):
        cutoff = default_k if k == "auto" else k
        return Problem(name, GIVEN_TERMS, measure, _check_cutoff(name, cutoff), gain, discount, relevant_at, **others)
    asked = parse_measure(measure)
    own = getattr(asked, "k", None)
    if k == "auto":
        cutoff = own if own is not None else default_k
        cutoff = cutoff if hasattr(asked, "k") else None
    else:
        cutoff = _check_cutoff(name, k)
        if own is not None and cutoff != own:
            raise OptionError(f"{name}: expected one cut-off, got measure={shown(measure)} and k={k!r}")
    if asked.spelling == "WTA":
        cutoff = 1
    return Problem(
        name=name,
        kind=asked.spelling,
        measure=asked,
        k=cutoff,
        gain=check_gain(_first(getattr(asked, "gain", None), gain)),
        discount=check_discount(_first(getattr(asked, "discount", None), discount)),
        relevant_at=float(_first(getattr(asked, "rel", None), relevant_at)),
        **others,
    )


def _first(own: Any, general: Any) -> Any:
    return general if own is None else own


def _check_cutoff(name: str, k: Any) -> int | None:
    if k is None:
        return None
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise OptionError(f"{name}: expected k to be a whole number from 1 up or None, got {shown(k)}")
    return int(k)
