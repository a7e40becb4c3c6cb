"""Stayed: a method whose model is another method's, or hardly differs from it, says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class Stayed(NamedTuple):
    """What a fit kept of the model that it started from; sentences are made from it at the very end.

    ``distance`` is that of the weights from those of the start, as a share of their length, in units of the features'
    spread; 0 where the start is the model. ``gain`` is the mean over queries left out of what going on gained there,
    None where that could not be tried.
    """

    start: str  # the other method
    distance: float = 0.0
    tried: str = ""  # what was tried and not kept
    gain: float | None = None
    error: float | None = None  # its standard error

    @classmethod
    def of(cls, training: Mapping[str, Any]) -> Stayed | None:
        """Return what the summary of a training holds."""
        found = training.get("stayed")
        return cls(*(found[name] for name in cls._fields)) if isinstance(found, Mapping) else None

    def __str__(self) -> str:
        if self.distance > 0:
            return f"stayed near {self.start}: its weights are {100 * self.distance:.2g} % of their length away"
        if self.gain is None or np.isnan(self.gain):
            return f"kept its start, {self.start}: too few queries to try {self.tried} on some left out"
        chance = "" if self.error is None or self.gain <= 0 else f", less than two standard errors of {self.error:.4f}"
        return f"kept its start, {self.start}: queries left out gained {self.gain:+.4f} from {self.tried}{chance}"
