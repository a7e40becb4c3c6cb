"""What to expect of a blend that one small forest follows, on queries that neither saw."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank.trials.auto.blend import Blend, Estimate, estimate_of
from argrank.trials.auto.members import Folding
from argrank.trials.compress import follow


def compressed_estimate(blend: Blend, folding: Folding, scoring: Any, max_trees: int, n_jobs: int | None) -> Estimate:
    """Follow the blend of every fold's models, weighed without its queries, by a small forest, and judge it on them."""
    pool = folding.pool
    scores = np.empty(pool.n_documents)
    for number, queries in enumerate(folding.queries):
        fold = number if len(folding.train) > 1 else 0
        models, train = [member.models[fold] for member in blend.members], folding.train[fold]
        small = follow(blend.without(queries, folding).served(models, train), train, max_trees, n_jobs)
        part = pool.select(queries)
        scores[np.isin(pool.query_of_row, queries)] = small.scores(part.X, part.indptr)
    return estimate_of(scores, pool, scoring)
