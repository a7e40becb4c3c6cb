"""Do clipping and shrinking the gains of ``ar.from_clicks`` help? On data that no other table of this folder reports.

    python -m experiments.clicks.defaults [SEEDS]    # five seeds by default; writes defaults.md beside this file

Generated data with a linear and a nonlinear truth, and MQ2007 as rank aggregation (300 queries). Readers follow the
position-based model (eta 1, noise .1), the production ranker knows 1 % of the queries, the curve is estimated. NDCG@10
of test queries, the difference to plain gains, paired over seeds.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import argrank as ar
from argrank._tables import table, to_markdown
from experiments.clicks._logs import draw, gained, ndcg, numbered, production_scores

HERE = Path(__file__)
DATA = HERE.resolve().parents[2].parent / "shared" / "data"
CLICKS = (1_000, 10_000, 100_000)
RANKERS = ("rank-svm", "lambda-mart", "direct-rank")
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "clip (0, 1)": {"clip": (0, 1)},
    "shrink 0.3": {"shrink": 0.3},
    "shrink 1": {"shrink": 1.0},
    "shrink 3": {"shrink": 3.0},
    "shrink 10": {"shrink": 10.0},
}


def data_of(name: str, seed: int) -> tuple[ar.Dataset, ar.Dataset]:
    """Return training and test parts."""
    if name == "MQ2007-agg":
        fold = ar.load_collection(name, DATA / name).train
        data = fold.select(np.sort(np.random.default_rng(seed).choice(fold.n_queries, 300, replace=False)))
        data = numbered(data, np.where(np.isnan(data.X), 0.0, 10.0 / (10.0 + np.nan_to_num(data.X))))
    else:
        made = ar.make_ranking(250, (20, 60), 20, truth=name.split()[1], random_state=seed)  # type: ignore[arg-type]
        data = numbered(made, made.X)
    train, test = data.split(0.6, 0.4, random_state=seed)
    return numbered(train, train.X), test


def main(n_seeds: int) -> None:
    """Write the table."""
    rows = []
    for name in ("generated linear", "generated nonlinear", "MQ2007-agg"):
        for n_clicks in CLICKS:
            found: dict[tuple[str, str], list[float]] = {}
            for seed in range(n_seeds):
                train, test = data_of(name, seed)
                rng = np.random.default_rng(seed)
                _, scores = production_scores(train, rng)
                drawn = draw(train, scores, n_clicks, rng, 1.0, 0.1)
                theta = ar.propensities(drawn.counts)
                for told, options in OPTIONS.items():
                    data = gained(drawn.counts, train, "examinations", theta, **options)
                    for ranker in RANKERS:
                        fitted = ar.make_ranker(ranker, verbose=-1).fit(data)
                        found.setdefault((ranker, told), []).append(ndcg(fitted, test))
            for (ranker, told), values in sorted(found.items()):
                over = np.array(values) - found[ranker, "plain"]
                wide = stats.t.ppf(0.975, n_seeds - 1) * over.std(ddof=1) / np.sqrt(n_seeds)
                text = "" if told == "plain" else f"{over.mean():+.4f} ± {wide:.4f}"
                rows.append((name, f"{n_clicks:,}", ranker, told, f"{np.mean(values):.4f}", text))
                print(*rows[-1], flush=True)
    head = ("data", "clicks", "ranker", "gains", "NDCG@10", "over plain, 95 %")
    HERE.with_name("defaults.md").write_text(to_markdown([table(head, rows, 4)]) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
