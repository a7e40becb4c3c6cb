"""``argrank experiment``: run a configured experiment and check its figures."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import options
from argrank.cli.options import argument, option


def run(
    config: Path = argument("CONFIG.toml", ..., "What to run; see the folder experiments/."),
    output: Path | None = option(
        "--output -o FOLDER", None, "Where results go; by default a folder of CONFIG's name, here."
    ),
    force: bool = option("--force", False, "Compute every run again, even if it is stored."),
    jobs: int | None = options.JOBS,
    output_format: str = options.FORMAT,
    as_json: bool = option("--json", False, "Print results.json instead of the tables."),
    quiet: bool = option("--quiet -q", False, "Print only figures that are out of range."),
    verbose: bool = option("--verbose -v", False, "Print a line for every finished run."),
) -> None:
    """Run rankers on data sets and folds by LETOR's protocol, and check the expected figures.

    Finished runs are stored: after an interruption, run the command again to compute only the missing ones. Writes
    results.md, results.tex, results.json, a manifest of versions, data and seeds, values per query, scores and plots.
    The exit code is 1 if a figure is outside the range given in the configuration.

    Known collections are read from the folder in the environment variable ARGRANK_DATA.

    For example:
      argrank experiment experiments/letor/ohsumed.toml
      argrank experiment mine.toml -o results -v
    """
    from argrank._results import check_format
    from argrank.trials.experiment import run_experiment

    check_format(output_format)
    options.listen(verbose)
    folder = Path(config.stem) if output is None else output
    results = run_experiment(config, folder, force=force, n_jobs=jobs, progress=not quiet)
    if as_json or output_format == "json":
        typer.echo((folder / "results.json").read_text("utf-8").rstrip("\n"))
    elif not quiet:
        typer.echo(results.render(output_format))
        told = f"{len(results.runs)} runs, {results.computed} of them computed now; see {folder}"
        typer.echo(f"\n{told}" if output_format == "text" else told, err=output_format != "text")
    for check in results.failures:
        typer.echo(f"argrank: out of range: {check}", err=True)
    if results.failures:
        raise typer.Exit(1)
