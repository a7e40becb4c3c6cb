"""When DirectRank keeps its climb, and what that gains on new queries: gate.csv and gate.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.gate [--draws 8] [--into FOLDER]

Every draw trains on a few queries and judges on many others: generated ones, stand-ins with seeds of their own, and
queries of training parts of collections; no test part is read. What is in gate.csv is not computed again.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import argrank as ar
from experiments._common import fit, title
from experiments.defaults._common import HERE, SETS, Store

FIRST_SEED = 7000
N_JUDGES = 300
Parts = tuple[ar.Dataset, ar.Dataset]


class Kind(NamedTuple):
    """Data of one kind: how it is drawn, for how many training queries, and what is maximised."""

    make: Callable[[int, int], Parts]
    sizes: tuple[int, ...]
    measure: str = "ndcg@10"


def _parted(data: ar.Dataset, order: np.ndarray, n: int) -> Parts:
    return data.select(np.sort(order[:n])), data.select(np.sort(order[n : n + N_JUDGES]))


def _generated(n: int, seed: int, n_judges: int = N_JUDGES, **shape: Any) -> Parts:
    return _parted(ar.make_ranking(n + n_judges, random_state=seed, **shape), np.arange(n + n_judges), n)


def _standin(n: int, seed: int, name: str) -> Parts:
    data = ar.make_standin(name, random_state=seed)
    return _parted(data, np.arange(data.n_queries), n)


def _sampled(n: int, seed: int, name: str) -> Parts:
    data = SETS[name][0](1).train
    return _parted(data, np.random.default_rng(seed).permutation(data.n_queries), n)


def _twisted(n: int, seed: int) -> Parts:
    """Return queries of 12 documents whose best lies along other features than the good ones, which RankSVM serves."""
    rng, n_queries = np.random.default_rng(seed), n + N_JUDGES
    X = rng.standard_normal((12 * n_queries, 6))
    directions = np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    good, best = (
        X @ one + 0.5 * rng.standard_normal(len(X)) for one in (directions[0], directions[1] - 0.3 * directions[0])
    )
    y = (good > np.quantile(good, 0.6)).astype(np.float64).reshape(n_queries, 12)
    y[np.arange(n_queries), best.reshape(n_queries, 12).argmax(axis=1)] = 2
    return _parted(ar.Dataset(X, y.ravel(), group=np.full(n_queries, 12)), np.arange(n_queries), n)


FEW, ALL = (10, 20, 30, 45), (10, 20, 30, 45, 100, 200)
LONG: dict[str, Any] = {"n_judges": 120, "n_documents": (300, 500), "noise": 0.6, "grades": 2, "relevant": 0.01}
KINDS = {
    "linear, little noise": Kind(partial(_generated, n_documents=(5, 40), n_features=10, noise=0.3), ALL),
    "linear, much noise": Kind(partial(_generated, n_documents=(20, 60), n_features=20, noise=2.0), ALL),
    "nonlinear": Kind(partial(_generated, n_documents=(20, 60), truth="nonlinear", noise=1.0), ALL),
    "linear, p@1": Kind(partial(_generated, n_documents=(20, 60), noise=1.0), ALL, "p@1"),
    "long, linear": Kind(partial(_generated, truth="linear", **LONG), FEW),
    "long, nonlinear": Kind(partial(_generated, truth="nonlinear", **LONG), FEW),
    "td2003": Kind(partial(_standin, name="td2003"), (30,)),
    "td2004": Kind(partial(_standin, name="td2004"), (45,)),
    "OHSUMED-LETOR3": Kind(partial(_sampled, name="OHSUMED-LETOR3"), (20, 30)),
    "MQ2008": Kind(partial(_sampled, name="MQ2008"), (10, 20, 30, 45, 100)),
    "twisted, P(rel=2)@1": Kind(_twisted, ALL, "P(rel=2)@1"),
    "twisted, ndcg@1": Kind(_twisted, ALL, "ndcg@1"),
}


def compute(store: Store, draws: int) -> None:
    """Fit what is missing: RankSVM, the default, and the climb that is always kept."""
    for key, kind in _keys(draws):
        if store.has(key):
            continue
        train, judges = kind.make(key["queries"], key["seed"])
        default = fit("direct-rank", train, measure=kind.measure, n_jobs=1)
        rankers = (
            fit("rank-svm", train, n_jobs=1),
            default,
            fit("direct-rank", train, measure=kind.measure, folds=0, n_jobs=1),
        )
        values = (ar.evaluate(ranker.predict(judges), judges, kind.measure).means[kind.measure] for ranker in rankers)
        found = dict(zip(("rank-svm", "default", "climb"), values, strict=True))
        store.add({**key, "climbs": int(default.n_iter_ > 0), "believed": float(default.gain_), **found})
        print(*store.rows[-1].values(), flush=True)


def _keys(draws: int) -> Iterator[tuple[dict[str, Any], Kind]]:
    for seed in range(FIRST_SEED, FIRST_SEED + draws):
        for name, kind in KINDS.items():
            for n in kind.sizes:
                yield {"data": name, "queries": n, "seed": seed}, kind


def page(store: Store) -> str:
    """Return the table: a row for every kind, then for every number of training queries."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in store.rows:
        rows[title(row["data"]) if row["data"].startswith("td") else row["data"]].append(row)
    for row in sorted(store.rows, key=lambda row: int(row["queries"])):
        rows[f"{row['queries']} queries"].append(row)
    for row in store.rows:
        rows["twisted alone" if row["data"].startswith("twisted") else "all but twisted"].append(row)
    lines = [
        "| draws | number | kept | believed gain | true gain | default to RankSVM | worst | always climbing |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    return "\n".join([*lines, *(_line(name, own) for name, own in rows.items())]) + "\n"


def _line(name: str, rows: list[dict[str, Any]]) -> str:
    columns = ("climbs", "believed", "rank-svm", "default", "climb")
    climbs, believed, start, default, climb = np.array([[float(row[column]) for column in columns] for row in rows]).T
    kept, gain = climbs > 0, default - start
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    own = f"{believed[kept].mean():+.3f} | {gain[kept].mean():+.3f}" if kept.any() else " | "
    mean = f"{gain.mean():+.4f} ± {error:.4f} | {gain.min():+.3f} | {(climb - start).mean():+.4f}"
    return f"| {name} | {len(rows)} | {kept.sum()} | {own} | {mean} |"


def main() -> None:
    """Compute what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--into", type=Path, default=HERE)
    asked = parser.parse_args()
    store = Store(asked.into / "gate.csv", ("data", "queries", "seed"))
    compute(store, asked.draws)
    (asked.into / "gate.md").write_text(page(store), "utf-8")


if __name__ == "__main__":
    main()
