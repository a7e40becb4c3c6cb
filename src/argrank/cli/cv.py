"""``argrank cv``: cross-validate rankers on one's own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from argrank._files import STDIN
from argrank.cli import _options as options
from argrank.cli import _training as training
from argrank.errors import OptionError, unknown_name

if TYPE_CHECKING:
    from argrank.trials.benchmark_result import Benchmark


def run(
    data: str = options.DATA,
    rankers: list[str] = typer.Option(
        [],
        "--ranker",
        "-r",
        metavar="NAME",
        autocompletion=training.complete_ranker,
        help="Ranker by its registered name; repeat it to compare several. By default a spread of every family.",
    ),
    measures: list[str] = options.MEASURES,
    parameters: list[str] = training.PARAMETERS,
    grid: list[str] = training.GRID,
    no_grid: bool = typer.Option(False, "--no-grid", help="Train at the parameters given; choose nothing."),
    normalise: str | None = training.NORMALISE,
    folds: int = typer.Option(
        5, "--folds", "-k", metavar="N", help="Number of parts: all but two train, one validates."
    ),
    convention: str = options.CONVENTION,
    seed: int = typer.Option(0, "--seed", help="Of the random split into parts."),
    jobs: int | None = training.JOBS,
    output_format: str = typer.Option(
        "text", "--format", metavar="text|markdown|latex|json|html", help="How the tables are written."
    ),
    as_json: bool = typer.Option(False, "--json", help="The same as --format json."),
    output: Path | None = typer.Option(None, "--output", "-o", metavar="FILE", help="Write to a file."),
    report: Path | None = typer.Option(
        None, "--report", metavar="FILE.html", help="Where to write the report; without -r one is written anyway."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only ranker, measure and mean, with tabs."),
) -> None:
    """Cross-validate rankers on your data, by query, as LETOR does.

    The queries are dealt into parts. In turn, all parts but two train, one chooses the parameters by the first
    measure, and one tests, so every query is tested once by a model that never saw it. Each ranker chooses from its
    own default grid unless you give one. Several rankers are compared with paired tests over all queries.

    Without -r, a spread of rankers from every family is compared: the doctor's findings, a table, an HTML report.

    For example:
      argrank cv data.txt -m ndcg@10
      argrank cv data.txt -r rank-svm -m ndcg@10
      argrank cv data.txt -r rank-svm -r regression -m ndcg@10,map --normalise query-minmax
      argrank cv data.txt -r rank-svm --grid C=0.001,0.01,0.1,1 --json
    """
    from argrank.evaluation.comparison import check_format
    from argrank.measures.names import measure_list
    from argrank.report.write import write_report
    from argrank.trials.benchmark import benchmark
    from argrank.trials.cv import DEFAULT, cross_validate

    output_format = "json" if as_json else output_format
    check_format(output_format)
    names = options.measure_names(measures)
    measure_list(names)
    fixed, choices = training.parse_parameters(parameters), training.parse_grid(grid)
    if no_grid and choices:
        raise OptionError("expected --grid or --no-grid, got both")
    if not rankers:
        if fixed or choices or no_grid:
            raise OptionError("-p, --grid and --no-grid: expected the ranker they are for, -r NAME, got none")
        found = benchmark(
            training.load_wide(data, None, not quiet),
            names,
            n_folds=folds,
            normalise="auto" if normalise is None else normalise,
            convention=convention,
            random_state=seed,
            n_jobs=jobs,
            progress=not quiet,
        )
        _show(found, data, report, output_format, output, quiet)
        return
    made: dict[str, Any] = {name: training.ranker_of(name, {}, normalise) for name in dict.fromkeys(rankers)}
    for option, given in (("-p", fixed), ("--grid", choices)):
        for parameter in given:
            if not any(parameter in one.get_params() for one in made.values()):
                known = {name for one in made.values() for name in one.get_params()}
                raise OptionError(f"{option}: {unknown_name('parameter of ' + ', '.join(made), parameter, known)}")
    grids: dict[str, Any] = {}
    for name, one in made.items():
        own = one.get_params()
        one.set_params(**{key: value for key, value in fixed.items() if key in own})
        mine = {key: values for key, values in choices.items() if key in own}
        grids[name] = None if no_grid else mine or DEFAULT
    result = cross_validate(
        made,
        training.load_wide(data, None, not quiet),
        names,
        grid=grids,
        n_folds=folds,
        convention=convention,
        random_state=seed,
        n_jobs=jobs,
        progress=not quiet,
    )
    if report is not None:
        write_report(report, result.data, result.scores, names, convention=convention, title=_title(data))
    if quiet:
        lines = [f"{name}\t{one}\t{mean!r}" for name, means in result.means.items() for one, mean in means.items()]
        options.write_text("\n".join(lines), output)
    elif output_format == "json":
        tests = {"comparison": result.compare().to_dict()} if len(made) > 1 else {}
        options.write_text(json.dumps({**result.to_dict(), **tests}, indent=2, ensure_ascii=False), output)
    else:
        texts = [result.render(output_format)]
        if len(made) > 1:
            texts.append(result.compare().render(output_format))
        options.write_text("\n\n".join(texts), output)


def _show(
    found: Benchmark, data: str, report: Path | None, output_format: str, output: Path | None, quiet: bool
) -> None:
    """Write the report and the table of a spread of rankers."""
    stem = "data" if data == STDIN else Path(data).name.split(".")[0]
    path = found.report(Path(f"{stem}-report.html") if report is None else report, title=_title(data))
    if quiet:
        lines = [f"{name}\t{one}\t{mean!r}" for name, means in found.means.items() for one, mean in means.items()]
        options.write_text("\n".join(lines), output)
    elif output_format == "json":
        options.write_text(json.dumps(found.to_dict(), indent=2, ensure_ascii=False), output)
    elif output_format == "text":
        options.write_text(f"{found.diagnosis!r}\n\n{found!r}\n\nReport written to {path}.", output)
    else:
        options.write_text(found.render(output_format), output)


def _title(data: str) -> str:
    return f"Cross-validation of {Path(data).name}"
