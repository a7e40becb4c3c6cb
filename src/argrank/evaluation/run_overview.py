"""Overview of judgements and runs, and how many of the runs' documents are judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._json import json_value
from argrank._tables import table, to_text
from argrank.data.io.trec.files import Qrels, Run
from argrank.evaluation.evaluate import evaluate_lists
from argrank.evaluation.systems import lists_of
from argrank.measures.conventions import make_convention
from argrank.measures.names import measure_list

MOST_LABELS = 12


class RunOverview:
    """Sizes of judgements and runs, ties, and for each run how much of it is judged; prints as text.

    Parameters
    ----------
    runs : dict of Run
    qrels : Qrels, optional
    """

    def __init__(self, runs: Mapping[str, Run], qrels: Qrels | None = None) -> None:
        self.qrels = None if qrels is None else _judgements(qrels)
        self.runs = {name: _sizes(run) for name, run in runs.items()}
        if qrels is not None and runs:
            for name, lists in lists_of(runs, qrels).items():
                found = evaluate_lists(lists, measure_list("judged@10"), make_convention())
                if found.coverage is not None:
                    self.runs[name] |= dataclasses.asdict(found.coverage)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(json_value({"qrels": self.qrels, "runs": self.runs}))

    def __repr__(self) -> str:
        lines = []
        if self.qrels is not None:
            labels = ", ".join(f"{label}: {count:,}" for label, count in self.qrels["labels"].items())
            queries, documents = self.qrels["queries"], self.qrels["documents"]
            lines = [
                f"Judgements: {queries:,} queries, {documents:,} documents; labels {labels}",
                f"{self.qrels['without_relevant']:,} queries have no document of label 1 or more",
            ]
        if not self.runs:
            return "\n".join(lines)
        titles = list(next(iter(self.runs.values())))
        rows = [(name, *(_text(found[title]) for title in titles)) for name, found in self.runs.items()]
        shown = to_text([table(("run", *(title.replace("_", " ") for title in titles)), rows)])
        return "\n".join([*lines, *([""] if lines else []), shown])


def _judgements(qrels: Qrels) -> dict[str, Any]:
    values, counts = np.unique(qrels.rel, return_counts=True)
    query = np.unique([str(qid) for qid in qrels.qid.tolist()], return_inverse=True)[1].reshape(-1)
    relevant = np.bincount(query, weights=qrels.rel >= 1)
    labels = {f"{value:g}": int(count) for value, count in zip(values.tolist(), counts.tolist(), strict=True)}
    if len(labels) > MOST_LABELS:
        labels = {f"{values[0]:g} to {values[-1]:g}": len(qrels)}
    return {
        "queries": len(relevant),
        "documents": len(qrels),
        "labels": labels,
        "without_relevant": int(np.count_nonzero(relevant == 0)),
    }


def _sizes(run: Run) -> dict[str, Any]:
    query = np.unique([str(qid) for qid in run.qid.tolist()], return_inverse=True)[1].reshape(-1)
    depths = np.bincount(query)
    distinct = len(np.unique(np.stack([query.astype(np.float64), run.score]), axis=1).T)
    return {
        "queries": len(depths),
        "documents": len(run),
        "least": int(depths.min()),
        "most": int(depths.max()),
        "equal_scores": len(run) - distinct,
    }


def _text(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"
