"""The families of learners, and a spread of one or two from each for a first comparison."""

from __future__ import annotations

from argrank.rankers import RANKERS

#: Family -> its learners, those for a first comparison in the first tuple. A learner is used once it is registered.
FAMILIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "pointwise": (("regression",), ("mcrank",)),
    "pairwise": (("rank-svm",), ("frank", "rankboost")),
    "structured": (
        ("svm-auc", "svm-map", "svm-ndcg"),
        ("dorm", "orm", "svm-combo", "svm-mrr", "svm-ndcg-nc"),
    ),
    "conditional": (("log-mle",), ("log-combined", "log-convex", "log-gain", "log-loss")),
    "listwise": (("listnet",), ("adarank", "lambdarank", "rank-cosine", "smooth-grad", "softrank")),
    "direct": (("direct-rank",), ("coordinate-ascent",)),
    "trees": (("mart", "lambda-mart"), ("direct-rank-trees",)),
    "factors": ((), ("factor-rank", "position-match")),
}

#: Learners whose model does not mind how features are scaled.
SCALE_FREE = frozenset({"adarank", "frank", "mart", "mcrank", "lambda-mart", "rankboost", "direct-rank-trees"})


def family_of(name: str) -> str | None:
    """Return the family of a registered learner."""
    return next((family for family, (first, more) in FAMILIES.items() if name in first + more), None)


def spread() -> list[str]:
    """Return the registered learners of the first comparison, family by family."""
    return [name for first, _ in FAMILIES.values() for name in first if name in RANKERS]
