"""How strongly the weights of `auto` should be pulled to equal ones: blends of its members by several penalties.

The scores are those that ``python -m experiments.symmetric.members fit`` keeps; blends are judged on queries that were
not used to train or weigh them, and no test part is read. The penalty of `auto` was chosen by this table.
``python -m experiments.symmetric.weights`` writes weights.csv and weights.md. Before, the penalty was 10, or a tenth of
the number of held-out queries if that is more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments._common import write_csv
from experiments.symmetric.members import GROUPS, LARGE, LINEAR, Kept, place, sets

HERE = Path(__file__).parent
TREES = ("query-mart", "symmetric", "symmetric pairs")
PULLS = (1.0, 3.0, 10.0, 30.0)


def rows_of(name: str, kept: Kept) -> list[dict[str, Any]]:
    """Return for every penalty by how much it is ahead of the one before."""
    queries, documents = (int(kept.arrays[one]) for one in ("queries", "documents"))
    members = (*LINEAR, *TREES, *(("symmetric xendcg",) if documents > LARGE else ()))
    before, rows = kept.blend(members), []
    for pull in PULLS:
        gap = kept.blend(members, pull, a_query=0.0) - before
        gap = gap[~np.isnan(gap)]
        error = f"{gap.std(ddof=1) / np.sqrt(len(gap)):.5f}"
        known = {"set": name, "queries": queries, "documents": documents, "penalty": pull}
        rows.append({**known, "difference": f"{gap.mean():.5f}", "error": error})
    return rows


def page(rows: list[dict[str, Any]]) -> str:
    """Return the means over sets in Markdown, by size of the sets and over all of them."""
    groups = {**GROUPS, "all": lambda row: True}
    counts = [len({row["set"] for row in rows if inside(row)}) for inside in groups.values()]
    titles = [f"{title} ({count} sets)" for title, count in zip(groups, counts, strict=True)]
    lines = [f"| penalty | {' | '.join(titles)} | worst set |", f"|--:|{'--:|' * (len(titles) + 1)}"]
    for pull in PULLS:
        cells = []
        for inside in groups.values():
            gaps = [float(row["difference"]) for row in rows if row["penalty"] == pull and inside(row)]
            cells.append(f"{np.mean(gaps):+.4f} ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.4f}")
        lines.append(f"| {pull:g} | {' | '.join(cells)} | {min(gaps):+.4f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both tables."""
    rows: list[dict[str, Any]] = []
    for name, _ in sets():
        rows += rows_of(name, Kept(np.load(place(name))))
    write_csv(HERE / "weights.csv", rows)
    (HERE / "weights.md").write_text("# Weights of auto\n\n" + (__doc__ or "") + "\n" + page(rows), "utf-8")


if __name__ == "__main__":
    main()
