"""``argrank demo``: a tour of the bundled data in a few seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import typer
from numpy.typing import NDArray

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset

MEASURES = ["ndcg@10", "map", "mrr@10"]
SIGNALS = ("bm25_title", "bm25_description", "embedding_similarity", "rating", "click_rate")
TOP = 5

NEXT = """\
Your own data: a file with one judged document a line (LETOR/SVMlight text), or a table with columns qid and label.
  argrank inspect  train.txt test.txt            what is in it, what will hurt, what leaks
  argrank evaluate test.txt scores.txt           how good scores are: one a line, or a TREC run
  argrank compare  test.txt old.txt new.txt      which is better, and whether that is more than chance
  argrank convert  train.csv train.txt           from any format to any other
In Python:
  import argrank as ar
  data = ar.load_bundled()                       # or ar.load("train.txt"), or ar.Dataset(X, y, qid)
  scores = data.X[:, data.feature_names.index("bm25_title")]
  ar.evaluate(scores, data, ["ndcg@10", "map"])"""


def run() -> None:
    """Inspect the bundled data, evaluate two simple scorings of it and compare them."""
    from argrank.data.bundled import load_bundled
    from argrank.data.doctor import doctor
    from argrank.data.normalise import normalise
    from argrank.data.overview import Overview
    from argrank.evaluation.compare import compare
    from argrank.evaluation.evaluate import evaluate

    data = load_bundled()
    names = data.feature_names or ()
    diagnosis = doctor(data)
    _heading(1, "The data: a shop's search, invented for this demo")
    typer.echo(f"{data!r}\n{Overview(data, diagnosis.features[0])!r}")

    _heading(2, "What in it will hurt")
    typer.echo(repr(diagnosis))

    _heading(3, "Two simple scorings")
    columns = [names.index(name) for name in SIGNALS]
    scorings = {
        "bm25": data.X[:, names.index("bm25_title")],
        "sum": normalise(data, "standard").X[:, columns].sum(axis=1),
    }
    typer.echo(f"bm25: the feature bm25_title alone\nsum:  {' + '.join(SIGNALS)}, each standardised")
    results = {name: evaluate(scores, data, MEASURES) for name, scores in scorings.items()}
    for name, result in results.items():
        typer.echo(f"\n{name}\n{result!r}")

    _heading(4, "Is the difference more than chance?")
    typer.echo(repr(compare(scorings, data, MEASURES)))

    _heading(5, "One query, explained")
    improvement = results["sum"].values["ndcg@10"] - results["bm25"].values["ndcg@10"]
    query = int(np.nanargmax(improvement))
    for name, scores in scorings.items():
        _show_top(data, query, name, scores)
    explained = evaluate(scorings["sum"], data, f"ndcg@{TOP}", explain=data.query_ids[query]).explanation
    lines = repr(explained).splitlines()
    typer.echo("\n".join(lines[: TOP + 4]))

    _heading(6, "Next")
    typer.echo(NEXT)


def _heading(number: int, text: str) -> None:
    title = f"{number}. {text}"
    typer.echo(f"\n{title}\n{'=' * len(title)}")


def _show_top(data: Dataset, query: int, name: str, scores: NDArray[np.float64]) -> None:
    """Print the best products of a query with their labels."""
    begin, end = data.indptr[query : query + 2]
    best = begin + np.argsort(-scores[begin:end], kind="stable")[:TOP]
    if data.query_texts is None or data.titles is None:
        return
    typer.echo(f'"{data.query_texts[query]}" ranked by {name}:')
    for row in best:
        typer.echo(f"  label {data.y[row]:g}  {data.titles[row]}")
    typer.echo("")
