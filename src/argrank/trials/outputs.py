"""The files of an experiment: a manifest, results as Markdown, LaTeX and JSON, values per query, scores, plots."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from argrank._files import make_folder, write_bytes, write_text
from argrank._json import json_value
from argrank._version import __version__
from argrank.data.io.scores import write_scores
from argrank.errors import MissingExtraError
from argrank.trials.config import Config, DataSpec
from argrank.trials.grid import is_number
from argrank.trials.results import Results, results_text
from argrank.trials.store import code_identity, slug

log = logging.getLogger("argrank.experiment")

RUN_PARTS = ("data", "fold", "ranker", "params", "validation", "means", "undefined")  # of a RunResult, as they are


def write_outputs(results: Results, folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write everything into a folder; every file is written atomically."""
    _write(folder / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False))
    _write(folder / "results.md", results_text(results, "markdown"))
    _write(folder / "results.tex", results_text(results, "latex"))
    _write(folder / "results.json", json.dumps(as_dict(results), indent=1, ensure_ascii=False, allow_nan=False))
    for data in results.config.data:
        _write(
            make_folder(folder / "per_query") / f"{slug(data.name)}.csv", _per_query(results, data.name).rstrip("\n")
        )
    for run in results.runs:
        name = f"{slug(run.ranker)}-fold{run.fold}.txt"
        write_scores(run.scores, make_folder(folder / "scores" / slug(run.data)) / name)
    try:
        draw(results, make_folder(folder / "plots"))
    except MissingExtraError as error:
        log.warning("no plots: %s", error)


def as_dict(results: Results) -> dict[str, Any]:
    """Return means, runs and checks as plain data, without values per query and scores."""
    config = results.config
    found = {
        "title": config.title,
        "argrank": __version__,
        "convention": config.convention,
        "conventions": {data.name: config.convention_of(data) for data in config.data},
        "measures": list(config.measures),
        "select_by": config.select_by,
        "means": {
            data.name: {
                ranker.name: {name: results.mean(data.name, ranker.name, name) for name in config.measures}
                for ranker in config.rankers
            }
            for data in config.data
        },
        "runs": [
            {
                **{name: getattr(run, name) for name in RUN_PARTS},
                "grid": [{"params": point.params, "value": point.value, "error": point.error} for point in run.points],
                "notes": list(run.notes),
                "seconds": run.seconds,
            }
            for run in results.runs
        ],
        "comparisons": {name: one.to_dict() for name, one in results.comparisons.items()},
        "fold_letters": {
            name: {str(fold): {one: found.letters(one) for one in config.measures} for fold, found in own.items()}
            for name, own in results.fold_comparisons.items()
        },
        "expected": [{**asdict(check.expected), "got": check.got, "holds": check.holds} for check in results.checks],
    }
    return dict(json_value(found))


def _per_query(results: Results, data: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["ranker", "fold", "qid", *results.config.measures])
    for run in results.runs:
        if run.data != data:
            continue
        columns = [run.values[name].tolist() for name in results.config.measures]
        for qid, *values in zip(run.query_ids, *columns, strict=True):
            cells = ["" if value != value else repr(value) for value in values]  # NaN: the measure is undefined
            writer.writerow([run.ranker, run.fold, qid, *cells])
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    write_text(path, f"{text}\n")


#: Packages whose versions may change a figure's last digits, or more.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "pyarrow", "pandas", "polars")


def manifest_of(config: Config, rankers: Mapping[str, Any], hashes: Mapping[str, Mapping[int, str]]) -> dict[str, Any]:
    """Return versions, the configuration and its hash, the hash of every fold's data, and all parameters and seeds.

    The hash of a fold is that of features, labels, queries and weights after preprocessing.
    """
    text = config.path.read_bytes() if config.path.is_file() else b""
    parameters = {name: ranker.get_params() for name, ranker in rankers.items()}
    found = {
        "argrank": __version__,
        "code": code_identity(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version for name in PACKAGES if (version := _version(name)) is not None},
        "config": {"file": config.path.name, "sha256": hashlib.sha256(text).hexdigest(), "text": text.decode()},
        "data": {name: {str(fold): one for fold, one in own.items()} for name, own in hashes.items()},
        "parameters": parameters,
        "seeds": {name: own.get("random_state") for name, own in parameters.items() if "random_state" in own},
    }
    return dict(json_value(found))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


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
        if not paint(figure, results, *subject):
            continue
        figure.axes[0].legend(loc="center left", bbox_to_anchor=(1, 0.5))  # not on the lines
        drawn.append(folder / f"{name}.png")
        with write_bytes(drawn[-1]) as stream:
            figure.savefig(stream, format="png", dpi=120, metadata={"Software": None})
    return drawn


def _plots(results: Results) -> Iterator[tuple[Any, ...]]:
    """Yield the name, the drawing function and the subject of every plot."""
    for data in results.config.data:
        name = slug(data.name)
        yield f"{name}-measures", _bars, data
        yield f"{name}-ndcg", _curves, data
        for ranker in results.config.rankers:
            for parameter in ranker.grid:
                yield f"{name}-{slug(ranker.name)}-{slug(parameter)}", _grid_curve, data.name, ranker.name, parameter


def _bars(figure: Any, results: Results, data: DataSpec) -> bool:
    config = results.config
    axes = figure.subplots()
    width = 0.8 / len(config.rankers)
    for place, ranker in enumerate(config.rankers):
        heights = [results.mean(data.name, ranker.name, name) for name in config.measures]
        at = np.arange(len(heights)) + (place - (len(config.rankers) - 1) / 2) * width
        axes.bar(at, heights, width, label=ranker.name)
    axes.set_xticks(range(len(config.measures)), config.measures)
    axes.set(ylabel="mean over folds", title=f"{data.name}, convention {config.convention_of(data)}")
    return True


def _curves(figure: Any, results: Results, data: DataSpec) -> bool:
    cuts = {int(match[1]): name for name in results.config.measures if (match := _NDCG_AT.fullmatch(name))}
    if len(cuts) < 2:
        return False
    axes = figure.subplots()
    for ranker in results.config.rankers:
        heights = [results.mean(data.name, ranker.name, cuts[k]) for k in sorted(cuts)]
        axes.plot(sorted(cuts), heights, marker="o", label=ranker.name)
    title = f"{data.name}, convention {results.config.convention_of(data)}"
    axes.set(xlabel="k", ylabel="NDCG@k, mean over folds", title=title)
    return True


def _grid_curve(figure: Any, results: Results, data: str, ranker: str, parameter: str) -> bool:
    """Draw the best validation value at each value of a parameter, one line per fold."""
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
    axes.set(xlabel=parameter, ylabel=f"validation {results.config.select_by}", title=f"{data}, {ranker}")
    return True
