"""The report's section on a click log: rates by rank, the examination curve, and each system's estimated value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._tables import counted, to_html
from argrank._types import Floats, Integers
from argrank.clicks.curve import Propensities, PropensitiesBy
from argrank.clicks.propensities import counts_of, propensities
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.clicks.rates import rates_by_rank
from argrank.errors import InputError
from argrank.evaluation.counterfactual.on_log import compared_on_log, evaluate_on_log
from argrank.evaluation.counterfactual.result import ClickEvaluation
from argrank.measures.conventions import Convention
from argrank.report import svg
from argrank.report.svg import escape

MOST_RANKS = 20  # that are drawn


def clicks_section(
    systems: Mapping[str, Any], features: Any, log: Clicks | ClickCounts, curve: Any, rules: Convention
) -> str:
    """Return the section as HTML; ``features`` are the candidates that scores belong to, None for runs.

    A system whose value cannot be estimated has the reason instead of figures.
    """
    has_own = isinstance(log, Clicks) and log.propensity is not None
    theta = propensities(log) if curve is None and not has_own else curve
    charts = _rates(log) + "".join(_seen(name, one) for name, one in _curves(theta).items())
    measures = ["dcg@10", *(["clicks@10"] if isinstance(theta, Propensities) else [])]
    asked = {"propensities": theta, "features": features}
    told = {name: _value(name, system, log, measures, rules, asked) for name, system in systems.items()}
    found = {name: one for name, one in told.items() if isinstance(one, ClickEvaluation)}
    refusals = [f"<p>{escape(one)}</p>" for one in told.values() if isinstance(one, InputError)]
    earned = ""
    if found:
        comparison = compared_on_log(found)
        tables = (comparison.render("html"), to_html([comparison.by_traffic()]))
        earned = "".join(f'<div class="scroll">{one}</div>' for one in tables)
    return (
        f'<div class="charts">{charts}</div><h3 id="earned">What each system would earn a session</h3>'
        f"{earned}{''.join(refusals)}"
    )


def _value(
    name: str, system: Any, log: Clicks | ClickCounts, measures: list[str], rules: Convention, asked: dict[str, Any]
) -> ClickEvaluation | InputError:
    """Return a system's estimated value, or why it cannot be estimated."""
    try:
        return evaluate_on_log({name: system}, log, measures, rules, **asked)[name]
    except InputError as error:
        return error


def clicks_teaser(log: Clicks | ClickCounts) -> str:
    """Return one line on the log."""
    counts = counts_of(log)
    clicks = counted(int(counts.clicks.sum()), "click", "clicks")
    return f"{clicks} on {counted(int(counts.impressions.sum()), 'shown document', 'shown documents')}"


def _curves(theta: Any) -> Mapping[str, Propensities]:
    if isinstance(theta, PropensitiesBy):
        return {f"{theta.column} {name}": one for name, one in theta.items()}
    return {} if theta is None else {theta.method: theta}


def _rates(log: Clicks | ClickCounts) -> str:
    found = rates_by_rank(counts_of(log))
    figures = (found.position, found.rate, found.low, found.high)
    return _by_rank(*figures, "Clicks by rank", "clicks / impressions, 95 % interval")


def _seen(name: str, curve: Propensities) -> str:
    known = np.flatnonzero(~np.isnan(curve.values))
    figures = (known + 1, curve.values[known], curve.low[known], curve.high[known])
    return _by_rank(*figures, f"How much a rank is seen ({name})", "examination, relative to rank 1, 95 % interval")


def _by_rank(rank: Integers, value: Floats, low: Floats, high: Floats, title: str, label: str) -> str:
    names = [f"rank {one}" for one in rank[:MOST_RANKS].tolist()]
    rows = [one[:MOST_RANKS].tolist() for one in (value, low, high)]
    return svg.bars(names, rows[0], title, label, list(zip(rows[1], rows[2], strict=True)), "ranks")
