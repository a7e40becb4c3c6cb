"""What preparing missing values and texts gains or costs, query by query: preparation.csv and preparation.md.

Linear rankers and auto on the five folds of OHSUMED-LETOR3-null and on three generated tables, against the usual
alternatives: leave out the rows, or the columns, that are not complete, or (auto) the members that cannot take them.
Every query is tested by a model that never saw it; differences are paired, with standard errors over the queries. Lines
that are in preparation.csv already are not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

import argrank as ar
from argrank.data.prepare.preparation import Preparation
from experiments._common import quiet, read_csv, write_csv

HERE = Path(__file__).parent
FIGURES, PAGE = HERE / "preparation.csv", HERE / "preparation.md"
LINEAR = ("rank-svm", "listnet", "regression")
Parts = tuple[ar.Dataset, ar.Dataset]


def ohsumed(number: int) -> Parts:
    """A fold: training and validation part together, and the test part."""
    fold = ar.load_collection("OHSUMED-LETOR3-null", fold=number)
    return ar.Dataset.concatenate([part for part in (fold.train, fold.valid) if part is not None]), fold.test


def shop(number: int) -> Parts:
    """100 training and 100 test queries; 8 of 20 numbers lack values, 2 of them more in good documents; 40 brands."""
    data = ar.make_ranking(
        200, (20, 60), 20, truth="linear" if number % 2 else "nonlinear", noise=1.0, random_state=number
    )
    rng = np.random.default_rng(number)
    X, good = np.array(data.X), data.y / data.y.max()
    for column in range(8):
        chance = 0.05 + 0.3 * good if column < 2 else np.full(len(X), 0.1)
        X[rng.random(len(X)) < chance, column] = np.nan
    liked = rng.standard_normal(40)
    odds = np.exp(1.5 * good[:, None] * liked[None, :])
    drawn = (odds.cumsum(axis=1) / odds.sum(axis=1, keepdims=True) < rng.random((len(X), 1))).sum(axis=1)
    brand = np.where(rng.random(len(X)) < 0.05, np.nan, drawn)
    names = [*(f"number {i}" for i in range(1, 21)), "brand"]
    texts = {"brand": tuple(f"brand {i:02d}" for i in range(40))}
    table = ar.Dataset(np.column_stack((X, brand)), data.y, data.qid, feature_names=names, categories=texts)
    return table.select(np.arange(100)), table.select(np.arange(100, 200))


DATA: dict[str, tuple[Callable[[int], Parts], int]] = {"OHSUMED-LETOR3-null": (ohsumed, 5), "generated shop": (shop, 3)}


def _without_rows(train: ar.Dataset, test: ar.Dataset) -> Parts:
    """Leave out training rows that lack a number; test rows take the median, texts are made into columns."""
    numbers = [i for i, name in enumerate(train.feature_names or range(train.n_features)) if name != "brand"]
    preparation = Preparation.fit(train)
    kept = train.keep(~np.isnan(np.asarray(train.X)[:, numbers]).any(axis=1))
    plain = preparation.code != -1
    without = Preparation(preparation.fill, preparation.texts, preparation.source[plain], preparation.code[plain])
    return without.transform(kept), without.transform(test)


def _without_columns(train: ar.Dataset, test: ar.Dataset) -> Parts:
    """Leave out columns that lack a value anywhere, and texts."""
    X, Z = np.asarray(train.X), np.asarray(test.X)
    whole = ~(np.isnan(X).any(axis=0) | np.isnan(Z).any(axis=0))
    return train.with_features(X[:, whole]), test.with_features(Z[:, whole])


def ways(ranker: str, train: ar.Dataset, test: ar.Dataset) -> Iterator[tuple[str, dict[str, str | None], Parts]]:
    """Yield ways to train: a name, parameters, data."""
    yield "prepared", {}, (train, test)
    if ranker == "auto":
        yield "members dropped", {"prepare": None}, (train, test)
        yield "target opensearch", {"target": "opensearch"}, (train, test)
        return
    yield "missing is 0", {"prepare": "zero"}, (train, test)
    yield "rows dropped", {}, _without_rows(train, test)
    yield "columns dropped", {}, _without_columns(train, test)


@lru_cache(maxsize=2)
def parts_of(data: str, number: int) -> Parts:
    """Return a fold, read once for all rankers."""
    return DATA[data][0](number)


def compute(data: str, ranker: str) -> list[dict[str, str]]:
    """Return one line for each way, with its difference from preparing."""
    values: dict[str, list[float]] = {}
    for number in range(1, DATA[data][1] + 1):
        for name, parameters, (train, test) in ways(ranker, *parts_of(data, number)):
            usual = {} if ranker == "auto" else {"normalise": "standard"}
            with quiet():
                fitted = ar.make_ranker(ranker, verbose=-1, n_jobs=1, **usual, **parameters).fit(train)
            (found,) = ar.evaluate(fitted.predict(test), test, "ndcg@10").values.values()
            values.setdefault(name, []).extend(np.asarray(found).tolist())
            print(data, ranker, number, name, f"{np.nanmean(found):.4f}", flush=True)
    lines, prepared = [], np.array(values["prepared"])
    for name, found in values.items():
        gains = (prepared - np.array(found))[~np.isnan(prepared)]
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        lines.append(
            {
                "data": data,
                "queries": str(len(gains)),
                "ranker": ranker,
                "way": name,
                "ndcg@10": f"{np.nanmean(found):.4f}",
                "prepared gains": "" if name == "prepared" else f"{gains.mean():+.4f}",
                "standard error": "" if name == "prepared" else f"{error:.4f}",
            }
        )
    return lines


def page(rows: list[dict[str, str]]) -> str:
    """Return the figures as a Markdown table."""
    head = list(rows[0])
    lines = [head, ["---"] * 4 + ["--:"] * 3, *([row[name] for name in head] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Compute what is not known yet, and write the page."""
    rows = read_csv(FIGURES) if FIGURES.exists() else []
    for ranker in (*LINEAR, "auto"):
        for data in DATA:
            if not any(row["data"] == data and row["ranker"] == ranker for row in rows):
                rows += compute(data, ranker)
                write_csv(FIGURES, rows)
    PAGE.write_text(page(sorted(rows, key=lambda row: row["data"] != "OHSUMED-LETOR3-null")))


if __name__ == "__main__":
    main()
