"""DirectRank against coordinate ascent by trial steps, ours and fastrank's, on MQ2008: NDCG@10, as many starts.

    python -m experiments.directrank.coordinate_ascent      # coordinate_ascent.csv and .md; resumes

Every ranker climbs training NDCG@10 from the same number of starts and keeps the best of them by training NDCG@10;
nothing else is tuned. "direct-rank" has its own starts (RankSVM, then equal weights), "direct-rank, starts of
coordinate ascent" those of our coordinate ascent: equal weights, then a random one; "direct-rank, 10 starts" uses part
of the time saved for more starts. fastrank is not a dependency of the project: without ``pip install fastrank`` its
rows are left out, and the script says so.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any

import numpy as np

import argrank as ar
from experiments.directrank._common import HERE, WORK, Table, fit, fold_of

STARTS = 2
CLIMB: dict[str, Any] = {"point": "likelihood", "folds": 0}
SAME, MORE = "direct-rank, starts of coordinate ascent", "direct-rank, 10 starts"
RANKERS = ("direct-rank", SAME, MORE, "coordinate-ascent", "fastrank")


def weights_of(ranker: str, train: ar.Dataset) -> tuple[np.ndarray, float]:
    """Return the best weights of all starts and the CPU seconds they took."""
    if ranker == "fastrank":
        return fastrank(train)
    if ranker != SAME:
        n_starts = 10 if ranker == MORE else STARTS
        name = ranker.split(",")[0]
        fitted, seconds = fit(
            name, train, n_starts=n_starts, measure="ndcg@10", **(CLIMB if name == "direct-rank" else {})
        )
        return fitted.coef_, seconds
    begin = time.process_time()
    rng = np.random.default_rng(0)
    starts = [np.ones(train.n_features), *rng.uniform(-1.0, 1.0, (STARTS - 1, train.n_features))]
    climbs = [ar.make_ranker("direct-rank", n_jobs=1, verbose=-1, **CLIMB)._fit(train, [], start) for start in starts]
    return min(climbs, key=lambda climb: climb.objective_).coef_, time.process_time() - begin


def fastrank(train: ar.Dataset) -> tuple[np.ndarray, float]:
    """Climb with fastrank at its own settings, except for the number of starts and that features stay as they are."""
    import fastrank as peer

    features = peer.CDataset.from_numpy(np.asarray(train.X, np.float32), train.y, train.query_of_row)
    request = peer.TrainRequest.coordinate_ascent()
    request.measure = "ndcg@10"
    request.params.num_restarts, request.params.seed = STARTS, 1
    request.params.normalize, request.params.quiet = False, True
    begin = time.process_time()
    model = features.train_model(request).to_dict()
    return np.array(model["Linear"]["weights"]), time.process_time() - begin


def main() -> None:
    climbs = Table("coordinate_ascent.csv", "fold", "ranker")
    queries = Table(f"{WORK}/coordinate_ascent_queries.csv", "fold", "ranker", "query")
    present = [name for name in RANKERS if name != "fastrank" or importlib.util.find_spec("fastrank") is not None]
    if "fastrank" not in present:
        print("fastrank is not installed: its rows are left out (pip install fastrank)", file=sys.stderr)
    for number in range(1, 6):
        fold = fold_of("MQ2008", number)
        for ranker in present:
            if climbs.has(number, ranker):
                continue
            weights, seconds = weights_of(ranker, fold.train)
            train = ar.evaluate(fold.train.X @ weights, fold.train, "ndcg@10").means["ndcg@10"]
            test = ar.evaluate(fold.test.X @ weights, fold.test, "ndcg@10")
            for query, value in zip(fold.test.query_ids, test.values["ndcg@10"], strict=True):
                queries.add({"fold": number, "ranker": ranker, "query": query, "ndcg@10": float(value)}, quiet=True)
            n_starts = 10 if ranker == MORE else STARTS
            facts = {"fold": number, "ranker": ranker, "n_starts": n_starts, "cpu_seconds": seconds}
            climbs.add(facts | {"train ndcg@10": train, "test ndcg@10": test.means["ndcg@10"]})
    if {row["ranker"] for row in queries.rows} < {row["ranker"] for row in climbs.rows}:
        raise SystemExit(f"{queries.path} has not all rankers: delete {climbs.path} to make both again")
    (HERE / "coordinate_ascent.md").write_text(summary(climbs.rows, queries.rows))


def summary(climbs: list[dict[str, str]], queries: list[dict[str, str]]) -> str:
    """Return the means over folds and the paired differences of test NDCG@10 over all queries, as Markdown."""
    values: dict[str, dict[str, float]] = {}
    for row in queries:
        values.setdefault(row["ranker"], {})[row["query"]] = float(row["ndcg@10"])
    lines = [
        "# DirectRank against coordinate ascent",
        "",
        f"MQ2008, five folds, {STARTS} starts, NDCG@10 (ties averaged); CPU seconds of one fold.",
        "",
        "| ranker | train | test | CPU s | folds with less training NDCG than direct-rank | test less direct-rank's |",
        "|---|--:|--:|--:|--:|---|",
    ]
    ours = {row["fold"]: float(row["train ndcg@10"]) for row in climbs if row["ranker"] == "direct-rank"}
    for ranker in dict.fromkeys(row["ranker"] for row in climbs):
        own = [row for row in climbs if row["ranker"] == ranker]
        train, test, seconds = (
            float(np.mean([float(row[key]) for row in own])) for key in ("train ndcg@10", "test ndcg@10", "cpu_seconds")
        )
        below = sum(float(row["train ndcg@10"]) < ours[row["fold"]] for row in own)
        lines.append(
            f"| {ranker} | {train:.4f} | {test:.4f} | {seconds:.1f} | {below} of {len(own)} "
            f"| {paired(values[ranker], values['direct-rank'])} |"
        )
    return "\n".join(lines) + "\n"


def paired(one: dict[str, float], other: dict[str, float]) -> str:
    """Return the mean difference over the queries both have, with its standard error."""
    found: Any = np.array([one[query] - other[query] for query in one if query in other])
    found = found[~np.isnan(found)]
    if not found.any():
        return ""
    return f"{found.mean():+.4f} ± {found.std(ddof=1) / np.sqrt(len(found)):.4f} ({len(found)} queries)"


if __name__ == "__main__":
    main()
