"""Which trees `auto` should have on data of one holdout, and whether some should have a linear start.

As in `members`, whose scores and blends these are, with today's penalty on unequal weights; no fold's test part is read
(validation parts of MQ2007-agg are test parts of other folds). The choice was made on the first eleven sets, by the
table without the others; the fresh ones were generated and read after it.
``python -m experiments.symmetric.large fit`` keeps scores in ``work/``, set by set; started again, it resumes.
``python -m experiments.symmetric.large`` makes the blends and writes large.csv and large.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.kinds import FRIEDMAN, KINDS, NOISE

import argrank as ar
from argrank.trials.auto.blend import PULL
from experiments._common import write_csv
from experiments.symmetric.data import parts
from experiments.symmetric.members import (
    CANDIDATES,
    JUDGED,
    LINEAR,
    WORK,
    Candidates,
    Kept,
    Sets,
    fit_all,
    generated,
    place,
)

HERE = Path(__file__).parent
FOLDER = WORK / "large"
STARTED = "symmetric xendcg, linear start"
TRIED: Candidates = {
    **{name: CANDIDATES[name] for name in (*LINEAR, "query-mart", "symmetric", "symmetric pairs", "symmetric xendcg")},
    "symmetric, linear start": CANDIDATES["symmetric, linear start"],
    "symmetric pairs, linear start": ("symmetric-mart", {"objective": "pair-mart"}),
    STARTED: ("symmetric-mart", {"objective": "xendcg-mart"}),
}
BEFORE = ("query-mart", "symmetric", "symmetric pairs", "symmetric xendcg")
#: Trees beside the linear members.
CHOICES = (
    BEFORE,
    ("query-mart", "symmetric, linear start", "symmetric pairs", "symmetric xendcg"),
    ("query-mart", "symmetric", "symmetric pairs, linear start", "symmetric xendcg"),
    ("query-mart", "symmetric", "symmetric pairs", STARTED),
    (*BEFORE, "symmetric, linear start"),
    (*BEFORE, "symmetric pairs, linear start"),
    (*BEFORE, STARTED),
    ("symmetric", "symmetric pairs", "symmetric xendcg", STARTED),
    ("symmetric", "symmetric pairs", "symmetric xendcg"),
    ("symmetric pairs", "symmetric xendcg"),
    ("symmetric pairs", "symmetric xendcg", STARTED),
    ("symmetric pairs", STARTED),
    *((one,) for one in (*BEFORE, STARTED)),
)


def own(truth: Any, seed: int) -> tuple[ar.Dataset, ar.Dataset]:
    """Return training queries of `ar.make_ranking`, and the queries to judge by."""
    data = ar.make_ranking(1250 + JUDGED, 40, 50, truth=truth, random_state=seed)
    numbers = np.arange(data.n_queries)
    return data.select(numbers[:1250]), data.select(numbers[1250:])


def first() -> Sets:
    """Yield the sets by which the choice was made."""
    for seed in (11, 12):
        for kind in ("asymmetric trees", "interactions", "thresholds", FRIEDMAN):
            yield f"{kind} | 1250 x 40 {seed}", lambda a=(kind, seed, 1250, 40): generated(*a)
    yield "MQ2007-agg | 1", lambda: parts("MQ2007-agg | 1")
    for seed in (101, 102):
        yield f"own nonlinear | 1250 x 40 {seed}", lambda seed=seed: own("nonlinear", seed)


def fresh() -> Sets:
    """Yield the sets that were read after the choice."""
    for seed in (21, 22):
        for kind in (*KINDS, FRIEDMAN, NOISE):
            yield f"{kind} | 1250 x 40 {seed}", lambda a=(kind, seed, 1250, 40): generated(*a)
        for truth in ("linear", "nonlinear"):
            yield f"own {truth} | 1250 x 40 {seed}", lambda a=(truth, seed): own(*a)
    for fold in (2, 3, 4):
        yield f"MQ2007-agg | {fold}", lambda fold=fold: parts(f"MQ2007-agg | {fold}")


GROUPS: dict[str, Callable[[], Sets]] = {"first": first, "fresh": fresh}


def rows_of(group: str, name: str, kept: Kept) -> list[dict[str, Any]]:
    """Return for every choice by how much it is ahead of the members before, and what its members cost."""
    rows, before = [], kept.blend((*LINEAR, *BEFORE), PULL, a_query=0.0)
    for trees in CHOICES:
        gap = kept.blend((*LINEAR, *trees), PULL, a_query=0.0) - before
        gap = gap[~np.isnan(gap)]
        error = f"{gap.std(ddof=1) / np.sqrt(len(gap)):.5f}"
        row = {"set": name, "group": group, "trees": "; ".join(trees), "difference": f"{gap.mean():.5f}"}
        rows.append({**row, "error": error, "cpu": f"{kept.cpu((*LINEAR, *trees)):.1f}"})
    return rows


def page(rows: list[dict[str, Any]]) -> str:
    """Return the means over sets in Markdown."""
    parts = {
        **{group: {row["set"] for row in rows if row["group"] == group} for group in GROUPS},
        "all": {row["set"] for row in rows},
        "own nonlinear": {row["set"] for row in rows if "nonlinear" in row["set"]},
    }
    parts["all others"] = parts["all"] - parts["own nonlinear"]
    titles = " | ".join(f"{title} ({len(names)} sets)" for title, names in parts.items())
    lines = [f"| trees beside the linear members | {titles} | worst set | CPU s |", f"|---|{'--:|' * (len(parts) + 2)}"]
    for trees in CHOICES:
        chosen = [row for row in rows if row["trees"] == "; ".join(trees)]
        cells = []
        for names in parts.values():
            gaps = np.array([float(row["difference"]) for row in chosen if row["set"] in names])
            cells.append(f"{gaps.mean():+.4f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}")
        worst, cpu = min(float(row["difference"]) for row in chosen), np.mean([float(row["cpu"]) for row in chosen])
        lines.append(f"| {'; '.join(trees)} | {' | '.join(cells)} | {worst:+.4f} | {cpu:.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both tables."""
    rows: list[dict[str, Any]] = []
    for group, sets in GROUPS.items():
        for name, _ in sets():
            if place(name, FOLDER).exists():
                rows += rows_of(group, name, Kept(np.load(place(name, FOLDER))))
    write_csv(HERE / "large.csv", rows)
    (HERE / "large.md").write_text("# Members of auto on large data\n\n" + (__doc__ or "") + "\n" + page(rows), "utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["fit"]:
        for sets in GROUPS.values():
            fit_all(sets(), lambda n_documents: TRIED, FOLDER)
    else:
        main()
