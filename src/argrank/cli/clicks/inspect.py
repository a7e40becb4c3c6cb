"""``argrank clicks inspect``: what is in a click log, and what to watch out for."""

from __future__ import annotations

import typer

from argrank.cli import options
from argrank.cli.clicks import _log
from argrank.cli.options import option


def run(
    files: list[str] = _log.FILES,
    form: str | None = _log.FORM,
    columns: list[str] = _log.COLUMNS,
    first_position: int = _log.FIRST,
    repeated: str = _log.REPEATED,
    sums: bool = _log.SUMS,
    as_json: bool = options.AS_JSON,
    quiet: bool = option(
        "--quiet -q", False, "Print only errors and warnings: severity, check, count and text, separated by tabs."
    ),
) -> None:
    """Show click rates by rank, and the problems that a log will cause.

    For example:
      argrank clicks inspect log.parquet
      argrank clicks inspect events.ndjson --form ubi
      argrank clicks inspect log.csv --column sku=docid --first-position 0
    """
    from argrank.data.doctor import doctor

    log = _log.read(files, form, columns, first_position, repeated, sums, None)
    diagnosis = doctor(log)
    if as_json:
        typer.echo(options.json_text(diagnosis.to_dict()))
    elif quiet:
        for finding in (*diagnosis.of("error"), *diagnosis.of("warning")):
            typer.echo(f"{finding.severity}\t{finding.check}\t{finding.count}\t{finding.sentence}")
    else:
        typer.echo(f"{log!r}\n{diagnosis!r}")
