"""Section 7.1, left for future research there: relevance against diversity on the bundled data, by brand.

    python -m experiments.orm.diversity

Trained without the constraint, with at most two, and with at most one product of a brand among the first K; ranked in
the same three ways. The tight bound, c = a, C chosen by the validation measure under the constraint of training; five
folds over the queries, all figures over all test queries (convention "default"). "share" is NDCG@K divided by that of
the best ranking which the constraint allows. The bundled data is generated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold, QueryKFold
from experiments._common import at_an_end
from experiments.orm._common import Floats, fit, save_figure, write_csv

K = 10
MEASURE = f"ndcg@{K}"
VALUES = tuple(10.0**power for power in range(-4, 8))
LIMITS: dict[str, int | None] = {"none": None, "at most 2": 2, "at most 1": 1}


def scores_under(scores: Floats, data: ar.Dataset, limit: int | None) -> Floats:
    """Return scores that rank under a constraint."""
    return scores if limit is None else ar.diversify(scores, data, K, limit)


def shares(scores: Floats, data: ar.Dataset, limit: int | None) -> Floats:
    """Return NDCG@K of every query, as a share of the best that the constraint allows."""
    if limit is None:
        return ar.evaluate(scores, data, MEASURE).values[MEASURE]
    return ar.evaluate_diverse(scores, data, MEASURE, k=K, at_most=limit).values[MEASURE]


def brands(scores: Floats, data: ar.Dataset) -> float:
    """Return the mean number of different brands among the first K."""
    rankings = (start + np.argsort(-scores[start:end], kind="stable")[:K] for start, end in
                zip(data.indptr[:-1], data.indptr[1:], strict=True))  # fmt: skip
    return float(np.mean([len(set(data.sources[ranking])) for ranking in rankings]))


def folds() -> list[Fold]:
    """Return five folds of the bundled data."""
    return [
        Fold(*(ar.normalise(part, "query-minmax") for part in fold)) for fold in QueryKFold().folds(ar.load_bundled())
    ]


def model(fold: Fold, C: float, limit: int | None) -> Any:
    """Fit with one C under a constraint."""
    parameters = {"measure": MEASURE, "decay": "measure", "bound": "tight", "tol": 1e-2, "n_jobs": 1, "max_iter": 200}
    return fit("orm", fold.train, C=C, diverse=limit or False, **parameters)


def trained(fold: Fold, limit: int | None) -> tuple[Any, bool]:
    """Fit at every C; return the best under the constraint of training, and whether its C is an end of the grid."""
    models = {C: model(fold, C, limit) for C in VALUES}
    tried = {C: float(np.nanmean(shares(one.predict(fold.valid), fold.valid, limit))) for C, one in models.items()}
    chosen = max(tried, key=lambda C: tried[C])
    return models[chosen], at_an_end(tried, chosen)


def measure() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for every way to train and to rank, and what training with the constraint changes."""
    parts_of_data, rows, values = folds(), [], {}
    for training, limit in LIMITS.items():
        models, ends = zip(*(trained(fold, limit) for fold in parts_of_data), strict=True)
        chosen = " ".join(f"{one.C:g}" for one in models)
        for ranking, constraint in LIMITS.items():
            parts, relevance, counts = [], [], []
            for one, fold in zip(models, parts_of_data, strict=True):
                scores = one.predict(fold.test)
                shown = scores_under(scores, fold.test, constraint)
                parts.append(shares(scores, fold.test, constraint))
                relevance.append(ar.evaluate(shown, fold.test, MEASURE).values[MEASURE])
                counts.append(brands(shown, fold.test))
            values[training, ranking] = np.concatenate(parts)
            found = {MEASURE: float(np.nanmean(np.concatenate(relevance))), "brands": float(np.mean(counts))}
            rows.append({"trained": training, "ranked": ranking, **found})
            share = float(np.nanmean(values[training, ranking]))
            rows[-1] |= {"share": share, "at_an_end": sum(ends), "chosen": chosen}
            print(rows[-1], flush=True)
    tests = []
    for training in ("at most 2", "at most 1"):
        change = values[training, training] - values["none", training]
        change = change[~np.isnan(change)]
        error = float(change.std(ddof=1) / np.sqrt(len(change)))
        base = {"constraint": training, "queries": len(change)}
        tests.append({**base, "gain in share by training with it": float(change.mean()), "standard_error": error})
        print(tests[-1], flush=True)
    return rows, tests


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw relevance against the number of brands."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    for training in LIMITS:
        points = [row for row in rows if row["trained"] == training]
        at, values = [float(row["brands"]) for row in points], [float(row[MEASURE]) for row in points]
        axes.plot(at, values, marker=".", label=training)
    for row, x, y in zip(points, at, values, strict=True):  # below the last line's points
        axes.annotate(f"ranked: {row['ranked']}", (x, y), (-4, -22), textcoords="offset points", ha="right", fontsize=8)
    axes.set_xlim(7.2, 10.2)
    axes.margins(y=0.15)
    axes.set(xlabel=f"brands among the first {K}", ylabel=f"NDCG@{K}", title="Bundled data")
    axes.legend(title="constraint in training")
    save_figure(figure, "diversity.png")


if __name__ == "__main__":
    table, changes = measure()
    write_csv("diversity.csv", table)
    write_csv("diversity-tests.csv", changes)
    draw(table)
