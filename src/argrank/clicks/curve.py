"""The examination curve: values by rank with intervals; tables, JSON, and a curve for each device."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._declared import checked
from argrank._files import open_bytes, read_all, write_text
from argrank._json import json_value, parse_json
from argrank._tables import Table, table, to_html, to_text
from argrank._types import Floats, Integers
from argrank.data.checks import as_array
from argrank.data.clicks.coding import N_GROUPS
from argrank.data.clicks.log import Clicks
from argrank.errors import FormatError, InputError, shown


@dataclass(frozen=True, eq=False)
class Propensities:
    """The examination curve: how much each rank is seen. ``values[0]`` is rank 1 and 1.0; the others are relative.

    Attributes
    ----------
    values, low, high : arrays, one entry for each rank
        The curve and the ends of its 95 % intervals; NaN for ranks that were never shown.
    linked : array of bool
        Whether a rank is linked to rank 1 by documents that were shown at several ranks.
    method : str
        How the curve was estimated.
    note : str
        Assumptions of the curve and its interval.
    offsets : array, optional
        For ``method="trust"``: the probability of a click that is due to the rank alone, 0 at the last rank.
    replicates : array, optional
        The curve without each of the 64 groups of sessions, one per row; estimates from the same log (with the
        fingerprint ``source``) then have intervals that include the curve's own error.
    """

    values: Floats
    low: Floats
    high: Floats
    linked: NDArray[np.bool_]
    method: str
    note: str = ""
    offsets: Floats | None = None
    replicates: Floats | None = None
    source: str = ""

    def __len__(self) -> int:
        return len(self.values)

    @checked
    def at(self, position: Integers) -> Floats:
        """Return the examination at positions, from 1; positions beyond the curve or unknown are an error."""
        return _at(self.values, position)

    @checked
    def offset_at(self, position: Integers) -> Floats:
        """Return the probability of a click that is due to the rank alone; 0 except for ``method="trust"``."""
        return np.zeros(len(_positions(position))) if self.offsets is None else _at(self.offsets, position)

    @checked
    def of(self, log: Clicks) -> Floats:
        """Return the examination of every row of a log."""
        return self.at(log.position)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain values, for example for JSON."""
        lists = {"values": self.values, "low": self.low, "high": self.high}
        found: dict[str, Any] = {"method": self.method, "note": self.note}
        found |= {name: [None if np.isnan(one) else float(one) for one in values] for name, values in lists.items()}
        found["linked"] = self.linked.tolist()
        if self.replicates is not None:
            found |= {"source": self.source, "replicates": json_value(self.replicates)}
        return found if self.offsets is None else {**found, "offsets": self.offsets.tolist()}

    @classmethod
    @checked
    def from_dict(cls, found: Any) -> Propensities:
        """Return the curve from the values of ``to_dict``."""
        lists = [np.array([np.nan if one is None else one for one in found[name]], float) for name in LISTS]
        linked = np.array(found["linked"], bool)
        offsets = np.array(found["offsets"], float) if "offsets" in found else None
        if any(one.shape != linked.shape or one.ndim != 1 for one in lists) or not len(linked):
            raise ValueError("lists of different lengths")
        values, low, high = lists
        if (values <= 0).any() or np.isinf(values).any() or (offsets is not None and offsets.shape != values.shape):
            raise ValueError("values that are not examinations")
        replicates = None
        if "replicates" in found:
            replicates = np.array(found["replicates"], float)
            if replicates.shape != (N_GROUPS, len(values)):
                raise ValueError("replicates of another shape")
        source = str(found.get("source", ""))
        return cls(values, low, high, linked, str(found["method"]), str(found["note"]), offsets, replicates, source)

    @checked
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the curve as JSON, for ``read_propensities``."""
        write_text(path, json.dumps(self.to_dict(), indent=1))

    @classmethod
    @checked
    def read(cls, path: str | os.PathLike[str]) -> Propensities:
        """Read a curve written by ``write``."""
        found = read_propensities(path)
        if not isinstance(found, cls):
            raise FormatError(path, None, "one curve of examination", "a curve for each of several parts of a log")
        return found

    @checked
    def plot(self, axes: Any = None) -> Any:
        """Draw the curve with its interval, as ``ar.plot.propensities`` does."""
        from argrank.clicks.drawing import propensities

        return propensities(self, axes=axes)

    def _table(self) -> Table:
        columns = [self.values, self.low, self.high] + ([] if self.offsets is None else [self.offsets])
        rows = [
            (rank, *("-" if np.isnan(one) else f"{one:.4f}" for one in numbers))
            for rank, numbers in enumerate(zip(*columns, strict=True), 1)
        ]
        return table(("rank", "examination", "low", "high", "offset")[: 1 + len(columns)], rows)

    def __repr__(self) -> str:
        notes = [self.note] if self.note else []
        return "\n".join([f"Propensities by {self.method}", to_text([self._table()]), *notes])

    def _repr_html_(self) -> str:
        return to_html([self._table()])


LISTS = ("values", "low", "high")


@dataclass(frozen=True, eq=False)
class PropensitiesBy(Mapping[str, Propensities]):
    """An examination curve for each value of a column of the log, such as the device."""

    column: str
    curves: Mapping[str, Propensities]

    def __getitem__(self, name: str) -> Propensities:
        return self.curves[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    @checked
    def of(self, log: Clicks) -> Floats:
        """Return the examination of every row of a log, by the curve of its part."""
        part = log.column(self.column).astype(str)
        found = np.full(log.n_rows, np.nan)
        for name, curve in self.curves.items():
            rows = part == name
            found[rows] = curve.at(log.position[rows])
        lacks = np.isnan(found)
        if lacks.any():
            name = part[int(np.argmax(lacks))]
            raise InputError(
                f"propensities: expected a curve for {self.column} {shown(str(name))}, got {', '.join(self)}"
            )
        return found

    @checked
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the curves as JSON, for ``read_propensities``."""
        content = {"by": self.column, "curves": {name: curve.to_dict() for name, curve in self.curves.items()}}
        write_text(path, json.dumps(content, indent=1))

    @checked
    def plot(self, axes: Any = None) -> Any:
        """Draw all curves with their intervals, as ``ar.plot.propensities`` does."""
        from argrank.clicks.drawing import propensities

        return propensities(self, axes=axes)

    def __repr__(self) -> str:
        return "\n\n".join(f"{self.column} {name}: {curve!r}" for name, curve in self.curves.items())


