"""BoltzRank in two forms: by its own definition, and as ``log-loss`` and ``log-combined`` on the scaled map.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.directrank.boltzrank      # boltzrank*.csv

boltzrank_identity.csv: the expected loss 1 - NDCG@5 under BoltzRank's distribution of all rankings, computed here from
its energy, less that of ``ar.objective("log-loss", scale="pairs")`` over all rankings, for lists of six documents: 0
where all labels differ, otherwise not, since BoltzRank's energy also orders documents of equal label. boltzrank.csv:
both forms trained on OHSUMED by LETOR's protocol, beside RankSVM; C by validation NDCG@10, a hundred rankings a query.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import argrank as ar
from experiments import _common as shared
from experiments.directrank._common import HERE, fold_of

N, ALL, LISTS = 6, 10**6, 20
CONVENTIONS = {"OHSUMED-LETOR3": "letor3"}
FOLDS = (1, 2, 3, 4, 5)
NDCG: dict[str, Any] = {"measure": "ndcg@10", "n_jobs": 1, "verbose": -1, "max_iter": 200}
SCALED: dict[str, Any] = {**NDCG, "scale": "pairs", "n_starts": 1}
VALUES = [1.0, 100.0, 1e4, 1e6, 1e8]
RANKERS: dict[str, tuple[str, dict[str, Any], list[float]]] = {
    "BoltzRank, expected NDCG (log-loss)": ("log-loss", SCALED, VALUES),
    "BoltzRank, mixed with likelihood (log-combined)": ("log-combined", SCALED, [1e4, 1e6, 1e8, 1e10, 1e12]),
    "RankSVM": ("rank-svm", {}, [0.05, 0.5, 5.0, 50.0, 500.0]),
}


def losses_of(orders: list[tuple[int, ...]], labels: np.ndarray) -> np.ndarray:
    """Return 1 - NDCG@5 of every order."""
    data = ar.Dataset(np.eye(len(labels)), labels, group=[len(labels)])
    ranks = [-np.argsort(order).astype(float) for order in orders]
    return np.array([1 - ar.evaluate(one, data, "ndcg@5").means["ndcg@5"] for one in ranks])


def boltzrank(scores: np.ndarray, orders: list[tuple[int, ...]], losses: np.ndarray) -> float:
    """Return the expected loss under exp(-energy), the energy being the mean over pairs of score below less above."""
    energy = [-np.mean([scores[i] - scores[j] for i, j in itertools.combinations(o, 2)]) for o in orders]
    chances = np.exp(-np.array(energy))
    return float(chances @ losses / chances.sum())


def identity() -> list[dict[str, Any]]:
    """Compare the two on lists whose labels all differ, and on lists where two, three or four are equal."""
    rng, rows = np.random.default_rng(0), []
    objective = ar.objective("log-loss", measure="ndcg@5", scale="pairs", n_samples=ALL)
    orders = list(itertools.permutations(range(N)))
    for equal in (1, 2, 3, 4):
        labels = np.concatenate([np.zeros(equal), np.arange(1, N - equal + 1)])
        data = ar.Dataset(np.eye(N), labels, group=[N])
        losses, gaps = losses_of(orders, labels), []
        for _ in range(LISTS):
            scores = 3 * rng.standard_normal(N)
            gaps.append(abs(boltzrank(scores, orders, losses) - objective(scores, data)[0]))
        rows.append({"documents_of_equal_label": equal, "lists": LISTS, "greatest_difference": max(gaps)})
        print(rows[-1], flush=True)
    return rows


def trained() -> list[dict[str, Any]]:
    """Train by LETOR's protocol."""
    rows = []
    for data, convention in CONVENTIONS.items():
        for title, (name, parameters, values) in RANKERS.items():
            means, chosen = [], []
            for number in FOLDS:
                fold = fold_of(data, number)
                with shared.quiet():
                    ranker = ar.make_ranker(name, **parameters)
                    options: dict[str, Any] = {"n_jobs": 1, "progress": False}
                    found = ar.select(ranker, {"C": values}, fold.train, fold.valid, "ndcg@10", **options)
                wanted = ["ndcg@1", "ndcg@5", "ndcg@10", "map"]
                scores = found.ranker.predict(fold.test)
                means.append(ar.evaluate(scores, fold.test, wanted, convention=convention).means)
                chosen.append(f"{found.params['C']:g}")
            row = {key: float(np.mean([one[key] for one in means])) for key in means[0]}
            rows.append({"data": data, "ranker": title, **row, "chosen": " ".join(chosen)})
            print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    shared.write_csv(HERE / "boltzrank_identity.csv", identity())
    shared.write_csv(HERE / "boltzrank.csv", trained())
