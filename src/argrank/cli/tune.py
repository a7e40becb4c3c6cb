"""``argrank tune``: the weights of several systems' scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argrank._files import write_bytes
from argrank.cli import _options as options
from argrank.cli import arguments
from argrank.errors import OptionError


@options.with_columns
def run(
    data: str = typer.Argument(
        ..., metavar="DATA", help="Judgements (TREC qrels), or judged data with one column or feature per system."
    ),
    systems: list[str] = typer.Argument(None, metavar="[RUN…]", help="TREC runs, as FILE or NAME=FILE."),
    measure: str = typer.Option("ndcg@10", "--measure", "-m", metavar="NAME", help="Measure to make greatest."),
    columns: list[str] = typer.Option(
        [], "--column", metavar="NAME", help="Columns of DATA that are systems, if not all; repeat, or use commas."
    ),
    normalise: list[str] = typer.Option(
        ["auto"],
        "--normalise",
        metavar="[SYSTEM=]NAME",
        help="Within each query: none, minmax, zscore, rank; auto chooses by cross-validation.",
    ),
    missing: str = typer.Option(
        "lowest", "--missing", metavar="lowest|rrf|X", help="What a document gets from a system that did not return it."
    ),
    bounds: list[str] = typer.Option(
        [], "--bounds", metavar="[SYSTEM=]LOW:HIGH", help="Bounds of the weights, such as 0: or popularity=0:0.1."
    ),
    fixed: list[str] = typer.Option(
        [], "--fix", metavar="SYSTEM=W", help="Keep a weight as it is; repeat it for more."
    ),
    cv: int = typer.Option(5, "--cv", metavar="N", help="Folds of the cross-validation; 0 for none."),
    bootstrap: int = typer.Option(0, "--bootstrap", metavar="N", help="Resamples for intervals of the weights."),
    target: str = typer.Option(
        "plain", "--formula", metavar="plain|elasticsearch|opensearch|vespa", help="For which engine to print the sum."
    ),
    plot: Path | None = typer.Option(None, "--plot", metavar="FILE", help="Draw the measure along each weight."),
    output: Path | None = typer.Option(None, "--output", "-o", metavar="FILE.json", help="Write the weights."),
    as_json: bool = options.AS_JSON,
    jobs: int | None = options.JOBS,
) -> None:
    """Tune the weights with which scores of several systems are added.

    The weights are searched on the measure itself, exactly. Documents of runs that are not judged count as not
    relevant. Without --bounds weights may be negative; bounds are on shares of the sum of all magnitudes.

    For example:
      argrank tune q.qrels bm25.run embedding.run popularity.run -m ndcg@10 -o weights.json
      argrank tune q.qrels lexical=bm25.run embedding.run --normalise minmax --bounds 0: --formula opensearch
      argrank tune table.csv --column bm25,embedding -m mrr@10 --cv 0 --normalise none
    """
    from argrank.deploy.fusion_formula import TARGETS
    from argrank.trials.fusion.tune_weights import tune_weights

    options_of = {
        "normalise": _normalise(normalise),
        "missing": options.parse_value(missing),
        "bounds": _bounds(bounds),
        "fixed": options.parse_parameters(fixed, "--fix"),
    }
    if target not in TARGETS:
        raise OptionError(f"--formula: expected one of {', '.join(TARGETS)}, got {target!r}")
    scores, judged = _systems(data, systems or [], options.split_names(columns, "--column", "columns"))
    tuned = tune_weights(scores, judged, measure, cv=cv or None, bootstrap=bootstrap, n_jobs=jobs, **options_of)
    text = tuned.formula(target)
    if plot is not None:
        with write_bytes(plot) as stream:
            tuned.plot().savefig(stream, format=plot.suffix.lstrip(".") or "png", dpi=120)
    if output is not None:
        tuned.save(output)
    typer.echo(options.json_text(tuned.to_dict()) if as_json else repr(tuned))
    if target != "plain" and not as_json:
        typer.echo(f"\n{text}")


def _systems(data: str, runs: list[str], columns: list[str]) -> tuple[dict[str, Any], Any]:
    if runs:
        if columns:
            raise OptionError("--column: expected no runs beside columns of DATA")
        return dict(arguments.system_files(runs)), data
    from argrank.data.io.load import load
    from argrank.data.io.trec.forms import is_qrels_file

    if is_qrels_file(data):
        raise OptionError(f"{data}: expected runs after the judgements, such as bm25.run embedding.run")
    judged = load(data)
    names = judged.feature_names or [str(number + judged.feature_base) for number in range(judged.n_features)]
    unknown = next((name for name in columns if name not in names), None)
    if unknown is not None:
        raise OptionError(f"--column: expected one of {', '.join(names)}, got {unknown!r}")
    X = judged.X.toarray() if judged.is_sparse else judged.X
    wanted = columns or list(names)
    return {name: judged.to_caller(X[:, list(names).index(name)]) for name in wanted}, judged


def _normalise(given: list[str]) -> Any:
    """Return one name for all, or a mapping where systems are named."""
    pairs = [text.partition("=") for text in given if text != "auto" or len(given) == 1]
    if len(pairs) == 1 and not pairs[0][1]:
        return pairs[0][0]
    if not all(equals for _, equals, _ in pairs):
        raise OptionError(f"--normalise: expected one NAME, or SYSTEM=NAME for each, got {' '.join(given)}")
    return {system: name for system, _, name in pairs}


def _bounds(given: list[str]) -> Any:
    found: dict[str, tuple[float | None, float | None]] = {}
    for text in given:
        system, _, pair = text.rpartition("=")
        low, colon, high = pair.partition(":")
        try:
            ends = tuple(float(end) if end else None for end in (low, high))
        except ValueError:
            colon = ""
        if not colon or system in found:
            raise OptionError(f"--bounds: expected LOW:HIGH or SYSTEM=LOW:HIGH, once each, got {text!r}")
        found[system] = (ends[0], ends[1])
    if "" in found and len(found) > 1:
        raise OptionError("--bounds: expected one LOW:HIGH for all systems, or SYSTEM=LOW:HIGH for some")
    return found.get("") or found or None