@checked
def read_propensities(path: str | os.PathLike[str]) -> Propensities | PropensitiesBy:
    """Read an examination curve, or a curve for each part of a log, from JSON."""
    with open_bytes(path) as stream:
        content = read_all(stream, os.fspath(path))
    try:
        found = parse_json(content, os.fspath(path))
        if isinstance(found, dict) and "by" in found:
            curves = {str(name): Propensities.from_dict(one) for name, one in found["curves"].items()}
            return PropensitiesBy(str(found["by"]), curves)
        return Propensities.from_dict(found)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(path, None, "a curve of examination as JSON", str(error)[:80]) from error


def _positions(given: Any) -> Integers:
    position = np.atleast_1d(as_array(given, "position"))
    if position.dtype.kind not in "iu":
        raise InputError(f"position: expected whole numbers from 1 up, got {shown(given)}")
    return position


def _at(values: Floats, position: Integers) -> Floats:
    position = _positions(position)
    outside = (position < 1) | (position > len(values))
    found = np.where(outside, np.nan, values[np.where(outside, 1, position) - 1])
    if np.isnan(found).any():
        rank = int(position[np.argmax(np.isnan(found))])
        raise InputError(f"propensities: expected a curve that covers rank {rank}, got {len(values)} ranks")
    return found
