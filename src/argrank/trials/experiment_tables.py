"""The tables of an experiment: measures, folds, expected figures."""

from __future__ import annotations

from argrank._tables import Cell, Table, measure_text, parameters_text, plain, render, table
from argrank._version import __version__
from argrank.trials.results import Results


def means_table(results: Results, data: str) -> Table:
    """Return rankers x measures, the mean over folds, the best of each measure marked."""
    config = results.config
    rankers = [ranker.name for ranker in config.rankers]
    found = {name: [results.mean(data, ranker, name) for ranker in rankers] for name in config.measures}
    rows = [
        (ranker, *(Cell(measure_text(found[m][place]), found[m][place] == max(found[m])) for m in config.measures))
        for place, ranker in enumerate(rankers)
    ]
    return table((data, *config.measures), rows)


def folds_table(results: Results, data: str) -> Table:
    """Return every run: what was chosen, its validation value, the measures on the test part."""
    config = results.config
    rows = [
        (
            run.ranker,
            str(run.fold),
            parameters_text(run.params),
            measure_text(run.validation),
            *(measure_text(run.means[name]) for name in config.measures),
        )
        for ranker in config.rankers
        for run in results.of(data, ranker.name)
    ]
    return table((data, "fold", "chosen", f"validation {config.select_by}", *config.measures), rows, 3)


def expected_table(results: Results) -> Table:
    """Return the expected figures with what came out."""
    rows = [
        (
            check.expected.data,
            check.expected.ranker,
            check.expected.measure,
            "yes" if check.holds else "NO",
            check.expected.source or "-",
            f"{check.expected.value:.4f}",
            f"{check.expected.tolerance:g}",
            f"{check.got:.6f}",
            f"{check.difference:+.6f}",
        )
        for check in results.checks
    ]
    header = ("data", "ranker", "measure", "holds", "source", "expected", "tolerance", "got", "difference")
    return table(header, rows, 5)


def results_text(results: Results, format: str) -> str:  # noqa: A002 (as elsewhere)
    """Return the whole report as "text" or "markdown"."""
    config = results.config
    title = f"{'# ' if format == 'markdown' else ''}{plain(config.title)}\n\n"
    means = [means_table(results, data.name) for data in config.data]
    folds = [folds_table(results, data.name) for data in config.data]
    own = "".join(f", of {data.name} {data.convention}" for data in config.data if data.convention)
    how = (
        f"Mean over folds; best of each measure marked. Convention {config.convention}{own}; parameters chosen by "
        f"validation {config.select_by}; argrank {__version__}."
    )
    parts = [title + render(format, means, [how]), render(format, folds, _notes(results))]
    if config.expected:
        failures = len(results.failures)
        verdict = "All expected figures hold." if not failures else f"{failures} expected figures left their range."
        parts.append(render(format, [expected_table(results)], [verdict]))
    return "\n\n".join(part.rstrip() for part in parts)


def _notes(results: Results) -> list[str]:
    notes = [f"{run.data}, {run.ranker}, fold {run.fold}: {note}" for run in results.runs for note in run.notes]
    for data in results.config.data:
        runs = results.of(data.name, results.config.rankers[0].name)  # which queries lack a value, the data decides
        lacking = {name: sum(run.undefined[name] for run in runs) for name in results.config.measures}
        words = ", ".join(f"{name} {count}" for name, count in lacking.items() if count)
        if words:
            notes.append(
                f"{data.name}: undefined for some of {sum(len(run.query_ids) for run in runs)} queries: {words}"
            )
    return notes
