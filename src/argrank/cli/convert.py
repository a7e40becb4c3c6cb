"""``argrank convert``: one file format to another."""

import typer

from argrank.cli import options
from argrank.cli.options import argument, option

READ = "letor, csv, tsv, parquet or arrow"


@options.with_columns
def run(
    source: str = argument("INPUT", ..., "File to read; - is standard input."),
    target: str = argument("OUTPUT", ..., "File to write (atomically)."),
    source_format: str = option("--from FORMAT", None, f"{READ}; default: by the extension."),
    target_format: str = option("--to FORMAT", None, f"{READ}, or qrels; default: by the extension."),
    quiet: bool = option("--quiet -q", False, "Do not print what was written."),
) -> None:
    """Convert between LETOR/SVMlight text, CSV, TSV, Parquet and Arrow; or write the labels as TREC qrels.

    The extensions say which (.csv .tsv .parquet .arrow .feather .ipc .qrels; everything else is LETOR text), with .gz,
    .xz, .bz2 or .zip after them for compressed files.
    """
    from argrank.data.io.load import dump, load

    data = load(source, format=source_format, progress=not quiet)
    dump(data, target, format=target_format)
    if not quiet:
        counts = f"{data.n_queries:,} queries, {data.n_documents:,} documents, {data.n_features:,} features"
        typer.echo(f"{target}: {counts}", err=True)
