"""From labels to gains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np

from argrank._types import Floats
from argrank.data.checks import as_array
from argrank.errors import InputError, OptionError, check_name, shown
from argrank.measures.structure import Gaining

GAINS = ("binary", "exp2", "linear")


@dataclass(frozen=True)
class GainTable:
    """The gain of every label in a table; others gain ``outside``, or their label ("label"), or are an error (None)."""

    labels: tuple[float, ...]
    gains: tuple[float, ...]
    outside: float | str | None = None

    @classmethod
    def of(cls, table: Sequence[float] | Mapping[float, float], outside: float | str | None = None) -> GainTable:
        """Make a table of a sequence (the gains of the labels 0, 1, …) or of a mapping from label to gain."""
        try:
            pairs = table.items() if isinstance(table, Mapping) else enumerate(table)
            ordered = sorted((float(label), float(gain)) for label, gain in pairs)
        except (TypeError, ValueError, OverflowError) as error:
            raise OptionError(f"gain: expected a table of numbers, got {shown(table)}") from error
        if not ordered or not np.isfinite(np.array(ordered)).all():
            raise OptionError(f"gain: expected a table of finite numbers, got {shown(table)}")
        return cls(tuple(label for label, _ in ordered), tuple(gain for _, gain in ordered), outside)

    def __call__(self, labels: Floats) -> Floats:
        """Return the gain of every label."""
        known = np.array(self.labels)
        place = np.minimum(np.searchsorted(known, labels), len(known) - 1)
        found = known[place] == labels
        values = np.array(self.gains)[place]
        if not found.all():
            if self.outside is None:
                label = labels[~found].flat[0]
                raise InputError(f"gain: expected a label of the table {list(self.labels)}, got {label:g}")
            values[~found] = labels[~found] if self.outside == "label" else self.outside
        return values

    def __repr__(self) -> str:
        if self.labels == tuple(range(len(self.labels))):
            return repr(self.gains)
        return repr(dict(zip(self.labels, self.gains, strict=True)))


Gain: TypeAlias = str | GainTable | Callable[[Floats], Any]


def check_gain(gain: Any) -> Gain:
    """Check a gain and return it in a form for ``gains_of``: a known name, a table, or a callable."""
    if isinstance(gain, str):
        check_name("gain", gain, GAINS)
        return gain
    if callable(gain) and not isinstance(gain, type):
        return cast(Gain, gain)
    if isinstance(gain, Mapping | Sequence | np.ndarray):
        return GainTable.of(gain)  # type: ignore[arg-type]
    raise OptionError(f"gain: expected one of {', '.join(GAINS)}, a table or a callable, got {shown(gain)}")


def gains_of(labels: Floats, gain: Gain = "exp2", relevant_at: float = 1.0) -> Floats:
    """Return the gain of every label: 2^y - 1 (exp2), y (linear), 1 from ``relevant_at`` up (binary), or the user's.

    Gains are float64, so the only limit on labels is that their gain must not overflow (as 1024 does with exp2).

    >>> gains_of(np.array([0.0, 1.0, 2.5, 40.0]))
    array([0.00000000e+00, 1.00000000e+00, 4.65685425e+00, 1.09951163e+12])
    """
    if gain == "linear":
        return labels
    if gain == "binary":
        return (labels >= relevant_at).astype(np.float64)
    if gain == "exp2":
        with np.errstate(over="ignore"):
            values = np.exp2(labels) - 1.0
    else:
        function = check_gain(gain)
        if isinstance(function, str):
            return gains_of(labels, function, relevant_at)
        values = as_array(function(labels), "gain", np.float64)
        if values.shape != labels.shape:
            raise InputError(f"gain: expected a callable that returns {labels.shape} gains, got shape {values.shape}")
    if not np.isfinite(values).all():
        label = labels[~np.isfinite(values)].flat[0]
        raise InputError(
            f"gain: expected finite gains, got {gain if isinstance(gain, str) else 'infinity'} of {label:g}"
        )
    return values


def row_targets(data: Gaining, gain: Gain) -> Floats:
    """Return the target of every row: its own gain if rows have gains, else the gain of its label."""
    return gains_of(data.y, gain) if data.gains is None else data.gains


def relevance(relevant_at: float) -> Callable[[Floats], Floats]:
    """Return the gains of binary measures: 1 from ``relevant_at`` up, else 0."""
    return lambda labels: (labels >= relevant_at).astype(np.float64)
