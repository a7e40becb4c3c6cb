"""How a small forest should follow a blend: copied rows for every leaf, passes over the values of all leaves.

Judged by how well it follows the scores of held-out documents (the share of their differences within queries that is
explained), on other draws and folds than those of ``python -m experiments.compress.table``, of which the nonlinear set
was looked at in first tries; no label is used to judge, no test part is read. ``python -m experiments.compress.choose``
writes choose.csv and choose.md; lines that are in choose.csv already are not computed again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import argrank as ar
from argrank.trials import compress as compressing
from argrank.trials.compress import centred, follow, n_trees_of
from experiments._common import fit, quiet, resumed
from experiments.compress.table import Parts, collected, made
from experiments.symmetric.members import generated

HERE = Path(__file__).parent
FIGURES, PAGE = HERE / "choose.csv", HERE / "choose.md"


class Way(NamedTuple):
    """Copied rows for every leaf, passes over the values of all leaves, and the penalty on their change."""

    rows: int
    passes: int
    pull: float


BEFORE = Way(0, 0, 1.0)  # two copies
WAYS = (
    BEFORE,
    Way(0, 5, 1.0),
    Way(0, 5, 100.0),
    Way(1, 5, 100.0),
    Way(2, 0, 1.0),
    Way(2, 2, 100.0),
    Way(2, 5, 1.0),
    Way(2, 5, 10.0),
    Way(2, 5, 100.0),
    Way(4, 5, 100.0),
)
SETS: dict[str, Parts] = {
    "asymmetric trees": lambda: generated("asymmetric trees", 41, 1250, 40),
    "interactions": lambda: generated("interactions", 41, 1250, 40),
    "generated, nonlinear": made("nonlinear", 107),
    "generated, linear": made("linear", 108),
    "shop (bundled)": collected("shop (bundled)", 2),
    "MQ2008": collected("MQ2008", 2),
    "OHSUMED-LETOR3": collected("OHSUMED-LETOR3", 2),
}


def figures(name: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of one set."""
    train, held_out = SETS[name]()
    large = fit("auto", train, n_jobs=1).model_
    wanted = centred(large.predict(held_out), held_out)
    bare = ar.Dataset(large.features_of(train), None, group=train.sizes, feature_names=large.feature_names)
    for way in WAYS:
        compressing.ROWS, compressing.PASSES, compressing.PULL = way
        begin = time.process_time()
        with quiet():
            small = follow(large, bare, max(compressing.LEAST_TREES, n_trees_of(large) // 10), n_jobs=1)
        cpu = time.process_time() - begin
        missed = 1.0 - ((centred(small.predict(held_out), held_out) - wanted) ** 2).sum() / (wanted**2).sum()
        yield {
            "set": name,
            "trees": n_trees_of(small),
            **way._asdict(),
            "follows": f"{missed:.5f}",
            "cpu": f"{cpu:.1f}",
        }


def page(rows: list[dict[str, Any]]) -> str:
    """Return what every way leaves unexplained, as a share of what the way before did, in Markdown."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    left = {(row["set"], _way(row)): 1.0 - float(row["follows"]) for row in rows}
    cpu = {(row["set"], _way(row)): float(row["cpu"]) for row in rows}
    lines = [f"| copied rows a leaf | passes | pull | {' | '.join(names)} | geometric mean | CPU s |"]
    lines.append(f"|--:|--:|--:|{'--:|' * (len(names) + 2)}")
    for way in WAYS:
        shares = [left[name, way] / left[name, BEFORE] for name in names]
        seconds = np.mean([cpu[name, way] for name in names])
        cells = [f"{left[name, way]:.2%}" for name in names]
        lines.append(
            f"| {way.rows or 'two copies'} | {way.passes} | {way.pull:g} | {' | '.join(cells)} "
            f"| {np.exp(np.mean(np.log(shares))):.2f} | {seconds:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _way(row: dict[str, Any]) -> Way:
    return Way(int(row["rows"]), int(row["passes"]), float(row["pull"]))


def main() -> None:
    """Compute what is missing, and write the page."""
    rows = resumed(FIGURES, SETS, figures)
    PAGE.write_text(f"# How a small forest follows a blend\n\n{__doc__}\n{page(rows)}", "utf-8")


if __name__ == "__main__":
    main()
