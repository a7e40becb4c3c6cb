"""``argrank demo``: the main job on the bundled data, in about a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from argrank._types import Floats, Integers
from argrank.cli import options

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset
    from argrank.trials.trial import Trial

TOP = 5
BASELINE = "bm25_title"  # what a shop would rank by without learning

NEXT = """\
Look at the report: open {folder}/index.html in a browser.
Your own data: a file with one judged document a line (LETOR/SVMlight text), or a table with columns qid and label.
  argrank inspect train.txt                      what is in it, and what to watch out for
  argrank cv data.txt -m ndcg@10                 the same comparison on your data, with a report
  argrank train train.txt --test test.txt -o model.json
  argrank predict {folder}/model.json new.csv    scores from the model just saved
In Python:
  import argrank as ar
  data = ar.load("data.txt")                     # or ar.Dataset(X, y, qid), or a data frame with qid and label
  ar.write_report("report.html", ar.benchmark(data))"""


def run(
    output: Path = typer.Option(
        Path("demo-report"), "--output", "-o", metavar="FOLDER", help="Where the report and the model go."
    ),
) -> None:
    """Train a spread of rankers on the bundled data, compare them, explain a query, and write a report."""
    from argrank.data.bundled import load_bundled
    from argrank.data.doctor import doctor
    from argrank.rankers.registry import first_comparison
    from argrank.trials.cv import benchmark

    options.listen(verbose=True)
    data = load_bundled()
    _heading(1, "The data: a shop's search, invented for this demo")
    typer.echo(repr(data))

    _heading(2, "What to watch out for")
    typer.echo(repr(doctor(data)))

    _heading(3, "Training: every ranker at several settings, the best chosen on validation queries")
    train, valid, test = data.split(0.6, 0.2, 0.2)
    typer.echo(f"{train.n_queries} queries train, {valid.n_queries} validate, {test.n_queries} test.")
    found = benchmark(train, rankers=[*first_comparison(), "auto"], valid=valid, test=test, progress=False)
    typer.echo("\nThe members of auto, on training queries held out:")
    typer.echo(found.folds["auto"][0].ranker.summary())

    _heading(4, f"On the {test.n_queries} test queries")
    typer.echo(repr(found))

    best = found.best or ""
    _heading(5, f"One query: what {best} moved, and why")
    _explain(found)

    _heading(6, "Saved")
    output.mkdir(parents=True, exist_ok=True)
    found.ranker().save(output / "model.json")
    typer.echo(f"{output / 'model.json'}: {best}, the best on validation queries, trained again on all data")
    typer.echo(f"{_report(found, train, valid, output)}: the report")

    _heading(7, "Next")
    typer.echo(NEXT.format(folder=output))


def _heading(number: int, text: str) -> None:
    title = f"{number}. {text}"
    typer.echo(f"\n{title}\n{'=' * len(title)}")


def _explain(found: Trial) -> None:
    """Show the query that gains most over the baseline, and why a document overtook another."""
    from argrank.evaluation.evaluate import evaluate
    from argrank.report.why import why_above

    best = found.best or ""
    data, ranker = found.data, found.folds[best][0].ranker  # the one that never saw these queries
    names = data.feature_names or ()
    rankings = {BASELINE: data.X[:, names.index(BASELINE)], best: ranker.predict(data)}
    values = [evaluate(scores, data, "ndcg@10").values["ndcg@10"] for scores in rankings.values()]
    query = int(np.nanargmax(values[1] - values[0]))
    typer.echo(f"NDCG@10 from {values[0][query]:.4f} to {values[1][query]:.4f}.")
    tops = {name: _show_top(data, query, name, scores) for name, scores in rankings.items()}
    above, below = int(tops[best][0]), int(tops[BASELINE][0])
    if above != below and ranker.model_.contributions(data.X[:1], np.array([0, 1])) is not None:
        typer.echo(f"{why_above(ranker, data, above, below)!r}")


def _show_top(data: Dataset, query: int, name: str, scores: Floats) -> Integers:
    """Print the best products of a query with their labels and return their rows."""
    begin, end = data.indptr[query : query + 2]
    best: Integers = begin + np.argsort(-scores[begin:end], kind="stable")[:TOP]
    texts: Any = data.query_texts
    titles: Any = data.titles
    typer.echo(f'"{texts[query]}" ranked by {name}:')
    for row in best:
        typer.echo(f"  label {data.y[row]:g}  {titles[row]}")
    typer.echo("")
    return best


def _report(found: Trial, train: Dataset, valid: Dataset, folder: Path) -> Path:
    """Write the report, with intervals of the best linear ranker's weights and a path over C."""
    from argrank.models.linear import LinearModel
    from argrank.report.write import write_report
    from argrank.trials.bootstrap import bootstrap_weights
    from argrank.trials.path import regularisation_path

    fitted = {name: runs[0].ranker for name, runs in found.folds.items()}
    linear = [name for name, ranker in fitted.items() if isinstance(ranker.model_, LinearModel)]
    leader = max(linear, key=lambda name: found.validation[name])
    intervals = bootstrap_weights(fitted[leader], train, n_resamples=20, progress=False)
    path = regularisation_path(
        fitted["svm-auc"], [0.01, 0.1, 1, 10, 100], train, valid, found.measures[0], progress=False
    )
    target = folder / "index.html"
    return write_report(target, found, title="argrank demo", weights={leader: intervals}, paths={"svm-auc": path})
