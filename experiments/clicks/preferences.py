"""Team draft between two rankers: how often equal ones are called different, and how soon a better one is found.

    python -m experiments.clicks.preferences         # writes preferences.md beside this file

First table: lists of ten documents, one click a session: a document of the better ranker's team is ``factor`` times as
attractive, and rank k is seen with 1 / k. *Looking daily*: the paired test after every 50 sessions, stopped at the
first p < .05. The confidence sequence is checked after every session.

Second table: eight systems on the bundled shop, with more and more noise; every pair is interleaved in
2,000 sessions of position-based readers, and what they prefer is compared with the difference of NDCG@10 by the shop's
labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import stats

import argrank as ar
from argrank._tables import table, to_markdown
from argrank.clicks.interleaving import team_draft
from argrank.evaluation.counterfactual.preference import confidence_sequence

LENGTHS = (200, 1000, 3000)
N_LOGS = {1.0: 1000, 1.2: 200, 1.5: 200}  # by the better team's factor
EVERY = 50
N_SESSIONS = 2000  # of a pair of systems


class Coins:
    """A generator whose permutations of two are given in advance."""

    def __init__(self, flips: tuple[int, ...]) -> None:
        self._flips = iter(flips)

    def permutation(self, n: int) -> np.ndarray:
        """Return the next order of the two teams."""
        first = next(self._flips)
        return np.array([first, n - 1 - first])


def drafts() -> np.ndarray:
    """Return the teams of all lists that team draft can give, one a row: they are equally likely."""
    order = [f"d{one}" for one in range(10)]
    lists = (order, order[3:] + order[:3])
    found = [team_draft(lists, 10, Coins(flips)) for flips in itertools.product((0, 1), repeat=10)]
    return np.array([[team for _, team in mixed] for mixed in found])


def outcomes(rng: np.random.Generator, n: int, factor: float, teams: np.ndarray) -> np.ndarray:
    """Return +1 for sessions whose click is on a document of the first team, else -1."""
    shown = teams[rng.integers(len(teams), size=n)]
    chances = np.cumsum(np.where(shown == 0, factor, 1.0) / np.arange(1, 11), axis=1)
    clicked = (rng.random((n, 1)) * chances[:, -1:] > chances).sum(axis=1)
    return 1.0 - 2.0 * shown[np.arange(n), clicked]


def p_values(log: np.ndarray) -> np.ndarray:
    """Return p of the paired t-test after every 50 sessions."""
    n = np.arange(EVERY, len(log) + 1, EVERY)
    mean, square = np.cumsum(log)[n - 1] / n, np.cumsum(log**2)[n - 1] / n
    error = np.sqrt((square - mean**2) / (n - 1))
    return 2 * stats.t.sf(np.abs(mean / error), n - 1)


def systems() -> tuple[ar.Dataset, dict[str, np.ndarray]]:
    """Return the shop and the scores of systems with more and more noise."""
    shop = ar.load_bundled()
    good = shop.from_caller(ar.make_ranker("rank-svm", normalise="standard").fit(shop).predict(shop))
    random = np.random.default_rng(0).normal(0, good.std(), good.shape)
    return shop, {f"{share:g}": (1 - share) * good + share * random for share in np.arange(8) / 20}


def preferred(shop: ar.Dataset, a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> ar.Preference:
    """Return what readers prefer of two systems whose lists of ten are interleaved by team draft."""
    gains = np.exp2(shop.y) - 1.0
    attraction = 0.1 + 0.9 * gains / gains.max()
    columns: dict[str, list[object]] = {name: [] for name in ("session", "qid", "docid", "position", "click", "team")}
    for session in range(N_SESSIONS):
        query = int(rng.integers(shop.n_queries))
        begin, end = shop.indptr[query], shop.indptr[query + 1]
        lists = [(begin + np.argsort(-one[begin:end], kind="stable")[:10]).tolist() for one in (a, b)]
        mixed = team_draft(lists, 10, rng)
        rows = [row for row, _ in mixed]
        rank = np.arange(1, len(rows) + 1)
        click = rng.random(len(rows)) < attraction[rows] / rank
        values = ([session] * len(rows), [query] * len(rows), rows, rank, click, ["ab"[team] for _, team in mixed])
        for known, found in zip(columns.values(), values, strict=True):
            known.extend(found)
    return ar.preference(ar.Clicks.of(columns))


def against_labels() -> Iterator[tuple[str, ...]]:
    """Yield how preferences agree with differences of NDCG@10, by the size of the difference."""
    shop, scored = systems()
    rng = np.random.default_rng(1)
    ndcg = {name: ar.evaluate(shop.to_caller(one), shop, "ndcg@10").means["ndcg@10"] for name, one in scored.items()}
    facts = []
    for a, b in itertools.combinations(scored, 2):
        found, difference = preferred(shop, scored[a], scored[b], rng), ndcg[a] - ndcg[b]
        agrees, decided = found.difference * difference > 0, found.p_paired < 0.05
        facts.append((abs(difference), agrees, decided, decided and not agrees, found.winner is not None))
    size, *rest = np.array(facts, float).T
    for low, high in itertools.pairwise((0.0, 0.02, 0.05, 0.1, 1.0)):
        here = (low <= size) & (size < high)
        if here.any():
            yield f"{low:g} to {high:g}", str(here.sum()), *(f"{int(one[here].sum())}" for one in rest)


def main() -> None:
    """Write the table."""
    rows, teams = [], drafts()
    for factor, n_logs in N_LOGS.items():
        rng = np.random.default_rng(int(10 * factor))
        logs = [outcomes(rng, max(LENGTHS), factor, teams) for _ in range(n_logs)]
        for length in LENGTHS:
            once = daily = sequence = 0
            for log in logs:
                p = p_values(log[:length])
                once, daily = once + (p[-1] < 0.05), daily + (p < 0.05).any()
                low, high = confidence_sequence(log[:length])
                sequence += low > 0 or high < 0
            shares = [f"{100 * one / n_logs:.1f} %" for one in (once, daily, sequence)]
            rows.append(
                (
                    f"{factor:g}",
                    f"{length:,}",
                    f"{n_logs:,}",
                    f"{np.mean([log[:length].mean() for log in logs]):+.3f}",
                    *shares,
                )
            )
            print(*rows[-1], flush=True)
    head = ("factor", "sessions", "logs", "mean difference", "test at the end", "looking daily", "confidence sequence")
    second = list(against_labels())
    names = (
        "difference of NDCG@10",
        "pairs",
        "readers agree",
        "test decides",
        "wrongly",
        "confidence sequence decides",
    )
    note = "First table: share of the logs in which the rankers are called different. Second: numbers of pairs."
    text = to_markdown([table(head, rows, 3), table(names, second)], [note])
    Path(__file__).with_name("preferences.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
