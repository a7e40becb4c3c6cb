"""Which members `auto` should have: each is trained once a set, and many blends are made of the scores.

As in `auto`, numbers of trees and weights come from held-out queries of the training part, and every member is fitted
again on all of it. Blends are judged on queries that were not used for any choice: validation parts, the rest of a
training part of which few queries are trained on, or freshly generated ones. No test part is read.
``python -m experiments.symmetric.members fit`` keeps scores in ``work/``, set by set; started again, it resumes.
``python -m experiments.symmetric.members`` makes the blends and writes members.csv and members.md.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from benchmarks.peers.kinds import FRIEDMAN, KINDS, NOISE, made

import argrank as ar
from argrank._types import Floats
from argrank.data.arranged import arranged
from argrank.evaluation.evaluate import evaluate
from argrank.trials.auto import blend as blending
from argrank.trials.auto.blend import standardised
from argrank.trials.auto.members import MEMBERS, STAGES, Folding, member_of
from experiments._common import read_csv, write_csv
from experiments.symmetric.data import parts

HERE = Path(__file__).parent
WORK = HERE / "work"
TABLE = HERE / "members.csv"
LINEAR = tuple(MEMBERS["linear"])
Sets = Iterator[tuple[str, Callable[[], tuple[ar.Dataset, ar.Dataset] | None]]]
Candidates = dict[str, tuple[str, dict[str, Any]]]
#: Name -> ranker, parameters.
CANDIDATES: Candidates = {
    **{name: (name, parameters) for name, parameters in MEMBERS["linear"].items()},
    "query-mart": ("query-mart", {"start": None, "n_seeds": 1}),
    "mart": ("mart", {}),
    "xendcg-mart": ("xendcg-mart", {"start": None, "l2": 0.0}),
    "symmetric": ("symmetric-mart", {"start": None}),
    "symmetric, linear start": ("symmetric-mart", {}),
    "symmetric lambda": ("symmetric-mart", {"start": None, "objective": "lambda-mart"}),
    "symmetric xendcg": ("symmetric-mart", {"start": None, "objective": "xendcg-mart"}),
    "symmetric pairs": ("symmetric-mart", {"start": None, "objective": "pair-mart"}),
}
SEEDS = 3
REAL = ("shop (bundled)", "MQ2008", "OHSUMED-LETOR3", "MQ2007-agg")
LARGE = 20_000  # documents
JUDGED = 400  # queries of generated data that a blend is judged on


def generated(kind: str, seed: int, n_queries: int, n: int) -> tuple[ar.Dataset, ar.Dataset]:
    """Return training queries, and the queries to judge by."""
    data = made(kind, seed, n_queries + JUDGED, n)
    numbers = np.arange(data.n_queries)
    return data.select(numbers[:n_queries]), data.select(numbers[n_queries:])


def few_of(name: str, n_queries: int, seed: int) -> tuple[ar.Dataset, ar.Dataset] | None:
    """Return few queries of a training part to train on, the others of it to judge by."""
    found = parts(f"{name} | 1")
    if found is None:
        return None
    order = np.random.default_rng(seed).permutation(found[0].n_queries)
    return found[0].select(np.sort(order[:n_queries])), found[0].select(np.sort(order[n_queries:]))


def sets() -> Sets:
    """Yield the name of every set and what makes it."""
    for seed, kind in itertools.product((11, 12), ("asymmetric trees", "interactions", "thresholds", FRIEDMAN)):
        yield f"{kind} | 1250 x 40 {seed}", lambda a=(kind, seed, 1250, 40): generated(*a)
    for name in (*(f"{one} | 1" for one in REAL), "MSLR-sample | 1"):
        yield name, lambda name=name: parts(name)
    for seed in (11, 12):
        for name in REAL:
            yield f"{name} | 20 queries {seed}", lambda a=(name, 20, seed): few_of(*a)
        for n_queries, n in ((30, 20), (150, 40)):
            for kind in (*KINDS, NOISE):
                yield f"{kind} | {n_queries} x {n} {seed}", lambda a=(kind, seed, n_queries, n): generated(*a)
    for name in REAL[:3]:
        yield f"{name} | 2", lambda name=name: parts(f"{name} | 2")


def wanted(n_documents: int) -> Candidates:
    """Return the candidates to train: on large data those whose place is not settled by small data."""
    left_out = ("mart", "xendcg-mart", "symmetric, linear start") if n_documents > LARGE else ()
    return {name: given for name, given in CANDIDATES.items() if name not in left_out}


def fit(path: Path, found: tuple[ar.Dataset, ar.Dataset], candidates: Candidates) -> None:
    """Train every candidate in folds and on all queries, and keep its scores."""
    train, judged = arranged(found[0], whole=True), found[1]
    scaled = {} if ar.make_ranker("auto")._is_scaled(train, None) else {"normalise": "standard"}
    folding = Folding.of(train, 4, 0)
    kept: dict[str, Any] = {"held_y": folding.pool.y, "held_sizes": folding.pool.sizes}
    kept["documents"] = train.n_documents
    kept |= {"judged_y": judged.y, "judged_sizes": judged.sizes, "queries": train.n_queries}
    kept |= {f"part {number}": part for number, part in enumerate(folding.queries)}
    for name, (ranker, parameters) in candidates.items():
        begin = time.process_time()
        made = ar.make_ranker(ranker, **parameters, **(scaled if name in LINEAR else {}), n_jobs=1, verbose=-1)
        member = member_of(name, made, folding, "ndcg@10", STAGES)
        while member.advance():
            pass
        middle = time.process_time()
        model = member.refit(train, member.seeds(SEEDS))
        cpu = [middle - begin, time.process_time() - middle]
        scores = member.stages[member.best].scores
        without = scores.copy()
        for queries in folding.queries:
            rows = np.isin(folding.pool.query_of_row, queries)
            without[rows] = member.stages[member.best_without(queries)].scores[rows]
        deviation = member.deviation(model, train, -1.0)
        kept |= {
            f"held {name}": scores,
            f"without {name}": without,
            f"judged {name}": model.scores(judged.X, judged.indptr),
        }
        kept |= {
            f"deviation {name}": deviation,
            f"cpu {name}": cpu,
            f"trees {name}": member.stages[member.best].n_trees or 0,
        }
    with path.with_suffix(".part").open("wb") as file:
        np.savez_compressed(file, **kept)
    path.with_suffix(".part").rename(path)


class Kept:
    """The scores of all candidates on one set."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = {name: arrays[name] for name in arrays.files}
        self.pool, self.judged = (_judged(*(self.arrays[f"{one}_{two}"] for two in ("y", "sizes"))) for one in PARTS)
        self.queries = [self.arrays[name] for name in self.arrays if name.startswith("part ")]

    def blend(self, names: Sequence[str], pull: float = 10.0, a_query: float = 0.1) -> Floats:
        """Return the values of the judged queries for a blend of some candidates."""
        Z, deviations = standardised([self.arrays[f"held {name}"] for name in names], self.pool)
        found = np.where(deviations > 0, pulled_weights(Z, self.pool, pull, a_query), 0.0)
        scores = np.zeros(self.judged.n_documents)
        for name, weight, deviation in zip(names, found, deviations, strict=True):
            own = float(self.arrays[f"deviation {name}"])  # of linear members; trees have that of their held-out scores
            scores += weight / ((own if own > 0 else deviation) or 1.0) * self.arrays[f"judged {name}"]
        return _values(scores, self.judged)

    def out_of_fold(self, names: Sequence[str]) -> Floats:
        """Return the values of held-out queries for a blend whose trees and weights other queries chose."""
        scores = np.empty(self.pool.n_documents)
        for queries in self.queries:
            mine = np.isin(self.pool.query_of_row, queries)
            rest = self.pool.select(np.setdiff1d(np.arange(self.pool.n_queries), queries))
            columns = [self.arrays[f"without {name}"] for name in names]
            Z, deviations = standardised([column[~mine] for column in columns], rest)
            found = pulled_weights(Z, rest) / np.where(deviations > 0, deviations, 1.0)
            scores[mine] = np.stack([column[mine] for column in columns], axis=1) @ found
        return _values(scores, self.pool)

    def cpu(self, names: Sequence[str]) -> float:
        """Return the CPU seconds of some candidates, in folds and on all queries."""
        return float(sum(self.arrays[f"cpu {name}"].sum() for name in names))


