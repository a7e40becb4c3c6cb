"""``argrank evaluate``: measure how well scores rank."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from argrank._files import write_text
from argrank.cli import _on_log, arguments, options
from argrank.cli.options import argument, file_option, option
from argrank.errors import OptionError

if TYPE_CHECKING:
    from argrank.evaluation.result import Evaluation


@options.with_columns
def run(
    data: str = options.JUDGED,
    scores: list[str] = argument(
        "SCORES|RUN",
        None,
        "One score per line in the order of DATA, a .csv/.parquet table, or a run (TREC, or a table with columns "
        "such as qid, docno, score); several files are several systems, or NAME=FILE.",
    ),
    measures: list[str] = options.MEASURES,
    convention: str = options.CONVENTION,
    column: str | None = options.COLUMN,
    features: list[str] = options.SYSTEM,
    by: str | None = options.BY,
    judged_only: bool = options.JUDGED_ONLY,
    per_query: Path | None = file_option("--per-query FILE.csv", None, "Write every query's values."),
    explain: str | None = option("--explain QID", None, "Show how the values of this query are computed."),
    trusted: Path | None = option(
        "--trusted QRELS",
        None,
        "More reliable judgements of a random sample of the queries, used to correct the estimate.",
    ),
    probability: str | None = option(
        "--probability FILE|NUMBER",
        None,
        "Probability with which trusted queries were sampled: a table with the columns qid and probability, or "
        "one number.",
    ),
    clicks: Path | None = _on_log.LOG,
    curve: Path | None = _on_log.CURVE,
    estimator: str = _on_log.ESTIMATOR,
    candidates: str | None = _on_log.FEATURES,
    min_coverage: float = _on_log.MIN_COVERAGE,
    min_clicks: float = _on_log.MIN_CLICKS,
    as_json: bool = options.AS_JSON,
    quiet: bool = option("--quiet -q", False, "Print only a name, a tab and the mean for each measure."),
) -> None:
    """Measure how well scores or runs rank judged documents.

    Higher scores rank first. Queries for which a measure is undefined (because no document is relevant) are left out
    and counted, unless the convention gives them a value. Documents of a run that nobody judged are not relevant; they
    are counted too.

    For example:
      argrank evaluate test.txt scores.txt
      argrank evaluate test.txt scores.txt -m ndcg@5,map --convention letor3
      argrank evaluate test.txt run.trec --per-query values.csv
      argrank evaluate judged.qrels bm25.run ours.run -m ndcg@10,map,judged@10 --convention trec
      argrank evaluate judged.qrels ours.run --by segments.csv
      argrank evaluate model.qrels ours.run --trusted expert.qrels
      argrank evaluate --clicks log.parquet ours.run -m dcg@10,clicks@10 --propensities theta.json
      argrank evaluate --clicks log.parquet model.json --candidates features.csv
    """
    from argrank.evaluation.evaluate import evaluate
    from argrank.evaluation.result import Evaluations

    if explain is not None and (as_json or quiet):
        raise OptionError("--explain prints tables: it cannot be combined with --json or --quiet")
    if clicks is not None:
        _on_log.refuse(by=by, explain=explain, trusted=trusted, probability=probability, per_query=per_query)
        log, theta = _on_log.read(clicks, curve)
        runs, table = _on_log.systems([data, *(scores or [])], candidates)
        asked = {"propensities": theta, "estimator": estimator, "features": table}
        asked |= {"min_coverage": min_coverage, "min_clicks": min_clicks}
        earned = evaluate(runs, log, _on_log.measures(measures), **asked)
        one = next(iter(earned.values())) if len(earned) == 1 else earned
        if quiet:
            typer.echo(options.means_lines(earned.means))
        else:
            typer.echo(options.json_text(one.to_dict()) if as_json else repr(one))
        return
    names, files = options.split_names(measures), arguments.system_files(scores or [])
    if explain is not None and len(files) > 1:
        raise OptionError("--explain: expected one file of scores")
    judged, systems = arguments.read_systems(data, files, column, options.names_of(features), progress=not quiet)
    given = systems if len(systems) > 1 else next(iter(systems.values()))
    found = evaluate(
        given,
        judged,
        names,
        convention=convention,
        by=arguments.segments(by),
        explain=explain,
        trusted=trusted,
        probability=None if probability is None else _chances(probability),
        judged_only=judged_only or None,
    )
    if per_query is not None:
        _write_per_query(found, per_query)
    if as_json:
        typer.echo(options.json_text(_summary(found)))
    elif quiet and isinstance(found, Evaluations):
        typer.echo(options.means_lines(found.means))
    elif quiet:
        for name, mean in found.means.items():
            typer.echo(f"{name}\t{mean!r}")
    else:
        typer.echo(repr(found))


def _chances(given: str) -> float | dict[str, float]:
    """Return one probability, or probabilities by query id from a table."""
    from argrank.data.io.trec.forms import numbers_by_query

    value = options.parse_value(given)
    return float(value) if isinstance(value, int | float) else numbers_by_query(given, "probability")


def _summary(found: Evaluation | dict[str, Evaluation]) -> dict[str, object]:
    if isinstance(found, dict):
        return {name: _summary(one) for name, one in found.items()}
    return {name: value for name, value in found.to_dict().items() if name != "per_query"}


def _write_per_query(found: Any, path: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = found.columns()
    writer.writerow(columns)
    cells = (
        ["" if one != one else repr(float(one)) if isinstance(one, float) else one for one in column]
        for column in columns.values()
    )
    writer.writerows(zip(*cells, strict=True))
    write_text(path, text.getvalue())
