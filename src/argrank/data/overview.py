"""An overview of a data set: labels, list lengths and features, as a text and as plain values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from argrank.data.dataset import Dataset
from argrank.data.summary import FeatureSummary, printable, summarise

MOST_LABELS = 12  # more different labels are shown in this many ranges
MOST_FEATURES = 20
BAR = 30
QUANTILES = {"least": 0.0, "25%": 0.25, "median": 0.5, "75%": 0.75, "most": 1.0}


class Overview:
    """What is in a data set; prints as text, `to_dict` gives all of it."""

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
        lists = {title: [_plain(value) for value in column] for title, column in columns.items()}
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
            body = [
                [one["label"], f"{one['documents']:,}", f"{one['documents'] / self.data.n_documents:.1%}",
                 "#" * math.ceil(BAR * one["documents"] / top)]
                for one in facts["labels"]
            ]  # fmt: skip
            lines += ["", *_table(["label", "documents", "share", ""], body, left=(0, 3))]
        body = [
            [printable(one["feature"]), *(_short(one[title]) for title in ("min", "max", "mean")),
             f"{one['share_zero']:.0%}", f"{one['missing']:,.0f}"]
            for one in facts["features"][:MOST_FEATURES]
        ]  # fmt: skip
        lines += ["", *_table(["feature", "min", "max", "mean", "zero", "missing"], body, left=(0,))]
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


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _table(head: list[str], body: list[list[str]], left: tuple[int, ...]) -> list[str]:
    widths = [max(len(row[column]) for row in (head, *body)) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *body)
    ]
