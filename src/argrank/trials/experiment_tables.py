"""The tables of an experiment: measures, folds, expected figures."""

from __future__ import annotations

from argrank import __version__
from argrank.evaluation import rendering
from argrank.evaluation.rendering import Cell, Table
from argrank.trials.cells import four, params_text
from argrank.trials.results import Results


def means_table(results: Results, data: str) -> Table:
    """Return rankers x measures, the mean over folds, the best of each measure marked."""
    config = results.config
    rankers = [ranker.name for ranker in config.rankers]
    found = {name: [results.mean(data, ranker, name) for ranker in rankers] for name in config.measures}
    rows = tuple(
        (Cell(ranker), *(Cell(four(found[m][place]), found[m][place] == max(found[m])) for m in config.measures))
        for place, ranker in enumerate(rankers)
    )
    return Table((data, *config.measures), rows, 1)


def folds_table(results: Results, data: str) -> Table:
    """Return every run: what was chosen, its validation value, the measures on the test part."""
    config = results.config
    rows = tuple(
        (
            Cell(run.ranker),
            Cell(str(run.fold)),
            Cell(params_text(run.params)),
            Cell(four(run.validation)),
            *(Cell(four(run.means[name])) for name in config.measures),
        )
        for ranker in config.rankers
        for run in results.of(data, ranker.name)
    )
    return Table((data, "fold", "chosen", f"validation {config.select_by}", *config.measures), rows, 3)


def expected_table(results: Results) -> Table:
    """Return the expected figures with what came out."""
    rows = tuple(
        (
            Cell(check.expected.data),
            Cell(check.expected.ranker),
            Cell(check.expected.measure),
            Cell("yes" if check.holds else "NO"),
            Cell(check.expected.source or "-"),
            Cell(f"{check.expected.value:.4f}"),
            Cell(f"{check.expected.tolerance:g}"),
            Cell(f"{check.got:.6f}"),
            Cell(f"{check.difference:+.6f}"),
        )
        for check in results.checks
    )
    header = ("data", "ranker", "measure", "holds", "source", "expected", "tolerance", "got", "difference")
    return Table(header, rows, 5)


def results_text(results: Results, format: str) -> str:  # noqa: A002 (as elsewhere)
    """Return the whole report as "text" or "markdown"."""
    config = results.config
    render = rendering.FORMATS[format]
    title = f"# {rendering.plain(config.title)}\n\n" if format == "markdown" else f"{rendering.plain(config.title)}\n\n"
    means = [means_table(results, data.name) for data in config.data]
    folds = [folds_table(results, data.name) for data in config.data]
    own = "".join(f", of {data.name} {data.convention}" for data in config.data if data.convention)
    how = (
        f"Mean over folds; best of each measure marked. Convention {config.convention}{own}; parameters chosen by "
        f"validation {config.select_by}; argrank {__version__}."
    )
    parts = [title + render(means, [how]), render(folds, _notes(results))]
    if config.expected:
        failures = len(results.failures)
        verdict = "All expected figures hold." if not failures else f"{failures} expected figures left their range."
        parts.append(render([expected_table(results)], [verdict]))
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
