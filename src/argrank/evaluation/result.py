"""Evaluation: the result of evaluate, as numbers, as a data frame and as a table."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argrank._json import json_value
from argrank._tables import Table, table, to_html, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import MissingExtraError
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure

if TYPE_CHECKING:
    from argrank.evaluation.explain import Explanation


@dataclass(eq=False)
class Evaluation:
    """Means and values per query of the measures asked for, under the names they were asked by.

    Attributes
    ----------
    means : dict
        Name to mean over queries, weighted where the data has query weights.
    values : dict
        Name to one value per query; NaN where the measure is undefined and the query is left out.
    query_ids : array of shape (n_queries,)
    undefined : dict
        Name to the number of queries where the measure is undefined.
    zero_filled : dict
        Name to the mean with such queries counted as 0.
    n_tied : int
        Number of queries in which documents of different labels have equal scores.
    convention : Convention
    query_weight : array of shape (n_queries,), optional
    notes : list of str
    explanation : Explanation, optional
        How the values of one query came about, where ``explain`` was given.
    """

    means: dict[str, float]
    values: dict[str, Floats]
    query_ids: NDArray[Any]
    undefined: dict[str, int]
    zero_filled: dict[str, float]
    n_tied: int
    convention: Convention
    query_weight: Floats | None = None
    notes: list[str] = field(default_factory=list)
    explanation: Explanation | None = None

    @classmethod
    def of(
        cls,
        asked: list[tuple[str, Measure]],
        values: list[Floats],
        tied: NDArray[np.bool_],
        data: Dataset,
        convention: Convention,
    ) -> Evaluation:
        """Make the result of raw values, NaN where a measure is undefined."""
        weight = data.query_weight
        result = cls({}, {}, data.query_ids, {}, {}, int(tied.sum()), convention, weight)
        order = _by_qid(data.query_ids) if convention.averaging == "by-qid" else None
        for (name, measure), raw in zip(asked, values, strict=True):
            lacking = np.isnan(raw)
            rules = measure.adapt(convention)
            filled = raw
            if isinstance(rules.undefined, float) and convention.empty == "keep":
                filled = np.where(lacking, rules.undefined, raw)
            result.values[name] = filled
            result.undefined[name] = int(lacking.sum())
            result.zero_filled[name] = _mean(np.where(lacking, 0.0, raw), weight, None, order)
            counted = ~lacking if rules.undefined == "skip" or convention.empty == "skip" else None
            alone = lacking if rules.undefined_weight == "one" and measure.spelling == "nDCG" else None
            result.means[name] = _mean(filled, weight, counted, order, alone)
        result.notes = _notes(result, data)
        return result

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.query_ids)

    @property
    def per_query(self) -> Any:
        """A data frame (pandas, else polars, else pyarrow) with the column qid and one column for each measure."""
        columns: dict[str, Any] = {"qid": self.query_ids, **self.values}
        for package, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
            try:
                library = __import__(package)
            except ImportError:
                continue
            if package != "pandas":
                columns["qid"] = self.query_ids.tolist()
            return getattr(library, make)(columns)
        raise MissingExtraError("pandas", "frames", "the data frame of an evaluation")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold; NaN becomes None."""
        return {
            "convention": self.convention.name,
            "n_queries": self.n_queries,
            "n_tied": self.n_tied,
            "means": json_value(self.means),
            "undefined": dict(self.undefined),
            "zero_filled": json_value(self.zero_filled),
            "notes": list(self.notes),
            "per_query": json_value({"qid": self.query_ids, **self.values}),
        }

    def _table(self) -> Table:
        columns = {"mean": [self.convention.format % mean for mean in self.means.values()]}
        if any(self.undefined.values()):
            columns["undefined"] = [str(count) for count in self.undefined.values()]
            columns["undefined as 0"] = [self.convention.format % mean for mean in self.zero_filled.values()]
        return table(("measure", *columns), zip(self.means, *columns.values(), strict=True))

    def _caption(self) -> str:
        queries = f"{self.n_queries:,} {'query' if self.n_queries == 1 else 'queries'}"
        ties = f", {self.n_tied:,} with ties between labels" if self.n_tied else ""
        return f"{queries}{ties}; convention {self.convention.name}"

    def __repr__(self) -> str:
        lines = [to_text([self._table()]), self._caption(), *self.notes]
        if self.explanation is not None:
            lines += ["", repr(self.explanation)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        told = "" if self.explanation is None else f"<pre>{html.escape(repr(self.explanation))}</pre>"
        return to_html([self._table()], [self._caption(), *self.notes]) + told


def _mean(
    values: Floats,
    weight: Floats | None,
    counted: NDArray[np.bool_] | None,
    order: NDArray[np.intp] | None,
    alone: NDArray[np.bool_] | None = None,
) -> float:
    """Return the (weighted) mean of the counted values; those in ``alone`` add themselves with weight one."""
    weights = np.ones(len(values)) if weight is None else weight
    if order is not None:
        values, weights = values[order], weights[order]
        counted = None if counted is None else counted[order]
        alone = None if alone is None else alone[order]
    if counted is not None:
        values, weights = values[counted], weights[counted]
        alone = None if alone is None else alone[counted]
    divisor = float(weights.sum())
    if divisor == 0:
        return math.nan
    terms = values * (weights if alone is None else np.where(alone, 1.0, weights))
    if np.isnan(terms).any():
        return math.nan
    top = float(np.cumsum(terms)[-1]) if order is not None else math.fsum(terms.tolist())
    return top / divisor


def _by_qid(query_ids: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order of ascending query id: as numbers where all are numbers, else as text."""
    try:
        return np.argsort(query_ids.astype(np.float64), kind="stable")
    except (TypeError, ValueError):
        return np.argsort(np.array([str(qid) for qid in query_ids.tolist()]), kind="stable")


def _notes(result: Evaluation, data: Dataset) -> list[str]:
    notes = []
    if result.n_tied and result.convention.ties.startswith("docid") and data.document_ids is None:
        notes.append("ties are broken by row number, because the data has no document ids")
    return notes
