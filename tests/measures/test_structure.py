"""A measure declares its structure once, and everything that optimises measures uses it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning
from argrank.linesearch.landscape import Landscape
from argrank.measures import MEASURES
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class Shelf(Measure):
    """A new measure of the form a · b: labels gain their square root, rank i counts 0.7^(i - 1) down to rank k."""

    spelling = "Shelf"
    aliases = ("shelf",)

    k: int | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Any:
        gains = rankings.expected(np.sqrt, self.k)
        return total(gains * self._discounts(gains.shape[1]))

    def _structure(self, convention: Convention) -> Structure:
        return Structure("additive", np.sqrt, self._discounts)

    def _discounts(self, n: int) -> Any:
        ranks = np.arange(n)
        return np.where(ranks < (self.k or n), 0.7**ranks, 0.0)


@pytest.fixture
def data() -> ar.Dataset:
    return ar.make_ranking(20, 12, 4, random_state=3)


def mean(measure: Any, scores: np.ndarray, data: ar.Dataset) -> float:
    return next(iter(ar.evaluate(scores, data, measure).means.values()))


TRAINED = {
    "orm": {"C": 100.0, "bound": "tight"}, "smooth-grad": {"C": 100.0, "halvings": 2},
    "softrank": {"C": 100.0, "n_starts": 1},
    "lambda-mart": {"n_trees": 10, "n_leaves": 4, "min_documents": 5}, "lambdarank": {"max_iter": 60},
    "direct-rank": {},
}  # fmt: skip


@pytest.mark.parametrize("measure", [Shelf(k=5), "rbp@10", "RBP(p=0.5)", "r@5"], ids=str)
@pytest.mark.parametrize("name", TRAINED)
def test_a_product_trains_every_ranker_that_takes_products(name, measure, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        ranker = ar.make_ranker(name, measure=measure, verbose=-1, **TRAINED[name]).fit(data)
    at_random = np.mean(
        [mean(measure, np.random.default_rng(i).standard_normal(data.n_documents), data) for i in range(9)]
    )
    assert mean(measure, ranker.predict(data), data) > at_random
    assert ranker.score(data) == pytest.approx(mean(measure, ranker.predict(data), data))


@pytest.mark.parametrize("measure", [Shelf(k=4), Shelf(), "rbp@6", "rbp", "eru", "neru", "wta"], ids=str)
def test_the_line_search_equals_the_enumeration(measure):
    rng = np.random.default_rng(0)
    data = ar.Dataset(np.ones((40, 1)), rng.integers(0, 4, 40), group=[10, 12, 18])
    scores, direction = rng.standard_normal((2, 40))
    fast, slow = Landscape(data, measure), Landscape(data, measure)
    assert fast.route is not None
    slow.route = None  # every crossing of every two documents
    nothing = np.empty(0, np.intp)
    one, other = (each.walk(scores, direction, -np.inf, np.inf, nothing) for each in (fast, slow))
    times = np.unique(np.concatenate((one.breakpoints, other.breakpoints)))
    middles = np.concatenate(([times[0] - 1], 0.5 * (times[1:] + times[:-1]), [times[-1] + 1]))
    wide = np.concatenate(([True], np.diff(times) > 1e-9, [True]))
    for step in middles[wide]:
        values = [each.values[np.searchsorted(each.breakpoints, step)] for each in (one, other)]
        assert values[0] == pytest.approx(values[1], abs=1e-11)


def sums_over_ranks():
    """Return every measure that is a sum over ranks, without and with a cut-off."""
    plain = [ar.measure(name) for name in sorted(MEASURES)]
    every = [*plain, *(measure.cut(3) for measure in plain if hasattr(measure, "k"))]
    structures = [(measure, measure.structure(Convention())) for measure in every]
    return [measure for measure, structure in structures if structure is not None and "pairs" not in structure.kind]


@pytest.mark.parametrize("measure", sums_over_ranks(), ids=str)
def test_the_structure_gives_the_values_of_the_measure(measure):
    """The sum over ranks of discount · gain · factor, over the divisor, is what ``evaluate`` reports."""
    structure = measure.structure(Convention())
    rng = np.random.default_rng(1)
    for _ in range(10):
        y = rng.integers(0, 4, 8).astype(float)
        y[0] = 1
        gains, discounts = structure.gains(y), structure.discounts(8)
        above = np.concatenate(([0.0], np.cumsum(gains)[:-1]))
        going = np.concatenate(([1.0], np.cumprod(1 - gains)[:-1]))
        factor = {"additive": 1.0, "precision": 1 + above, "first": going, "cascade": going}[structure.kind]
        value = (discounts * gains * factor).sum() * structure.factors(y, np.array([0, 8]))[0]
        ranked = ar.Dataset(np.ones((8, 1)), y, group=[8])
        assert value == pytest.approx(mean(measure, -np.arange(8.0), ranked), rel=1e-12)


def test_cut_offs_come_from_the_measure_or_the_ranker():
    assert ar.measure("ndcg").cut("auto", 10) == ar.measure("ndcg@10")
    assert ar.measure("ndcg@5").cut("auto", 10) == ar.measure("ndcg@5").cut(5)
    assert ar.measure("auc").cut(10) == ar.measure("auc")
    assert ar.measure("ndcg@5").whole_list() == ar.measure("ndcg")
