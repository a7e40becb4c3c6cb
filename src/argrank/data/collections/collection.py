"""What is known of a public collection: its statistics, its parts, its checksums and where to obtain it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

FIVE = tuple(f"S{part}" for part in range(1, 6))


class Part(NamedTuple):
    """One file of a collection; None where a figure could not be verified."""

    queries: int | None = None
    documents: int | None = None
    sha256: str | None = None  # of the uncompressed text


@dataclass(frozen=True)
class Collection:
    """A public collection, as published; figures that could not be verified are None.

    ``parts`` maps the names of files (without .txt) to what they hold. Five parts S1 … S5 make five folds by LETOR's
    rule; otherwise the collection comes with one split, whose files ``train``, ``valid`` and ``test`` name.
    """

    name: str
    about: str
    obtain: str
    queries: int | None = None
    documents: int | None = None
    features: int | None = None  # None: no features, but ratings
    labels: Mapping[int, int | None] = field(default_factory=dict)  # number of documents by label
    parts: Mapping[str, Part] = field(default_factory=lambda: dict.fromkeys(FIVE, Part()))
    train: str = ""
    valid: str = ""
    test: str = ""

    @property
    def n_folds(self) -> int:
        """Number of folds that the collection defines."""
        return 1 if self.train else len(self.parts)
