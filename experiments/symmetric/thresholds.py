"""auto beside CatBoost tuned by four folds, on two more sets of the kind on which it was ahead: thresholds.csv.

Both train on 1,250 generated queries whose truth is thresholds, and are judged on 400 others; the seeds are those of
``python -m experiments.symmetric.weights``, so these sets took part in choosing the penalty. ``python -m
experiments.symmetric.thresholds`` takes seven minutes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.peers.tools import run_tool

from argrank.evaluation.evaluate import evaluate
from experiments._common import write_csv
from experiments.symmetric.members import generated

KIND, SEEDS, PEER = "thresholds", (11, 12), "CatBoost YetiRank"


def main() -> None:
    """Write the table."""
    rows = []
    for seed in SEEDS:
        train, judged = generated(KIND, seed, 1250, 40)
        values = {}
        for tool, mode in (("argrank auto", "default"), (PEER, "folds")):
            fitted, _ = run_tool(tool, mode, train, judged)
            (values[tool],) = evaluate(fitted.predict(judged), judged, "ndcg@10").values.values()
        gap = np.asarray(values[PEER]) - np.asarray(values["argrank auto"])
        gap = gap[~np.isnan(gap)]
        means = {tool: f"{np.nanmean(one):.4f}" for tool, one in values.items()}
        error = f"{gap.std(ddof=1) / np.sqrt(len(gap)):.4f}"
        rows.append({"set": f"{KIND} | {seed}", **means, f"{PEER} ahead by": f"{gap.mean():.4f}", "error": error})
    write_csv(Path(__file__).with_suffix(".csv"), rows)


if __name__ == "__main__":
    main()
