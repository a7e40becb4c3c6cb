"""Table 8: ERR and MAP climbed on whole lists and truncated at 10, and by coordinate ascent.

    python -m experiments.directrank.truncated      # truncated.csv; resumes

MQ2008, fold 1; every climb begins once, at equal weights, so that all have the same start, and the best iterate on the
validation part is kept. Tested is the whole measure, whatever was climbed.
"""

from __future__ import annotations

import time

import numpy as np

import argrank as ar
from experiments.directrank._common import Table, fold_of, mean

CLIMBED = {"err": ("err", "err@10"), "map": ("map", "map@10")}


def main() -> None:
    table = Table("truncated.csv", "learner", "climbed")
    fold = fold_of("MQ2008")
    for name, ways in CLIMBED.items():
        for learner, climbed in (*(("direct-rank", way) for way in ways), ("coordinate-ascent", name)):
            if table.has(learner, climbed):
                continue
            own = {"validation_measure": name} if learner == "direct-rank" else {}
            ranker = ar.make_ranker(learner, measure=climbed, n_jobs=1, verbose=-1, **own)
            begin = time.process_time()
            ranker._fit(fold.train, [fold.valid], np.ones(fold.train.n_features))
            facts = {"learner": learner, "climbed": climbed, "rounds": ranker.n_iter_}
            facts |= {"cpu_seconds": time.process_time() - begin, "measure": name}
            table.add(facts | {role: mean(ranker, getattr(fold, role), name) for role in ("train", "valid", "test")})


if __name__ == "__main__":
    main()
