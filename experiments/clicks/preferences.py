"""Team draft between two rankers: how often equal ones are called different, and how soon a better one is found.

    python -m experiments.clicks.preferences [LOGS]  # 200 logs a row by default; writes preferences.md beside this file

Lists of ten documents, one click a session: a document of the better ranker's team is ``factor`` times as attractive,
and rank k is seen with 1 / k. *Looking daily*: the paired test after every 50 sessions, stopped at the first p < .05.
The confidence sequence has looked after every session.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy import stats

from argrank._tables import table, to_markdown
from argrank.clicks.interleaving import team_draft
from argrank.evaluation.counterfactual.preference import confidence_sequence

LENGTHS = (200, 1000, 3000)
FACTORS = (1.0, 1.2, 1.5)
EVERY = 50


def outcomes(rng: np.random.Generator, n: int, factor: float) -> np.ndarray:
    """Return +1 for sessions whose click is on a document of the first team, else -1."""
    order = [f"d{one}" for one in range(10)]
    found = np.empty(n)
    for session in range(n):
        mixed = team_draft((order, order[3:] + order[:3]), 10, rng)  # anew: a few lists used again are not balanced
        teams = np.array([team for _, team in mixed])
        chances = np.where(teams == 0, factor, 1.0) / np.arange(1, 11)
        found[session] = 1.0 - 2.0 * teams[rng.choice(10, p=chances / chances.sum())]
    return found


def main(n_logs: int) -> None:
    """Write the table."""
    rows = []
    for factor in FACTORS:
        rng = np.random.default_rng(int(10 * factor))
        logs = [outcomes(rng, max(LENGTHS), factor) for _ in range(n_logs)]
        for length in LENGTHS:
            once = daily = sequence = 0
            for log in logs:
                part = log[:length]
                once += stats.ttest_1samp(part, 0.0).pvalue < 0.05
                daily += any(stats.ttest_1samp(part[:n], 0.0).pvalue < 0.05 for n in range(EVERY, length + 1, EVERY))
                low, high = confidence_sequence(part)
                sequence += low > 0 or high < 0
            shares = [f"{100 * one / n_logs:.1f} %" for one in (once, daily, sequence)]
            rows.append(
                (f"{factor:g}", f"{length:,}", f"{np.mean([log[:length].mean() for log in logs]):+.3f}", *shares)
            )
            print(*rows[-1], flush=True)
    head = ("factor", "sessions", "mean difference", "test at the end", "looking daily", "confidence sequence")
    text = to_markdown(
        [table(head, rows, 2)], [f"{n_logs} logs a row: share in which the rankers are called different."]
    )
    Path(__file__).with_name("preferences.md").write_text(text + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
