"""The convex bound on OHSUMED: its optimum is w = 0 whatever C is (section 6.3), and why.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.orm.collapse

collapse.csv has the optimum of the convex bound against C (gap 1e-3, at most 100 passes), whether a fit has the proof
that it is w = 0 for every C, and where fits of the tie-broken bound end, which is not convex: its gap is that of the
last approximation. slopes.csv has the derivative of
the risk at w = 0, per unit of spread of the scores, towards models that rank well: where it is positive for every such
model, w = 0 has a lower bound than all of them. Training part of fold 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import argrank as ar
from experiments.orm._common import Floats, fit, folds_of, save_figure, write_csv

DATA = ("OHSUMED-LETOR2", "OHSUMED-LETOR3")
BOUNDS: dict[str, dict[str, Any]] = {
    "convex, reference any": {"bound": "convex", "reference": "any"},
    "convex, reference averaged": {"bound": "convex", "reference": "averaged"},
    "tie-broken": {"bound": "tie-broken"},
    "tight": {"bound": "tight"},
}
DECAYS = {"k+1-i": "linear", "a": "measure", "1/sqrt(i)": "sqrt"}
VALUES = (1e-2, 1.0, 1e2, 1e4)
STEPS = np.geomspace(0.001, 100, 60)


def optima(data: str, train: ar.Dataset) -> list[dict[str, Any]]:
    """Fit the first three bounds at every C."""
    rows = []
    for decay, setting in DECAYS.items():
        for bound, parameters in list(BOUNDS.items())[:3]:
            for C in VALUES:
                found = fit("orm", train, C=C, decay=setting, max_iter=100, n_jobs=1, **parameters)
                ratio = found.objective_ / found.objective_at_zero_
                norm = float(np.linalg.norm(found.coef_))
                base = {"data": data, "c": decay, "bound": bound, "C": C, "proven": found.collapsed_ is not None}
                rows.append({**base, "objective/at_zero": ratio, "norm": norm, "gap": found.gap_})
                print(rows[-1], flush=True)
    return rows


def directions(train: ar.Dataset) -> dict[str, Floats]:
    """Return models that rank the training part well, as scores with a standard deviation of 1 within queries."""
    models = {
        "regression": fit("regression", train),
        "RankSVM": fit("rank-svm", train, C=36.7663),
        "tight bound": fit("orm", train, bound="tight", decay="measure", C=10.0, tol=1e-2, max_iter=300, n_jobs=1),
    }
    scores = {}
    for title, model in models.items():
        values = np.asarray(model.predict(train))
        means = np.add.reduceat(values, train.indptr[:-1]) / train.sizes
        values = values - np.repeat(means, train.sizes)
        scores[title] = values / values.std()
    return scores


def slopes(data: str, train: ar.Dataset, scores: dict[str, Floats]) -> list[dict[str, Any]]:
    """Return the derivative at w = 0, and the least risk along the line from there."""
    rows = []
    for decay, setting in DECAYS.items():
        for bound, parameters in BOUNDS.items():
            risk = ar.objective("orm", decay=setting, **parameters)
            at_zero = risk(np.zeros(train.n_documents), train)[0]
            for title, direction in scores.items():
                tiny = 1e-6
                slope = (risk(tiny * direction, train)[0] - at_zero) / tiny
                least = min(risk(step * direction, train)[0] for step in STEPS)
                own = ar.evaluate(direction, train, "ndcg@10").means["ndcg@10"]
                base = {"data": data, "c": decay, "bound": bound, "towards": title, "ndcg@10": own}
                rows.append({**base, "slope": slope, "at_zero": at_zero, "least": min(least, at_zero)})
    return rows


def draw(train: ar.Dataset, direction: Floats) -> None:
    """Draw the four bounds and the loss along the line from 0 to RankSVM's model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, (decay, setting) in zip(figure.subplots(1, len(DECAYS), sharey=True), DECAYS.items(), strict=True):
        for bound, parameters in BOUNDS.items():
            risk = ar.objective("orm", decay=setting, **parameters)
            axes.plot(STEPS, [risk(step * direction, train)[0] for step in STEPS], label=bound)
        loss = 1 - ar.evaluate(direction, train, "ndcg@10").means["ndcg@10"]
        axes.axhline(loss, color="black", linestyle=":", label="loss, 1 - NDCG@10")
        axes.set(xscale="log", xlabel="length of RankSVM's model", title=f"c = {decay}", ylim=(0, 2))
    figure.axes[0].set_ylabel("risk")
    figure.axes[0].legend(fontsize=8, loc="center right")
    save_figure(figure, "collapse.png")


if __name__ == "__main__":
    fitted, sloping = [], []
    for name in DATA:
        part = folds_of(name)[0].train
        towards = directions(part)
        sloping += slopes(name, part, towards)
        if name == DATA[-1]:
            draw(part, towards["RankSVM"])
        fitted += optima(name, part)
    write_csv("slopes.csv", sloping)
    write_csv("collapse.csv", fitted)
