"""ERU: expected rank utility, plain and normalised."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure, ratio, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class ERU(Measure):
    """The sum over ranks i of 2^((1 - i)/(alpha - 1)) max(y_i - d, 0) (ORM equation 11; Breese et al. 1998).

    ``alpha`` is the half-life, the rank that is seen half as often as the first one; ``d`` the neutral vote. The
    normalised form (``nERU``) divides by the greatest possible value and is undefined where that is 0.
    """

    spelling = "ERU"
    aliases = ("eru", "expected_rank_utility")
    bounds = (0.0, np.inf)

    alpha: float = 5.0
    d: float = 0.0
    normalised: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for parameter, value, least in (("alpha", self.alpha, 1.0), ("d", self.d, -np.inf)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not least < value < np.inf:
                wish = "a number above 1" if parameter == "alpha" else "a number"
                raise OptionError(f"ERU({parameter}=…): expected {wish}, got {shown(value)}")
        if not isinstance(self.normalised, bool):
            raise OptionError(f"ERU(normalised=…): expected True or False, got {shown(self.normalised)}")

    def _spelling(self) -> str:
        return "nERU" if self.normalised else "ERU"

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        value = total(rankings.gains(self._utility, 0.0) * self._discounts(rankings.width))
        if not self.normalised:
            return value
        ideal = rankings.ideal_gains(self._utility, 0.0)
        return ratio(value, total(ideal * self._discounts(ideal.shape[1])))

    def _structure(self, convention: Convention) -> Structure:
        return Structure("additive", self._utility, self._discounts, "ideal" if self.normalised else "one")

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return utility and discount of every rank."""
        return {
            "max(y - d, 0)": rankings.gains(self._utility, 0.0)[0],
            "2^((1 - i)/(alpha - 1))": self._discounts(rankings.width),
        }

    def _utility(self, labels: Floats) -> Floats:
        return np.maximum(labels - self.d, 0.0)

    def _discounts(self, n: int) -> Floats:
        return np.asarray(np.exp2(-np.arange(n) / (self.alpha - 1.0)))
