"""``argrank inspect``: what is in the data, and what to watch out for."""

from __future__ import annotations

import typer

from argrank.cli import _options as options


def run(
    files: list[str] = typer.Argument(
        ..., metavar="FILE", help="LETOR/SVMlight text (.gz .xz .bz2 .zip too), .csv, .parquet, .arrow."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON, with every feature."),
    quiet: bool = typer.Option(
        False, "--quiet", "-q", help="Print only errors and warnings: severity, check, count and text, with tabs."
    ),
) -> None:
    """Show labels, list lengths and features of data files, and the problems they will cause.

    Several files are also checked against each other, for instance for queries in both the training and the test part.

    For example:
      argrank inspect train.txt
      argrank inspect train.txt vali.txt test.txt
      argrank inspect shop.csv --json
    """
    from argrank.data.doctor import doctor
    from argrank.data.io.load import load
    from argrank.data.summary import Overview, printable

    sets = [load(file, progress=not quiet) for file in files]
    diagnosis = doctor(*sets, names=files if len(files) > 1 else None)
    overviews = [Overview(data, features) for data, features in zip(sets, diagnosis.features, strict=True)]
    if as_json:
        contents = [{"file": file, **one.to_dict()} for file, one in zip(files, overviews, strict=True)]
        typer.echo(options.json_text({"files": contents, **diagnosis.to_dict()}))
    elif quiet:
        for finding in (*diagnosis.of("error"), *diagnosis.of("warning")):
            typer.echo(f"{finding.severity}\t{finding.check}\t{finding.count}\t{finding.sentence}")
    else:
        for file, data, overview in zip(files, sets, overviews, strict=True):
            typer.echo(f"{printable(file)}\n{data!r}\n{overview!r}\n")
        typer.echo(repr(diagnosis))
