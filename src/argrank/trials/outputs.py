"""The files an experiment leaves: a manifest, results as Markdown, LaTeX and JSON, values per query, scores, plots."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from argrank._files import write_bytes
from argrank._json import json_value
from argrank._version import __version__
from argrank.data.io.scores import write_scores
from argrank.errors import MissingExtraError
from argrank.trials.config import Config
from argrank.trials.plots import draw
from argrank.trials.results import Results, results_text
from argrank.trials.store import code_identity, slug

log = logging.getLogger("argrank.experiment")

RUN_PARTS = ("data", "fold", "ranker", "params", "validation", "means", "undefined")  # of a RunResult, as they are


def write_outputs(results: Results, folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write everything into a folder; every file appears whole or not at all."""
    _write(folder / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False))
    _write(folder / "results.md", results_text(results, "markdown"))
    _write(folder / "results.tex", results_text(results, "latex"))
    _write(folder / "results.json", json.dumps(as_dict(results), indent=1, ensure_ascii=False, allow_nan=False))
    for data in results.config.data:
        _write(_made(folder / "per_query") / f"{slug(data.name)}.csv", _per_query(results, data.name).rstrip("\n"))
    for run in results.runs:
        name = f"{slug(run.ranker)}-fold{run.fold}.txt"
        write_scores(run.scores, _made(folder / "scores" / slug(run.data)) / name)
    try:
        draw(results, _made(folder / "plots"))
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
    plain: dict[str, Any] = json_value(found)
    return plain


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
    with write_bytes(path) as stream:
        stream.write(f"{text}\n".encode())


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


#: Packages whose versions may move the last digits of a figure, or more.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "pyarrow", "pandas", "polars")


def manifest_of(config: Config, rankers: Mapping[str, Any], hashes: Mapping[str, Mapping[int, str]]) -> dict[str, Any]:
    """Return versions, the configuration and its hash, the hash of every fold's data, and all parameters and seeds.

    The hash of a fold is that of features, labels, queries and weights as the rankers saw them, after preprocessing.
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
    plain: dict[str, Any] = json_value(found)
    return plain


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
