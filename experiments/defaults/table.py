"""Every ranker at its defaults on every data set: table.csv and README.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.table [--rankers A] [--sets B] [--folds 1]

Rankers are fitted on training parts and judged on test parts, without any choice: what ``make_ranker(name).fit(train)``
gives. The one exception is the yardstick, RankSVM with C chosen on the validation part. What is in table.csv is not
computed again; the values of single queries, for paired differences, are in queries.jsonl.gz. ``--again`` computes the
given rankers anew, after their defaults have changed.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from experiments._common import quiet, title
from experiments.defaults._common import HERE, SETS, ArgrankError, Store, fitted_on, fold_of, judged

YARDSTICK = "rank-svm, chosen"
CHOICES = {"C": [0.1, 1.0, 10.0, 30.0, 100.0, 1e3, 1e4]}
BASELINE = "regression"
MEASURE = "ndcg@10"
OWN = ("auto",)  # makes its own choice of parameters, which takes far longer: only on request


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

    def forget(self, which: Callable[[str, str], bool]) -> None:
        """Remove the lines of some sets and rankers from the file."""
        kept = {key: values for key, values in self.values.items() if not which(key[0], key[2])}
        self.path.unlink(missing_ok=True)
        self.values = {}
        for key, values in kept.items():
            self.add(key, values)

    def add(self, key: tuple[str, str, str], values: np.ndarray) -> None:
        """Append a line."""
        rounded = [None if np.isnan(value) else round(float(value), 5) for value in values]
        with gzip.open(self.path, "at", encoding="utf-8") as stream:
            stream.write(json.dumps([*key, rounded]) + "\n")
        self.values[key] = np.array(rounded, float)


def compute(store: Store, queries: Queries, rankers: list[str], sets: list[str], folds: list[int]) -> None:
    """Fit what is missing, fold by fold, with the yardstick first."""
    for name in sets:
        for fold in sorted(set(folds) & set(range(1, SETS[name][1] + 1))):
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


def folds_of(queries: Queries, ranker: str, name: str) -> list[str]:
    """Return the folds of a set that a ranker has, of those that the yardstick has."""
    return [str(fold) for fold in range(1, SETS[name][1] + 1) if _has(queries, name, fold, ranker, YARDSTICK)]


def _has(queries: Queries, name: str, fold: int, *rankers: str) -> bool:
    return all((name, str(fold), ranker) in queries.values for ranker in rankers)


def pooled(queries: Queries, ranker: str, name: str, folds: list[str]) -> np.ndarray:
    """Return the values of the test queries of some folds."""
    return np.concatenate([queries.values[name, fold, ranker] for fold in folds])


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of what is defined, and its standard error."""
    values = values[~np.isnan(values)]
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def against(queries: Queries, ranker: str, other: str, names: list[str]) -> tuple[float, float, int]:
    """Return the paired difference to another ranker, the mean over sets, its standard error, the number of sets."""
    found = []
    for name in names:
        folds = [fold for fold in folds_of(queries, ranker, name) if _has(queries, name, int(fold), other)]
        if folds:
            found.append(mean_and_error(pooled(queries, ranker, name, folds) - pooled(queries, other, name, folds)))
    means, errors = np.array(found).T
    return float(means.mean()), float(np.sqrt((errors**2).sum()) / len(errors)), len(found)


def verdicts(store: Store, queries: Queries) -> str:
    """Return one row per ranker: differences to RankSVM and to regression over all sets, and what follows."""
    names = _shown(queries)
    seconds: dict[str, float] = defaultdict(float)
    constant: dict[str, int] = defaultdict(int)
    for row in store.rows:
        seconds[row["ranker"]] += 0.0 if row["seconds"] == "nan" else float(row["seconds"])
        constant[row["ranker"]] += row["constant"] == "1"
    lines = [
        "| ranker | sets | to RankSVM chosen | to `regression` | verdict | constant fits | CPU s |",
        "|---|--:|--:|--:|---|--:|--:|",
    ]
    for ranker in dict.fromkeys(row["ranker"] for row in store.rows):
        svm, svm_error, _ = against(queries, ranker, YARDSTICK, names)
        mean, error, n_sets = against(queries, ranker, BASELINE, names)
        verdict = "" if ranker == BASELINE else "above" if mean > error else "**below**" if mean < -error else "level"
        own = "" if ranker == YARDSTICK else f"{svm:+.4f} ± {svm_error:.4f}"
        base = "" if ranker == BASELINE else f"{mean:+.4f} ± {error:.4f}"
        lines.append(
            f"| {ranker} | {n_sets} | {own} | {base} | {verdict} | {constant[ranker]} | {seconds[ranker]:.1f} |"
        )
    return "\n".join(lines) + "\n"


def table(store: Store, queries: Queries) -> str:
    """Return one row per ranker: its mean on every set with the paired difference to the yardstick below."""
    names = _shown(queries)
    heads = [f"{title(name)}<br>{_folds(len(folds_of(queries, YARDSTICK, name)))}" for name in names]
    lines = [f"| ranker | {' | '.join(heads)} |", f"|---|{'--:|' * len(names)}"]
    for ranker in dict.fromkeys(row["ranker"] for row in store.rows):
        cells = []
        for name in names:
            folds, every = folds_of(queries, ranker, name), folds_of(queries, YARDSTICK, name)
            if not folds:
                cells.append("")
                continue
            values = pooled(queries, ranker, name, folds)
            cells.append(f"{np.nanmean(values):.4f}" + ("" if folds == every else f" ({_folds(len(folds))})"))
            if ranker != YARDSTICK:
                mean, error = mean_and_error(values - pooled(queries, YARDSTICK, name, folds))
                cells[-1] += f"<br>{mean:+.4f} ± {1.96 * error:.4f}"
        lines.append(f"| {ranker} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(queries: Queries) -> list[str]:
    return [name for name in SETS if folds_of(queries, YARDSTICK, name)]


def _folds(number: int) -> str:
    return f"{number} fold" if number == 1 else f"{number} folds"


def write_page(store: Store, queries: Queries) -> None:
    """Put the tables into README.md, between their marks."""
    page, text = HERE / "README.md", (HERE / "README.md").read_text("utf-8")
    for mark, shown in (("verdicts", verdicts(store, queries)), ("table", table(store, queries))):
        before, _, rest = text.partition(f"<!-- {mark} -->\n")
        _, _, after = rest.partition(f"<!-- end of {mark} -->\n")
        text = f"{before}<!-- {mark} -->\n{shown}<!-- end of {mark} -->\n{after}"
    page.write_text(text, "utf-8")


def main() -> None:
    """Compute what is missing, then write the page."""
    usual = [name for name in ar.ranker_names() if name not in OWN]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rankers", nargs="+", default=usual, choices=ar.ranker_names())
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--folds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    store = Store(HERE / "table.csv", ("data", "fold", "ranker"))
    queries = Queries(HERE / "queries.jsonl.gz")
    if asked.again:
        store.forget(lambda row: row["ranker"] in asked.rankers and row["data"] in asked.sets)
        queries.forget(lambda name, ranker: ranker in asked.rankers and name in asked.sets)
    compute(store, queries, asked.rankers, asked.sets, asked.folds)
    write_page(store, queries)


if __name__ == "__main__":
    main()
