"""Compare ways to fuse three systems of the bundled shop, and write the table of docs/guide/tune.md.

Every way is tuned on four fifths of the queries and judged on the last fifth, five times, so that each query is judged
once by what was tuned without it; all in OpenSearch's arithmetic. Run: python -m scripts.compare_fusions
"""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable

import numpy as np
from scripts.page_tables import write_table

import argrank as ar
from argrank._types import Floats
from argrank.data.folds import QueryKFold
from argrank.evaluation.intervals import mean_interval
from argrank.evaluation.significance import holm, paired_t

PAGE, SCRIPT = "guide/tune.md", "scripts/compare_fusions"
SYSTEMS = ["bm25_title", "embedding_similarity", "sales_log"]
MEASURE = "ndcg@10"
ENGINE = {"engine": "opensearch", "window": 20}

Fuse = Callable[[ar.Dataset], Floats]


def scores_of(data: ar.Dataset) -> dict[str, Floats]:
    """Return the scores of the systems."""
    names = list(data.feature_names or ())
    return {name: data.to_caller(data.X[:, names.index(name)]) for name in SYSTEMS}


def tuned(data: ar.Dataset, normalise: str, cv: int | None = None) -> ar.TunedWeights:
    """Return exact weights."""
    return ar.tune_weights(scores_of(data), data, MEASURE, normalise=normalise, cv=cv, **ENGINE)


def weighted(found: ar.TunedWeights, weights: tuple[float, ...]) -> Fuse:
    """Return the same fusion with other weights."""
    other = dataclasses.replace(found, weights=dict(zip(SYSTEMS, weights, strict=True)))
    return lambda data: other.fuse(scores_of(data), data)


def value(fuse: Fuse, data: ar.Dataset) -> float:
    """Return the measure."""
    return ar.evaluate(fuse(data), data, MEASURE).means[MEASURE]


def single(data: ar.Dataset) -> Fuse:
    """Choose the best system."""
    best = max(SYSTEMS, key=lambda name: value(lambda one: scores_of(one)[name], data))
    return lambda one: scores_of(one)[best]


def grid(data: ar.Dataset) -> Fuse:
    """Choose the best weights in steps of .1."""
    found = tuned(data, "minmax")
    steps = [w for w in itertools.product(range(11), repeat=len(SYSTEMS)) if sum(w) == 10]
    return max((weighted(found, tuple(one / 10 for one in w)) for w in steps), key=lambda fuse: value(fuse, data))


def by_segment(data: ar.Dataset) -> Fuse:
    """Tune weights for queries that ask for cheap products, and others for the rest."""
    parts = {kind: tuned(data.select(cheap(data) == kind), "minmax") for kind in (False, True)}

    def fuse(one: ar.Dataset) -> Floats:
        both = {kind: part.fuse(scores_of(one), one) for kind, part in parts.items()}
        return np.where(one.to_caller(np.repeat(cheap(one), one.sizes)), both[True], both[False])

    return fuse


def cheap(data: ar.Dataset) -> Floats:
    """Tell which queries ask for something cheap."""
    column = list(data.feature_names or ()).index("asks_cheap")
    return data.X[data.indptr[:-1], column] > 0


EQUAL = (1 / 3, 1 / 3, 1 / 3)
WAYS: dict[str, Callable[[ar.Dataset], Fuse]] = {
    "best single system": single,
    "reciprocal-rank fusion, constant 60": lambda data: weighted(tuned(data, "rrf 60"), EQUAL),
    "reciprocal-rank fusion, constant and weights tuned": lambda data: _own(tuned(data, "rrf", cv=5)),
    "min-max, equal weights": lambda data: weighted(tuned(data, "minmax"), EQUAL),
    "min-max, weights on a grid of .1": grid,
    "min-max, exact weights": lambda data: _own(tuned(data, "minmax")),
    "min-max, exact weights for each of two segments": by_segment,
    "the best of all of OpenSearch's ways, exact weights": lambda data: _own(tuned(data, "auto", cv=5)),
}
WITHOUT_COST = ("reciprocal-rank fusion, constant 60", "min-max, equal weights")  # nothing is tuned


def _own(found: ar.TunedWeights) -> Fuse:
    return lambda data: found.fuse(scores_of(data), data)


def table() -> list[str]:
    """Return the lines of the table."""
    data = ar.load_bundled()
    values, cost = {name: np.empty(data.n_queries) for name in WAYS}, dict.fromkeys(WAYS, 0.0)
    for train, test in QueryKFold(5, random_state=0).split(data):
        learned, judged = data.select(train), data.select(test)
        for name, way in WAYS.items():
            began = time.process_time()
            fuse = way(learned)
            cost[name] += time.process_time() - began
            found = ar.evaluate(fuse(judged), judged, MEASURE)
            values[name][test] = found.per_query[MEASURE]
    defined = ~np.isnan(values["best single system"])  # queries with a relevant product
    values = {name: per_query[defined] for name, per_query in values.items()}
    exact = values["min-max, exact weights"]
    others = [name for name in WAYS if values[name] is not exact]
    p_values = holm(np.array([paired_t((values[name] - exact)[:, None])[0] for name in others]))
    against = dict(zip(others, p_values.tolist(), strict=True))
    rows = ["| way | nDCG@10 | 95 % interval | against exact weights | CPU s |", "|---|---|---|---|---|"]
    for name, per_query in values.items():
        low, high = mean_interval(per_query, (0.0, 1.0))
        difference = f"{(per_query - exact).mean():+.4f}, p = {against[name]:.2g}" if name in against else ""
        seconds = "0" if name in WITHOUT_COST else f"{cost[name] / 5:.2f}"
        rows.append(f"| {name} | {per_query.mean():.4f} | {low:.4f} to {high:.4f} | {difference} | {seconds} |")
    return rows


if __name__ == "__main__":
    write_table(PAGE, SCRIPT, table())
