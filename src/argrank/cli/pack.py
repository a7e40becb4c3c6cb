"""``argrank pack``: convert data of any format and size to a memory-mapped folder."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import options
from argrank.cli.options import argument, option
from argrank.errors import OptionError


@options.with_columns
def run(
    sources: list[str] = argument(
        "SOURCE", ..., "LETOR text, .csv, .tsv, .parquet, .arrow, .pack; folders of files; s3:// and gs:// addresses."
    ),
    output: Path | None = option("--output -o PACK", None, "Folder to write (atomically)."),
    append: bool = option("--append", False, "Add the rows to an existing pack: the one of -o, else the last SOURCE."),
    float32: bool = option("--float32", False, "Store features as 4-byte numbers: half the size."),
    memory: str = option("--memory SIZE", "4GB", "Memory limit for packing: 500MB, 4GB, 50%."),
    by_column: bool = option("--columns", False, "Also store the features by column, for rankers that read columns."),
    normalise: str = option(
        "--normalise NAME",
        None,
        "Normalise within each query: query-minmax, query-zscore or query-sum.",
        autocompletion=options.complete_normaliser,
    ),
    n_features: int = option("--n-features N", None, "Number of features of LETOR text, which may omit some."),
    quiet: bool = options.QUIET,
) -> None:
    """Write data as a pack, which all commands memory-map: it may be larger than memory.

    Files are read one after the other and may also be larger than memory. Rows of a query need not be adjacent. Packs
    can be sources, alone or together with files.

    For example:
      argrank pack train.parquet -o train.pack --float32
      argrank pack part-*.csv -o train.pack --qid query --label grade --memory 1GB
      argrank pack --append today.parquet train.pack
      argrank pack a.pack b.pack -o both.pack --drop price
      argrank train train.pack -r rank-svm -o model.json
      argrank inspect --verify train.pack
    """
    from argrank.data.io.pack.pack import pack

    options.listen(verbose=not quiet)
    if output is None:
        if not append or len(sources) < 2:
            raise OptionError("expected -o PACK, the folder to write; or --append SOURCE PACK")
        output = Path(sources.pop())
    found = pack(
        sources[0] if len(sources) == 1 else sources,
        output,
        dtype="float32" if float32 else None,
        n_features=n_features,
        normalise=normalise,
        by_column=by_column,
        memory=memory,
        append=append,
        progress=not quiet,
    )
    if not quiet:
        n_rows, n_features = found.shape
        counts = f"{found.queries:,} queries, {n_rows:,} documents, {n_features:,} features"
        typer.echo(f"{output}: {counts}, {found.n_bytes / 1e6:,.1f} MB", err=True)
