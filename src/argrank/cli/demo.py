"""``argrank demo``: a complete workflow on the bundled data, in about a minute and a half."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from argrank._files import make_folder
from argrank._tables import table, to_text
from argrank._types import Floats, Integers
from argrank.cli import options
from argrank.cli.options import option

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset
    from argrank.trials.trial import Trial

TOP = 5
BASELINE = "bm25_title"  # the feature that a shop would rank by without learning
LINEAR = ["rank-svm", "svm-auc", "svm-map", "listnet", "direct-rank", "regression"]
RANKERS = ["auto", "query-mart", "lambda-mart", *LINEAR]
N_FOLDS = 3
N_SESSIONS = 20_000
WIDTH = 100  # of lines, in characters: about that of a terminal
IN_THE_REPORT = ("chosen", "mrr@10", "auc")  # columns for which a terminal has no room

NEXT = """\
Look at the report: open {folder}/index.html in a browser.
Your own data: a file with one judged document per line (LETOR/SVMlight text), or a table with columns qid and label.
  argrank inspect data.csv                       what is in it, and what to watch out for
  argrank train data.csv --target opensearch -o model.json
  argrank predict model.json new.csv -o ranked.csv
  argrank cv data.csv -m ndcg@10                 the same comparison on your data, with a report
  argrank export model.json --to opensearch -o deploy
A click log instead of judgements:
  argrank clicks inspect log.parquet             what is in it
  argrank train features.csv --clicks log.parquet -o model.json
