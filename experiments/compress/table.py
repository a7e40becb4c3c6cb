"""What ``ar.compress`` gains and loses: the blend of `auto`, and one small forest that follows it; table.csv, table.md.

`auto` is trained on the training part of each set, and both are compared on its validation part or on further generated
queries, paired by query; test parts are not touched. Time is CPU on one thread: microseconds a document in one batch of
all judged documents, and milliseconds of the first query alone; median of repeats. Lines that are in table.csv already
are not computed again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.data import bundled, collection

import argrank as ar
from argrank.models.model import Model
from argrank.trials.compress import n_trees_of
from experiments._common import fit, quiet, resumed
from experiments.symmetric.members import generated

HERE = Path(__file__).parent
FIGURES, PAGE = HERE / "table.csv", HERE / "table.md"
TREES: tuple[int | None, ...] = (100, 300, None)  # None: a tenth of those of the blend, the default
HEAD = "| set | documents | trees | size | µs a document | ms a query | NDCG@10 lost |\n|---|--:|--:|--:|--:|--:|--:|"


Parts = Callable[[], tuple[ar.Dataset, ar.Dataset]]  # makes training queries, and queries to judge by


def made(truth: str, seed: int) -> Parts:
    """Return a maker of 240 training and 400 judged queries of 50 documents."""
    return lambda: ar.make_ranking(640, 50, 40, truth=truth, random_state=seed).split(0.375, 0.625)


def collected(name: str, number: int) -> Parts:
    """Return a reader of the training and validation part of a fold."""

    def read() -> tuple[ar.Dataset, ar.Dataset]:
        fold = bundled(number) if name == "shop (bundled)" else collection(name, number)
        assert fold.valid is not None
        return fold.train, fold.valid

    return read


SETS: dict[str, Parts] = {
    **{name: collected(name, 1) for name in ("shop (bundled)", "MQ2008", "OHSUMED-LETOR3")},
    "generated, nonlinear": made("nonlinear", 7),
    "generated, linear": made("linear", 8),
    **{f"generated, {kind}": partial(generated, kind, 31, 1250, 40) for kind in ("interactions", "asymmetric trees")},
}


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median CPU seconds of some work, after one turn to warm up."""
    work()
    taken = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return float(np.median(taken))


def line(name: str, model: Model, valid: ar.Dataset, train: ar.Dataset) -> dict[str, Any]:
    """Return the figures of one model."""
    query = valid.select([0])
    return {
        "set": name,
        "documents": train.n_documents,
        "trees": n_trees_of(model),
        "bytes": len(json.dumps(model.to_dict())),
        "us_document": round(1e6 * seconds(lambda: model.predict(valid), 5) / valid.n_documents, 3),
        "ms_query": round(1e3 * seconds(lambda: model.predict(query), 30), 4),
    }


def figures(name: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of one set: the blend, then the small forests."""
    train, valid = SETS[name]()
    large = fit("auto", train, n_jobs=1).model_
    mean = ar.evaluate(large, valid, "ndcg@10").means["ndcg@10"]
    nothing = {"follows": "", "difference": "", "low": "", "high": "", "queries": ""}
    yield {**line(name, large, valid, train), "ndcg10": round(mean, 5), **nothing}
    for most in TREES:
        with quiet():
            found = ar.compress(large, train, max_trees=most, check=valid, n_jobs=1)
        assert found.loss is not None
        low, high = found.loss.interval
        yield {
            **line(name, found.model, valid, train),
            "ndcg10": round(mean + found.loss.difference, 5),
            "follows": round(found.follows, 4),
            "difference": round(found.loss.difference, 5),
            "low": round(low, 5),
            "high": round(high, 5),
            "queries": found.loss.n_queries,
        }


def page(rows: list[dict[str, Any]]) -> str:
    """Return the table in Markdown, and its means over sets."""
    lines = [HEAD]
    for row in rows:
        size = f"{float(row['bytes']) / 1000:,.0f} kB"
        lost = "the blend" if row["difference"] == "" else f"{-float(row['difference']):+.4f} [{_lost(row)}]"
        cells = (row["set"], f"{int(row['documents']):,}", f"{int(row['trees']):,}", size, row["us_document"])
        lines.append(f"| {' | '.join(map(str, (*cells, row['ms_query'], lost)))} |")
    lines += ["", "Means over the sets, small forest against blend:", "", "| trees | size | time of a document | "]
    lines[-1] += "time of a query | NDCG@10 lost |"
    lines.append("|--:|--:|--:|--:|--:|")
    blends = {row["set"]: row for row in rows if row["difference"] == ""}
    for place, most in enumerate(TREES):
        asked = "a tenth" if most is None else str(most)
        small = [[row for row in rows if row["set"] == name][place + 1] for name in blends]
        shares = [
            np.exp(np.mean([np.log(float(row[column]) / float(blends[row["set"]][column])) for row in small]))
            for column in ("bytes", "us_document", "ms_query")
        ]
        lost = -float(np.mean([float(row["difference"]) for row in small]))
        width = 0.5 * np.sqrt(np.mean([(float(row["high"]) - float(row["low"])) ** 2 for row in small]) / len(small))
        cells = (
            asked,
            *(f"{share:.1%}" for share in shares),
            f"{lost:+.4f} [{lost - width:+.4f}, {lost + width:+.4f}]",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _lost(row: dict[str, Any]) -> str:
    return f"{-float(row['high']):+.4f}, {-float(row['low']):+.4f}"


def main() -> None:
    """Compute what is missing, and write the page."""
    rows = resumed(FIGURES, SETS, figures)
    PAGE.write_text("# A small forest in the place of a blend\n\n" + (__doc__ or "") + "\n" + page(rows))


if __name__ == "__main__":
    main()
