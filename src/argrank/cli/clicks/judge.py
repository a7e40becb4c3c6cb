"""``argrank clicks judge``: judgements from clicks."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli.clicks import _log
from argrank.cli.options import file_option, option


def run(
    files: list[str] = _log.FILES,
    method: str = option(
        "--method NAME", "coec", "coec, ctr, examinations, or a click model: pbm, cascade, dcm, sdbn, …"
    ),
    curve: Path | None = option(
        "--propensities FILE.json", None, "The curve of --method examinations, by clicks propensities."
    ),
    levels: int | None = option("--levels N", None, "Also write integer grades from 0 to N - 1."),
    min_impressions: int = option("--min-impressions N", 1, "Leave out documents that were shown less often."),
    prior: float = option(
        "--prior", 0.0, "Shrink values towards their mean, with the strength of this many expected clicks."
    ),
    form: str | None = _log.FORM,
    columns: list[str] = _log.COLUMNS,
    first_position: int = _log.FIRST,
    repeated: str = _log.REPEATED,
    sums: bool = _log.SUMS,
    output: Path | None = file_option(
        "--output -o FILE", None, "Write all columns (.csv, .parquet), or what --format says."
    ),
    output_format: str | None = option(
        "--format qrels|quepid|workbench|rre", None, "Write a list of judgements for another tool."
    ),
) -> None:
    """Estimate the relevance of every document for its query from clicks.

    For example:
      argrank clicks judge log.parquet -o judged.csv
      argrank clicks judge log.parquet --method examinations --propensities theta.json --levels 5 -o judged.qrels
      argrank clicks judge events.ndjson --form ubi --format workbench -o judged.json
    """
    from argrank.clicks.curve import PropensitiesBy, read_propensities
    from argrank.clicks.judgements import judgements

    theta = None if curve is None else read_propensities(curve)
    by = theta.column if isinstance(theta, PropensitiesBy) else None
    log = _log.read(files, form, columns, first_position, repeated, sums, by)
    found = judgements(log, method, levels=levels, min_impressions=min_impressions, prior=prior, propensities=theta)
    if output is None:
        typer.echo(repr(found))
    else:
        found.write(output, output_format)
        typer.echo(f"{output}: {len(found)} judgements")
