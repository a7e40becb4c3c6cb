"""``argrank cv``: cross-validate rankers on your own data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from argrank._files import check_writable
from argrank._once import STDIN
from argrank._tables import parameters_text
from argrank.cli import arguments, options
from argrank.cli._signals import going_on, was_interrupted
from argrank.cli.options import file_option, option
from argrank.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from argrank.trials.trial import Trial


@options.with_columns
def run(
    data: str = options.DATA,
    rankers: list[str] = option(
        "--ranker -r NAME",
        [],
        "Ranker by its registered name; repeat it, or separate with commas. Default: some of every family.",
        autocompletion=options.complete_ranker,
    ),
    measures: list[str] = options.MEASURES,
    parameters: list[str] = options.PARAMETERS,
    grid: list[str] = options.GRID,
    no_grid: bool = option("--no-grid", False, "Train with the given parameters; tune nothing."),
    normalise: str | None = options.NORMALISE,
    folds: int = option("--folds -k N", 5, "Number of parts: all but two train, one validates, one tests."),
    convention: str = options.CONVENTION,
    seed: int = option("--seed", 0, "Seed of the random split into parts."),
    jobs: int | None = options.JOBS,
    resume: Path | None = options.RESUME,
    output_format: str = options.FORMAT,
    as_json: bool = option("--json", False, "The same as --format json."),
    output: Path | None = options.OUTPUT,
    baseline: str | None = option(
        "--baseline FEATURE", None, "A feature that ranks today; the report begins with the gain over it."
    ),
    report: Path | None = file_option(
        "--report FILE.html", None, "Where to write the report; without -r one is always written."
    ),
    save: Path | None = file_option(
        "--save MODEL.json", None, "Train the ranker chosen by validation on all data, and save it."
    ),
    quiet: bool = option("--quiet -q", False, "Print only ranker, measure and mean, separated by tabs."),
) -> None:
    """Cross-validate rankers on your data, by query, as LETOR does.

    The queries are split into parts. In turn, all parts but two train, one chooses the parameters by the first measure,
    and one tests, so every query is tested once by a model that never saw it. Each ranker chooses from its own default
    grid, except the parameters that -p fixes, unless you give one with --grid. Several rankers are compared with paired
    tests over all queries. The best ranker is chosen on validation queries, not on test queries; --save trains it again
    on all data.

    Without -r, rankers from every family are compared, with the doctor's findings, a table and an HTML report.

    With --resume the fits are saved in a folder. After Ctrl-C (exit code 3), a kill or a power failure, the same
    command continues from there and prints the same result.

    For example:
      argrank cv data.txt -m ndcg@10
      argrank cv data.txt -r rank-svm -m ndcg@10
      argrank cv data.txt -r rank-svm -r regression -m ndcg@10,map --normalise query-minmax
      argrank cv data.txt -r rank-svm --grid C=0.001,0.01,0.1,1 --json
      argrank cv data.txt -r rank-svm -r listnet --save model.json
      argrank cv data.txt --resume trial -m ndcg@10
    """
    from argrank._results import check_format
    from argrank.measures.names import measure_list
    from argrank.report.write import write_report
    from argrank.trials.cv import benchmark, cross_validate

    output_format = "json" if as_json else output_format
    check_format(output_format)
    names = options.split_names(measures)
    measure_list(names)
    fixed, choices = options.parse_settings(parameters, grid)
    if no_grid and choices:
        raise OptionError("expected --grid or --no-grid, got both")
    shared: dict[str, Any] = {
        "n_folds": folds,
        "convention": convention,
        "random_state": seed,
        "n_jobs": jobs,
        "progress": not quiet,
        "resume": resume,
    }
    asked = options.split_names(rankers, "-r", "rankers")
    if not asked and (fixed or choices or no_grid):
        raise OptionError("-p, --grid and --no-grid: expected -r NAME, the ranker they belong to, got none")
    if not asked and report is None:
        stem = "data" if data == STDIN else Path(data).name.split(".")[0]
        report = Path(f"{stem}-report.html")
        check_writable(report)
    made = {name: arguments.ranker_of(name, {}, normalise) for name in asked}
    grids = _settings(made, fixed, choices, no_grid)
    with going_on(resume):
        judged = arguments.load_wide(data, None, not quiet)
        if asked:
            found = cross_validate(made, judged, names, grid=grids, **shared)
        else:
            found = benchmark(judged, names, normalise="auto" if normalise is None else normalise, **shared)
    if report is not None:
        write_report(report, found, title=f"Cross-validation of {Path(data).name}", baseline=baseline)
    if save is not None:
        found.ranker().save(save)
        if was_interrupted():
            typer.echo(f"argrank: interrupted: the best model so far is in {save}", err=True)
            raise typer.Exit(3)
    if quiet:
        text = options.means_lines(found.means)
    elif output_format == "json":
        text = found.render("json")
    else:
        text = "\n\n".join(_paragraphs(found, output_format, report, fixed, save))
    options.write_text(text, output)


def _paragraphs(
    found: Trial, output_format: str, report: Path | None, fixed: dict[str, Any], save: Path | None
) -> Iterator[str]:
    if output_format == "text" and found.diagnosis is not None:
        yield repr(found.diagnosis)
        yield found.render("text")
        yield f"Report written to {report}."
    else:
        yield found.render(output_format)
        if found.comparison is not None:
            yield found.comparison.render(output_format)
    if fixed:
        yield f"Given with -p: {parameters_text(fixed)}."
    if save is not None:
        chosen = f" with {parameters_text(found.params())}" if found.params() else ""
        n_queries = sum(part.n_queries for part in found.everything)
        yield f"Saved to {save}: {found.best}{chosen}, trained on all {n_queries:,} queries."


def _settings(made: dict[str, Any], fixed: dict[str, Any], choices: dict[str, Any], no_grid: bool) -> dict[str, Any]:
    """Set the fixed parameters that each ranker has, and return the grid of each."""
    from argrank.rankers.optimised import explicit

    own = {name: one.get_params() for name, one in made.items()}
    for flag, given in (("-p", fixed), ("--grid", choices)):
        for parameter in given:
            if not any(parameter in known for known in own.values()):
                known = {name for one in own.values() for name in one}
                raise OptionError(f"{flag}: {unknown_name('parameter of ' + ', '.join(made), parameter, known)}")
    given = explicit(fixed)
    for name, one in made.items():
        one.set_params(**{key: value for key, value in given.items() if key in own[name]})
    grids = {name: {key: one for key, one in choices.items() if key in own[name]} for name in made}
    return {name: None if no_grid else mine or arguments.default_choices(name, fixed) for name, mine in grids.items()}
