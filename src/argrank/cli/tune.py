"""``argrank tune``: find weights for combining several systems' scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argrank._files import write_bytes
from argrank.cli import _on_log, arguments, options
from argrank.cli.options import argument, file_option, option
from argrank.errors import OptionError


@options.with_columns
def run(
    data: str = argument("DATA", ..., "Judgements (TREC qrels), or judged data with one column or feature per system."),
    systems: list[str] = argument("[RUN…]", None, "TREC runs, as FILE or NAME=FILE."),
    measure: str | None = option("--measure -m NAME", None, "Measure to maximise: ndcg@10, or dcg@10 with --clicks."),
    clicks: Path | None = _on_log.LOG,
    curve: Path | None = _on_log.CURVE,
    min_coverage: float = _on_log.MIN_COVERAGE,
    min_clicks: float = _on_log.MIN_CLICKS,
    columns: list[str] = option(
        "--column NAME", [], "Columns of DATA that are systems, if not all; repeat, or use commas."
    ),
    normalise: list[str] = option(
        "--normalise [SYSTEM=]NAME",
        ["auto"],
        "Within each query: none, minmax, zscore, rank; auto chooses by cross-validation.",
    ),
    missing: str = option(
        "--missing lowest|rrf|X", "lowest", "Score of a document from a system that did not return it."
    ),
    bounds: list[str] = option(
        "--bounds [SYSTEM=]LOW:HIGH", [], "Bounds of the weights, such as 0: or popularity=0:0.1."
    ),
    fixed: list[str] = option("--fix SYSTEM=W", [], "Fix a weight; repeat it for more."),
    cv: int = option("--cv N", 5, "Folds of the cross-validation; 0 for none."),
    bootstrap: int = option("--bootstrap N", 0, "Resamples for confidence intervals of the weights."),
    engine: str | None = option(
        "--engine --formula elasticsearch|opensearch|solr|vespa[@VERSION]",
        None,
        "Tune for what this engine computes, and print its request.",
    ),
    window: int = option("--window N", 100, "Documents that each system returns in the engine."),
    requests: Path | None = option("--requests FOLDER", None, "Write the engine's requests, with --engine."),
    by: str | None = options.BY,
    plot: Path | None = file_option("--plot FILE", None, "Draw the measure along each weight."),
    output: Path | None = file_option("--output -o FILE.json", None, "Write the weights."),
    as_json: bool = options.AS_JSON,
    quiet: bool = option("--quiet -q", False, "Print only system and weight, separated by a tab."),
    jobs: int | None = options.JOBS,
) -> None:
    """Tune the weights of a sum of several systems' scores.

    The search maximises the measure itself, by exact line search. Documents of runs that are not judged count as not
    relevant. Without --bounds weights may be negative; bounds are on shares of the sum of all magnitudes.

    For example:
      argrank tune q.qrels bm25.run embedding.run popularity.run -m ndcg@10 -o weights.json
      argrank tune --clicks log.parquet bm25.run embedding.run --propensities theta.json
      argrank tune q.qrels lexical=bm25.run embedding.run --engine opensearch --window 100 --requests hybrid
      argrank tune table.csv --column bm25,embedding -m mrr@10 --cv 0 --normalise none
    """
    from argrank.deploy.hybrid import find_engine
    from argrank.trials.fusion.tune_weights import tune_weights

    options_of = {
        "normalise": _normalise(normalise),
        "missing": options.parse_value(missing),
        "bounds": _bounds(bounds),
        "fixed": options.parse_parameters(fixed, "--fix"),
    }
    engine = None if engine == "plain" else engine
    if engine is not None:
        find_engine(engine)  # checked before anything is read
    elif requests is not None:
        raise OptionError("--requests: expected --engine, for which they are written")
    if clicks is not None:
        judged, options_of["propensities"] = _on_log.read(clicks, curve)
        options_of |= {"min_coverage": min_coverage, "min_clicks": min_clicks}
        scores: dict[str, Any] = dict(arguments.system_files([data, *(systems or [])]))
    else:
        scores, judged = _systems(data, systems or [], options.split_names(columns, "--column", "columns"), quiet)
    tuned = tune_weights(
        scores, judged, measure, cv=cv or None, bootstrap=bootstrap, n_jobs=jobs, engine=engine, window=window,
        by=arguments.segments(by), **options_of,
    )  # fmt: skip
    if output is not None:
        tuned.save(output)
    if as_json:
        typer.echo(options.json_text(tuned.to_dict()))
    else:
        lines = [f"{name}\t{weight!r}" for name, weight in tuned.weights.items()]
        typer.echo("\n".join(lines) if quiet else repr(tuned))
    if requests is not None:
        tuned.write(requests)
    if engine is not None and not as_json and not quiet:
        typer.echo(f"\n{tuned.formula(engine.partition('@')[0])}", nl=False)
    if plot is not None:
        with write_bytes(plot) as stream:
            tuned.plot().savefig(stream, format=plot.suffix.lstrip(".") or "png", dpi=120)


def _systems(data: str, runs: list[str], columns: list[str], quiet: bool) -> tuple[dict[str, Any], Any]:
    if runs:
        if columns:
            raise OptionError("--column: expected no runs beside columns of DATA")
        return dict(arguments.system_files(runs)), data
    from argrank.data.io.load import load
    from argrank.data.io.trec.forms import is_qrels_file

    if is_qrels_file(data):
        raise OptionError(f"{data}: expected runs after the judgements, such as bm25.run embedding.run")
    judged = load(data, progress=not quiet)
    names = judged.feature_names or [str(number + judged.feature_base) for number in range(judged.n_features)]
    unknown = next((name for name in columns if name not in names), None)
    if unknown is not None:
        raise OptionError(f"--column: expected one of {', '.join(names)}, got {unknown!r}")
    X = judged.X.toarray() if judged.is_sparse else judged.X
    wanted = columns or list(names)
    return {name: judged.to_caller(X[:, list(names).index(name)]) for name in wanted}, judged


def _normalise(given: list[str]) -> Any:
    """Return one name for all systems, or a mapping by system."""
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
