"""Settings of rankers on validation parts, from which their defaults are chosen: choose.csv, choose.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.choose [--rankers A B] [--sets C D]

Every setting is fitted on training parts and judged on validation parts; test parts are not touched. The folds are
few, so that the whole takes about half an hour of CPU time; starts of trees are judged on two folds of every set, with
regression beside them. What is in choose.csv is not computed again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from experiments.defaults._common import HERE, MEASURES, SETS, ArgrankError, Store, fitted_on, fold_of, judged

#: The folds on whose validation parts settings are judged.
FOLDS = {
    "OHSUMED-LETOR3": (1, 5),
    "MQ2008": (1,),
    "MSLR-sample": (1, 2),
    "OHSUMED-LETOR2": (1,),
    "linear": (1,),
    "shop (bundled)": (1,),
    "nonlinear": (1,),
    "td2003": (1,),
    "MQ2007-agg": (1,),
}
TWO_FOLDS = dict.fromkeys(SETS, (1, 2))

TIGHT: dict[str, Any] = {"bound": "tight"}
CONVEX: dict[str, Any] = {"bound": "convex"}
MEASURE: dict[str, Any] = {"decay": "measure"}
PAPER: dict[str, Any] = {"start": None, "folds": 0, "feature_fraction": 1.0, "extra_trees": False}


def _over_c(*values: float, **fixed: Any) -> list[dict[str, Any]]:
    return [{**fixed, "C": C} for C in values]


#: The settings that are tried of every ranker; a first round on OHSUMED-LETOR3 had more values of C, also in the table.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "regression": [{"ridge": 0.0}],
    "rank-svm": _over_c(10.0, 30.0, 100.0),
    "svm-auc": _over_c(1.0, 10.0, 100.0, **CONVEX),
    "svm-map": _over_c(100.0, **CONVEX) + _over_c(1000.0, 1e4, **TIGHT),
    "svm-ndcg-nc": _over_c(100.0, **CONVEX) + _over_c(1000.0, 1e4, **TIGHT),
    "svm-ndcg": _over_c(1000.0, 1e4, **TIGHT),
    "svm-mrr": _over_c(1000.0, 1e4, **TIGHT),
    "svm-combo": _over_c(1000.0, 1e4, **TIGHT),
    "dorm": _over_c(30.0, 100.0, **TIGHT),
    "orm": _over_c(30.0, 100.0, **TIGHT, **MEASURE) + _over_c(100.0, **TIGHT, decay="sqrt"),
    "smooth-grad": _over_c(1.0, 10.0, 100.0),
    "softrank": _over_c(100.0, 1000.0),
    "lambdarank": _over_c(1.0, 10.0, 100.0),
    "listnet": _over_c(10.0, 100.0, 1000.0),
    "rank-cosine": _over_c(100.0, 1000.0),
    "log-mle": _over_c(1.0, 10.0, 100.0),
    "direct-rank-trees": [PAPER, PAPER | {"start": "linear"}, {"folds": 0}, {"folds": 3}],
    "log-gain": _over_c(1e-4, 0.01, 1.0) + _over_c(10.0, 1000.0, scale="pairs"),
    "log-loss": _over_c(1e-4, 0.01, 1.0) + _over_c(10.0, 1000.0, scale="pairs"),
    "log-combined": _over_c(1e-3, 0.01, 0.1, 1.0),
    "log-convex": _over_c(1e-3, 0.01, 0.1, 1.0),
}
LINEAR: dict[str, Any] = {"start": "linear"}
#: What trees start from, and how much leaves are shrunk towards 0.
STARTS: dict[str, list[dict[str, Any]]] = {
    "regression": [{"ridge": 0.0}],
    "xendcg-mart": [
        {"start": None, "l2": 0.0},
        *({**LINEAR, "l2": l2} for l2 in (0.0, 1.0, 10.0, 100.0)),
    ],
    "mcrank": [{"start": None}, LINEAR],
}

Settings = dict[str, list[dict[str, Any]]]
Folds = dict[str, tuple[int, ...]]


def compute(store: Store, settings: Settings, folds: Folds, sets: list[str]) -> None:
    """Fit what is missing, fold by fold."""
    for name in (name for name in sets if name in folds):
        for fold in folds[name]:
            for ranker, tried in settings.items():
                for parameters in tried:
                    key = {"data": name, "fold": fold, "ranker": ranker, "setting": json.dumps(parameters)}
                    if not store.has(key):
                        store.add({**key, **_judge(name, fold, ranker, parameters)})


def _judge(name: str, fold: int, ranker: str, parameters: dict[str, Any]) -> dict[str, Any]:
    parts = fold_of(name, fold)
    try:
        fitted, seconds = fitted_on(parts.train, ranker, parameters)
        values, constant = judged(fitted, parts.valid)
    except ArgrankError as error:
        return {**dict.fromkeys(MEASURES, np.nan), "constant": "", "seconds": np.nan, "failed": str(error)}
    return {
        **{measure: float(np.nanmean(values[measure])) for measure in MEASURES},
        "constant": int(constant),
        "seconds": seconds,
        "failed": "",
    }


def table(rows: list[dict[str, Any]], rankers: Iterable[str], folds: Folds) -> str:
    """Return one row per setting: NDCG@10 on each set, their mean where it was tried on all, and CPU seconds."""
    names = [name for name in folds if any(row["data"] == name for row in rows)]
    cells: dict[tuple[str, str, str], list[float]] = {}
    seconds: dict[tuple[str, str], float] = {}
    for row in rows:
        if int(row["fold"]) not in folds.get(row["data"], ()):
            continue
        cells.setdefault((row["ranker"], row["setting"], row["data"]), []).append(float(row["ndcg@10"]))
        key = (row["ranker"], row["setting"])
        seconds[key] = seconds.get(key, 0.0) + float(row["seconds"])
    lines = [f"| ranker | setting | {' | '.join(names)} | mean | CPU s |", f"|---|---|{'--:|' * (len(names) + 2)}"]
    for ranker in rankers:
        for setting in dict.fromkeys(row["setting"] for row in rows if row["ranker"] == ranker):
            means = [float(np.mean(cells.get((ranker, setting, name), [np.nan]))) for name in names]
            if not np.isnan(means).all():
                shown = [*means, float(np.mean(means))]
                text = " | ".join("" if np.isnan(value) else f"{value:.4f}" for value in shown)
                lines.append(f"| {ranker} | `{setting}` | {text} | {seconds[ranker, setting]:.0f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compute what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    rankers = list(SETTINGS | STARTS)
    parser.add_argument("--rankers", nargs="+", default=rankers, choices=rankers)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    asked = parser.parse_args()
    store = Store(HERE / "choose.csv", ("data", "fold", "ranker", "setting"))
    for settings, folds in ((SETTINGS, FOLDS), (STARTS, TWO_FOLDS)):
        compute(store, {name: settings[name] for name in asked.rankers if name in settings}, folds, asked.sets)
    starts = [row for row in store.rows if json.loads(row["setting"]) in STARTS.get(row["ranker"], ())]
    text = table(store.rows, SETTINGS, FOLDS) + "\nWhat trees start from, on two folds of every set:\n\n"
    (HERE / "choose.md").write_text(text + table(starts, STARTS, TWO_FOLDS), "utf-8")


if __name__ == "__main__":
    main()
