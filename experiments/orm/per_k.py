"""Section 6.3: one model for each NDCG@k against one model for NDCG@10, on OHSUMED (LETOR 3.0).

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.orm.per_k

The tight bound, c = a, C chosen by validation NDCG@k or NDCG@10 (convention "default"); test figures are letor3 means
over five folds. How far the choice can be trusted is measured by drawing the validation queries again, 1,000 times:
"agreement" is the chance that two draws choose the same C, "spread" the standard deviation of test NDCG@k that the
draws cause, both averaged over the folds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.orm._common import CUTOFFS, Floats, fit, folds_of, per_query, save_figure, write_csv

DATA = ("OHSUMED-LETOR3",)
VALUES = (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
DRAWS = 1000


def trained(fold: Any, k: int) -> tuple[Floats, Floats]:
    """Return validation and test NDCG@1 … NDCG@10 of every query, for every C: arrays (C, query, cut-off)."""
    parameters = {"bound": "tight", "decay": "measure", "tol": 1e-2, "max_iter": 200, "n_jobs": 1}
    models = [fit("orm", fold.train, measure=f"ndcg@{k}", C=C, **parameters) for C in VALUES]
    valid = np.array([per_query(model.predict(fold.valid), fold.valid) for model in models])
    test = np.array([per_query(model.predict(fold.test), fold.test, "letor3") for model in models])
    return valid[:, ~np.isnan(valid).any(axis=(0, 2))], test


def stability(valid: Floats, test: Floats, k: int, by: int) -> dict[str, float]:
    """Choose C by validation NDCG@by, once and from drawn queries; the test is by NDCG@k."""
    rng = np.random.default_rng(0)
    values, outcome = valid[:, :, by - 1], test[:, :, k - 1].mean(axis=1)
    drawn = rng.integers(0, values.shape[1], (DRAWS, values.shape[1]))
    choices = values[:, drawn].mean(axis=2).argmax(axis=0)
    shares = np.bincount(choices, minlength=len(VALUES)) / DRAWS
    chosen = int(values.mean(axis=1).argmax())
    return {
        "test": float(outcome[chosen]),
        "agreement": float((shares**2).sum()),
        "spread": float(outcome[choices].std()),
        "C": VALUES[chosen],
    }


def measure(data: str) -> list[dict[str, Any]]:
    """Compare the two ways for every cut-off."""
    folds = folds_of(data)
    at_ten = [trained(fold, 10) for fold in folds]
    rows = []
    for k in CUTOFFS:
        ways = {"k = 10": (at_ten, 10)}
        if k != 10:
            ways["per k"] = ([trained(fold, k) for fold in folds], k)
        for title, (parts, by) in ways.items():
            found = [stability(valid, test, k, by) for valid, test in parts]
            means = {name: float(np.mean([one[name] for one in found])) for name in ("test", "agreement", "spread")}
            chosen = " ".join(f"{one['C']:g}" for one in found)
            rows.append({"data": data, "k": k, "trained": title, **means, "chosen": chosen})
            print(rows[-1], flush=True)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw test NDCG@k and how far the choice of C moves it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * len(DATA), 6), layout="constrained")
    for line, name in zip(figure.subplots(2, len(DATA), sharex=True, squeeze=False), ("test", "spread"), strict=True):
        for axes, data in zip(line, DATA, strict=True):
            for title in ("per k", "k = 10"):
                own = [row for row in rows if row["data"] == data]
                points = [row for row in own if row["trained"] == title or int(row["k"]) == 10]
                values = [float(row[name]) for row in points]
                axes.plot([int(row["k"]) for row in points], values, marker=".", label=title)
            axes.set(
                title=data if name == "test" else "",
                ylabel="test NDCG@k" if name == "test" else "spread by the choice of C",
                xticks=CUTOFFS,
            )
            axes.legend(title="trained on")
    save_figure(figure, "per-k.png")


if __name__ == "__main__":
    found: list[dict[str, Any]] = []
    for data in DATA:
        found += measure(data)
        write_csv("per-k.csv", found)
    draw(found)
