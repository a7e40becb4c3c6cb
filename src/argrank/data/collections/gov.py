"""The six .Gov query sets of LETOR 3.0: topic distillation, homepage finding and named page finding.

The KDD 2008 paper's counts (TD2003: 48,655 bad and 516 good documents, TD2004: 73,726 and 444) are those of LETOR 2.0,
which drew its documents otherwise; those of LETOR 3.0 could not be verified and are left out. The LogRank paper counts
575 queries in all.
"""

from __future__ import annotations

from argrank.data.collections.collection import Collection


def _gov(name: str, task: str, year: int, queries: int | None) -> Collection:
    return Collection(
        name=name,
        about=f"TREC {year} web track, {task}, on the .Gov pages, 64 features, as in LETOR 3.0",
        obtain="Microsoft Research's LETOR page (LETOR: Learning to Rank for Information Retrieval), free for research"
        ", version 3.0, Gov, QueryLevelNorm",
        queries=queries,
        features=64,
        labels={0: None, 1: None},
    )


HP2003 = _gov("HP2003", "homepage finding", 2003, None)
HP2004 = _gov("HP2004", "homepage finding", 2004, None)
NP2003 = _gov("NP2003", "named page finding", 2003, None)
NP2004 = _gov("NP2004", "named page finding", 2004, None)
TD2003 = _gov("TD2003", "topic distillation", 2003, 50)
TD2004 = _gov("TD2004", "topic distillation", 2004, 75)
