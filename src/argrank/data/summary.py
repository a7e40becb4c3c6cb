"""Summarise a data set: statistics of every feature, and an overview as text and as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._json import json_value
from argrank._tables import text_lines
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.query_statistics import blocks
from argrank.errors import shown


@dataclass(frozen=True)
class FeatureSummary:
    """One number per feature. ``minimum``, ``maximum`` and ``mean`` are NaN for a feature that is always missing.

    ``varying`` counts the queries in which the feature has more than one value; ``scale_spread`` is the standard
    deviation, over these queries, of the decimal logarithm of the feature's range within the query.
    """

    minimum: Floats
    maximum: Floats
    mean: Floats
    zeros: Floats
    missing: Floats
    varying: Floats
    scale_spread: Floats


def summarise(data: Dataset) -> FeatureSummary:
    """Summarise every feature in one pass over the data, some queries at a time."""
    n = data.n_features
    low, high = np.full(n, np.nan), np.full(n, np.nan)
    total, nonzero, missing, varying, logs, squares = (np.zeros(n) for _ in range(6))
    stored_in = np.zeros(n)  # documents of the queries in which CSR stores a value of the feature
    for block in blocks(data.X, data.indptr):
        least, most = block.minimum(), block.maximum()
        if isinstance(block.features, slice):
            low, high = np.fmin(low, np.fmin.reduce(least)), np.fmax(high, np.fmax.reduce(most))
        else:
            np.fmin.at(low, block.features, least)
            np.fmax.at(high, block.features, most)
        unknown = block.documents - block.known()
        varies = most > least
        log_range = np.log10(np.where(varies, most - least, 1.0))
        total += block.per_feature(block.total(), n)
        nonzero += block.per_feature(block.total((block.values != 0).astype(np.float64)) - unknown, n)
        missing += block.per_feature(unknown, n)
        varying += block.per_feature(varies, n)
        logs += block.per_feature(log_range, n)
        squares += block.per_feature(log_range**2, n)
        stored_in += block.per_feature(np.broadcast_to(block.documents, varies.shape), n)
    outside = stored_in < data.n_documents  # whole queries of zeros that CSR does not store
    low, high = np.where(outside, np.fmin(low, 0), low), np.where(outside, np.fmax(high, 0), high)
    known = data.n_documents - missing
    mean = np.where(known > 0, total / np.maximum(known, 1), np.nan)
    spread = np.sqrt(np.maximum(squares / np.maximum(varying, 1) - (logs / np.maximum(varying, 1)) ** 2, 0))
    return FeatureSummary(low, high, mean, known - nonzero, missing, varying, spread)


def printable(text: str) -> str:
    """Return a text from outside, with control characters escaped."""
    return text if text.isprintable() else ascii(text)


def feature_label(data: Dataset, column: int) -> str:
    """Return what messages call a feature: its name, else its number as in the file."""
    name = shown(data.feature_names[column]) if data.feature_names else str(column + data.feature_base)
    return f"feature {name}"


MOST_LABELS = 12  # more distinct labels are shown in this many ranges
MOST_FEATURES = 20
BAR = 30
QUANTILES = {"least": 0.0, "25%": 0.25, "median": 0.5, "75%": 0.75, "most": 1.0}


class Overview:
    """Overview of a data set; prints as text, `to_dict` returns all of it."""

    def __init__(self, data: Dataset, features: FeatureSummary | None = None) -> None:
        self.data = data
        self.features = summarise(data) if features is None else features

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, None for numbers that do not exist."""
        data, found = self.data, self.features
        names = data.feature_names or [str(number + data.feature_base) for number in range(data.n_features)]
        columns = {
            "min": found.minimum,
            "max": found.maximum,
            "mean": found.mean,
            "share_zero": found.zeros / data.n_documents,
            "missing": found.missing,
        }
        lists = {title: json_value(column) for title, column in columns.items()}
        return {
            "n_queries": data.n_queries,
            "n_documents": data.n_documents,
            "n_features": data.n_features,
            "labels": [{"label": label, "documents": count} for label, count in self._labels()],
            "documents_a_query": self._lengths(),
            "features": [
                {"feature": name, **{title: values[number] for title, values in lists.items()}}
                for number, name in enumerate(names)
            ],
        }

    def __repr__(self) -> str:
        facts = self.to_dict()
        lines = ["documents a query: " + ", ".join(f"{title} {value:g}" for title, value in self._lengths().items())]
        if facts["labels"]:
            top = max(one["documents"] for one in facts["labels"])
            n = self.data.n_documents
            body = [(one["label"], f"{one['documents']:,}", f"{one['documents'] / n:.1%}") for one in facts["labels"]]
            bars = ["#" * math.ceil(BAR * one["documents"] / top) for one in facts["labels"]]
            table = zip(text_lines(("label", "documents", "share"), body), ["", *bars], strict=True)
            lines += ["", *(f"{row}  {bar}".rstrip() for row, bar in table)]
        rows = []
        for one in facts["features"][:MOST_FEATURES]:
            numbers = ["-" if one[title] is None else f"{one[title]:.4g}" for title in ("min", "max", "mean")]
            rows.append((printable(one["feature"]), *numbers, f"{one['share_zero']:.0%}", f"{one['missing']:,.0f}"))
        lines += ["", *text_lines(("feature", "min", "max", "mean", "zero", "missing"), rows)]
        if len(facts["features"]) > MOST_FEATURES:
            lines.append(f"… and {len(facts['features']) - MOST_FEATURES} more features")
        return "\n".join(lines)

    def _labels(self) -> list[tuple[str, int]]:
        if not self.data.is_judged:
            return []
        values, counts = np.unique(self.data.y, return_counts=True)
        if len(values) <= MOST_LABELS:
            return [(f"{value:g}", int(count)) for value, count in zip(values, counts, strict=True)]
        counts, edges = np.histogram(self.data.y, bins=MOST_LABELS)
        return [(f"{edges[i]:.3g} to {edges[i + 1]:.3g}", int(count)) for i, count in enumerate(counts)]

    def _lengths(self) -> dict[str, float]:
        return {title: float(np.quantile(self.data.sizes, share)) for title, share in QUANTILES.items()}
