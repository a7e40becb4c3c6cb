"""Figure 10 and section 4.6: what McRank costs beside SVMndcg and SVMmrr, and its accuracy against rounds.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.kdd2008.figure10 [cost memory rounds]

- cost: CPU seconds of one fit (one thread) and the memory it adds at its peak, each in a process of its own, after a
  fit on a few rows that loads the machine code, on generated sets of the size of the paper's on which the convex bounds
  leave w = 0 (``learnable``); "share" is the objective over that at w = 0. McRank's time is split as in the paper:
  growing trees, and the rest, which is boosting. The SVMs have C = 10,000,
  SVMmrr, whose map is a sum, C = 1.
- memory: the same at the size of TREC 2000, where the paper's McRank ran out of memory, with trees of 10 and of 255
  leaves.
- rounds: McRank with up to 2,000 rounds, means over the folds of MRR@10, NDCG@10 and MAP after 1, 3, 10, … of them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

import argrank as ar
from experiments.kdd2008._common import (
    CONVEX,
    DISCOUNTED,
    FIRST,
    SIZES,
    TREC,
    fit,
    fold_of,
    learnable,
    measured,
    read_csv,
    save_figure,
    title,
    write_csv,
)  # fmt: skip

C = {"C": 1e4}
#: Trees as the paper grows them, of all documents, features and cuts.
PLAIN_TREES: dict[str, Any] = {
    "start": None,
    "learning_rate": 0.1,
    "feature_fraction": 1.0,
    "bagging_fraction": 1.0,
    "extra_trees": False,
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "McRank": ("mcrank", {"n_trees": 30, **PLAIN_TREES}),
    "SVMndcg": ("svm-ndcg", DISCOUNTED | CONVEX | C),
    "SVMmrr": ("svm-mrr", FIRST | {"C": 1.0}),  # whose map is not divided by the pairs
    "SVMmap": ("svm-map", CONVEX | C),
}
LARGE_TREES = {"McRank, 255 leaves": ("mcrank", {"n_trees": 30, "n_leaves": 255, **PLAIN_TREES})}
#: Seconds of the paper's Figure 10, of McRank in total and for trees alone.
PAPER = {
    "OHSUMED": {"McRank": (1102.0, 1034.0), "SVMndcg": (4.8, ""), "SVMmrr": (30.6, "")},
    "TD2003": {"McRank": (10113.0, 9730.0), "SVMndcg": (14.9, ""), "SVMmrr": (125.0, "")},
    "TD2004": {"McRank": (9308.0, 8760.0), "SVMndcg": (19.1, ""), "SVMmrr": (148.0, "")},
}
MEASURES = ("mrr@10", "ndcg@10", "map")
ROUNDS = (1, 3, 10, 30, 40, 100, 300, 1000, 2000)
FOLDS = {"OHSUMED-LETOR2": (1, 2, 3, 4, 5), "td2003": (1, 2)}


def one_fit(data: str, method: str) -> None:
    """Fit in this process and print the cost as JSON."""
    from argrank.rankers.boosted.trees.seeded_boosters import LightGBMBoosters

    ranker, parameters = (METHODS | LARGE_TREES)[method]
    train = learnable(data)
    fit(ranker, train.select(np.arange(3)), n_jobs=1, **parameters)
    trees, grow, init = 0.0, LightGBMBoosters.grow, LightGBMBoosters.__init__

    def timed(call: Any) -> Any:
        def run(*arguments: Any, **named: Any) -> Any:
            nonlocal trees
            begin = time.process_time()
            try:
                return call(*arguments, **named)
            finally:
                trees += time.process_time() - begin

        return run

    LightGBMBoosters.grow, LightGBMBoosters.__init__ = timed(grow), timed(init)  # type: ignore[method-assign]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    fitted = fit(ranker, train, n_jobs=1, **parameters)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    share = fitted.objective_ / fitted.objective_at_zero_ if ranker != "mcrank" else ""
    learned = {"share": share, "train ndcg@10": measured(fitted, train, ["ndcg@10"])["ndcg@10"]}
    facts = {"cpu_seconds": seconds, "trees": trees, "added_megabytes": (peak - before) / 1024}
    print(json.dumps(facts | learned))


def in_a_process(data: str, method: str) -> dict[str, Any]:
    """Return the cost of a fit in a process of its own."""
    command = [sys.executable, "-m", "experiments.kdd2008.figure10", "one", data, method]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def memory() -> None:
    methods = ("McRank", *LARGE_TREES, "SVMndcg")
    write_csv(
        "mcrank-memory.csv",
        [{"size": data, "method": one, **in_a_process(data, one)} for data in TREC for one in methods],
    )


def cost() -> None:
    rows: list[dict[str, Any]] = []
    for data in SIZES:
        for method in METHODS:
            found = in_a_process(data, method)
            total, trees = PAPER[data].get(method, ("", ""))
            theirs = {"paper_seconds": total, "paper_trees": trees}
            rows.append({"size": data, "method": method, **found, **theirs})
            print(rows[-1], flush=True)
    write_csv("figure10.csv", rows)


def rounds() -> None:
    rows: list[dict[str, Any]] = []
    for data, numbers in FOLDS.items():
        values = []
        for number in numbers:
            fold = fold_of(data, number)
            fitted = fit("mcrank", fold.train, n_trees=max(ROUNDS), n_jobs=1, **PLAIN_TREES)
            model, n_outputs = fitted.model_, fitted.model_.n_outputs
            stages = [replace(model, trees=model.trees[: n * n_outputs]) for n in ROUNDS]
            scores = [fold.test.to_caller(stage.scores(fold.test.X, fold.test.indptr)) for stage in stages]
            found = [ar.evaluate(one, fold.test, list(MEASURES), convention="kdd2008").means for one in scores]
            values.append([list(one.values()) for one in found])
            print(data, number, len(model.trees) // n_outputs, flush=True)
        for n, means in zip(ROUNDS, np.mean(values, axis=0), strict=True):
            named = dict(zip(MEASURES, means.tolist(), strict=True))
            rows.append({"data": title(data), "folds": len(numbers), "rounds": n, **named})
    write_csv("mcrank-rounds.csv", rows)


def draw() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    rows = read_csv("figure10.csv")
    for number, method in enumerate(METHODS):
        chosen = [row for row in rows if row["method"] == method]
        place = np.arange(len(chosen)) + 0.2 * (number - 1.5)
        left.bar(place, [float(row["cpu_seconds"]) for row in chosen], 0.19, label=method)
    left.set(ylabel="CPU seconds of a fit", title="Training time, generated data")
    left.set_xticks(range(len(SIZES)), [f"size of {name}" for name in SIZES])
    left.legend()
    rows = read_csv("mcrank-rounds.csv")
    for number, data in enumerate(dict.fromkeys(row["data"] for row in rows)):
        for measure, style in zip(MEASURES, (":", "--", "-"), strict=True):
            chosen = [row for row in rows if row["data"] == data]
            line = ([int(row["rounds"]) for row in chosen], [float(row[measure]) for row in chosen])
            right.plot(*line, style, color=f"C{number}", marker=".", label=f"{data}, {measure}")
    right.set(xscale="log", xlabel="rounds", ylabel="test measure, mean over folds", title="McRank by rounds")
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7)
    save_figure(figure, "figure10.png")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one_fit(sys.argv[2], sys.argv[3])
    else:
        for name in sys.argv[1:] or ("cost", "memory", "rounds"):
            {"cost": cost, "memory": memory, "rounds": rounds}[name]()
        draw()
