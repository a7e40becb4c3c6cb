"""The members of a blend, and how much is made of them: members of trees, folds and seeds by effort."""

from __future__ import annotations

from typing import Any, NamedTuple

#: The members by family, as they were measured; parameters that differ from the ranker's own defaults.
MEMBERS: dict[str, dict[str, dict[str, Any]]] = {
    "linear": {"listnet": {}, "rank-svm": {"C": 10.0}},
    "trees": {
        "query-mart": {"start": None, "n_seeds": 1},
        "mart": {},
        "xendcg-mart": {"start": None, "l2": 0.0},
        "symmetric-mart": {"start": None},
        "lambda-mart": {},
    },
}


class Effort(NamedTuple):
    """What a fit takes: members of trees, folds, and seeds of every member of trees when it is fitted again."""

    trees: tuple[str, ...]
    n_folds: int
    seeds: int


EFFORTS = {
    "fast": Effort(("symmetric-mart",), 4, 1),
    "default": Effort(("query-mart", "symmetric-mart"), 4, 3),
    "best": Effort(tuple(MEMBERS["trees"]), 8, 5),
}
