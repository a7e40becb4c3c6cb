"""Which members `auto` should have: each is trained once a set, then blends of many choices are made of them.

As in `auto`, numbers of trees and weights come from held-out queries of the training part; the blend, refitted with one
seed on all of it, is judged on the validation part, which chose nothing. ``python -m experiments.symmetric.members``
writes members.csv, line by line; begun again it goes on.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import Any

import argrank as ar
from argrank.data.arranged import arranged
from argrank.evaluation.evaluate import mean_of
from argrank.trials.auto import ranker as auto
from argrank.trials.auto import weights
from argrank.trials.auto.blend import Blend
from argrank.trials.auto.members import STAGES, Folding, member_of
from experiments.symmetric.data import SETS, parts

TABLE = Path(__file__).with_name("members.csv")
COLUMNS = ("set", "queries", "documents", "choice", "pull", "estimate", "value", "cpu")
LINEAR, LEAFWISE = ("listnet", "rank-svm"), ("query-mart", "mart", "xendcg-mart", "lambda-mart")
OTHERS = LEAFWISE[:3]
CHOICES: dict[str, tuple[str, ...]] = {
    "linear": LINEAR,
    "before": (*LINEAR, *LEAFWISE),
    "without lambda-mart": (*LINEAR, *OTHERS),
    "with symmetric": (*LINEAR, *LEAFWISE, "symmetric-mart"),
    "symmetric for lambda-mart": (*LINEAR, *OTHERS, "symmetric-mart"),
    "symmetric for three": (*LINEAR, "query-mart", "symmetric-mart"),
    "linear and query-mart": (*LINEAR, "query-mart"),
    "linear and symmetric": (*LINEAR, "symmetric-mart"),
}
PULLS = (10.0, 30.0, 100.0)


def lines(name: str) -> list[dict[str, Any]]:
    """Return the lines of a set: one for every choice of members and pull to equal weights."""
    found = parts(name)
    if found is None:
        return []
    train, valid = arranged(found[0], whole=True), found[1]
    whole = ar.make_ranker("auto", n_jobs=1)
    given = [*auto.MEMBERS["linear"].items(), *auto.MEMBERS["trees"].items()]
    if "symmetric-mart" not in dict(given):
        given.append(("symmetric-mart", {"start": None}))
    scaled = {} if whole._is_scaled(train, None) else {"normalise": "standard"}
    folding, members, models, cpu = Folding.of(train, 4, 0), {}, {}, {}
    for member, parameters in given:
        begin = time.process_time()
        more = scaled if member in LINEAR else {}
        made = ar.make_ranker(member, **parameters, **more, n_jobs=1, verbose=-1)
        members[member] = one = member_of(member, made, folding, "ndcg@10", STAGES)
        while one.advance():
            pass
        models[member] = one.refit(train, 1)
        cpu[member] = time.process_time() - begin
    rows = []
    for choice, names in CHOICES.items():
        for pull in PULLS:
            weights.PULL = pull
            blend = Blend.of([members[one] for one in names], folding, "ndcg@10")
            model = blend.served([models[one] for one in names], train)
            value = mean_of(model.predict(valid), valid, "ndcg@10")
            numbers = {"queries": train.n_queries, "documents": train.n_documents, "pull": pull}
            figures = {"estimate": f"{blend.estimate.value:.5f}", "value": f"{value:.5f}"}
            seconds = f"{sum(cpu[one] for one in names):.1f}"
            rows.append({"set": name, "choice": choice, **numbers, **figures, "cpu": seconds})
    return rows


def main(names: list[str]) -> None:
    """Fill the table."""
    if not TABLE.exists():
        TABLE.write_text(",".join(COLUMNS) + "\n", "utf-8")
    with TABLE.open(encoding="utf-8", newline="") as file:
        done = {row["set"] for row in csv.DictReader(file)}
    for name in names or SETS:
        if name not in done:
            rows = lines(name)
            with TABLE.open("a", encoding="utf-8", newline="") as file:
                csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(rows)
            for row in rows:
                print(*row.values(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
