"""``argrank pack``: data of any format and size into a folder that is read by memory map."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import _options as options


@options.with_columns
def run(
    sources: list[str] = typer.Argument(
        ...,
        metavar="SOURCE",
        help="LETOR text, .csv, .tsv, .parquet, .arrow; folders of them; s3:// and gs:// addresses.",
    ),
    output: Path = typer.Option(..., "--output", "-o", metavar="PACK", help="Folder to write, whole or not at all."),
    float32: bool = typer.Option(False, "--float32", help="Store features as 4-byte numbers: half the size."),
    memory: str = typer.Option("4GB", "--memory", metavar="SIZE", help="What packing may use: 500MB, 4GB, 50%."),
    by_column: bool = typer.Option(
        False, "--columns", help="Store the features by column too, for rankers that read columns."
    ),
    normalise: str = typer.Option(
        None,
        "--normalise",
        metavar="NAME",
        autocompletion=options.complete_normaliser,
        help="Normalise within each query: query-minmax, query-zscore or query-sum.",
    ),
    n_features: int = typer.Option(
        None, "--n-features", metavar="N", help="Features of LETOR text that may omit some."
    ),
    quiet: bool = options.QUIET,
) -> None:
    """Write data as a pack, which all commands read by memory map: it may be larger than memory.

    Files are read one after the other and may be larger than memory, too. Rows of a query need not be adjacent.

    For example:
      argrank pack train.parquet -o train.pack --float32
      argrank pack part-*.csv -o train.pack --qid query --label grade --memory 1GB
      argrank train train.pack -r rank-svm -o model.json
      argrank inspect --verify train.pack
    """
    from argrank.data.io.pack.pack import pack

    options.listen(verbose=not quiet)
    found = pack(
        sources[0] if len(sources) == 1 else sources,
        output,
        dtype="float32" if float32 else None,
        n_features=n_features,
        normalise=normalise,
        by_column=by_column,
        memory=memory,
        progress=not quiet,
    )
    if not quiet:
        n_rows, n_features = found.shape
        counts = f"{found.queries:,} queries, {n_rows:,} documents, {n_features:,} features"
        typer.echo(f"{output}: {counts}, {found.n_bytes / 1e6:,.1f} MB", err=True)
