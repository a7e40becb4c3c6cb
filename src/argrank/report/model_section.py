"""The report's section on the model: its features, weights of linear models, what other tools would report."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.evaluation.evaluate import evaluate
from argrank.measures.conventions import convention_names, make_convention
from argrank.measures.gains import GainTable
from argrank.models.importance import Dependence, dependence, directions, importances, label
from argrank.models.linear import LinearModel
from argrank.report import svg
from argrank.report.svg import escape
from argrank.trials.bootstrap import WeightIntervals, feature_names
from argrank.trials.system import System

MOST_WEIGHTS = 20
MOST_IDLE = 5  # most names shown of features whose weights do not matter


def model_section(
    data: Dataset,
    systems: Sequence[System],
    best: System,
    measures: Sequence[str],
    weights: Mapping[str, WeightIntervals],
) -> str:
    """Return the section as HTML."""
    charts: list[str] = []
    for system in sorted(systems, key=lambda one: (one.name not in weights, one is not best)):  # the first is open
        state = " open" if not charts else ""
        linear = [model for model, _ in system.models if isinstance(model, LinearModel)]
        same = len({model.column_names for model in linear}) == 1  # folds may derive different columns from texts
        if linear and same and len(linear) == len(system.models):
            chart = _weights(data, system.name, linear, weights.get(system.name))
            charts.append(f"<details{state}><summary>Weights of {escape(system.name)}</summary>{chart}</details>")
    explained = [system for system in (best, *(one for one in systems if one is not best)) if system.models]
    return features_section(data, explained) + "".join(charts) + _conventions(data, best, measures)


def _weights(data: Dataset, name: str, models: Sequence[LinearModel], intervals: WeightIntervals | None) -> str:
    """Draw the weights of one model with bootstrap intervals, or the mean over folds with its range."""
    folds = np.array([model.weights for model in models])
    values, columns = folds.mean(axis=0), _columns(data, models[0])
    order = [int(i) for i in np.argsort(-np.abs(values), kind="stable") if values[i] != 0]
    shown: list[int] = []
    idle: list[int] = []
    for i in order:
        if len(shown) == MOST_WEIGHTS:
            break
        (shown if _varies(columns, i) else idle).append(i)
    names = models[0].column_names or feature_names(columns)
    low, high = folds.min(axis=0), folds.max(axis=0)
    words = f"Mean of {len(models)} folds; whiskers: minimum and maximum."
    if len(models) == 1:
        words = "Without bootstrap intervals: see ar.bootstrap_weights."
    if intervals is not None:
        low, high = intervals.low, intervals.high
        words = (
            f"Whiskers: {100 * (1 - intervals.level):g} % intervals from {intervals.n_resamples} trainings on "
            f"resampled queries."
        )
    spans = [(float(low[i]), float(high[i])) for i in shown] if intervals is not None or len(models) > 1 else None
    if idle:
        left_out = ", ".join(names[i] for i in idle[:MOST_IDLE]) + (" …" if len(idle) > MOST_IDLE else "")
        words += (
            f" Left out: {left_out}, the same for all documents of every query here, so that no ranking depends on "
            f"{'its weight' if len(idle) == 1 else 'their weights'}."
        )
    title = (
        f"The {len(shown)} largest weights of {name}" if len(order) > len(shown) + len(idle) else f"Weights of {name}"
    )
    scaling = models[0].normaliser
    note = "weight" if scaling is None else f"weight, for features as scaled by {scaling.name}"
    chart = svg.bars([names[i] for i in shown], [float(values[i]) for i in shown], title, note, spans)
    return f'<div class="charts">{chart}</div><p class="aside">{escape(words)}</p>'


def _columns(data: Dataset, model: LinearModel) -> Dataset:
    """Return the data with the columns that the weights belong to."""
    if model.preparation is None:
        return data
    known = {"feature_names": model.feature_names, "categories": model.categories, "dates": model.dates}
    return model.preparation.transform(data._but(X=model.features_of(data), **known))


def _varies(data: Dataset, feature: int) -> bool:
    """Tell whether a feature differs between documents of some query; a missing value counts as a difference."""
    column = data.X[:, [feature]]
    values = np.asarray(column.toarray() if data.is_sparse else column)[:, 0]
    starts = data.indptr[:-1]
    return bool((np.maximum.reduceat(values, starts) != np.minimum.reduceat(values, starts)).any())


def _conventions(data: Dataset, system: System, measures: Sequence[str]) -> str:
    rows = []
    for name in convention_names():
        cells = "".join(f"<td>{_under(name, data, system, measure)}</td>" for measure in measures)
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    head = "".join(f"<th>{escape(name)}</th>" for name in measures)
    return (
        f'<h3 id="conventions">What other tools would report for {escape(system.name)}</h3>'
        "<p>The same ranking, measured by the rules of each convention (ar.why_differs explains them). A convention "
        "whose gains or grades do not include these labels does not apply.</p>"
        f'<div class="scroll"><table><thead><tr><th>convention</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _under(name: str, data: Dataset, system: System, measure: str) -> str:
    """Return the mean of a measure by a convention's rules, or that they do not apply to these labels."""
    rules = make_convention(name)
    if isinstance(rules.gain, GainTable):  # the tool silently gives unknown labels no gain
        rules = dataclasses.replace(rules, gain=dataclasses.replace(rules.gain, outside=None))
    try:
        found = evaluate(data.to_caller(system.scores), data, measure, convention=rules)
    except InputError:
        return '<span class="aside">does not apply</span>'
    return f"{found.means[measure]:.4f}"


MOST_FEATURES = 20
MOST_CHARTS = 6
CLEAR = 0.5  # a correlation of values and contributions that counts as a direction
ARROWS = (
    "↑: a greater value raises the score; ↓: lowers it; ↕: not monotone, or a text. A share is the mean absolute "
    "contribution to scores, relative to the mean of the query, on up to 2,000 documents of this data."
)


def features_section(data: Dataset, systems: Sequence[System]) -> str:
    """Return the importances of every system's features, and the first system's dependence on the top ones."""
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
    """Return the importances of one model, or their mean over the models of folds; None if they have none."""
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
        f'<h3 id="dependence">How scores of {escape(system.name)} change with its features</h3>'
        "<p>The mean score of documents if the feature had this value for all of them, with the others unchanged; 0 "
        f'is the mean of the actual values.</p><div class="charts">{charts}</div>'
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
