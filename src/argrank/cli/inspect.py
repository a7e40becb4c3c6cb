"""``argrank inspect``: what is in the data, and what to watch out for."""

from __future__ import annotations

import typer

from argrank.cli import arguments, options
from argrank.cli.options import argument, option
from argrank.errors import OptionError


@options.with_columns
def run(
    files: list[str] = argument(
        "FILE", ..., "LETOR/SVMlight text (.gz .xz .bz2 .zip too), .csv, .parquet, .arrow, .pack; qrels, runs."
    ),
    as_json: bool = option("--json", False, "Print JSON, with every feature."),
    verify: bool = option("--verify", False, "Compare packs with the checksums stored when they were written."),
    quiet: bool = option(
        "--quiet -q", False, "Print only errors and warnings: severity, check, count and text, separated by tabs."
    ),
) -> None:
    """Show labels, list lengths and features of data files, and the problems they will cause.

    Several files are also checked against each other, for instance for queries in both the training and the test part.
    For runs it shows how many of their documents are judged.

    For example:
      argrank inspect train.txt
      argrank inspect train.txt vali.txt test.txt
      argrank inspect shop.csv --json
      argrank inspect --verify train.pack
      argrank inspect judged.qrels bm25.run ours.run
    """
    from argrank.data.doctor import doctor
    from argrank.data.io.load import load
    from argrank.data.io.naming import naming, told_naming
    from argrank.data.io.trec.forms import is_qrels_file, is_qrels_table
    from argrank.data.summary import Overview, printable

    runs = [file for file in files if arguments.is_run(file, None) and not is_qrels_table(file)]  # data may have scores
    judged = [file for file in files if is_qrels_file(file) and file not in runs]
    if runs or judged:
        _inspect_runs(runs, [file for file in files if file not in runs], as_json)
        return
    with naming(told_naming()._replace(days=True)):
        sets = [load(file, progress=not quiet, verify="open" if verify else "lazy") for file in files]
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


def _inspect_runs(runs: list[str], judged: list[str], as_json: bool) -> None:
    from argrank.data.io.trec.forms import as_qrels, as_run
    from argrank.evaluation.run_overview import RunOverview

    if len(judged) > 1:
        raise OptionError(f"expected one file of judgements for runs, got {', '.join(judged)}")
    named = arguments.system_files(runs)
    overview = RunOverview(
        {name: as_run(file) for name, file in named.items()}, as_qrels(judged[0]) if judged else None
    )
    typer.echo(options.json_text(overview.to_dict()) if as_json else repr(overview))
