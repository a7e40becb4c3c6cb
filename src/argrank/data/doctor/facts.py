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

SAMPLE_ROWS = 20_000  # sample size for checks that sort every column, which is slow on large data


def sampled(data: Dataset) -> Dataset:
    """Return about SAMPLE_ROWS rows: every n-th query of larger data."""
    step = max(1, -(-data.n_documents // SAMPLE_ROWS))
    return data.select(np.arange(0, data.n_queries, step)) if step > 1 else data


class Facts:
    """A data set, its name in the findings, and facts about it."""

    def __init__(self, data: Dataset, name: str, relevant_at: float) -> None:
        self.data, self.name, self.relevant_at = data, name, relevant_at

    @cached_property
    def features(self) -> FeatureSummary:
        """The statistics of every feature."""
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
        """Return the name of a query in findings."""
        value = self.data.query_ids[number]
        return f"qid {shown(value.item() if isinstance(value, np.generic) else value)}"

    def row(self, stored: Any) -> str:
        """Return the name of a document in findings: its query, and the caller's row number."""
        query = np.searchsorted(self.data.indptr, stored, side="right") - 1
        row = stored if self.data.rows is None else self.data.rows[stored]
        return f"{self.query(query)}, row {int(row)}"

    def feature(self, column: Any) -> str:
        """Return the name of a feature in findings: its name, else its number as in the file."""
        return feature_label(self.data, int(column))
