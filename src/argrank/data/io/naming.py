"""What the caller says of all tables that are read, stated once: by the command line, or by `ar.load`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from argrank.data.io.dialects import Given


class Naming(NamedTuple):
    """What columns are, which ones are features, how delimited text is written."""

    columns: Mapping[str, str | None] = {}
    features: Sequence[str] | None = None
    written: Given = Given()
    known: Collection[str] = ()  # meanings that are not looked for
    days: bool = False  # whether dates are taken though nobody asks for them

    @property
    def says(self) -> bool:
        """Whether anything is said of columns or cells."""
        return bool(self.columns) or self.features is not None or self.written != Given()

    def over(self, other: Naming) -> Naming:
        """Return this, and what another one says where this says nothing."""
        written = [
            mine if mine is not None else theirs for mine, theirs in zip(self.written, other.written, strict=True)
        ]
        features = other.features if self.features is None else self.features
        days = self.days or other.days
        return Naming({**other.columns, **self.columns}, features, Given(*written), {*self.known, *other.known}, days)


NOTHING = Naming()
_NAMING: ContextVar[Naming] = ContextVar("naming", default=NOTHING)


@contextmanager
def naming(told: Naming) -> Iterator[None]:
    """Read all tables so where nothing else is said."""
    token = _NAMING.set(told)
    try:
        yield
    finally:
        _NAMING.reset(token)


def told_naming() -> Naming:
    """Return what was said for all reading."""
    return _NAMING.get()
