"""write_report: everything about a comparison of systems in one HTML file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argrank._declared import checked
from argrank._files import write_bytes
from argrank._tables import counted
from argrank.clicks.curve import Propensities, PropensitiesBy
from argrank.data.categories import align
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.data.doctor import doctor
from argrank.data.doctor.diagnosis import Diagnosis
from argrank.data.io.trec.forms import as_run
from argrank.data.io.trec.pool import join_runs
from argrank.data.unjudged import OUTSIDE
from argrank.errors import InputError, OptionError
from argrank.evaluation.compare import compare, compare_evaluations
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.evaluate import evaluate_systems
from argrank.evaluation.systems import feature_scores, is_run_for, judged_source
from argrank.measures.conventions import Convention, make_convention
from argrank.measures.names import measure_list, spelled_out
from argrank.report import svg
from argrank.report.answer_section import answer_section
from argrank.report.clicks_section import clicks_section, clicks_teaser
from argrank.report.comparison_section import comparison_section
from argrank.report.explorer import explorer_data
from argrank.report.figures import label_counts, length_counts
from argrank.report.model_section import model_section
from argrank.report.page import Section, page, resource
from argrank.report.svg import escape
from argrank.report.training_section import ends_of_grids, training_section
from argrank.trials.bootstrap import WeightIntervals
from argrank.trials.path import Path as RegularisationPath
from argrank.trials.system import System, system_of
from argrank.trials.trial import Trial


@checked
def write_report(
    path: str | os.PathLike[str],
    data: Any,
    systems: Mapping[str, Any] | None = None,
    measures: Any = ("ndcg@10", "map", "mrr@10"),
    *,
    convention: str | Convention = "default",
    by: Any = None,
    baseline: str | None = None,
    title: str = "Ranking report",
    diagnosis: Diagnosis | None = None,
    seconds: Mapping[str, float] | None = None,
    paths: Mapping[str, RegularisationPath] | None = None,
    weights: Mapping[str, WeightIntervals] | None = None,
    clicks: Clicks | ClickCounts | None = None,
    propensities: Propensities | PropensitiesBy | None = None,
) -> Path:
    """Write one HTML file about the data and the systems that rank it; it needs no network and no server.

    It begins with the answer: the best system (by validation, if a trial is given), by how much, on which queries,
    whether that is significant, and what to do next. Then come the comparison with intervals and tests, every query
    with two systems' rankings side by side and why one document ranks above another, training curves, weights, the data
    and the doctor's findings.

    Parameters
    ----------
    path : str or Path
    data : Dataset, what ``ar.benchmark`` or ``ar.cross_validate`` returned, or judgements
        Judged data on which the systems are compared. A trial includes its data, systems, measures and convention. With
        judgements alone (qrels in any form of ``ar.evaluate``) the systems must be runs.
    systems : dict of name -> scores, run, model or fitted ranker
        Scores are one per row, in the caller's order. Models are explained; rankers also have training curves.
    measures, convention, by
        As in ``ar.evaluate``; the first measure decides which system is best. ``by`` adds segments.
    baseline : str, optional
        What ranks today: the name of a system, or of a feature of the data, which then is also a system. The report
        begins with the gain of the best of the others over it.
    diagnosis : Diagnosis, optional
        The result of ``ar.doctor``, by default on ``data`` and the features that the models use.
    seconds : dict of name -> float, optional
        Training times, if the rankers do not have them.
    paths : dict of name -> Path, optional
        Results of ``ar.regularisation_path``.
    weights : dict of name -> WeightIntervals, optional
        Results of ``ar.bootstrap_weights``.
    clicks : Clicks, optional
        A click log of the same queries and documents: the report then has a section with its rates by rank, the
        examination curve, and every system's estimated value per session.
    propensities : Propensities, optional
        How much each rank is seen; by default it is estimated from the log.

    Examples
    --------
    >>> import argrank as ar, tempfile, pathlib
    >>> data = ar.make_ranking(20, 10, 3, random_state=0)
    >>> ranker = ar.make_ranker("regression").fit(data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = ar.write_report(f"{folder}/report.html", data, {"learned": ranker, "first": data.X[:, 0]})
    ...     path.read_text("utf-8").startswith("<!DOCTYPE html>")
    True
    """
    trial: Trial | None = None
    if isinstance(data, Trial):
        if systems is not None:
            raise InputError("systems: expected none with a trial, which has its own")
        trial = data
        data, systems, measures, convention = trial.data, trial.systems, list(trial.measures), trial.convention
        diagnosis = trial.diagnosis if diagnosis is None else diagnosis
    if not isinstance(systems, Mapping) or not systems:
        raise InputError("systems: expected a dict from names to scores, models or rankers, with at least one")
    given = {str(name): one for name, one in systems.items()}
    judged = _judged(data, given, seconds or {}, baseline)
    asked = spelled_out(measures if isinstance(measures, list | tuple) else [measures])
    comparison = _compared(judged, asked, convention, by)
    best = _best(judged.systems, comparison, trial, baseline)
    subject = _Subject(judged, comparison, best, trial, convention, baseline)
    found = judged.doctor() if diagnosis is None else diagnosis
    sections = _sections(subject, found, paths or {}, weights or {})
    if clicks is not None:
        sections = _with_clicks(sections, judged, clicks, propensities, convention)
    elif propensities is not None:
        raise OptionError("propensities: expected a click log with them (clicks=), got none")
    known = judged.systems
    subtitle = f"{counted(len(known), 'system', 'systems')} on {judged.size}; convention {comparison.convention}"
    html = page(title, subtitle, sections, explorer_data(judged.data, known, subject.best, comparison))
    target = Path(path)
    with write_bytes(target) as stream:
        stream.write(html.encode("utf-8", "backslashreplace"))
    return target


class _Judged(NamedTuple):
    """Data as rows, what the systems are judged by (the same, or judgements for runs), and the systems."""

    data: Dataset
    source: Any
    systems: list[System]
    scores: dict[str, Any]  # or runs, as they were given

    @property
    def size(self) -> str:
        """The size of the data, as text."""
        queries = counted(self.data.n_queries, "query", "queries")
        return f"{queries}, {counted(self.data.n_documents, 'document', 'documents')}"

    def doctor(self) -> Diagnosis:
        """Check the features that the models use; for runs, whose features are scores, only the labels."""
        if self.source is self.data:
            return doctor(_used(self.data, self.systems))
        return doctor(self.data.with_features(np.arange(self.data.n_documents)[:, None]))


class _Subject(NamedTuple):
    """What the report is about."""

    judged: _Judged
    comparison: Comparison
    best: System
    trial: Trial | None
    convention: str | Convention
    baseline: str | None


def _judged(data: Any, given: Mapping[str, Any], seconds: Mapping[str, float], baseline: str | None) -> _Judged:
    """Combine data and systems; runs are joined with the judgements, and a baseline may be a feature."""
    source = judged_source(data, given)
    if baseline is not None and baseline not in given:
        given = {**given, baseline: feature_scores(source, baseline, "baseline")}
    runs = {name: as_run(one) for name, one in given.items() if is_run_for(one, source)}
    joined = join_runs(runs, source) if runs else None
    rows: Any = source if isinstance(source, Dataset) or joined is None else joined.data
    if joined is not None:
        shown = slice(None) if source is not rows else joined.gaps != OUTSIDE
        given = {**given, **{name: System(name, joined.filled(name)[shown]) for name in runs}}
    known = [system_of(name, one, rows, seconds.get(name)) for name, one in given.items()]
    scores = {system.name: runs.get(system.name, rows.to_caller(system.scores)) for system in known}
    return _Judged(rows, source, known, scores)


def _used(data: Dataset, systems: Iterable[System]) -> Dataset:
    """Return the data with the features that the systems' models use by name; with all if there is no model."""
    models = [model for system in systems for model, _ in system.models]
    known = {name for model in models for name in model.feature_names or ()}
    if not models or any(model.feature_names is None for model in models) or data.feature_names is None:
        return data
    names = tuple(name for name in data.feature_names if name in known)
    categories = {name: texts for name, texts in (data.categories or {}).items() if name in known} or None
    dates = {name: day for name, day in (data.dates or {}).items() if name in known} or None
    X = align(data.X, data.feature_names, data.categories, names, categories)
    return data._but(X=X, feature_names=names, categories=categories, dates=dates)


def _compared(judged: _Judged, asked: list[Any], convention: str | Convention, by: Any) -> Comparison:
    if len(judged.scores) > 1:
        found: Comparison = compare(judged.scores, judged.source, asked, convention=convention, by=by)
        return found
    rules = make_convention(convention)
    return compare_evaluations(evaluate_systems(judged.scores, judged.source, measure_list(asked), rules, by=by))


def _best(known: list[System], comparison: Comparison, trial: Trial | None, baseline: str | None) -> System:
    """Return the best system other than the baseline: by a trial's validation, else by the first measure."""
    if trial is not None and trial.best is not None:
        return next(system for system in known if system.name == trial.best)
    first = comparison.measures[0]
    known = [system for system in known if system.name != baseline] or known
    return max(known, key=lambda system: comparison.means[system.name][first])


def _sections(
    subject: _Subject,
    found: Diagnosis,
    paths: Mapping[str, RegularisationPath],
    weights: Mapping[str, WeightIntervals],
) -> dict[str, Section]:
    """Return the sections in their order."""
    (data, source, known, scores), comparison, best, trial, convention, baseline = subject
    names, intervals, ends = list(comparison.measures), _intervals(comparison), ends_of_grids(trial)
    traced = sum(bool(system.trace or len(system.validated) > 1) for system in known)
    return {
        "answer": Section(
            "Answer", answer_section(data, known, best, comparison, intervals, found, trial, ends, baseline)
        ),
        "comparison": Section(
            "Comparison",
            comparison_section(
                scores, source, known, best, comparison, intervals, convention, () if trial is None else trial.footer
            ),
            f"{counted(len(known), 'system', 'systems')}, {counted(len(names), 'measure', 'measures')}",
            is_open=True,
        ),
        "queries": Section(
            "Queries", resource("explorer.html"), "every query, two rankings side by side, and why", is_open=True
        ),
        "training": Section(
            "Training",
            training_section(known, paths, "measure" if trial is None else trial.select_by, ends),
            f"curves of {counted(traced, 'system', 'systems')}" if traced else "",
        ),
        "model": Section(
            "Model",
            model_section(data, known, best, names, weights),
            "weights, features, and what other tools would report",
        ),
        "data": Section("Data", _data_section(data, found), f"{subject.judged.size}; {found.headline}"),
    }


def _with_clicks(
    sections: dict[str, Section], judged: _Judged, log: Clicks | ClickCounts, curve: Any, convention: str | Convention
) -> dict[str, Section]:
    """Return the sections with that on a click log after the comparison."""
    candidates = judged.data if judged.source is judged.data else None
    html = clicks_section(judged.scores, candidates, log, curve, make_convention(convention))
    found = {}
    for name, section in sections.items():
        found[name] = section
        if name == "comparison":
            found["clicks"] = Section("Clicks", html, clicks_teaser(log), is_open=True)
    return found


def _intervals(comparison: Comparison) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the interval of every mean, by measure and system."""
    return {
        name: {system: comparison.mean(system, name)[2:] for system in comparison.systems}
        for name in comparison.measures
    }


def _data_section(data: Dataset, diagnosis: Diagnosis) -> str:
    """Return the last section: an overview of the data, and the doctor's findings."""
    sizes = data.sizes
    facts = {
        "queries": f"{data.n_queries:,}",
        "documents": f"{data.n_documents:,}",
        "features": f"{data.n_features:,}",
        "documents a query": f"{sizes.min():,} to {sizes.max():,}",
        "relevant (label ≥ 1)": f"{(data.y >= 1).mean():.1%}",
    }
    tiles = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    labels, documents = label_counts(data)
    lengths, queries = length_counts(data)
    charts = svg.columns(labels, documents, "Labels", "label", "number of documents")
    charts += svg.columns(lengths, queries, "List lengths", "documents a query", "number of queries")
    return f'<dl class="tiles">{tiles}</dl>{_findings(diagnosis)}<div class="charts">{charts}</div>'


def _findings(diagnosis: Diagnosis) -> str:
    headline = f'<h3 id="doctor">{escape(diagnosis.headline)}</h3>'
    if not diagnosis.findings:
        return headline
    rows = "".join(
        f'<tr><td><span class="severity {escape(one.severity)}">{escape(one.severity)}</span></td>'
        f"<td>{escape(one.sentence)}</td><td>{escape(one.advice)}</td></tr>"
        for one in diagnosis
    )
    head = "<tr><th>severity</th><th>what was found</th><th>what to do</th></tr>"
    return (
        f'{headline}<div class="scroll"><table class="words"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )
