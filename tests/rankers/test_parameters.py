"""Parameters out of range are refused before anything is learned, by every ranker that has them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import OptionError
from argrank.rankers.parameters import LEAST, POSITIVE
from argrank.rankers.registry import RANKERS

DATA = ar.make_ranking(4, 5, 2, random_state=0)
RATINGS = sparse.csr_matrix(np.array([[1.0, 2, 0, 5], [3, 0, 1, 2], [0, 2, 5, 1]]))
WRONG = {name: (least - 1, float("nan"), float("inf"), "x") for name, least in LEAST.items()}
WRONG |= {name: (0.0, -1.0, float("nan"), float("inf"), "x") for name in POSITIVE}
WRONG |= {"callbacks": (1, [1]), "slots": ("x", [[float("nan")]]), "step_scale": (1.0, 0.5)}
CASES = [(one, name) for one in RANKERS for name in ar.make_ranker(one).get_params() if name in WRONG]


@pytest.mark.parametrize(("one", "name"), CASES)
def test_values_out_of_range_are_refused_by_name(one, name):
    for value in WRONG[name]:
        with pytest.raises((OptionError, ar.errors.InputError), match=f"^{name}"):
            fit(ar.make_ranker(one, **{name: value}))


def fit(ranker):
    if type(ranker).__name__.startswith("Factor"):
        return ranker.fit(RATINGS)
    if type(ranker).__name__ == "PositionMatch":
        return ranker.fit(DATA.X, np.ones((20, 1)), group=[5] * 4)
    return ranker.fit(DATA)


def test_slots_where_nothing_can_be_learned_end_at_weights_of_zero():
    """Every page gains the same: the risk has a subgradient of no length at 0, which the solver looks for."""
    ranker = ar.make_ranker("position-match", tol=0.9).fit(DATA.X, np.ones((20, 2)), group=[5] * 4)
    assert not ranker.predict(DATA.X).any()
