"""Tables 9 and 10 with several draws of the data: DirectRank's trees against MART and LambdaMART.

    python -m experiments.directrank.tree_seeds      # tree_seeds.csv, tree_seeds.md; resumes

Sets of MSLR's shape as in trees.py (600 queries, of which 180 train, 60 validate and 360 test, nonlinear truth), each
generated anew; two settings a ranker, chosen by validation NDCG@10. Differences from direct-rank-trees are over the
draws, so their errors include the variation between sets of queries; the queries of one draw share a truth.
"""

from __future__ import annotations

import time

import numpy as np

import argrank as ar
from experiments.directrank._common import HERE, Table, mean, mslr_shape
from experiments.directrank._markdown import table as markdown
from experiments.directrank.trees import LEAVES, RANKERS, TESTED, best_of

DRAWS = (3, 4, 2)  # 2 is the set of trees.py
OURS = "direct-rank-trees"


def main() -> None:
    rows = Table("tree_seeds.csv", "draw", "leaves", "ranker")
    for draw in DRAWS:
        fold = mslr_shape(600, "nonlinear", random_state=draw)
        for leaves in LEAVES:
            for name, (ranker, settings) in RANKERS.items():
                if rows.has(draw, leaves, name):
                    continue
                begin = time.process_time()
                fitted, setting = best_of(ranker, settings, fold, n_leaves=leaves)
                seconds = time.process_time() - begin
                test = ar.evaluate(fitted.predict(fold.test), fold.test, TESTED, convention="yahoo").means
                known = {"draw": draw, "leaves": leaves, "ranker": name}
                chosen = " ".join(
                    f"{key}={setting[key]}" for key in ("weight_range", "learning_rate") if key in setting
                )
                facts = {"setting": chosen, "trees": fitted.n_iter_, "cpu_seconds": seconds}
                trained = {"train ndcg@10": mean(fitted, fold.train, "ndcg@10", "yahoo")}
                rows.add(known | facts | trained | {f"test {key}": value for key, value in test.items()})
    (HERE / "tree_seeds.md").write_text("\n".join(summary(rows.rows)) + "\n")


def summary(rows: list[dict[str, str]]) -> list[str]:
    """Return means over the draws and how far the rivals are above, with the standard error over draws."""
    head = ["ranker", "leaves", *TESTED, *(f"{key} above {OURS}" for key in TESTED)]
    cells = []
    for leaves in LEAVES:
        own = [row for row in rows if row["leaves"] == str(leaves)]
        values = {
            (name, key): np.array([float(row[f"test {key}"]) for row in own if row["ranker"] == name])
            for name in RANKERS
            for key in TESTED
        }
        for name in RANKERS:
            above = [values[name, key] - values[OURS, key] for key in TESTED]
            texts = [f"{one.mean():+.4f} ± {one.std(ddof=1) / len(one) ** 0.5:.4f}" for one in above]
            means = [f"{values[name, key].mean():.4f}" for key in TESTED]
            cells.append([name, str(leaves), *means, *(["", ""] if name == OURS else texts)])
    n = len({row["draw"] for row in rows})
    note = f"Generated, 600 queries, {n} draws, convention yahoo; ± is the standard error over draws."
    return ["# Tables 9 and 10 with several draws", "", note, "", *markdown(head, cells)]


if __name__ == "__main__":
    main()