def pulled_weights(Z: Floats, data: ar.Dataset, pull: float = 10.0, a_query: float = 0.1) -> Floats:
    """Return weights by the greater of two pulls, the second one a query; `auto` had these when this was run."""
    with mock.patch.object(blending, "PULL", max(pull, a_query * data.n_queries)):
        return blending.blend_weights(Z, data)


def _judged(y: Floats, sizes: Any) -> ar.Dataset:
    return ar.Dataset(np.zeros((len(y), 1), np.float32), y, group=sizes)


def _values(scores: Floats, data: ar.Dataset) -> Floats:
    (values,) = evaluate(scores, data, "ndcg@10").values.values()
    return np.asarray(values)


PARTS = ("held", "judged")
THREE = (*LINEAR, "query-mart", "symmetric")
BEFORE, ADOPTED = "query-mart, mart, xendcg-mart, symmetric", "query-mart, symmetric"
#: Members of trees beside the linear ones.
CHOICES: dict[str, tuple[str, ...]] = {
    BEFORE: ("query-mart", "mart", "xendcg-mart", "symmetric"),
    "no trees": (),
    "query-mart": ("query-mart",),
    "symmetric": ("symmetric",),
    ADOPTED: ("query-mart", "symmetric"),
    "query-mart, xendcg-mart, symmetric": ("query-mart", "xendcg-mart", "symmetric"),
    "symmetric, symmetric lambda": ("symmetric", "symmetric lambda"),
    "symmetric, symmetric xendcg": ("symmetric", "symmetric xendcg"),
    "query-mart, symmetric, symmetric lambda": ("query-mart", "symmetric", "symmetric lambda"),
    "query-mart, symmetric, symmetric xendcg": ("query-mart", "symmetric", "symmetric xendcg"),
    "symmetric pairs": ("symmetric pairs",),
    "query-mart, symmetric pairs": ("query-mart", "symmetric pairs"),
    "symmetric, symmetric pairs": ("symmetric", "symmetric pairs"),
    "query-mart, symmetric, symmetric pairs": ("query-mart", "symmetric", "symmetric pairs"),
    "query-mart, symmetric, symmetric xendcg, symmetric pairs": (
        "query-mart",
        "symmetric",
        "symmetric xendcg",
        "symmetric pairs",
    ),
    "query-mart, symmetric, symmetric with a linear start": ("query-mart", "symmetric", "symmetric, linear start"),
    "query-mart, symmetric with a linear start": ("query-mart", "symmetric, linear start"),
    "as before, and symmetric lambda": ("query-mart", "mart", "xendcg-mart", "symmetric", "symmetric lambda"),
}


