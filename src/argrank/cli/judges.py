"""``argrank judges``: how well judges agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from argrank.cli import arguments, options
from argrank.cli.options import argument, file_option, option
from argrank.errors import OptionError
from argrank.evaluation import defaults


@options.with_columns
def run(
    judgements: list[str] = argument(
        "QRELS", ..., "Two or more files of judgements (TREC qrels, tables, judged data), or NAME=FILE."
    ),
    weights: str = option("--weights quadratic|linear", "quadratic", "Weights of the weighted kappa."),
    metric: str = option("--metric ordinal|nominal|interval", "ordinal", "Level of alpha by segment."),
    by: Path | None = option("--by FILE", None, "Segments of queries: a table with the columns qid and segment."),
    again: Path | None = file_option(
        "--again FILE", None, "Write the ids of queries to judge again, most disagreement first."
    ),
    level: float = option("--level", defaults.LEVEL, "Intervals cover 1 - LEVEL."),
    output_format: str = options.FORMAT,
    output: Path | None = options.OUTPUT,
) -> None:
    """Measure how well judges agree on the same documents, beyond chance: kappa, Krippendorff's alpha, grade by grade.

    Judges may be people, a model, or grades made from clicks. Intervals come from leaving out queries in turn. A judge
    is named after the file, without the extension, or by NAME=FILE.

    For example:
      argrank judges expert.qrels model.qrels
      argrank judges anna=a.qrels ben=b.qrels model=m.csv --by segments.csv --format latex
    """
    from argrank._results import check_format
    from argrank.evaluation.judges.agreement import agreement
    from argrank.evaluation.segments import read_segments

    check_format(output_format)
    files: Any = {name: Path(file) for name, file in arguments.system_files(judgements).items()}
    if len(files) < 2:
        raise OptionError(f"QRELS: expected judgements of at least two judges, got {len(files)}")
    segments = None if by is None else read_segments(by)
    settings: dict[str, Any] = {"weights": weights, "metric": metric, "by": segments, "level": level}
    found = agreement(files, **settings)
    if again is not None:
        options.write_text("\n".join(str(one.qid) for one in found.queries if one.share > 0), again)
    options.write_text(found.render(output_format), output)
