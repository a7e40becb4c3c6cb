"""explain: how the values of one query are computed."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._tables import text_lines
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.unjudged import JUDGED, Gaps
from argrank.errors import InputError, shown
from argrank.evaluation.ranking_blocks import Judgements, rank_queries
from argrank.measures.conventions import Convention, describe
from argrank.measures.measure import Measure

SHOWN_RANKS = 30


@dataclass(frozen=True)
class Explanation:
    """The ranking of one query, and for every measure its value and the columns it is computed from.

    ``ranking`` and ``parts[name]`` map a column's title to one entry per rank, ``facts[name]`` further figures.
    """

    qid: Any
    convention: Convention
    ranking: dict[str, list[Any]]
    values: dict[str, float]
    parts: dict[str, dict[str, Floats]]
    facts: dict[str, dict[str, Any]]

    def __repr__(self) -> str:
        n = len(self.ranking["rank"])
        lines = [f"query {self.qid!r}: {n} documents; convention {self.convention.name}"]
        for name, value in self.values.items():
            facts = ", ".join(f"{fact} {_text(one)}" for fact, one in self.facts[name].items())
            lines += ["", f"{name} = {value:.6g}" + (f"   ({facts})" if facts else "")]
            columns: dict[str, Any] = {**self.ranking, **self.parts[name]}
            depth = min(n, SHOWN_RANKS)
            rows = [[_text(column[i]) if i < len(column) else "" for column in columns.values()] for i in range(depth)]
            lines += text_lines(list(columns), rows)
            if n > depth:
                lines.append(f"… and {n - depth} more ranks")
        return "\n".join(lines)


def explain_query(
    qid: Any,
    scores: Floats,
    data: Dataset,
    asked: list[tuple[str, Measure]],
    convention: Convention,
    judged: Judgements | None = None,
) -> Explanation:
    """Explain the measures of one query; scores in stored row order."""
    query = np.array([_number_of(qid, data)])
    block = rank_queries(scores, data, query, convention, judged)
    rows, rankings = block.rows()[0], block.rankings
    if convention.ties == "expected":  # show tied documents in the caller's order
        rows = rank_queries(scores, data, query, dataclasses.replace(convention, ties="row")).rows()[0]
    rows = rows[: int(data.sizes[query[0]])]
    gaps = None if judged is None or judged.gaps is None else judged.gaps
    if convention.judged_only and gaps is not None:
        rows, rankings = rows[gaps[rows] == JUDGED], rankings.judged_only
    ranking = _shown_ranking(rows, scores, data, gaps)
    if rankings.ties is not None:
        ranking["tied ranks"] = [""] * len(rows)
        for first, size in zip(rankings.ties.first.tolist(), rankings.ties.sizes.tolist(), strict=True):
            ranking["tied ranks"][first : first + size] = [f"{first + 1}-{first + size}"] * size
    values: dict[str, float] = {}
    parts: dict[str, dict[str, Floats]] = {}
    facts: dict[str, dict[str, Any]] = {}
    for name, measure in asked:
        rules = measure.adapt(convention)
        same_lists = rules.judged_only == convention.judged_only  # otherwise its ranks differ from those shown
        values[name] = float(measure.values(rankings, convention)[0])
        parts[name] = measure.columns(rankings, convention) if same_lists else {}
        n_relevant = int(rankings.n_relevant(rules.relevant_at)[0])
        facts[name] = _facts(values[name], parts[name], rules, n_relevant, len(block.tied) > 0)
    return Explanation(data.query_ids.tolist()[query[0]], convention, ranking, values, parts, facts)


def _shown_ranking(rows: Integers, scores: Floats, data: Dataset, gaps: Gaps | None) -> dict[str, list[Any]]:
    """Return the columns shown for the documents of a ranking."""
    ranking: dict[str, list[Any]] = {"rank": list(range(1, len(rows) + 1))}
    if data.document_ids is not None:
        ranking["document"] = [str(one) for one in data.document_ids[rows].tolist()]
    caller = rows if data.rows is None else data.rows[rows]
    ranking |= {"row": caller.tolist(), "score": scores[rows].tolist(), "label": data.y[rows].tolist()}
    if gaps is not None:
        ranking["judged"] = np.where(gaps[rows] == JUDGED, "yes", "no").tolist()
    return ranking


def _facts(
    value: float, parts: dict[str, Floats], rules: Convention, n_relevant: int, has_ties: bool
) -> dict[str, Any]:
    """Return further figures that enter the value of a measure."""
    facts: dict[str, Any] = {"relevant documents": n_relevant}
    if np.isnan(value):
        facts["undefined here, counts as"] = rules.undefined
    facts |= {f"sum of {title}": float(column.sum()) for title, column in parts.items() if "x discount" in title}
    if has_ties:
        facts["ties"] = rules.ties
    if "gain" in parts:
        facts["gain"] = describe(rules.gain)
    return facts


def _number_of(qid: Any, data: Dataset) -> int:
    for number, one in enumerate(data.query_ids.tolist()):
        if one == qid or str(one) == str(qid):
            return number
    raise InputError(f"explain: expected the id of a query such as {data.query_ids.tolist()[0]!r}, got {shown(qid)}")


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
