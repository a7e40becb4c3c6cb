"""``argrank report``: everything about the data and the systems in one HTML file."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import _on_log, arguments, options
from argrank.cli.options import argument, file_option, option


@options.with_columns
def run(
    data: str = options.JUDGED,
    systems: list[str] = argument(
        "SCORES|MODEL",
        None,
        "Files of scores or runs as for `argrank evaluate`, models of `argrank train` (.json), or NAME=FILE.",
    ),
    output: Path = file_option("--output -o FILE.html", Path("report.html"), "Where to write it."),
    measures: list[str] = options.MEASURES,
    convention: str = options.CONVENTION,
    column: str | None = options.COLUMN,
    features: list[str] = options.SYSTEM,
    by: str | None = options.BY,
    baseline: str | None = options.BASELINE,
    clicks: Path | None = _on_log.BESIDE,
    curve: Path | None = _on_log.CURVE,
    title: str | None = option("--title TEXT", None, "Title; by default the name of the data."),
    quiet: bool = option("--quiet -q", False, "Do not print what was written."),
) -> None:
    """Write one HTML file about the data and the systems that rank it.

    It shows what the doctor found, the comparison with intervals and tests, every query with two rankings side by
    side, and for models why one document ranks above another; with --clicks also the value of each system estimated
    from a click log. It opens from disk and needs no network.

    For example:
      argrank report test.txt model.json
      argrank report test.csv model.json --baseline bm25_title
      argrank report test.txt model.json bm25=bm25.txt -m ndcg@10,map -o report.html
      argrank report judged.qrels bm25.run ours.run --by segments.csv
      argrank report judged.csv model.json --clicks log.parquet --propensities theta.json
    """
    from argrank.report.write import write_report

    names = options.split_names(measures)
    files = arguments.system_files(systems or [])
    judged, found = arguments.read_systems(data, files, column, options.names_of(features), progress=not quiet)
    heading = f"Ranking report: {Path(data).name}" if title is None else title
    log, theta = (None, None) if clicks is None else _on_log.read(clicks, curve)
    asked = {"convention": convention, "by": arguments.segments(by), "baseline": baseline}
    path = write_report(output, judged, found, names, title=heading, clicks=log, propensities=theta, **asked)
    if not quiet:
        typer.echo(f"Report written to {path}: open it in a browser.")
