"""``argrank clicks propensities``: how much each rank is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argrank.cli.clicks import _log
from argrank.cli.options import file_option, option


def run(
    files: list[str] = _log.FILES,
    method: str = option("--method NAME", "auto", "auto, harvest, pbm, trust, swap or ctr; see the guide."),
    ranks: list[int] = option("--rank N", [], "For --method swap: the rank swapped with rank 1."),
    by: str | None = option("--by COLUMN", None, "Column; one curve for each of its values, such as each device."),
    features: str | None = option(
        "--features DATA", None, "Data with a row for each query and document: for pages that never vary."
    ),
    weigh: str = option(
        "--weigh precision|equal", "precision", "For harvest: weight documents by traffic, or equally."
    ),
    form: str | None = _log.FORM,
    columns: list[str] = _log.COLUMNS,
    first_position: int = _log.FIRST,
    repeated: str = _log.REPEATED,
    sums: bool = _log.SUMS,
    output: Path | None = file_option("--output -o FILE.json", None, "Write the curve, for judge and for training."),
) -> None:
    """Estimate how much each rank is seen, relative to rank 1, with 95 % intervals.

    For example:
      argrank clicks propensities log.parquet -o theta.json
      argrank clicks propensities log.parquet --by device
      argrank clicks propensities log.parquet --method pbm --features products.parquet
    """
    from argrank.clicks.propensities import propensities
    from argrank.data.io.load import load

    log = _log.read(files, form, columns, first_position, repeated, sums, by)
    data = None if features is None else load(features)
    chosen: Any = method
    how: Any = weigh
    found = propensities(log, chosen, by=by, features=data, ranks=(1, *ranks) if ranks else None, weigh=how)
    typer.echo(repr(found))
    if output is not None:
        found.write(output)
