"""Table 8: ERR and MAP climbed on whole lists and truncated at 10, and by coordinate ascent.

    python -m experiments.directrank.truncated      # truncated.csv; resumes

MQ2008, five folds; every climb begins once, at equal weights, so that all have the same start, and the best
iterate on the validation part is kept. Tested is the whole measure, whatever was climbed; "error" is the standard error
of the difference from coordinate ascent, whose values for all test queries are kept in
work/truncated_queries.csv.
"""

from __future__ import annotations

import time

import numpy as np

import argrank as ar
from experiments.directrank._common import WORK, Table, fold_of, mean
from experiments.directrank._paired import errors

DATA = ("MQ2008",)
CLIMBED = {"err": ("err", "err@10"), "map": ("map", "map@10")}


def main() -> None:
    table = Table("truncated.csv", "data", "fold", "ranker", "climbed")
    queries = Table(f"{WORK}/truncated_queries.csv", "data", "fold", "measure")
    for data in DATA:
        for number in range(1, 6):
            fold = fold_of(data, number)
            for name, ways in CLIMBED.items():
                for ranker, climbed in (("coordinate-ascent", name), *(("direct-rank", way) for way in ways)):
                    if table.has(data, number, ranker, climbed):
                        continue
                    own = {"scoring": name, "point": "likelihood"} if ranker == "direct-rank" else {}
                    trained = ar.make_ranker(ranker, measure=climbed, n_jobs=1, verbose=-1, **own)
                    begin = time.process_time()
                    trained._fit(fold.train, [fold.valid], np.ones(fold.train.n_features))
                    seconds = time.process_time() - begin
                    values = ar.evaluate(trained.predict(fold.test), fold.test, name).values[name]
                    place = {"data": data, "fold": number, "measure": name}
                    spread = errors(queries, place, {"value": values}, keep=ranker == "coordinate-ascent")
                    means = {role: mean(trained, getattr(fold, role), name) for role in ("train", "valid", "test")}
                    facts = {"ranker": ranker, "climbed": climbed, "rounds": trained.n_iter_, "cpu_seconds": seconds}
                    table.add(place | facts | means | {"error": spread["error value"]})


if __name__ == "__main__":
    main()
