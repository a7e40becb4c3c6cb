"""What ties a ranker to its objective, for random settings of its options."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankError, ArgrankWarning
from argrank.rankers.linear.linear_ranker import LinearRanker
from argrank.rankers.registry import ranker_class

#: Values to draw from, by the name of a parameter; a combination that a ranker refuses is drawn again.
CHOICES = {
    "C": [0.03, 1.0, 30.0],
    "a": [None, [1.0, 0.5, 0.2]],
    "assignment": ["auto", "full"],
    "b": [None, [0.0, 1.0, 3.0, 7.0, 15.0]],
    "bound": ["convex", "tie-broken", "tight"],
    "decay": [None, "log2", "linear", "measure", 0.3],
    "discount": ["log2", "letor"],
    "f": ["identity", "exp"],
    "feature_map": ["pairs", "first", "positions"],
    "form": ["expected", "log-expected"],
    "gain": ["exp2", "linear", "binary"],
    "importance": [False, True],
    "k": ["auto", 3, None],
    "loss": ["squared", "hinge"],
    "margin": ["unit", "labels"],
    "measure": ["ndcg", "ndcg@5", "map", "mrr", "dcg@3", "p@3", "rbp@5", "err@5", "auc"],
    "measures": [("ndcg@5", "map"), ("ndcg@3", "mrr@10", "map")],
    "n_samples": [5, 20],
    "penalty": ["l2", "l1"],
    "reference": ["averaged", "any"],
    "relevant_at": [1.0, 2.0],
    "rho": [0.5, 2.0],
    "scale": ["pairs", None],
    "sigma": [0.5, 2.0],
    "signs": [None, [1, -1, 0, 0]],
    "skew": ["best", "mixed", -3.0],
    "slacks": ["separate", "shared"],
    "w0": [None, [0.1, -0.1, 0.0, 0.2]],
    "weights": [1.0, None],
}


def small_data() -> ar.Dataset:
    return ar.make_ranking(8, (3, 6), 4, grades=3, noise=1.0, random_state=7)


def settings(name: str, number: int, data: ar.Dataset) -> list[dict[str, object]]:
    """Return random settings of a ranker that it accepts on the data."""
    random, found = np.random.default_rng(len(name)), []
    known = [parameter for parameter in inspect.signature(ranker_class(name)).parameters if parameter in CHOICES]
    for _ in range(40 * number):
        drawn = {one: CHOICES[one][random.integers(len(CHOICES[one]))] for one in known if random.random() < 0.5}
        try:
            ar.objective(name, **drawn)(np.zeros(data.n_documents), data)
        except ArgrankError:
            continue
        found.append(drawn)
        if len(found) == number:
            break
    return found


def check_objective(name: str, parameters: dict[str, object], data: ar.Dataset) -> bool:
    """What a name minimises is the objective of its ranker, and ``objective_`` is R(w) / C + risk at ``coef_``.

    Returns whether there was a fit to look at: only linear rankers have one, and a solver may refuse a penalty.
    """
    ranker = ar.make_ranker(name, **parameters)
    assert ranker._objective() == ar.objective(name, **parameters)
    if not isinstance(ranker, LinearRanker):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        try:
            ranker.set_params(max_iter=15, verbose=-1).fit(data)
        except ArgrankError:
            return False
    R, C = ranker._pull(data, ranker.risk(data))
    value, _ = ranker.risk(data).value_and_gradient(ranker.coef_)
    assert ranker.objective_ == pytest.approx(R.value(ranker.coef_) / C + value, rel=1e-9), parameters
    return True
