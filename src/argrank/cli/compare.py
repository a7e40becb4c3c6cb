"""``argrank compare``: which system is better, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path

from argrank.cli import _on_log, arguments, options
from argrank.cli.options import argument, option
from argrank.evaluation import defaults


@options.with_columns
def run(
    data: str = options.JUDGED,
    scores: list[str] = argument(
        "SCORES", None, "Two or more files of scores or runs as for `argrank evaluate`, or NAME=FILE."
    ),
    measures: list[str] = options.MEASURES,
    convention: str = options.CONVENTION,
    column: str | None = options.COLUMN,
    features: list[str] = options.SYSTEM,
    by: str | None = options.BY,
    judged_only: bool = options.JUDGED_ONLY,
    baseline: str | None = option("--baseline NAME", None, "Compare all others with this system only."),
    test: str = option("--test t|wilcoxon|randomisation", defaults.TEST, "The paired test."),
    correction: str = option("--correction holm|none", defaults.CORRECTION, "Correction of p for the number of pairs."),
    level: float = option("--level", defaults.LEVEL, "Significance level; intervals cover 1 - LEVEL."),
    n_resamples: int = option("--resamples", defaults.N_RESAMPLES, "Resamples of the randomisation test."),
    random_state: int = option("--seed", 0, "Seed of the resampling."),
    with_power: bool = option(
        "--power", False, "Also print the smallest difference these queries can show, and how many queries others need."
    ),
    difference: float = option("--difference X", 0.01, "A difference of the measure that you care about, for --power."),
    disagreement: float = option(
        "--disagreement SHARE", 0.1, "Share of labels on which a second judge would differ, for --power."
    ),
    clicks: Path | None = _on_log.LOG,
    curve: Path | None = _on_log.CURVE,
    estimator: str = _on_log.ESTIMATOR,
    candidates: str | None = _on_log.FEATURES,
    min_coverage: float = _on_log.MIN_COVERAGE,
    min_clicks: float = _on_log.MIN_CLICKS,
    output_format: str = options.FORMAT,
    output: Path | None = options.OUTPUT,
    quiet: bool = option("--quiet -q", False, "Only errors on standard error."),
) -> None:
    """Compare systems on the same queries.

    Prints their means and, for every pair, the difference with its interval, p of a paired test corrected for the
    number of pairs, the effect size, and how many queries each wins. A system is named after its file, without the
    extension, or by NAME=FILE.

    For example:
      argrank compare test.txt bm25.txt ours.txt
      argrank compare test.txt bm25=old.txt ours=new.txt --baseline bm25 -m ndcg@10,map
      argrank compare test.txt *.run --test randomisation --format latex -o table.tex
      argrank compare judged.qrels bm25.run ours.run --by segments.csv
      argrank compare --clicks log.parquet bm25.run ours.run -m dcg@10 --propensities theta.json
      argrank compare test.txt bm25.txt ours.txt --power --difference 0.02
    """
    from argrank._results import check_format
    from argrank.evaluation.compare import compare

    check_format(output_format)
    if clicks is not None:
        _on_log.refuse(by=by, judged_only=judged_only, power=with_power)
        log, theta = _on_log.read(clicks, curve)
        runs, table = _on_log.systems([data, *(scores or [])], candidates)
        asked = {"propensities": theta, "estimator": estimator, "features": table}
        asked |= {"min_coverage": min_coverage, "min_clicks": min_clicks}
        found = compare(runs, log, _on_log.measures(measures), baseline=baseline, **asked)
        options.write_text(found.render(output_format), output)
        return
    names = options.split_names(measures)
    files = arguments.system_files(scores or [])
    judged, systems = arguments.read_systems(data, files, column, options.names_of(features), progress=not quiet)
    result = compare(
        systems,
        judged,
        names,
        convention=convention,
        by=arguments.segments(by),
        judged_only=judged_only or None,
        baseline=baseline,
        test=test,
        correction=correction,
        level=level,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    if not with_power:
        options.write_text(result.render(output_format), output)
        return
    from argrank.evaluation.power import power

    found = power(result, difference, scores=systems, data=judged, disagreement=disagreement, random_state=random_state)
    if output_format == "json":
        text = options.json_text(result.to_dict() | {"power": found.to_dict()})
    else:
        text = f"{result.render(output_format)}\n\n{found.render(output_format)}"
    options.write_text(text, output)
