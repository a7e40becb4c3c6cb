"""``argrank evaluate``: how good scores are."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from argrank._files import write_bytes
from argrank.cli import _options as options
from argrank.errors import OptionError

if TYPE_CHECKING:
    from argrank.evaluation.result import Evaluation


def run(
    data: str = options.DATA,
    scores: str = typer.Argument(
        ..., metavar="SCORES", help="One score a line in the order of DATA, a TREC run, or a .csv/.parquet table."
    ),
    measures: list[str] = options.MEASURES,
    convention: str = options.CONVENTION,
    column: str | None = options.COLUMN,
    per_query: Path | None = typer.Option(None, "--per-query", metavar="FILE.csv", help="Write every query's values."),
    explain: str | None = typer.Option(
        None, "--explain", metavar="QID", help="Show how the values of this query come about."
    ),
    as_json: bool = options.AS_JSON,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only a name, a tab and the mean for each measure."),
) -> None:
    """Measure how well scores rank judged documents.

    Higher scores rank first. Queries for which a measure is undefined (because no document is relevant) are left out
    and counted, unless the convention gives them a value.

    For example:
      argrank evaluate test.txt scores.txt
      argrank evaluate test.txt scores.txt -m ndcg@5,map --convention letor3
      argrank evaluate test.txt run.trec --per-query values.csv
    """
    from argrank.data.io.load import load
    from argrank.data.io.scores import read_scores
    from argrank.evaluation.evaluate import evaluate

    if explain is not None and (as_json or quiet):
        raise OptionError("--explain prints tables: it cannot be combined with --json or --quiet")
    names = options.measure_names(measures)
    judged = load(data, progress=not quiet)
    query = None
    if explain is not None:  # ids are numbers or texts, the command line has only texts
        query = next((qid for qid in judged.query_ids.tolist() if str(qid) == explain), explain)
    found = evaluate(read_scores(scores, judged, column), judged, names, convention=convention, explain=query)
    if per_query is not None:
        _write_per_query(found, per_query)
    if as_json:
        typer.echo(options.json_text(_summary(found)))
    elif quiet:
        for name, mean in found.means.items():
            typer.echo(f"{name}\t{mean!r}")
    else:
        typer.echo(repr(found))


def _summary(found: Evaluation) -> dict[str, object]:
    return {name: value for name, value in found.to_dict().items() if name != "per_query"}


def _write_per_query(found: Evaluation, path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["qid", *found.values])
    columns = [["" if value != value else repr(value) for value in column.tolist()] for column in found.values.values()]
    writer.writerows(zip(found.query_ids.tolist(), *columns, strict=True))
    with write_bytes(path) as stream:
        stream.write(text.getvalue().encode())
