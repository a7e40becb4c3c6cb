"""DCG: discounted cumulative gain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.discounts import Discount, check_discount, cut_discounts, parts
from argrank.measures.gains import Gain, check_gain, gains_of
from argrank.measures.measure import Measure, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure

#: ir_measures says ``dcg='exp-log2'`` where we say gain exp2 and discount log2.
DCG_WORDS = {"log2": ("linear", "log2"), "exp-log2": ("exp2", "log2")}


@dataclass(frozen=True, repr=False)
class DCG(Measure):
    """The sum of gain times discount over the first k ranks (Järvelin and Kekäläinen 2002).

    It is linear in the gains, so its expected value over ties is the DCG of the mean gains of the tie groups.
    """

    spelling = "DCG"
    aliases = ("dcg", "dcg_cut")
    bounds = (0.0, np.inf)
    _divisor: ClassVar[str] = "one"

    k: int | None = None
    gain: Gain | Any = None
    discount: Discount | Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain is not None:
            object.__setattr__(self, "gain", check_gain(self.gain))
        if self.discount is not None:
            check_discount(self.discount)

    def _parameters(self) -> list[str]:
        words = super()._parameters()
        for word, pair in DCG_WORDS.items():
            if (self.gain, self.discount) == pair:
                rest = [one for one in words if not one.startswith(("gain=", "discount="))]
                return [*rest, f"dcg={word!r}"]
        return words

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        value = total(terms(rankings.gains(convention.gain, convention.relevant_at, self.k), convention))
        return zero_if_short(value, rankings, convention, self.k)

    def _structure(self, convention: Convention) -> Structure | None:
        gains = partial(gains_of, gain=convention.gain, relevant_at=convention.relevant_at)
        return Structure("additive", gains, cut_discounts(convention.discount, self.k), self._divisor)

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return gain, discount and contribution of every rank, and the same of the ideal ranking."""
        convention = self.adapt(convention)
        gains = rankings.gains(convention.gain, convention.relevant_at)[0]
        ideal = rankings.ideal_gains(convention.gain, convention.relevant_at)[0][: len(gains)]
        factor, divisor = parts(rankings.width, convention.discount, convention.logarithm)
        discounts = factor / divisor
        if self.k is not None:
            discounts[self.k :] = 0.0
        return {
            "gain": gains,
            "discount": discounts,
            "gain x discount": gains * discounts,
            "ideal gain": ideal,
            "ideal gain x discount": ideal * discounts[: len(ideal)],
        }


def terms(gains: Floats, convention: Convention) -> Floats:
    """Return the terms of a DCG, computed as the convention says."""
    factor, divisor = parts(gains.shape[1], convention.discount, convention.logarithm)
    if (divisor == 1.0).all():
        return gains * factor
    return gains * factor / divisor


def zero_if_short(values: Floats, rankings: Rankings, convention: Convention, k: int | None) -> Floats:
    """Set lists shorter than k to 0 where the convention says so (the LETOR scripts' NDCG)."""
    if k is None or convention.short != "zero":
        return values
    return np.where(rankings.sizes < k, 0.0, values)
