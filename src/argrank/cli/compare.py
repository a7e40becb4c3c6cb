"""``argrank compare``: which system is better, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import _options as options
from argrank.cli import arguments
from argrank.evaluation import defaults


@options.with_columns
def run(
    data: str = options.JUDGED,
    scores: list[str] = typer.Argument(
        None, metavar="SCORES", help="Two or more files of scores or runs as for `argrank evaluate`, or NAME=FILE."
    ),
    measures: list[str] = options.MEASURES,
    convention: str = options.CONVENTION,
    column: str | None = options.COLUMN,
    features: list[str] = options.SYSTEM,
    by: str | None = options.BY,
    judged_only: bool = options.JUDGED_ONLY,
    baseline: str | None = typer.Option(
        None, "--baseline", metavar="NAME", help="Compare all others with this system only."
    ),
    test: str = typer.Option(defaults.TEST, "--test", metavar="t|wilcoxon|randomisation", help="The paired test."),
    correction: str = typer.Option(
        defaults.CORRECTION, "--correction", metavar="holm|none", help="Correction of p for the number of pairs."
    ),
    level: float = typer.Option(
        defaults.LEVEL, "--level", help="What counts as significant; intervals cover the rest."
    ),
    n_resamples: int = typer.Option(
        defaults.N_RESAMPLES, "--resamples", help="Of the bootstrap and the randomisation test."
    ),
    random_state: int = typer.Option(0, "--seed", help="Seed of the resampling."),
    output_format: str = options.FORMAT,
    output: Path | None = options.OUTPUT,
) -> None:
    """Compare systems on the same queries.

    Prints their means and, for every pair, the difference with its interval, p of a paired test corrected for the
    number of pairs, the effect size, and how many queries each wins. A system is called by its file's name without the
    ending, or as you say with NAME=FILE.

    For example:
      argrank compare test.txt bm25.txt ours.txt
      argrank compare test.txt bm25=old.txt ours=new.txt --baseline bm25 -m ndcg@10,map
      argrank compare test.txt *.run --test randomisation --format latex -o table.tex
      argrank compare judged.qrels bm25.run ours.run --by segments.csv
    """
    from argrank.evaluation.compare import compare
    from argrank.evaluation.comparison import check_format

    check_format(output_format)
    names = options.split_names(measures)
    files = arguments.system_files(scores or [])
    judged = arguments.judged(data, files, column)
    systems = {name: arguments.system(file, judged, column) for name, file in files.items()}
    systems |= arguments.feature_systems(options.names_of(features), judged)
    arguments.check_systems(systems)
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
    options.write_text(result.render(output_format), output)
