"""``argrank explain``: which features a saved model uses, and why it ranks as it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argrank.cli import arguments, options
from argrank.cli.options import argument, option
from argrank.errors import OptionError


@options.with_columns
def run(
    model: Path = argument("MODEL.json", ..., "Model saved by `argrank train` or ranker.save."),
    data: str = argument("DATA", ..., "Documents, in any format that training takes."),
    query: str | None = option(
        "--query QUERY", None, "Id or text of the query whose first two documents are compared."
    ),
    top: int = option("--top N", 20, "How many features to list."),
    as_json: bool = options.AS_JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Show which features a model uses, how scores change with them, and why one document ranks above another.

    The share of a feature is the mean absolute value of its contribution to scores, relative to the mean of the query,
    on up to 2,000 documents of DATA. The second table shows how the mean score would change if all documents had the
    same value of a feature. The last one explains why the first document of a query ranks above the second. Labels are
    not used.

    For example:
      argrank explain model.json test.csv
      argrank explain model.json test.csv --query "cheap blender" --top 10
    """
    from argrank._tables import to_text
    from argrank.models.files import load_model
    from argrank.report.explained import explained

    loaded: Any = load_model(model)
    if loaded.kind in ("factors", "slots"):
        raise OptionError(f"explain: expected a model that ranks documents by features, got {loaded.kind}")
    documents = arguments.documents_for(loaded, data, not quiet)
    found = explained(loaded, documents, query, top)
    if as_json:
        typer.echo(options.json_text(found.to_dict()))
        return
    typer.echo(to_text(found.tables(top)))
    if found.why is not None:
        typer.echo(f"\nQuery {found.query}: {found.why!r}")
