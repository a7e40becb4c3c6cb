"""Axes of a chart: positions of values, and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class Scale:
    """Maps values from ``low`` to ``high`` onto pixels from ``start`` to ``end``; perhaps logarithmically."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def of(cls, values: Iterable[float], start: float, end: float, *, log: bool = False, zero: bool = False) -> Scale:
        """Return the scale that shows all finite values with a margin, and zero if requested."""
        finite = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        low, high = (min(finite), max(finite)) if finite else (0.0, 1.0) if not log else (1.0, 10.0)
        if log:
            if high <= low * 1.0001:
                low, high = low / 3, high * 3
            return cls(low / 1.1, high * 1.1, start, end, True)
        if zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if high - low <= 1e-12 * max(abs(high), abs(low), 1e-300):
            low, high = low - (abs(low) * 0.1 or 0.5), high + (abs(high) * 0.1 or 0.5)
        room = 0.05 * (high - low)
        return cls(low if zero and low == 0 else low - room, high if zero and high == 0 else high + room, start, end)

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def shows(self, value: float) -> bool:
        """Tell whether a value can be shown on this scale."""
        return math.isfinite(value) and (value > 0 or not self.log)

    def ticks(self, about: int = 5) -> list[float]:
        """Return about the given number of round values."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            every = max(1, -(-(last - first + 1) // (about + 2)))
            powers = [10.0**power for power in range(first, last + 1, every)]
            if len(powers) > 2:
                return powers
            tens = range(first - 1, last + 2)
            within = [t for t in (m * 10.0**p for p in tens for m in (1, 2, 5)) if self.low <= t <= self.high]
            if len(within) > 1:
                return within
        rough = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(rough))
        step = min((step * power for step in STEPS), key=lambda step: abs(math.log(step / rough)))
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]


def tick_text(value: float) -> str:
    """Return a tick's value in few characters, with a true minus sign."""
    return f"{value:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("-", "\N{MINUS SIGN}")
