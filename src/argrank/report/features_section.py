"""The report's part on features: how much each matters and in which direction, and how scores move with the first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.models.importance import Dependence, dependence, directions, importances, label
from argrank.report import svg
from argrank.report.svg import escape
from argrank.trials.system import System

MOST_FEATURES = 20
MOST_CHARTS = 6
CLEAR = 0.5  # a correlation of values and contributions that counts as a direction
ARROWS = (
    "↑: a greater value raises the score; ↓: lowers it; ↕: neither throughout, or a text. A share is the mean absolute "
    "contribution to scores, less the mean of the query, on up to 2,000 documents of this data."
)


def features_section(data: Dataset, systems: Sequence[System]) -> str:
    """Return the importances of every system's features, and for the first system how its scores depend on the top."""
    parts: list[str] = []
    for system in systems:
        shares = _mean_shares(data, system)
        if shares is None or not shares.any():
            continue
        state = "" if parts else " open"
        chart = _chart(data, system, shares)
        charts = f'<div class="charts">{chart}</div><p class="aside">{ARROWS}</p>'
        parts.append(f"<details{state}><summary>Features of {escape(system.name)}</summary>{charts}</details>")
        if system is systems[0]:
            parts.append(_dependences(data, system, shares))
    return "".join(parts)


def _mean_shares(data: Dataset, system: System) -> Floats | None:
    """Return the importances of one model, or their mean over the models of folds; None where they cannot say."""
    found = [importances(model, data.select(queries)) for model, queries in system.models]
    known = [one for one in found if one is not None]
    return np.mean(known, axis=0) if len(known) == len(found) else None


def _chart(data: Dataset, system: System, shares: Floats) -> str:
    model, queries = system.models[0]
    signs = directions(model, data.select(queries))
    order = [int(i) for i in np.argsort(-shares, kind="stable")[:MOST_FEATURES] if shares[i] > 0]
    arrows = ["↑" if signs[i] > CLEAR else "↓" if signs[i] < -CLEAR else "↕" for i in order]
    names = [f"{svg.cut(label(data, i), 26)} {arrow}" for i, arrow in zip(order, arrows, strict=True)]
    title = f"The {len(order)} most important features of {system.name}"
    return svg.bars(names, [float(shares[i]) for i in order], title, "share of the contributions")


def _dependences(data: Dataset, system: System, shares: Floats) -> str:
    """Return charts of the first features, each with an id that the query explorer links to."""
    model, queries = system.models[0]
    if model.needs_queries:
        return ""
    part = data.select(queries)
    order = [int(i) for i in np.argsort(-shares, kind="stable")[:MOST_CHARTS] if shares[i] > 0]
    charts = "".join(f'<div id="feature-{i}">{_drawn(dependence(model, part, i))}</div>' for i in order)
    return (
        f'<h3 id="dependence">How scores of {escape(system.name)} move with its features</h3>'
        "<p>The mean score of documents if the feature had this value for all of them, others staying as they are; 0 "
        f'is the mean as they are.</p><div class="charts">{charts}</div>'
    )


def _drawn(found: Dependence) -> str:
    title = f"Score by {found.feature}"
    if found.texts is not None:
        names, values = [*found.texts], found.scores.tolist()
        if found.missing is not None:
            names, values = [*names, "(missing)"], [*values, found.missing]
        return svg.bars(names, values, title, "score, less its mean")
    series = [svg.Series(found.feature, found.values, found.scores.tolist())]
    if found.missing is not None and found.values:
        ends = [found.values[0], found.values[-1]]
        series.append(svg.Series("if missing", ends, [found.missing] * 2, 1))
    return svg.lines(series, title, found.feature, "score, less its mean")
