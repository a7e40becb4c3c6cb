"""The plots of an experiment: bars of the measures, NDCG over the cut-off, the validation measure over the grid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from argrank._files import write_bytes
from argrank.errors import MissingExtraError
from argrank.trials.config import DataSpec
from argrank.trials.grid import is_number
from argrank.trials.results import Results
from argrank.trials.store import slug

_NDCG_AT = re.compile(r"ndcg(?:@|_cut_)(\d+)", re.IGNORECASE)


def draw(results: Results, folder: Path) -> list[Path]:
    """Write the plots as PNG files and return their paths."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing the results") from error
    drawn = []
    for name, paint, *subject in _plots(results):
        figure = Figure(figsize=(7, 4), layout="constrained")
        if paint(figure, results, *subject):
            drawn.append(_save(figure, folder / f"{name}.png"))
    return drawn


def _plots(results: Results) -> Iterator[tuple[Any, ...]]:
    """Yield the name of every plot, what paints it and what it is about."""
    for data in results.config.data:
        name = slug(data.name)
        yield f"{name}-measures", _bars, data
        yield f"{name}-ndcg", _curves, data
        for ranker in results.config.rankers:
            for parameter in ranker.grid:
                yield f"{name}-{slug(ranker.name)}-{slug(parameter)}", _grid_curve, data.name, ranker.name, parameter


def _save(figure: Any, path: Path) -> Path:
    with write_bytes(path) as stream:
        figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
    return path


def _bars(figure: Any, results: Results, data: DataSpec) -> bool:
    config = results.config
    axes = figure.subplots()
    width = 0.8 / len(config.rankers)
    for place, ranker in enumerate(config.rankers):
        heights = [results.mean(data.name, ranker.name, name) for name in config.measures]
        at = np.arange(len(heights)) + (place - (len(config.rankers) - 1) / 2) * width
        axes.bar(at, heights, width, label=ranker.name)
    axes.set_xticks(range(len(config.measures)), config.measures)
    axes.set_ylabel("mean over folds")
    axes.set_title(f"{data.name}, convention {config.convention_of(data)}")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))  # beside the lines, never on them
    return True


def _curves(figure: Any, results: Results, data: DataSpec) -> bool:
    cuts = {int(match[1]): name for name in results.config.measures if (match := _NDCG_AT.fullmatch(name))}
    if len(cuts) < 2:
        return False
    axes = figure.subplots()
    for ranker in results.config.rankers:
        heights = [results.mean(data.name, ranker.name, cuts[k]) for k in sorted(cuts)]
        axes.plot(sorted(cuts), heights, marker="o", label=ranker.name)
    axes.set_xlabel("k")
    axes.set_ylabel("NDCG@k, mean over folds")
    axes.set_title(f"{data.name}, convention {results.config.convention_of(data)}")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))  # beside the lines, never on them
    return True


def _grid_curve(figure: Any, results: Results, data: str, ranker: str, parameter: str) -> bool:
    """Draw the best validation value at each value of a parameter, one line a fold."""
    axes = figure.subplots()
    smallest = np.inf
    for run in results.of(data, ranker):
        best: dict[float, float] = {}
        for point in run.points:
            value = point.params.get(parameter)
            if value is not None and is_number(value) and not np.isnan(point.value):
                best[value] = max(best.get(value, -np.inf), point.value)
        if len(best) < 2:
            return False
        at = sorted(best)
        smallest = min(smallest, at[0])
        axes.plot(at, [best[value] for value in at], marker="o", markersize=3, label=f"fold {run.fold}")
    if smallest > 0:
        axes.set_xscale("log")
    axes.set_xlabel(parameter)
    axes.set_ylabel(f"validation {results.config.select_by}")
    axes.set_title(f"{data}, {ranker}")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))  # beside the lines, never on them
    return True
