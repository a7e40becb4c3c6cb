"""``argrank predict``: score documents with a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argrank.cli import _special, arguments, options
from argrank.cli.options import argument, file_option, option
from argrank.errors import OptionError


@options.with_columns
def run(
    model: Path = argument("MODEL.json", ..., "Model saved by `argrank train` or ranker.save."),
    data: str = argument("DATA", ..., "Documents to score, in any format that training takes; labels are not used."),
    output: Path | None = file_option(
        "--output -o FILE",
        None,
        "Where to write: .csv, .tsv, .parquet, .arrow or .jsonl is a table of qid, docid, rank and score, any "
        "other file one score per line; standard output by default.",
    ),
    keep: bool = option("--keep", False, "Also write the columns of DATA into the table."),
    bare: bool = option("--scores", False, "Write one score per line in the order of DATA."),
    as_run: bool = option("--run", False, "Write a TREC run: qid Q0 docid rank score tag."),
    tag: str = option("--tag WORD", "argrank", "Name of the system in the TREC run."),
    diverse: int = option(
        "--diverse N", 0, "Allow at most N documents of a source (column `source`) among the first ranks."
    ),
    depth: int = option("--top K", 10, "How many ranks --diverse looks at."),
    quiet: bool = options.QUIET,
) -> None:
    """Score documents with a saved model.

    With -o FILE.csv (or .parquet, .jsonl …) it writes a table of qid, docid, rank and score, the best documents of
    every query first; otherwise one score per line in the order of DATA. `argrank evaluate` and `argrank compare` read
    both, except .jsonl. The model finds its features by name; labels and other columns are ignored. Greater scores are
    better; only differences within a query are meaningful. With --diverse the scores are reversed ranks, for the order
    in which no source is repeated too often.

    A model of factor-rank scores the users and items of DATA. One of position-match fills pages: a line for every query
    and slot with the document's id, or its row where there are no ids.

    For example:
      argrank predict model.json new.csv -o ranked.csv --keep
      argrank predict model.json test.txt -o scores.txt
      argrank predict model.json test.txt --run -o model.run
      argrank predict model.json shop.csv --diverse 1 --top 5 --run -o diverse.run
      argrank evaluate test.txt scores.txt
    """
    from argrank.data.io.ranked import ranked_columns, table_kind, write_ranked
    from argrank.data.io.scores import write_scores
    from argrank.data.io.trec.files import write_run
    from argrank.models.files import load_model

    if as_run and output is None:
        raise OptionError("--run: expected -o FILE, the run to write, got none")
    kind = None if as_run or bare else table_kind(output)
    if keep and kind is None:
        raise OptionError("--keep: expected -o FILE.csv, .tsv, .parquet, .arrow or .jsonl, got no table to write")
    loaded: Any = load_model(model)
    special = {"factors": _special.predict_pairs, "slots": _special.predict_pages}.get(loaded.kind)
    if special is not None:
        if as_run or diverse:
            raise OptionError(f"--run and --diverse: expected a model that ranks documents, got {loaded.kind}")
        options.write_text("\n".join(special(loaded, data)), output)
        return
    documents = arguments.documents_for(loaded, data, not quiet)
    scores = loaded.predict(documents)
    if diverse:
        from argrank.evaluation.diversity import diversify

        scores = diversify(scores, documents, depth, diverse)
    if output is not None and kind is not None:
        write_ranked(ranked_columns(scores, documents, data if keep else None), output, kind)
    elif output is None:
        typer.echo("\n".join(map(repr, scores.tolist())))
    elif as_run:
        write_run(scores, documents, output, tag)
    else:
        write_scores(scores, output)