def _unless_better(kept: Kept, names: Sequence[str], fewer: Sequence[str], errors: float) -> Floats:
    """Blend fewer candidates unless more gain so many standard errors out of fold."""
    gap = kept.out_of_fold(names) - kept.out_of_fold(fewer)
    gap = gap[~np.isnan(gap)]
    better = gap.mean() > errors * gap.std(ddof=1) / np.sqrt(len(gap))
    return kept.blend(names if better else fewer)


def _best(kept: Kept) -> Floats:
    """Blend the choice with the best estimate out of fold."""
    every = [(*LINEAR, *trees) for trees in (("query-mart",), ("symmetric",), ("query-mart", "symmetric"))]
    every += [LINEAR, ("query-mart",), ("symmetric",), ("query-mart", "symmetric")]
    return kept.blend(max(every, key=lambda names: float(np.nanmean(kept.out_of_fold(names)))))


#: Ways to blend: choices of members, then ways to protect small sets, all on "query-mart, symmetric".
RULES: dict[str, Callable[[Kept], Floats]] = {
    **{name: lambda kept, trees=trees: kept.blend((*LINEAR, *trees)) for name, trees in CHOICES.items()},
    **{f"pull {pull:g}": lambda kept, pull=pull: kept.blend(THREE, pull) for pull in (3.0, 30.0, 100.0)},
    "equal weights": lambda kept: kept.blend(THREE, 1e9),
    "linear alone unless the rest gains a standard error": lambda kept: _unless_better(kept, THREE, LINEAR, 1.0),
    "without symmetric unless it gains a standard error": lambda kept: _unless_better(kept, THREE, THREE[:-1], 1.0),
    "the best of seven choices out of fold": _best,
}


