"""write_report: everything about a comparison of systems in one HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from argrank._files import write_bytes
from argrank.data.dataset import Dataset
from argrank.data.doctor import doctor
from argrank.data.doctor.diagnosis import Diagnosis
from argrank.errors import InputError
from argrank.evaluation.compare import compare
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.evaluate import evaluate
from argrank.measures.conventions import Convention
from argrank.measures.names import measure_list
from argrank.report.comparison_section import comparison_section
from argrank.report.data_section import data_section
from argrank.report.explorer import explorer_data
from argrank.report.model_section import model_section
from argrank.report.page import explorer_skeleton, page
from argrank.report.training_section import training_section
from argrank.trials.bootstrap import WeightIntervals
from argrank.trials.path import Path as RegularisationPath
from argrank.trials.system import system_of
from argrank.trials.trial import Trial


def write_report(
    path: str | os.PathLike[str],
    data: Dataset | Trial,
    systems: Mapping[str, Any] | None = None,
    measures: Any = ("ndcg@10", "map", "mrr@10"),
    *,
    convention: str | Convention = "default",
    title: str = "Ranking report",
    diagnosis: Diagnosis | None = None,
    seconds: Mapping[str, float] | None = None,
    paths: Mapping[str, RegularisationPath] | None = None,
    weights: Mapping[str, WeightIntervals] | None = None,
) -> Path:
    """Write one HTML file about the data and the systems that rank it; it needs no network and no server.

    It shows the data and the doctor's findings, the comparison with intervals and tests, curves, every query with two
    systems' rankings side by side and why one document stands above another, training curves and weights.

    Parameters
    ----------
    path : str or Path
    data : Dataset, or what ``ar.benchmark`` or ``ar.cross_validate`` returned
        Judged data on which the systems are compared. A trial brings its data, systems, measures and convention.
    systems : dict of name -> scores, model or fitted ranker
        Scores are one per row, in the caller's order. Models explain their scores, rankers bring training curves.
    measures, convention
        As in ``ar.evaluate``; the first measure decides which system is best.
    diagnosis : Diagnosis, optional
        What ``ar.doctor`` found, by default on ``data``.
    seconds : dict of name -> float, optional
        Training times, where the rankers do not know them.
    paths : dict of name -> Path, optional
        What ``ar.regularisation_path`` returned.
    weights : dict of name -> WeightIntervals, optional
        What ``ar.bootstrap_weights`` returned.

    Examples
    --------
    >>> import argrank as ar, tempfile, pathlib
    >>> data = ar.make_ranking(20, 10, 3, random_state=0)
    >>> ranker = ar.make_ranker("regression").fit(data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = ar.write_report(f"{folder}/report.html", data, {"learned": ranker, "first": data.X[:, 0]})
    ...     path.read_text().startswith("<!DOCTYPE html>")
    True
    """
    trial: Trial | None = None
    if isinstance(data, Trial):
        if systems is not None:
            raise InputError("systems: expected none beside a trial, which brings its own")
        trial = data
        data, systems, measures, convention = trial.data, trial.systems, list(trial.measures), trial.convention
        diagnosis = trial.diagnosis if diagnosis is None else diagnosis
    if not isinstance(systems, Mapping) or not systems:
        raise InputError("systems: expected a dict from names to scores, models or rankers, with at least one")
    known = [system_of(str(name), one, data, (seconds or {}).get(name)) for name, one in systems.items()]
    asked = list(measures) if isinstance(measures, list | tuple) else [measures]
    scores = {system.name: data.to_caller(system.scores) for system in known}
    judge = compare if len(scores) > 1 else _alone
    comparison = judge(scores, data, asked, convention=convention)
    names = [name for name, _ in measure_list(asked)]
    best = max(known, key=lambda system: comparison.means[system.name][names[0]])
    if trial is not None and trial.best is not None:
        best = next(system for system in known if system.name == trial.best)
    sections = {
        "data": data_section(data, doctor(data) if diagnosis is None else diagnosis),
        "comparison": comparison_section(data, known, comparison, convention, () if trial is None else trial.footer),
        "queries": explorer_skeleton(),
        "training": training_section(known, paths or {}),
        "model": model_section(data, known, best, names, weights or {}),
    }
    value = f"{best.name}, {comparison.means[best.name][names[0]]:.4f}"
    leads = f"best by {names[0]}: {value}" if trial is None or trial.best is None else f"chosen by validation: {value}"
    subtitle = f"{len(known)} {'system' if len(known) == 1 else 'systems'} on {data.n_queries:,} queries; {leads}"
    html = page(title, subtitle, sections, explorer_data(data, known, comparison))
    target = Path(path)
    with write_bytes(target) as stream:
        stream.write(html.encode("utf-8", "backslashreplace"))
    return target


def _alone(scores: Mapping[str, Any], data: Dataset, measures: list[Any], convention: str | Convention) -> Comparison:
    """Return the comparison of one system with nobody."""
    ((name, values),) = scores.items()
    found = evaluate(values, data, measures, convention=convention)
    return Comparison(
        systems=(name,),
        measures=tuple(found.means),
        means={name: dict(found.means)},
        values={name: dict(found.values)},
        query_ids=found.query_ids,
        pairs=(),
        undefined=dict(found.undefined),
        test="t",
        correction="none",
        level=0.05,
        convention=found.convention.name,
        baseline=None,
        n_resamples=10_000,
        random_state=0,
        notes=tuple(found.notes),
    )
