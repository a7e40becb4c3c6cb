"""What auto gains where another measure than NDCG@10 is asked for: scoring.csv, scoring.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.scoring

Blends as ``auto`` makes them (four folds by query; trees and weights of a part chosen without it), judged out of fold
by the measure that was asked for, query by query, against ``auto(scoring="ndcg@10")``:

- trees: the number of trees is chosen by the measure, which is what ``auto(scoring=…)`` does;
- lambda: and its lambda-mart is for the measure instead of NDCG@10;
- both: and a second lambda-mart is for the measure.

Forests have 320 trees at most. What is in scoring.csv is not computed again.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import argrank as ar
from argrank.trials.auto.members import MEMBERS, STAGES, Folding, best_stage, member_of
from argrank.trials.auto.weights import blend_weights, standardised
from experiments._common import quiet
from experiments.defaults._common import HERE, SETS, Store

DATA = ("shop (bundled)", "MQ2008", "OHSUMED-LETOR3")
ASKED = ("map", "mrr@10", "p@5", "err@10")
SEEDS = (0,)
USUAL = "ndcg@10"
NUMBERS = tuple(number for number in STAGES if number <= 320)
LAMBDA = "lambda-mart"
WAYS = ("trees", "lambda", "both")


@lru_cache(maxsize=1)
def whole(name: str) -> ar.Dataset:
    """Return all queries of a set: its test parts."""
    read, n_folds = SETS[name]
    parts = [read(number).test for number in range(1, n_folds + 1)]
    return ar.Dataset.concatenate(
        [part._but(query_ids=np.arange(part.n_queries) + 10_000 * number) for number, part in enumerate(parts)]
    )


class Stages:
    """Held-out scores of members, stage by stage, and blends of them."""

    def __init__(self, data: ar.Dataset, seed: int) -> None:
        self.data, self.seed, self.folding = data, seed, Folding.of(data, 4, seed)
        self._scores: dict[tuple[str, str], list[Any]] = {}

    def of(self, name: str, parameters: dict[str, Any], scoring: str) -> list[Any]:
        """Grow a member as long as a measure on the held-out queries gains, and return the scores of its stages."""
        key = f"{name} {parameters}", scoring
        if key not in self._scores:
            made = ar.make_ranker(name, **parameters, random_state=self.seed, verbose=-1, n_jobs=1)
            member = member_of(name, made, self.folding, scoring, NUMBERS)
            with quiet():
                while member.advance():
                    pass
            self._scores[key] = [(stage.scores, stage.values) for stage in member.stages]
        return self._scores[key]

    def blend(self, members: list[tuple[str, dict[str, Any]]], scoring: str) -> Any:
        """Return the scores of the blend, those of every part by trees and weights chosen without it."""
        grown = [self.of(name, parameters, scoring) for name, parameters in members]
        scores, data = np.empty(self.data.n_documents), self.data
        for queries in self.folding.queries:
            others = np.setdiff1d(np.arange(data.n_queries), queries)
            mine, theirs = (np.isin(data.query_of_row, part) for part in (queries, others))
            columns = [stages[best_stage([values[others] for _, values in stages])][0] for stages in grown]
            Z, deviations = standardised([column[theirs] for column in columns], rest := data.select(others))
            weights = blend_weights(Z, rest) / np.where(deviations > 0, deviations, 1.0)
            scores[mine] = np.stack([column[mine] for column in columns], axis=1) @ weights
        return data.to_caller(scores)


def members_of(way: str, asked: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the members of a way to take a measure into account."""
    usual = [pair for family in MEMBERS.values() for pair in family.items()]
    for_it = (LAMBDA, {**MEMBERS["trees"][LAMBDA], "measure": asked})
    if way == "both":
        return [*usual, for_it]
    return [for_it if way == "lambda" and name == LAMBDA else (name, own) for name, own in usual]


def compute(store: Store) -> None:
    """Blend what is missing."""
    for name in DATA:
        for seed in SEEDS:
            missing = [
                (asked, way)
                for asked in ASKED
                for way in WAYS
                if not store.has({"data": name, "seed": seed, "measure": asked, "way": way})
            ]
            if not missing:
                continue
            stages = Stages(whole(name), seed)
            usual = stages.blend(members_of("trees", USUAL), USUAL)
            for asked, way in missing:
                before, after = (
                    ar.evaluate(scores, stages.data, asked).values[asked]
                    for scores in (usual, stages.blend(members_of(way, asked), asked))
                )
                gains = (after - before)[~np.isnan(after - before)]
                error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
                key = {"data": name, "seed": seed, "measure": asked, "way": way}
                store.add({**key, "usual": float(np.nanmean(before)), "gain": float(gains.mean()), "error": error})


def table(store: Store) -> str:
    """Return the mean gain over the seeds for every measure, set and way; errors are those of one seed."""
    lines = [f"| measure | data | auto({USUAL}) | {' | '.join(WAYS)} |", f"|---|---|--:|{'--:|' * len(WAYS)}"]
    for asked in ASKED:
        for name in DATA:
            rows = [row for row in store.rows if (row["measure"], row["data"]) == (asked, name)]
            cells = []
            for way in WAYS:
                own = [row for row in rows if row["way"] == way]
                gain, error = (np.mean([float(row[part]) for row in own]) for part in ("gain", "error"))
                cells.append(f"{gain:+.4f} ± {error:.4f}")
            usual = np.mean([float(row["usual"]) for row in rows])
            lines.append(f"| {asked} | {name} | {usual:.4f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compute what is missing, then write the table."""
    store = Store(HERE / "scoring.csv", ("data", "seed", "measure", "way"))
    compute(store)
    (HERE / "scoring.md").write_text(table(store), "utf-8")


if __name__ == "__main__":
    main()
