"""Which interval of a difference covers on real queries, by hundreds of pairs of rankings: pairs.csv and pairs.md.

Pairs are of single features by five measures, and of the rankers of ``experiments.defaults`` by NDCG@10. The interval
was chosen on those of some collections; those of MQ2008 and OHSUMED were not used for it.
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank._types import Floats
from argrank.evaluation.intervals import difference_intervals
from experiments._common import write_csv
from experiments.intervals.coverage import N_DRAWS, NOW, SIZES, Intervals, apart, covered, of_differences, samples
from experiments.intervals.others import betting, imagined
from experiments.intervals.populations import MEASURES

HERE = Path(__file__).parent
RUNS = HERE.parent / "defaults" / "queries.jsonl.gz"
CHOOSING, REPORTED = "choosing", "reported"
FEATURES = {"MQ2007-agg": CHOOSING, "MSLR-sample": CHOOSING, "MQ2008": REPORTED, "OHSUMED-LETOR3": REPORTED}
RANKERS = {
    CHOOSING: ("MQ2007-agg", "MSLR-sample", "linear", "nonlinear", "shop (bundled)"),
    REPORTED: ("MQ2008", "OHSUMED-LETOR2", "OHSUMED-LETOR3"),
}
N_PAIRS = 24  # of each collection, drawn at random
BEFORE = "Student's t, as before"
KINDS: dict[str, Intervals] = {
    BEFORE: partial(imagined, size=0),
    "imagined at 1/8": partial(imagined, size=1 / 8),
    NOW: of_differences,
    "imagined at 1/2": partial(imagined, size=1 / 2),
    "imagined at 1/4, ties count too": partial(imagined, size=1 / 4, ties=True),
    "sign flips": lambda drawn: difference_intervals(drawn, "randomisation", reach=1.0, n_resamples=999),
    "hedged capital": lambda drawn: 2 * betting((drawn + 1) / 2, 100) - 1,
}
SLOW = {"sign flips", "hedged capital"}  # tried where queries are few
FEW = 20


def of_features(collection: str) -> Iterator[Floats]:
    """Yield differences between two features at random that rank the queries of a collection, by every measure."""
    fold = ar.load_collection(collection, fold=1)
    data = ar.Dataset.concatenate([part for part in (fold.train, fold.valid, fold.test) if part is not None])
    X = np.nan_to_num(np.asarray(data.X), nan=-1e9)  # a system that did not return a document
    names = [*MEASURES.values(), "p@1"]
    drawn = np.random.default_rng(1).choice(np.flatnonzero(np.ptp(X, axis=0) > 0), (N_PAIRS, 2))
    found = {i: ar.evaluate(data.to_caller(X[:, i]), data, names).values for i in np.unique(drawn)}
    for one, other in drawn:
        yield from (apart(found[one][name], found[other][name]) for name in names)


def of_rankers(collections: tuple[str, ...]) -> Iterator[Floats]:
    """Yield the differences between two rankers at random, over the queries of all folds of a collection."""
    runs: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    with gzip.open(RUNS, "rt") as lines:
        for line in lines:
            collection, fold, ranker, values = json.loads(line)
            runs[collection][ranker][str(fold)] = values
    for collection in collections:
        folds = max((set(one) for one in runs[collection].values()), key=len)
        whole = {
            name: np.concatenate([np.array(one[fold], float) for fold in sorted(folds)])
            for name, one in sorted(runs[collection].items())
            if set(one) == folds
        }
        duels = list(itertools.combinations(whole, 2))
        for place in np.random.default_rng(1).permutation(len(duels))[:N_PAIRS]:
            a, b = duels[place]
            yield apart(whole[a], whole[b])


def pairs() -> dict[str, list[Floats]]:
    """Return the differences of the pairs for choosing and of those for reporting, without pairs that never differ."""
    found: dict[str, list[Floats]] = {CHOOSING: [], REPORTED: []}
    for collection, half in FEATURES.items():
        found[half] += of_features(collection)
    for half, collections in RANKERS.items():
        found[half] += of_rankers(collections)
    known = {half: [one[~np.isnan(one)] for one in some] for half, some in found.items()}
    return {half: [one for one in some if np.ptp(one) > 0] for half, some in known.items()}


def rows(
    given: Mapping[str, list[Floats]], kinds: Mapping[str, Intervals] = KINDS, n_draws: int = N_DRAWS
) -> Iterator[dict[str, Any]]:
    """Yield for each half, size and kind the least coverage of a pair, and what the intervals cost."""
    for half, populations in given.items():
        for n_queries in SIZES:
            facts: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
            for number, population in enumerate(populations):
                drawn = samples(population, n_queries, n_draws, seed=number)
                for kind, make in kinds.items():
                    if kind in SLOW and n_queries > FEW:
                        continue
                    low, high = np.clip(make(drawn), -1, 1).T
                    held = covered(np.stack([low, high], axis=1), float(population.mean()))
                    found = float(((low > 0) | (high < 0)).mean())
                    facts[kind].append((held, float((high - low).mean()), found))
            for kind, own in facts.items():
                held, width, significant = np.array(own).T
                yield {
                    "pairs": half, "number": len(own), "queries": n_queries, "interval": kind, "least": held.min(),
                    "a hundredth": np.quantile(held, 0.01), "below .93": (held < 0.93).mean(), "mean": held.mean(),
                    "width": width.mean(), "significant": significant.mean(),
                }  # fmt: skip


HEAD = """# Differences of real queries, by hundreds of pairs

For every pair {n_draws:,} samples were drawn: the least coverage of all pairs / the share of pairs covered less than
.93 times (such a share has a standard error of .006) / the mean width / how often 0 is left out. "Imagined": two
queries at that share of the farthest that a difference can be, whose weight falls to 0 when 50 queries differ, or
("ties count too") when there are 50 queries.
"""


def page(found: list[dict[str, Any]]) -> str:
    """Return the tables as Markdown."""
    lines = [HEAD.format(n_draws=N_DRAWS)]
    for half in (CHOOSING, REPORTED):
        own = {(row["interval"], row["queries"]): row for row in found if row["pairs"] == half}
        number = next(iter(own.values()))["number"]
        what = "on which the interval was chosen" if half == CHOOSING else "of MQ2008 and OHSUMED, with no part in it"
        lines += [f"## {number} pairs {what}", ""]
        lines += [f"| | queries: {' | '.join(map(str, SIZES))} |", f"|---|{'--:|' * len(SIZES)}"]
        for kind in KINDS:
            cells = [_cell(own[kind, n]) if (kind, n) in own else "" for n in SIZES]
            lines.append(f"| {kind} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(row: Mapping[str, Any]) -> str:
    return " / ".join(f"{row[name]:.3f}".lstrip("0") for name in ("least", "below .93", "width", "significant"))


def main() -> None:
    """Compute everything and write the tables."""
    found = list(rows(pairs()))
    write_csv(HERE / "pairs.csv", found)
    (HERE / "pairs.md").write_text(page(found), "utf-8")


if __name__ == "__main__":
    main()