def row(name: str, kept: Kept, rule: str, gap: Floats) -> dict[str, Any]:
    """Return a line of the table: by how much a rule is ahead of the adopted members, and what its members cost."""
    gap = gap[~np.isnan(gap)]
    names = (*LINEAR, *CHOICES[rule]) if rule in CHOICES else THREE
    line = {
        "set": name,
        "queries": int(kept.arrays["queries"]),
        "documents": int(kept.arrays["documents"]),
        "rule": rule,
    }
    error = f"{gap.std(ddof=1) / np.sqrt(len(gap)):.5f}"
    return {**line, "difference": f"{gap.mean():.5f}", "error": error, "cpu": f"{kept.cpu(names):.1f}"}


GROUPS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "fewer than 70 queries": lambda row: row["queries"] < 70,
    "more, to 20,000 documents": lambda row: row["queries"] >= 70 and row["documents"] <= LARGE,
    "more than 20,000 documents": lambda row: row["documents"] > LARGE,
}


def page(rows: list[dict[str, Any]]) -> str:
    """Return the means over sets in Markdown, by size of the sets and over all of them."""
    groups = {**GROUPS, "all": lambda row: True}
    counts = [len({row["set"] for row in rows if inside(row)}) for inside in groups.values()]
    titles = [f"{title} ({count} sets)" for title, count in zip(groups, counts, strict=True)]
    lines = [f"| trees beside the linear members | {' | '.join(titles)} | worst set | CPU s |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|")
    for rule in RULES:
        own = [row for row in rows if row["rule"] == rule]
        cells = []
        for inside in groups.values():
            gaps = np.array([float(row["difference"]) for row in own if inside(row)])
            error = f" ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.4f}" if len(gaps) > 1 else ""
            cells.append(f"{gaps.mean():+.4f}{error}" if len(gaps) else "")
        worst = min(float(row["difference"]) for row in own)
        cpu = np.mean([float(row["cpu"]) for row in own if row["documents"] <= LARGE])
        lines.append(f"| {rule} | {' | '.join(cells)} | {worst:+.4f} | {cpu:.1f} |")
    return "\n".join(lines) + "\n"


def place(name: str, folder: Path = WORK) -> Path:
    """Return where the scores of a set are kept."""
    return folder / f"{name.replace(' | ', ', ')}.npz"


def fit_all(every: Sets, wanted: Callable[[int], Candidates], folder: Path = WORK) -> None:
    """Fit what is missing, the candidates by the number of documents."""
    folder.mkdir(exist_ok=True, parents=True)
    for name, make in every:
        path = place(name, folder)
        found = None if path.exists() else make()
        if found is not None:
            begin = time.process_time()
            fit(path, found, wanted(found[0].n_documents))
            print(f"{time.strftime('%H:%M')} {name}: {time.process_time() - begin:.0f} CPU s", flush=True)


def main() -> None:
    """Make the blends of what is kept, and write both tables; sets whose scores are not kept here keep their rows."""
    before = [{**one, **{name: int(one[name]) for name in ("queries", "documents")}} for one in read_csv(TABLE)]
    rows: list[dict[str, Any]] = []
    for name, _ in sets():
        path = place(name)
        if not path.exists():
            rows += [one for one in before if one["set"] == name]
        else:
            kept = Kept(np.load(path))
            known = [rule for rule in RULES if all(f"held {one}" in kept.arrays for one in CHOICES.get(rule, ()))]
            values = {rule: RULES[rule](kept) for rule in known}
            rows += [row(name, kept, rule, values[rule] - values[ADOPTED]) for rule in known]
    write_csv(TABLE, rows)
    (HERE / "members.md").write_text("# Members of auto\n\n" + (__doc__ or "") + "\n" + page(rows), "utf-8")


if __name__ == "__main__":
    fit_all(sets(), wanted) if sys.argv[1:] == ["fit"] else main()
