"""DirectRank with trees against MART: test NDCG@10 after equal tuning, and what the line search adds to a round.

Bars: not below MART by a paired test; the line search adds at most 60 % to a round of MART by the same route (30 % is
the aim). Both rankers have the same number of settings to choose from on validation data, where both also stop.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import Any
from unittest import mock

import argrank as ar

N_QUERIES, N_DOCUMENTS, N_FEATURES = 2000, 120, 136
ROUNDS = 20  # of the timed fits
REPEATS = 3

#: Trees of all documents, features and cuts, without a start, so that only the weights differ.
PLAIN = {"feature_fraction": 1.0, "extra_trees": False, "start": None}
OWN: dict[str, dict[str, Any]] = {
    "mart": {**PLAIN, "bagging_fraction": 1.0},
    "direct-rank-trees": {**PLAIN, "folds": 0},
}

BUDGET: dict[str, list[dict[str, Any]]] = {
    "mart": [{"learning_rate": rate, "n_leaves": leaves} for leaves in (10, 31) for rate in (0.05, 0.1, 0.3)],
    "direct-rank-trees": [
        {"weight_range": limits, "n_leaves": leaves}
        for leaves in (10, 31)
        for limits in ((0.05, 0.1), (0.1, 0.2), (0.1, 0.5))
    ],
}


def tuned(name: str, train: ar.Dataset, valid: ar.Dataset) -> Any:
    """Return the ranker whose setting is best on validation data, stopped early there."""
    fits = [
        ar.make_ranker(name, n_trees=300, early_stopping=30, verbose=-1, **OWN[name], **setting).fit(
            train, eval_set=valid
        )
        for setting in BUDGET[name]
    ]
    return max(fits, key=lambda ranker: ranker.score(valid))


def seconds_a_round(name: str, data: ar.Dataset, n_leaves: int) -> float:
    """Return the mean CPU seconds of a round after the first, on one thread."""
    ranker = ar.make_ranker(name, n_trees=ROUNDS, n_leaves=n_leaves, n_jobs=1, verbose=-1, **OWN[name])
    with mock.patch("time.perf_counter", time.process_time):  # so that other work does not count
        seconds = ranker.fit(data).trace_["seconds"]
    return float(seconds[-1] - seconds[0]) / (ROUNDS - 1)


def run(n_queries: int = N_QUERIES, n_documents: int = N_DOCUMENTS, n_features: int = N_FEATURES) -> dict[str, float]:
    """Print the tables and return their figures."""
    share = float(os.environ.get("ARGRANK_BENCH_SHARE", "1"))  # below 1: fewer queries, for a busy machine
    data = ar.make_ranking(round(share * n_queries), n_documents, n_features, truth="nonlinear", random_state=1)
    figures: dict[str, float] = {}
    print(f"{data.n_queries:,} queries x {n_documents} x {n_features}, nonlinear truth")
    print(f"{'leaves':8}{'mart':>12}{'direct-rank-trees':>20}{'added':>9}   bar 60 %, CPU, one thread")
    for n_leaves in (10, 31, 50):
        pairs = [[seconds_a_round(name, data, n_leaves) for name in BUDGET] for _ in range(REPEATS)]
        mart, direct = (statistics.median(column) for column in zip(*pairs, strict=True))
        added = statistics.median(b / a for a, b in pairs) - 1
        figures[f"added_{n_leaves}_leaves"] = added
        print(f"{n_leaves:<8}{1e3 * mart:9.1f} ms{1e3 * direct:17.1f} ms{added:9.0%}")
    train, valid, test = data.split(0.6, 0.2, 0.2)
    chosen = {name: tuned(name, train, valid) for name in BUDGET}
    for name, ranker in chosen.items():
        setting = {key: ranker.get_params()[key] for key in BUDGET[name][0] if key not in PLAIN}
        figures[f"{name}_ndcg10"] = ranker.score(test)
        print(f"{name}: test NDCG@10 {ranker.score(test):.4f}, {ranker.n_iter_} trees, {setting}")
    print(ar.compare({name: ranker.predict(test) for name, ranker in chosen.items()}, test, "ndcg@10", baseline="mart"))
    return figures


if __name__ == "__main__":
    run()
