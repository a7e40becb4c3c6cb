"""Parameters out of range are refused before anything is learned, by every ranker that has them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.fuzz.values import wrong

import argrank as ar
from argrank._declared import parameters_of
from argrank.errors import ArgrankError, OptionError
from argrank.rankers.registry import RANKERS

DATA = ar.make_ranking(4, 5, 2, random_state=0)
RATINGS = sparse.csr_matrix(np.array([[1.0, 2, 0, 5], [3, 0, 1, 2], [0, 2, 5, 1]]))
FURTHER = {"callbacks": (1, [1]), "slots": ("x", [[float("nan")]])}
CASES = [(one, name) for one in RANKERS for name in ar.make_ranker(one).get_params()]


@pytest.mark.parametrize(("one", "name"), CASES)
def test_what_a_ranker_does_not_declare_is_refused_by_name(one, name):
    known = parameters_of(type(ar.make_ranker(one)))
    for value in (*wrong(known[name]), *FURTHER.get(name, ())):
        with pytest.raises((OptionError, ar.errors.InputError), match=f"^{name}"):
            fit(ar.make_ranker(one, **{name: value}))


def test_every_parameter_has_a_declaration_and_most_of_them_say_all():
    """The rest are measures, gains, starts and objects of other libraries, checked where they are used."""
    declared = {(one, name): parameters_of(type(ar.make_ranker(one)))[name] for one, name in CASES}
    left = {name for (_, name), what in declared.items() if what.is_open}
    assert left <= {
        "a", "b", "base_estimator", "callbacks", "decay", "discount", "gain", "init_model", "measure", "measures",
        "members", "objective", "scoring", "signs", "skew", "slots", "w0", "weights",
    }  # fmt: skip


def fit(ranker):
    if type(ranker).__name__.startswith("Factor"):
        return ranker.fit(RATINGS)
    if type(ranker).__name__ == "PositionMatch":
        return ranker.fit(DATA.X, np.ones((20, 1)), group=[5] * 4)
    return ranker.fit(DATA)


def test_slots_where_nothing_can_be_learned_end_at_weights_of_zero():
    """Every page gains the same: 0 is a subgradient of the risk at w = 0, which the solver looks for."""
    ranker = ar.make_ranker("position-match", tol=0.9).fit(DATA.X, np.ones((20, 2)), group=[5] * 4)
    assert not ranker.predict(DATA.X).any()


def test_an_array_is_no_measure():
    data = ar.make_ranking(4, 5, 2, random_state=0)
    for measure in (data.X, data.X[:0], ""):
        with pytest.raises(ArgrankError, match="measure"):
            ar.make_ranker("lambdarank", measure=measure).fit(data)


@pytest.mark.parametrize("name", ["orm", "smooth-grad", "softrank", "rank-svm", "lambda-mart", "svm-ndcg"])
@pytest.mark.parametrize("given", [np.zeros(3), np.zeros((2, 2)), sparse.csr_matrix(np.eye(3))])
def test_no_ranker_takes_an_array_for_a_measure(name, given):
    data = ar.make_ranking(4, 5, 2, random_state=0)
    parameter = "measure" if "measure" in ar.make_ranker(name).get_params() else "scoring"
    with pytest.raises(OptionError, match="measure: expected a name"):
        ar.make_ranker(name, **{parameter: given}).fit(data).score(data)


def test_steps_of_a_climb_are_a_number_that_memory_holds():
    with pytest.raises(OptionError, match="n_steps: expected a whole number from 1 up, at most 1000000"):
        ar.make_ranker("coordinate-ascent", n_steps=2**31).fit(ar.make_ranking(4, 5, 2, random_state=0))
