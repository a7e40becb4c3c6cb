"""Facts that several checks need, computed once, when they are first used."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Integers
from argrank.data.dataset import Dataset
from argrank.data.identical import fingerprints, identical_in_query
from argrank.data.summary import FeatureSummary, feature_label, summarise
from argrank.errors import shown

SAMPLE_ROWS = 20_000  # enough for checks that sort every column, which takes too long on all of large data


class Facts:
    """A set of data, its name in the findings, and what is known about it."""

    def __init__(self, data: Dataset, name: str, relevant_at: float) -> None:
        self.data, self.name, self.relevant_at = data, name, relevant_at

    @cached_property
    def features(self) -> FeatureSummary:
        """The range, mean and so on of every feature."""
        return summarise(self.data)

    @cached_property
    def fingerprints(self) -> NDArray[np.uint64]:
        """64 bits for the features of every row."""
        return fingerprints(self.data.X)

    @cached_property
    def identical(self) -> Integers:
        """A number for every row, the same for identical features within a query."""
        return identical_in_query(self.data, self.fingerprints)

    def query(self, number: Any) -> str:
        """Return what findings call a query."""
        value = self.data.query_ids[number]
        return f"qid {shown(value.item() if isinstance(value, np.generic) else value)}"

    def row(self, stored: Any) -> str:
        """Return what findings call a document: its query, and its row as the caller numbers it."""
        query = np.searchsorted(self.data.indptr, stored, side="right") - 1
        row = stored if self.data.rows is None else self.data.rows[stored]
        return f"{self.query(query)}, row {int(row)}"

    def feature(self, column: Any) -> str:
        """Return what findings call a feature: its name, else its number as in the file."""
        return feature_label(self.data, int(column))
