"""The report's last section: the weights of linear models, and what other tools would call the same ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from argrank.data.dataset import Dataset
from argrank.evaluation.evaluate import evaluate
from argrank.measures.conventions import convention_names
from argrank.models.linear import LinearModel
from argrank.models.trees import TreesModel
from argrank.report import svg
from argrank.report.svg import escape
from argrank.trials.bootstrap import WeightIntervals, feature_names
from argrank.trials.system import System

MOST_WEIGHTS = 30


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
        if linear and len(linear) == len(system.models):
            chart = _weights(data, system.name, linear, weights.get(system.name))
            charts.append(f"<details{state}><summary>Weights of {escape(system.name)}</summary>{chart}</details>")
        elif isinstance(system.model, TreesModel):
            chart = _importances(data, system.name, system.model)
            charts.append(f"<details{state}><summary>Features of {escape(system.name)}</summary>{chart}</details>")
    return "".join(charts) + _conventions(data, best, measures)


def _weights(data: Dataset, name: str, models: Sequence[LinearModel], intervals: WeightIntervals | None) -> str:
    """Draw the weights of one model with bootstrap intervals, or the mean over folds with its range."""
    folds = np.array([model.weights for model in models])
    values = folds.mean(axis=0)
    order = np.argsort(-np.abs(values), kind="stable")
    shown = [int(i) for i in order[:MOST_WEIGHTS] if values[i] != 0]
    names = models[0].feature_names or feature_names(data)
    low, high = folds.min(axis=0), folds.max(axis=0)
    words = f"Mean of {len(models)} folds; whiskers: the least and the greatest of them."
    if len(models) == 1:
        words = "Without bootstrap intervals: see ar.bootstrap_weights."
    if intervals is not None:
        low, high = intervals.low, intervals.high
        words = (
            f"Whiskers: {100 * (1 - intervals.level):g} % intervals, trained {intervals.n_resamples} times on "
            "resampled queries."
        )
    spans = [(float(low[i]), float(high[i])) for i in shown] if intervals is not None or len(models) > 1 else None
    title = f"The {len(shown)} largest weights of {name}" if len(order) > len(shown) else f"Weights of {name}"
    scaling = models[0].normaliser
    note = "weight" if scaling is None else f"weight, for features as scaled by {scaling.name}"
    chart = svg.bars([names[i] for i in shown], [float(values[i]) for i in shown], title, note, spans)
    return f'<div class="charts">{chart}</div><p class="aside">{escape(words)}</p>'


def _importances(data: Dataset, name: str, model: TreesModel) -> str:
    gains = model.importances()
    shares = gains / max(float(gains.sum()), np.finfo(float).tiny)
    shown = [int(i) for i in np.argsort(-shares, kind="stable")[:MOST_WEIGHTS] if shares[i] > 0]
    names = model.feature_names or feature_names(data)
    chart = svg.bars(
        [names[i] for i in shown], [float(shares[i]) for i in shown], f"Features of {name}", "share of the splits' gain"
    )
    return f'<div class="charts">{chart}</div>'


def _conventions(data: Dataset, system: System, measures: Sequence[str]) -> str:
    scores = data.to_caller(system.scores)
    rows = []
    for name in convention_names():
        found = evaluate(scores, data, list(measures), convention=name)
        cells = "".join(f"<td>{found.means[measure]:.4f}</td>" for measure in measures)
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    head = "".join(f"<th>{escape(name)}</th>" for name in measures)
    return (
        f"<h3>What other tools would report for {escape(system.name)}</h3>"
        "<p>The same ranking, measured by the rules of each convention (ar.why_differs explains them).</p>"
        f'<div class="scroll"><table><thead><tr><th>convention</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
