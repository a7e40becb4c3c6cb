"""Every ranker at its defaults on every data set: table.csv and README.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.table [--rankers A B] [--sets C D]

Rankers are fitted on training parts and judged on test parts, without any choice: what ``make_ranker(name).fit(train)``
gives. The one exception is the yardstick, RankSVM with C chosen on the validation part. What is in table.csv is not
computed again; the values of single queries, for paired differences, are in queries.jsonl.gz.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from experiments._common import quiet, title
from experiments.defaults._common import HERE, SETS, ArgrankError, Store, fitted_on, fold_of, judged

YARDSTICK = "rank-svm, chosen"
CHOICES = {"C": [0.1, 1.0, 10.0, 30.0, 100.0, 1e3, 1e4]}
MEASURE = "ndcg@10"
OWN = ("auto",)  # chooses by itself, which takes far longer: only when asked for


class Queries:
    """NDCG@10 of every query, by ranker, set and fold, in a compressed file with a line for each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.values: dict[tuple[str, str, str], np.ndarray] = {}
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as stream:
                for line in stream:
                    *key, values = json.loads(line)
                    self.values[tuple(key)] = np.array(values, float)

    def add(self, key: tuple[str, str, str], values: np.ndarray) -> None:
        """Append a line."""
        rounded = [None if np.isnan(value) else round(float(value), 5) for value in values]
        with gzip.open(self.path, "at", encoding="utf-8") as stream:
            stream.write(json.dumps([*key, rounded]) + "\n")
        self.values[key] = np.array(rounded, float)


def compute(store: Store, queries: Queries, rankers: list[str], sets: list[str]) -> None:
    """Fit what is missing, fold by fold, with the yardstick first."""
    for name in sets:
        for fold in range(1, SETS[name][1] + 1):
            for ranker in [YARDSTICK, *rankers]:
                key = {"data": name, "fold": fold, "ranker": ranker}
                if not store.has(key):
                    row, values = _judge(name, fold, ranker)
                    if values is not None:
                        queries.add((name, str(fold), ranker), values)
                    store.add({**key, **row})
                    print(*key.values(), row, flush=True)


def _judge(name: str, fold: int, ranker: str) -> tuple[dict[str, Any], np.ndarray | None]:
    parts, parameters = fold_of(name, fold), {}
    if ranker == YARDSTICK:
        with quiet():
            found = ar.select("rank-svm", CHOICES, parts.train, parts.valid, MEASURE, progress=False)
        ranker, parameters = "rank-svm", found.params
    try:
        fitted, seconds = fitted_on(parts.train, ranker, parameters)
        values, constant = judged(fitted, parts.test)
    except ArgrankError as error:
        return {MEASURE: np.nan, "constant": "", "seconds": np.nan, "setting": "", "failed": str(error)}, None
    setting = json.dumps(parameters) if parameters else ""
    mean = float(np.nanmean(values[MEASURE]))
    row = {MEASURE: mean, "constant": int(constant), "seconds": seconds, "setting": setting, "failed": ""}
    return row, values[MEASURE]


# ---- the page -------------------------------------------------------------------------------------------------------


def pooled(queries: Queries, ranker: str, name: str) -> np.ndarray | None:
    """Return the values of all test queries of a set; None where a fold is missing."""
    keys = [(name, str(fold), ranker) for fold in range(1, SETS[name][1] + 1)]
    if not all(key in queries.values for key in keys):
        return None
    return np.concatenate([queries.values[key] for key in keys])


def half_width(values: np.ndarray) -> float:
    """Return half the width of the 95 % interval of a mean, from its standard error."""
    values = values[~np.isnan(values)]
    return float(1.96 * values.std(ddof=1) / np.sqrt(len(values)))


def table(store: Store, queries: Queries) -> str:
    """Return a row a ranker: its mean on every set with the paired difference to the yardstick below."""
    rankers = list(dict.fromkeys(row["ranker"] for row in store.rows))
    names = [name for name in SETS if pooled(queries, YARDSTICK, name) is not None]
    seconds: dict[str, float] = defaultdict(float)
    constant: dict[str, int] = defaultdict(int)
    for row in store.rows:
        seconds[row["ranker"]] += float(row["seconds"]) if row["seconds"] != "nan" else 0.0
        constant[row["ranker"]] += row["constant"] == "1"
    lines = [
        f"| ranker | {' | '.join(map(title, names))} | mean difference | constant fits | CPU s |",
        f"|---|{'--:|' * (len(names) + 3)}",
    ]
    for ranker in rankers:
        cells, differences = [], []
        for name in names:
            values, yardstick = pooled(queries, ranker, name), pooled(queries, YARDSTICK, name)
            if values is None or yardstick is None:
                cells.append("")
                continue
            paired = values - yardstick
            differences.append(float(np.nanmean(paired)))
            cells.append(f"{np.nanmean(values):.4f}")
            if ranker != YARDSTICK:
                cells[-1] += f"<br>{differences[-1]:+.4f} ± {half_width(paired):.4f}"
        mean = f"{np.mean(differences):+.4f}" if len(differences) == len(names) else ""
        lines.append(f"| {ranker} | {' | '.join(cells)} | {mean} | {constant[ranker]} | {seconds[ranker]:.0f} |")
    return "\n".join(lines) + "\n"


def write_page(store: Store, queries: Queries) -> None:
    """Put the table into README.md, between its marks."""
    page = HERE / "README.md"
    before, _, rest = page.read_text("utf-8").partition("<!-- table -->\n")
    _, _, after = rest.partition("<!-- end of table -->\n")
    page.write_text(f"{before}<!-- table -->\n{table(store, queries)}<!-- end of table -->\n{after}", "utf-8")


def main() -> None:
    """Compute what is missing, then write the page."""
    usual = [name for name in ar.ranker_names() if name not in OWN]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rankers", nargs="+", default=usual, choices=ar.ranker_names())
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    asked = parser.parse_args()
    store = Store(HERE / "table.csv", ("data", "fold", "ranker"))
    queries = Queries(HERE / "queries.jsonl.gz")
    compute(store, queries, asked.rankers, asked.sets)
    write_page(store, queries)


if __name__ == "__main__":
    main()
