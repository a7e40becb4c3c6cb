"""Rankers of every family on four data sets, each at parameters chosen by validation: rankers.csv and rankers.md.

Each data set is split by query into five parts; every query is tested once by a model that never saw it
(``ar.benchmark``, NDCG@10 of argrank's own convention). Data sets already in rankers.csv are not computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import argrank as ar
from experiments._common import read_csv, write_csv

HERE = Path(__file__).parent
FIGURES = HERE / "rankers.csv"

RANKERS = (
    "regression", "rank-svm", "rankboost", "svm-auc", "svm-map", "svm-ndcg", "svm-ndcg-nc", "log-mle", "log-gain",
    "listnet", "lambdarank", "adarank", "direct-rank", "mart", "lambda-mart", "direct-rank-trees",
)  # fmt: skip


def whole(collection: str) -> ar.Dataset:
    """Return all queries of a collection."""
    fold = ar.load_collection(collection)
    return ar.Dataset.concatenate([part for part in (fold.train, fold.valid, fold.test) if part is not None])


DATA: dict[str, Callable[[], ar.Dataset]] = {
    "shop (bundled)": ar.load_bundled,
    "OHSUMED": lambda: whole("OHSUMED-LETOR3"),
    "MSLR-sample": lambda: whole("MSLR-sample"),
    "MQ2008": lambda: whole("MQ2008"),
}


def compute(name: str) -> list[dict[str, str]]:
    """Return one row per ranker; "worse" holds the letters of those that it beats significantly."""
    data = DATA[name]()
    found = ar.benchmark(data, "ndcg@10", RANKERS, progress=False)
    if found.comparison is None or list(found.systems) != list(RANKERS):
        raise RuntimeError(f"{name}: a ranker failed: {found.notes}")
    letters = found.comparison.letters("ndcg@10")
    return [
        {
            "data": name,
            "queries": str(data.n_queries),
            "letter": found.comparison.letter_of(ranker),
            "ranker": ranker,
            "ndcg@10": f"{found.means[ranker]['ndcg@10']:.4f}",
            "worse": letters.get(ranker, ""),
            "seconds": f"{found.systems[ranker].seconds:.2f}",
        }
        for ranker in found.systems
    ]


def table(rows: list[dict[str, str]]) -> str:
    """Return the page: one row per ranker, one column per data set, the best in bold."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    cells = {(row["data"], row["ranker"]): row for row in rows}
    best = {name: max(row["ndcg@10"] for row in rows if row["data"] == name) for name in names}
    queries = {row["data"]: row["queries"] for row in rows}
    lines = [
        f"| | ranker | {' | '.join(f'{name}, {queries[name]} queries' for name in names)} |",
        f"|---|---|{'--:|' * len(names)}",
    ]
    for ranker in RANKERS:
        values = []
        for name in names:
            row = cells[name, ranker]
            value = f"**{row['ndcg@10']}**" if row["ndcg@10"] == best[name] else row["ndcg@10"]
            values.append(f"{value} <sup>{row['worse']}</sup>" if row["worse"] else value)
        lines.append(f"| {cells[names[0], ranker]['letter']} | {ranker} | {' | '.join(values)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compute what is missing and write both files."""
    rows = read_csv(FIGURES)
    for name in DATA:
        if not any(row["data"] == name for row in rows):
            rows += compute(name)
            write_csv(FIGURES, rows)
            (HERE / "rankers.md").write_text(table(rows), "utf-8")


if __name__ == "__main__":
    main()