In Python:
  import argrank as ar
  data = ar.load("data.csv")                     # or ar.Dataset(X, y, qid), or a data frame with qid and label
  ar.write_report("report.html", ar.benchmark(data))"""


def run(
    output: Path = option("--output -o FOLDER", Path("demo-report"), "Where the report and the model go."),
) -> None:
    """Train several rankers on the bundled data, compare them, explain a query, and write a report."""
    from argrank.data.bundled import load_bundled
    from argrank.data.doctor import doctor
    from argrank.trials.cv import benchmark

    options.listen(verbose=True)
    data = load_bundled()
    _heading(1, "The data: a shop's search, invented for this demo")
    typer.echo(textwrap.fill(repr(data), WIDTH))

    _heading(2, "What to watch out for")
    typer.echo(repr(doctor(data)))

    _heading(3, "Training: three folds, so that every query is tested by models not trained on it")
    found = benchmark(data, rankers=RANKERS, n_folds=N_FOLDS, progress=False)
    best = found.best or ""

    _heading(4, f"The answer, on all {data.n_queries} queries")
    typer.echo(f"{textwrap.fill(_answer(found), WIDTH)}\n")
    typer.echo(_means(found))

    _heading(5, f"One query: what {best} moved, and why")
    _explain(found)

    _heading(6, "The same from clicks, without judgements")
    _learn_from_clicks(data)

    _heading(7, "Saved")
    make_folder(output)
    found.ranker().save(output / "model.json")
    typer.echo(f"{output / 'model.json'}: {best}, the best on validation queries, trained again on all data")
    typer.echo(f"{_report(found, output)}: the report")

    _heading(8, "Next")
    typer.echo(NEXT.format(folder=output))


def _heading(number: int, text: str) -> None:
    title = f"{number}. {text}"
    typer.echo(f"\n{title}\n{'=' * len(title)}")


def _means(found: Trial) -> str:
    """Return the means of all rankers, as far as they fit a terminal."""
    means = found.means_table()
    kept = [place for place, name in enumerate(means.header) if name not in IN_THE_REPORT]
    narrow = table([means.header[place] for place in kept], [[row[place] for place in kept] for row in means.rows], 2)
    return to_text([narrow], [line for note in found.footer[:2] for line in textwrap.wrap(note, WIDTH)])


def _baseline(data: Dataset) -> Floats:
    from argrank.evaluation.systems import feature_scores

    return feature_scores(data, BASELINE, "baseline")


def _answer(found: Trial) -> str:
    """Return the sentence with which the report begins."""
    from argrank.evaluation.compare import compare
    from argrank.report.verdict import duels_of, headline

    best, data = found.best or "", found.data
    compared = compare({best: found.scores[best], BASELINE: _baseline(data)}, data, "ndcg@10")
    return headline(best, duels_of(compared, best), compared, BASELINE, None).sentence


def _explain(found: Trial) -> None:
    """Show the query that gains most over the baseline, and why a document overtook another."""
    from argrank.evaluation.evaluate import evaluate
    from argrank.report.why import why_above

    best = found.best or ""
    data, system = found.data, found.systems[best]
    rankings = {BASELINE: data.from_caller(_baseline(data)), best: system.scores}
    values = [evaluate(data.to_caller(scores), data, "ndcg@10").values["ndcg@10"] for scores in rankings.values()]
    query = int(np.nanargmax(values[1] - values[0]))
    typer.echo(f"NDCG@10 from {values[0][query]:.4f} to {values[1][query]:.4f}.")
    tops = {name: _show_top(data, query, name, scores) for name, scores in rankings.items()}
    above, below = int(tops[best][0]), int(tops[BASELINE][0])
    model = next(model for model, queries in system.models if query in queries)  # not trained on this query
    if above != below and model.contributions(data.X[:1], np.array([0, 1])) is not None:
        typer.echo(f"{why_above(model, data, above, below)!r}")


def _learn_from_clicks(data: Dataset) -> None:
    """Simulate clicks on the baseline's pages, train on the clicks alone, and evaluate by the labels."""
    from argrank.clicks.from_clicks import from_clicks
    from argrank.clicks.propensities import propensities
    from argrank.clicks.simulation import simulate_clicks
    from argrank.evaluation.compare import compare
    from argrank.rankers import make_ranker

    train, test = data.split(0.8, 0.2)
    log = simulate_clicks(train, _baseline(train), n_sessions=N_SESSIONS, vary=1.0, random_state=0)
    seen: Any = propensities(log)  # one curve, as there is no device column
    typer.echo(f"{log.n_sessions:,} simulated searches show pages of {BASELINE}; people click {log.n_clicks:,} times.")
    curve = ", ".join(f"{value:.2f}" for value in seen.values[:5])
    typer.echo(f"Estimated probability that each rank is seen: {curve} … (true values: 1, 1/2, 1/3, 1/4, 1/5 …)")
    gains = from_clicks(log, train, propensities=seen, allow_leaks=True)  # click_rate is not from this log
    systems = {
        BASELINE: _baseline(test),
        "query-mart from clicks": make_ranker("query-mart").fit(gains).predict(test),
        "query-mart from labels": make_ranker("query-mart").fit(train).predict(test),
    }
    means = compare(systems, test, "ndcg@10").means
    typer.echo(f"NDCG@10 on {test.n_queries} other queries, by their labels:")
    for name, values in means.items():
        typer.echo(f"  {name:24}{values['ndcg@10']:.4f}")


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


def _report(found: Trial, folder: Path) -> Path:
    """Write the report, with intervals of the best linear ranker's weights and a path over C."""
    from argrank.models.linear import LinearModel
    from argrank.report.write import write_report
    from argrank.trials.bootstrap import bootstrap_weights
    from argrank.trials.path import regularisation_path

    fitted = {name: runs[0].ranker for name, runs in found.folds.items()}
    linear = [name for name, ranker in fitted.items() if isinstance(ranker.model_, LinearModel)]
    leader = max(linear, key=lambda name: found.validation[name])
    train, valid, _ = found.data.split(0.6, 0.2, 0.2)
    intervals = bootstrap_weights(fitted[leader], train, n_resamples=20, progress=False)
    path = regularisation_path(
        fitted["svm-auc"], [0.01, 0.1, 1, 10, 100], train, valid, found.measures[0], progress=False
    )
    target, title = folder / "index.html", "argrank demo"
    weights, paths = {leader: intervals}, {"svm-auc": path}
    return write_report(target, found, title=title, baseline=BASELINE, weights=weights, paths=paths)
