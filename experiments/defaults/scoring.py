"""What auto gains where a measure other than NDCG@10 is asked for: scoring.csv, scoring.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.scoring [--sets A B]

Blends of ``auto``'s usual members as it makes them (four folds by query; trees and weights of a part chosen without
it), judged out of fold by the measure that was asked for, query by query, against ``auto(scoring="ndcg@10")``:

- trees: the numbers of trees are chosen by the measure, which is what ``auto(scoring=…)`` does;
- weights: as trees, and the weights climb from the likelihood's to a maximum of the measure, by exact line searches;
- forest: as trees, and a lambda-mart for the measure is one more member;
- linear: as trees, and a linear ranker for the measure is one more member;
- chosen: for every part, that of these four which is best by the measure on the other parts.

Forests have 320 trees at most. What is in scoring.csv is not computed again.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from typing import Any
from unittest import mock

import numpy as np

import argrank as ar
from argrank.linesearch.landscape import Landscape
from argrank.linesearch.search import Placement, search
from argrank.trials.auto import members
from argrank.trials.auto.blend import blend_weights, standardised
from argrank.trials.auto.members import EFFORTS, MEMBERS, PATIENCE, STAGES, Folding, best_stage, member_of
from experiments._common import quiet
from experiments.defaults._common import HERE, SETS, Store

DATA = ("shop (bundled)", "MQ2008", "OHSUMED-LETOR3", "MSLR-sample", "nonlinear")
ASKED = ("map", "mrr@10", "p@5", "err@10")
USUAL = "ndcg@10"
NUMBERS = tuple(number for number in STAGES if number <= 320)
WAYS = ("trees", "weights", "forest", "linear", "chosen")
#: The linear ranker for a measure: its own where there is one.
LINEAR: dict[str, tuple[str, dict[str, Any]]] = {
    "map": ("svm-map", {}),
    "mrr@10": ("svm-mrr", {}),
    "p@5": ("orm", {"measure": "p@5"}),
    "err@10": ("log-loss", {"measure": "err@10"}),
}
ROUNDS, ENOUGH = 5, 1e-4  # rounds of a climb: the most, and the gain below which it stops

Named = tuple[str, dict[str, Any]]


@lru_cache(maxsize=1)
def whole(name: str) -> ar.Dataset:
    """Return all queries of a set: its test parts."""
    read, n_folds = SETS[name]
    parts = [read(number).test for number in range(1, n_folds + 1)]
    return ar.Dataset.concatenate(
        [part._but(query_ids=np.arange(part.n_queries) + 10_000 * number) for number, part in enumerate(parts)]
    )


def climbed(Z: Any, weights: Any, data: ar.Dataset, measure: str) -> Any:
    """Return weights >= 0 at which no single one can be moved for a gain in the measure, from given ones."""
    landscape = Landscape(data, measure, "expected", n_jobs=1)
    weights, scores = weights.copy(), Z @ weights
    here, placement = landscape.value(scores), Placement(point="middle", settle=False)
    for _ in range(ROUNDS):
        before = here.mean
        for number, column in enumerate(np.ascontiguousarray(Z.T)):
            window = (-float(weights[number]), np.inf)
            found, here = search(landscape, scores, column, here, window, placement)
            weights[number] += found.step
            scores = scores + found.step * column
        if here.mean - before < ENOUGH:
            break
    return weights


class Stages:
    """Held-out scores of members, stage by stage, and blends of them."""

    def __init__(self, data: ar.Dataset) -> None:
        self.data, self.folding = data, Folding.of(data, 4, 0)
        self._scores: dict[str, list[Any]] = {}

    def of(self, name: str, parameters: dict[str, Any]) -> list[Any]:
        """Grow a member to the end and return the scores of its stages."""
        key = f"{name} {parameters}"
        if key not in self._scores:
            made = ar.make_ranker(name, **parameters, random_state=0, verbose=-1, n_jobs=1)
            member = member_of(name, made, self.folding, USUAL, NUMBERS)
            with quiet(), mock.patch.object(members, "PATIENCE", len(STAGES)):
                while member.advance():
                    pass
            self._scores[key] = [stage.scores for stage in member.stages]
            print(key, flush=True)
        return self._scores[key]

    def values(self, scores: Any, measure: str) -> Any:
        """Return the measure of scores in stored order, query by query."""
        return ar.evaluate(self.data.to_caller(scores), self.data, measure, n_jobs=1).values[measure]

    def grown(self, name: str, parameters: dict[str, Any], scoring: str) -> list[Any]:
        """Return scores and values of the stages to which a member grows as long as a measure gains."""
        stages: list[Any] = []
        for scores in self.of(name, parameters):
            stages.append((scores, self.values(scores, scoring)))
            if len(stages) - 1 - best_stage([values for _, values in stages]) >= PATIENCE:
                break
        return stages

    def blend(self, named: list[Named], scoring: str, climbs: bool = False) -> Any:
        """Return the scores of the blend, those of every part by trees and weights chosen without it."""
        grown = [self.grown(name, parameters, scoring) for name, parameters in named]
        scores, data = np.empty(self.data.n_documents), self.data
        for queries in self.folding.queries:
            others = np.setdiff1d(np.arange(data.n_queries), queries)
            mine, theirs = (np.isin(data.query_of_row, part) for part in (queries, others))
            columns = [stages[best_stage([values[others] for _, values in stages])][0] for stages in grown]
            Z, deviations = standardised([column[theirs] for column in columns], rest := data.select(others))
            weights = blend_weights(Z, rest)
            if climbs:
                weights = climbed(Z, weights, rest, scoring)
            scaled = weights / np.where(deviations > 0, deviations, 1.0)
            scores[mine] = np.stack([column[mine] for column in columns], axis=1) @ scaled
        return scores

    def ways(self, asked: str) -> dict[str, Any]:
        """Return the values of every way, query by query."""
        usual = usual_members()
        found = {
            "trees": self.values(self.blend(usual, asked), asked),
            "weights": self.values(self.blend(usual, asked, climbs=True), asked),
            "forest": self.values(self.blend([*usual, ("lambda-mart", {"measure": asked})], asked), asked),
            "linear": self.values(self.blend([*usual, LINEAR[asked]], asked), asked),
        }
        chosen = np.empty(self.data.n_queries)
        for queries in self.folding.queries:
            others = np.setdiff1d(np.arange(self.data.n_queries), queries)
            best = max(found, key=lambda way: float(np.nanmean(found[way][others])))
            chosen[queries] = found[best][queries]
        return {**found, "chosen": chosen}


def usual_members() -> list[Named]:
    """Return the members of ``auto`` by default."""
    return [*MEMBERS["linear"].items(), *EFFORTS["default"].small]


def compute(store: Store, sets: list[str]) -> None:
    """Blend what is missing."""
    for name in sets:
        missing = [one for one in ASKED if not store.has({"data": name, "measure": one, "way": WAYS[-1]})]
        if not missing:
            continue
        stages = Stages(whole(name))
        usual = stages.blend(usual_members(), USUAL)
        for asked in missing:
            before = stages.values(usual, asked)
            for way, after in stages.ways(asked).items():
                gains = (after - before)[~np.isnan(after - before)]
                error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
                key = {"data": name, "measure": asked, "way": way}
                store.add({**key, "usual": float(np.nanmean(before)), "gain": float(gains.mean()), "error": error})


def table(store: Store) -> str:
    """Return the gain for every measure, set and way, and the mean over sets, whose error takes the sets as given."""
    lines = [f"| measure | data | auto({USUAL}) | {' | '.join(WAYS)} |", f"|---|---|--:|{'--:|' * len(WAYS)}"]
    for asked in ASKED:
        found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
        for name in DATA:
            rows = {row["way"]: row for row in store.rows if (row["measure"], row["data"]) == (asked, name)}
            if rows:
                for way in WAYS:
                    found[way].append((float(rows[way]["gain"]), float(rows[way]["error"])))
                cells = " | ".join(f"{found[way][-1][0]:+.4f} ± {found[way][-1][1]:.4f}" for way in WAYS)
                lines.append(f"| {asked} | {name} | {float(rows[WAYS[0]]['usual']):.4f} | {cells} |")
        means = []
        for way in WAYS:
            gains, errors = np.array(found[way]).T
            means.append(f"{gains.mean():+.4f} ± {np.sqrt(np.sum(errors**2)) / len(errors):.4f}")
        lines.append(f"| {asked} | **mean** |  | {' | '.join(means)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Compute what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(DATA), choices=DATA)
    store = Store(HERE / "scoring.csv", ("data", "measure", "way"))
    compute(store, parser.parse_args().sets)
    (HERE / "scoring.md").write_text(table(store), "utf-8")


if __name__ == "__main__":
    main()
