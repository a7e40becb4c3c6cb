"""The experiment runner: rankers x data sets x folds by LETOR's protocol, resumable, with figures that must hold."""

from __future__ import annotations

import logging
import os
import warnings
from pathlib import Path
from typing import Any

import argrank
from argrank._progress import Progress
from argrank.data.folds import Fold
from argrank.errors import ArgrankWarning
from argrank.rankers import make_ranker
from argrank.trials.cells import four, params_text
from argrank.trials.config import Config, DataSpec, RankerSpec, read_config
from argrank.trials.data_sets import read_data
from argrank.trials.outputs import write_outputs
from argrank.trials.protocol import run_fold
from argrank.trials.results import Results, RunResult
from argrank.trials.store import Store, data_identity

log = logging.getLogger("argrank.experiment")

FORMAT = 1  # of the files of runs; a change makes every run new


def run_experiment(
    config: Config | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    force: bool = False,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Results:
    """Run an experiment and write its tables, values and plots.

    Every run (data set, fold, ranker) is kept in ``output/runs`` under a hash of all that determines it: settings,
    data, version of the library. What is there already is not computed again.

    Parameters
    ----------
    config : path or Config
        See ``argrank.trials.config``.
    output : path
        Folder for the results; made if need be.
    force : bool
        Compute every run again.
    n_jobs : int, optional
        Points of a grid trained at a time.

    Returns
    -------
    Results
        ``failures`` lists the expected figures that left their range.
    """
    config = config if isinstance(config, Config) else read_config(config)
    folder = Path(output)
    store = Store(folder / "runs")
    runs: list[RunResult] = []
    computed = 0
    total = sum(len(data.folds) for data in config.data) * len(config.rankers)
    with Progress("experiment", total, enabled=progress) as bar:
        for data in config.data:
            for number in data.folds:
                fold = read_data(data, number)
                content = data_identity(fold)
                for ranker in config.rankers:
                    identity = _identity(config, data, number, content, ranker)
                    record = None if force else store.get(identity)
                    if record is None:
                        record = _run(config, data, ranker, fold, n_jobs)
                        store.put(identity, record)
                        computed += 1
                    run = RunResult.of(data.name, number, ranker.name, record)
                    runs.append(run)
                    log.info("%s", _line(run, config))
                    bar.advance(1, f"{data.name}, fold {number}, {ranker.name}")
    results = Results(config, tuple(runs), computed)
    write_outputs(results, folder)
    return results


def _run(config: Config, data: DataSpec, spec: RankerSpec, fold: Fold, n_jobs: int | None) -> dict[str, Any]:
    estimator = make_ranker(spec.ranker, **spec.parameters)
    with warnings.catch_warnings(record=True) as caught:  # they belong to the run, also when it is read from its file
        warnings.simplefilter("always", ArgrankWarning)
        run = run_fold(
            estimator,
            spec.grid,
            fold,
            list(config.measures),
            config.select_by,
            convention=config.convention_of(data),
            n_jobs=n_jobs,
        )
    return RunResult.record(run, list(dict.fromkeys(str(one.message) for one in caught)))


def _identity(config: Config, data: DataSpec, fold: int, content: str, spec: RankerSpec) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": argrank.__version__,
        "convention": config.convention_of(data),
        "measures": list(config.measures),
        "select_by": config.select_by,
        "data": {"name": data.name, "content": content},
        "fold": fold,
        "ranker": {
            "name": spec.name,
            "ranker": spec.ranker,
            "parameters": spec.parameters,
            "grid": spec.grid,
        },
    }


def _line(run: RunResult, config: Config) -> str:
    values = "  ".join(f"{name} {four(run.means[name])}" for name in config.measures)
    return f"{run.data} fold {run.fold} {run.ranker}: {values}  ({params_text(run.params)}; {run.seconds:.1f} s)"
