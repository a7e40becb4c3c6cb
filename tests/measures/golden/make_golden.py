"""Make the golden files: what XGBoost, CatBoost and ranx report for seeded random lists.

Run in an environment of its own that has these tools: ``pip install xgboost catboost ranx``, then
``python tests/measures/golden/make_golden.py``. Nothing of argrank is imported.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
CUTS = (1, 3, 5, 10)


def make_lists(binary: bool, seed: int, longest: int = 30) -> dict[str, list]:
    """Return lists of 1 to ``longest`` documents with ties, short lists and lists without relevant documents."""
    random = np.random.default_rng(seed)
    lists: dict[str, list] = {"sizes": [], "labels": [], "scores": [], "weights": []}
    for number in range(40):
        n = int(random.integers(1, longest + 1)) if number > 3 else number + 1
        labels = random.integers(0, 2 if binary else 5, n) * (random.random() < 0.8)
        scores = random.normal(size=n).astype(np.float32)
        if random.random() < 0.5:
            scores = np.round(scores * 2) / 2
        lists["sizes"].append(n)
        lists["labels"] += labels.tolist()
        lists["scores"] += [float(score) for score in scores]
        lists["weights"].append(round(float(random.random()) + 0.5, 3))
    return lists


def write(tool: str, version: str, cases: list[dict]) -> None:
    """Write one tool's values, with its version and the input they belong to."""
    path = HERE / f"{tool}.json"
    path.write_text(json.dumps({"tool": tool, "version": version, "cases": cases}, indent=None) + "\n")


def xgboost_cases() -> list[dict]:
    """Return the means that XGBoost's own metrics give a booster of no trees whose margin is the score."""
    import xgboost

    cases = []
    for binary in (True, False):
        for weighted in (False, True):
            lists = make_lists(binary, seed=1)
            names = [f"{word}@{k}{sign}" for word in ("ndcg", "map", "pre") for k in CUTS for sign in ("", "-")]
            names += ["ndcg", "ndcg-"]
            if not binary:
                names = [name for name in names if name.startswith("ndcg")]
            values = {}
            for name in names:
                matrix = xgboost.DMatrix(np.zeros((len(lists["labels"]), 1)), lists["labels"])
                matrix.set_group(lists["sizes"])
                matrix.set_base_margin(lists["scores"])
                if weighted:
                    matrix.set_weight(lists["weights"])
                objective = {"objective": "rank:ndcg", "eval_metric": name, "nthread": 1}
                booster = xgboost.Booster(objective, [matrix])
                values[name] = float(booster.eval(matrix).split(":")[-1])
            cases.append({"lists": lists, "weighted": weighted, "means": values})
    return cases


def ranx_cases() -> list[dict]:
    """Return what ranx gives every query."""
    from ranx import Qrels, Run, evaluate

    # ranx sorts by an unstable quicksort; up to 15 documents it is an insertion sort and keeps the order of ties.
    lists = make_lists(binary=False, seed=2, longest=15)
    ends = np.cumsum(lists["sizes"])
    qrels, run = {}, {}
    for query, (end, n) in enumerate(zip(ends, lists["sizes"], strict=True)):
        documents = [f"d{row}" for row in range(end - n, end)]
        name = f"q{query:02d}"  # ranx returns queries sorted by name
        qrels[name] = {d: int(lists["labels"][end - n + i]) for i, d in enumerate(documents)}
        run[name] = {d: lists["scores"][end - n + i] for i, d in enumerate(documents)}
    names = [
        "ndcg@5",
        "ndcg",
        "ndcg_burges@5",
        "ndcg_burges",
        "map",
        "map@5",
        "mrr",
        "mrr@3",
        "precision@5",
        "recall@5",
    ]
    values = {}
    for name in names:
        results = evaluate(Qrels(qrels), Run(run), name, return_mean=False)
        values[name] = [float(value) for value in results]
    return [{"lists": lists, "weighted": False, "per_query": values}]


def catboost_cases() -> list[dict]:
    """Return the means of CatBoost's eval_metric."""
    from catboost.utils import eval_metric

    cases = []
    for binary in (True, False):
        lists = make_lists(binary, seed=3)
        groups = np.repeat(np.arange(len(lists["sizes"])), lists["sizes"]).tolist()
        names = [f"NDCG:top={k};type={kind}" for k in (*CUTS, -1) for kind in ("Base", "Exp")]
        names += [f"DCG:top={k};type={kind}" for k in (3, -1) for kind in ("Base", "Exp")]
        if binary:
            names += [f"{word}:top={k}" for word in ("MAP", "MRR", "PrecisionAt", "RecallAt") for k in CUTS]
        labels = [float(label) for label in lists["labels"]]
        values = {name: eval_metric(labels, lists["scores"], name, group_id=groups)[0] for name in names}
        cases.append({"lists": lists, "weighted": False, "means": values})
    return cases


def main() -> None:
    """Write all golden files."""
    for tool, cases in (("xgboost", xgboost_cases()), ("catboost", catboost_cases()), ("ranx", ranx_cases())):
        write(tool, version(tool), cases)


if __name__ == "__main__":
    main()
