"""A simulated log of ten days: the curve and the ranker from the first six, judged by the last four, against the truth.

    python -m experiments.clicks.days [LOGS]         # 60 logs by default; writes days.md beside this file

The bundled shop, whose own click rate is left out; 40,000 sessions of a production ranker (BM25 of the title) whose
pages vary, three sessions a user, position-based readers. *The same days*: curve, training and judgement from the first
six days, as one should not. *Later days*: the estimated value of the ranker from the last four, by the curve of the
first six, or by their own. *More than production*: the difference to the production ranker. The truth is known.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank._tables import table, to_markdown

RANKERS = ("rank-svm", "lambda-mart")
NOISE, N_SESSIONS, SPLIT = 0.1, 40_000, "2026-01-07"
ROWS = ("the same days", "later days", "later days, by their own curve", "later days, more than production")


class Shop:
    """The bundled shop as a table of candidates, and what rankings of it truly earn a session."""

    def __init__(self) -> None:
        self.data = ar.load_bundled()
        names = list(self.data.feature_names or ())
        kept = [place for place, name in enumerate(names) if name != "click_rate"]
        self.table = ar.Dataset(
            self.data.X[:, kept], qid=self.data.qid, document_ids=self.data.document_ids,
            feature_names=[names[place] for place in kept],
        )  # fmt: skip
        self.production = self.data.X[:, names.index("bm25_title")]
        gains = np.exp2(self.data.y) - 1.0
        attraction = NOISE + (1.0 - NOISE) * gains / gains.max()
        self._true = self.table._but(gains=attraction, query_weight=np.ones(self.table.n_queries))

    def earns(self, scores: Any) -> float:
        """Return the true DCG@10 of a session."""
        return float(ar.evaluate(scores, self._true, "dcg@10").means["dcg@10"])

    def log(self, seed: int) -> ar.Clicks:
        """Simulate ten days."""
        return ar.simulate_clicks(
            self.data, self.production, n_sessions=N_SESSIONS, vary=0.7, noise=NOISE, sessions_per_user=3.0,
            random_state=seed,
        )  # fmt: skip


def judged(shop: Shop, seed: int) -> dict[tuple[str, str], tuple[float, float, float, float]]:
    """Return truth, value and interval for every ranker and way of judging."""
    early, late = shop.log(seed).split(before=SPLIT)
    theta, own = ar.propensities(early), ar.propensities(late)
    train = ar.from_clicks(early, shop.table, propensities=theta)
    old, found = shop.earns(shop.production), {}
    for name in RANKERS:
        scores = ar.make_ranker(name, normalise="standard", verbose=-1).fit(train).predict(shop.table)
        true = shop.earns(scores)
        for way, log, curve in zip(ROWS, (early, late, late), (theta, theta, own), strict=False):
            one = ar.evaluate(scores, log, "dcg@10", propensities=curve, features=shop.table)
            found[name, way] = (true, one.means["dcg@10"], one.low["dcg@10"], one.high["dcg@10"])
        both = {"new": scores, "old": shop.production}
        (pair,) = ar.compare(both, late, "dcg@10", propensities=theta, features=shop.table).pairs
        found[name, ROWS[3]] = (true - old, pair.difference, pair.low, pair.high)
    return found


def main(n_logs: int) -> None:
    """Write the table."""
    shop = Shop()
    logs = [judged(shop, seed) for seed in range(n_logs)]
    rows = []
    for name in RANKERS:
        for way in ROWS:
            true, value, low, high = np.array([one[name, way] for one in logs]).T
            error = value - true
            figures = (f"{true.mean():.3f}", f"{error.mean():+.4f} ± {error.std(ddof=1) / n_logs**0.5:.4f}")
            rows.append((name, way, *figures, f"{100 * np.mean((low < true) & (true < high)):.0f} %"))
            print(*rows[-1], sep=" | ", flush=True)
    head = ("ranker", "judged by", "true DCG@10", "bias, with its standard error", "intervals that hold it")
    note = f"{n_logs} logs; DCG@10 of the production ranker {shop.earns(shop.production):.3f}."
    Path(__file__).with_name("days.md").write_text(to_markdown([table(head, rows, 2)], [note]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
