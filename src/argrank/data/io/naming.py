"""Options for reading tables, set once by the command line or by `ar.load`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from argrank.data.io.dialects import Given


class Naming(NamedTuple):
    """The meanings of columns, which ones are features, and the dialect of delimited text."""

    columns: Mapping[str, str | None] = {}
    features: Sequence[str] | None = None
    written: Given = Given()
    known: Collection[str] = ()  # meanings that are not searched for
    days: bool = False  # whether dates are accepted without being requested

    @property
    def says(self) -> bool:
        """Whether any option about columns or cells is set."""
        return bool(self.columns) or self.features is not None or self.written != Given()

    def over(self, other: Naming) -> Naming:
        """Return these options, with those of another where these are not set."""
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
    """Use these options as defaults for all tables read in the block."""
    token = _NAMING.set(told)
    try:
        yield
    finally:
        _NAMING.reset(token)


def told_naming() -> Naming:
    """Return the current defaults."""
    return _NAMING.get()
