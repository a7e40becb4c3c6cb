"""``argrank clicks preference``: which of two interleaved rankers users prefer."""

from __future__ import annotations

import typer

from argrank.cli import options
from argrank.cli.clicks import _log
from argrank.cli.options import option


def run(
    files: list[str] = _log.FILES,
    a: str | None = option("--team NAME", None, "The first team, if there are more than two."),
    b: str | None = option("--against NAME", None, "The other team."),
    difference: float = option(
        "--difference X", 0.05, "A difference of credit; prints how many sessions are needed to detect it."
    ),
    form: str | None = _log.FORM,
    columns: list[str] = _log.COLUMNS,
    first_position: int = _log.FIRST,
    repeated: str = _log.REPEATED,
    as_json: bool = options.AS_JSON,
) -> None:
    """Show which team of interleaved lists users click more, with intervals that stay valid however often you look.

    For example:
      argrank clicks preference log.parquet
      argrank clicks preference log.parquet --team ours --against bm25 --difference 0.02
    """
    from argrank.evaluation.counterfactual.preference import preference

    log = _log.read(files, form, columns, first_position, repeated, False, None)
    found = preference(log, a, b, difference=difference)
    typer.echo(options.json_text(found.to_dict()) if as_json else repr(found))
