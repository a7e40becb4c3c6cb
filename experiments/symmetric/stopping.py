"""What early stopping gains for symmetric-mart, by the number of queries: stopping.csv, stopping.md.

`symmetric-mart` with its 400 trees, and with ``early_stopping=50``, for which a fifth of the training queries is held
out; `regression` beside them. The sets are those of `members` of at most 20,000 documents, further draws of the
stand-in td2003 (30 queries of 980 documents) and of ``ar.make_ranking``; no test part is read. ``python -m
experiments.symmetric.stopping`` takes four minutes.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.evaluation.evaluate import mean_of
from experiments._common import fit, write_csv
from experiments.symmetric.members import LARGE, Sets, sets

HERE = Path(__file__)
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "400 trees": ("symmetric-mart", {"n_jobs": 1}),
    "early stopping": ("symmetric-mart", {"n_jobs": 1, "early_stopping": 50}),
    "regression": ("regression", {"prepare": "always"}),
}
FEW = 70  # queries


def every() -> Sets:
    """Yield the name of every set and what makes it."""
    yield from (one for one in sets() if " | 1250 x" not in one[0])
    for seed in (21, 22, 23):
        yield f"td2003 | {seed}", lambda seed=seed: ar.make_standin("td2003", random_state=seed).split(0.6, 0.4)
    for truth, seed in itertools.product(("linear", "nonlinear"), (31, 32)):
        yield f"own {truth} | {seed}", lambda a=(truth, seed): own(*a)


def own(truth: Any, seed: int) -> tuple[ar.Dataset, ar.Dataset]:
    """Return 100 training queries and 230 to judge by."""
    return ar.make_ranking(330, (20, 60), 20, truth=truth, noise=1.0, random_state=seed).split(100 / 330, 230 / 330)


def page(rows: list[dict[str, Any]]) -> str:
    """Return the mean differences to 400 trees in Markdown."""
    few, long = [], []
    for row in rows:
        if row["queries"] < FEW:
            (long if row["set"].startswith("td2003") else few).append(row)
    groups = {
        f"fewer than {FEW} queries, without td2003": few,
        "td2003: 30 long queries": long,
        "more queries": [row for row in rows if row["queries"] >= FEW],
        "all": rows,
    }
    others = [way for way in WAYS if way != "400 trees"]
    lines = [f"| sets | | {' | '.join(others)} | worst and best of early stopping |", "|---|--:|--:|--:|--:|"]
    for title, own_rows in groups.items():
        cells = []
        for way in others:
            gaps = np.array([float(row[way]) - float(row["400 trees"]) for row in own_rows])
            cells.append(f"{gaps.mean():+.4f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}")
        gaps = np.array([float(row["early stopping"]) - float(row["400 trees"]) for row in own_rows])
        lines.append(f"| {title} | {len(own_rows)} | {' | '.join(cells)} | {gaps.min():+.4f}, {gaps.max():+.4f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both tables."""
    rows = []
    for name, make in every():
        found = make()
        if found is None or (found[0].n_documents > LARGE and not name.startswith("td2003")):
            continue
        train, judged = found
        row = {"set": name, "queries": train.n_queries, "documents": train.n_documents}
        for way, (ranker, parameters) in WAYS.items():
            row[way] = f"{mean_of(fit(ranker, train, **parameters).predict(judged), judged, 'ndcg@10'):.5f}"
        rows.append(row)
    write_csv(HERE.with_suffix(".csv"), rows)
    text = f"# Early stopping of symmetric-mart\n\n{__doc__}\n{page(rows)}"
    HERE.with_suffix(".md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
