"""The experiment runner: rankers x data sets x folds by LETOR's protocol, resumable, with expected figures."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from argrank._declared import Jobs, checked
from argrank._progress import Progress
from argrank._tables import measure_text, parameters_text
from argrank._version import __version__
from argrank.data.collections import load_collection
from argrank.data.collections.known import Collection
from argrank.data.collections.local_copy import read_fold
from argrank.data.folds import Fold, QueryKFold
from argrank.data.generated.standins import make_standin
from argrank.data.io.load import load
from argrank.data.prepare.clean import clean
from argrank.data.prepare.impute import impute
from argrank.data.prepare.normalise import normaliser
from argrank.trials.config import Config, DataSpec, RankerSpec, read_config
from argrank.trials.engine import Entrant, Protocol, run_fold, run_trials
from argrank.trials.grid import OpenGrid
from argrank.trials.outputs import manifest_of, write_outputs
from argrank.trials.results import Results, RunResult
from argrank.trials.store import Store, code_identity, data_identity

log = logging.getLogger("argrank.experiment")

FORMAT = 1  # format of the files of runs; a change invalidates all runs


@checked
def run_experiment(
    config: Config | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    force: bool = False,
    n_jobs: Jobs = None,
    progress: bool = True,
) -> Results:
    """Run an experiment and write its tables, values and plots.

    Every run (data set, fold, ranker) is stored in ``output/runs`` under a hash of everything that determines it:
    settings, data, and argrank's own code. Stored runs are not computed again; after any change of argrank's code all
    are.

    Parameters
    ----------
    config : path or Config
        See ``argrank.trials.config``.
    output : path
        Folder for the results; created if it does not exist.
    force : bool
        Compute every run again.
    n_jobs : int, optional
        Number of grid points trained at the same time.

    Returns
    -------
    Results
        ``failures`` lists the expected figures that are out of range.
    """
    config = config if isinstance(config, Config) else read_config(config)
    folder = Path(output)
    store = Store(folder / "runs")
    specs = {spec.name: spec for spec in config.rankers}
    entrants = {name: Entrant(spec.make(), spec.grid) for name, spec in specs.items()}
    runs: list[RunResult] = []
    hashes: dict[str, dict[int, str]] = {data.name: {} for data in config.data}
    computed = 0
    total = sum(len(data.folds) for data in config.data) * len(config.rankers)
    with Progress("experiment", total, enabled=progress) as bar:
        for data in config.data:
            protocol = Protocol(config.measures, config.select_by, config.convention_of(data), n_jobs)

            def run(
                name: str, number: int, fold: Fold, data: DataSpec = data, protocol: Protocol = protocol
            ) -> RunResult:
                nonlocal computed
                if number not in hashes[data.name]:
                    hashes[data.name][number] = data_identity(fold)
                identity = _identity(config, data, number, hashes[data.name][number], specs[name])
                record = None if force else store.get(identity)
                if record is None:
                    record = RunResult.record(run_fold(entrants[name], number, fold, protocol))
                    store.put(identity, record)
                    computed += 1
                found = RunResult.of(data.name, number, name, record)
                log.info("%s", _line(found, config))
                return found

            folds = ((number, read_data(data, number)) for number in data.folds)
            found, _ = run_trials(entrants, folds, run, bar, tolerant=False)
            runs += [one for fold in zip(*found.values(), strict=True) for one in fold]
    results = Results(config, tuple(runs), computed)
    write_outputs(results, folder, manifest_of(config, {name: one.ranker for name, one in entrants.items()}, hashes))
    return results


def _identity(config: Config, data: DataSpec, number: int, content: str, spec: RankerSpec) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": __version__,
        "code": code_identity(),
        "convention": config.convention_of(data),
        "measures": list(config.measures),
        "select_by": config.select_by,
        "data": {"name": data.name, "content": content},
        "fold": number,
        "ranker": {**asdict(spec), "open": isinstance(spec.grid, OpenGrid)},
    }


def _line(run: RunResult, config: Config) -> str:
    values = "  ".join(f"{name} {measure_text(run.means[name])}" for name in config.measures)
    return f"{run.data} fold {run.fold} {run.ranker}: {values}  ({parameters_text(run.params)}; {run.seconds:.1f} s)"


def read_data(spec: DataSpec, fold: int) -> Fold:
    """Read one fold of a data set and preprocess it, in the order of the configuration."""
    return prepare(_read(spec, fold), spec.preprocess)


def _read(spec: DataSpec, fold: int) -> Fold:
    if spec.standin is not None:
        return list(QueryKFold().folds(make_standin(spec.standin)))[fold - 1]
    if spec.collection is not None:
        return load_collection(spec.collection, spec.folder, fold)
    if spec.folder is not None:
        own = Collection(name=spec.name, about="", obtain="its owner", features=spec.features)
        return read_fold(own, spec.folder, fold, "float64")
    files = spec.files[fold - 1]
    width: dict[str, Any] = {} if spec.features is None else {"n_features": spec.features}
    parts = {role: load(path, **width) for role, path in files.items()}
    return Fold(parts["train"], parts.get("valid"), parts["test"])


def prepare(fold: Fold, steps: tuple[Mapping[str, Any], ...]) -> Fold:
    """Impute, binarise, clean and normalise all parts; global statistics are computed on the training part."""
    for step in steps:
        if "impute" in step:
            fold = _each(fold, lambda data, step=step: impute(data, step["impute"], features=step.get("features")))
        elif "binarise" in step:
            fold = _each(fold, lambda data, step=step: data.with_labels(data.y >= step["binarise"]))
        elif "normalise" in step:
            fold = _each(fold, normaliser(step["normalise"]).fit(fold.train).transform)
        else:
            options = {name: value for name, value in step.items() if name != "clean"}
            fold = _each(fold, lambda data, step=step, options=options: clean(data, step["clean"], **options).data)
    return fold


def _each(fold: Fold, change: Any) -> Fold:
    valid = None if fold.valid is None else change(fold.valid)
    return Fold(change(fold.train), valid, change(fold.test))
