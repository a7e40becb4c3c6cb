"""A user adds a feature map, a loss and its oracle."""

from __future__ import annotations

import numpy as np
import pytest

from argrank import Dataset, objective
from argrank.engines.local import LocalRisk
from argrank.errors import OptionError
from argrank.objectives.objective import Prepared
from argrank.objectives.structured import ORACLES, StructuredHinge, register


class TopBad(Prepared):
    """The one pair of the highest bad and the lowest good, on a map that sees nothing else."""

    ranks = False

    def __init__(self, hinge: StructuredHinge, data: Dataset) -> None:
        self.indptr, self._good = data.indptr, hinge.relevance(data) > 0

    def evaluate(self, first, last, scores, order, gradient):
        losses = np.zeros(last - first)
        gradient[:] = 0
        start = self.indptr[first]
        for query in range(first, last):
            rows = np.arange(self.indptr[query], self.indptr[query + 1])
            good, bad = rows[self._good[rows]], rows[~self._good[rows]]
            if len(good) == 0 or len(bad) == 0:
                continue
            low, high = good[scores[good - start].argmin()], bad[scores[bad - start].argmax()]
            losses[query - first] = max(0, 1 + scores[high - start] - scores[low - start])
            if losses[query - first] > 0:
                gradient[[high - start, low - start]] = 1, -1
        return losses


@pytest.fixture
def top_bad():
    register("top-bad", "P", TopBad)
    yield
    del ORACLES["top-bad", "P"]


def test_a_registered_triple_serves_every_ranker(top_bad):
    data = Dataset(np.eye(5), [1, 0, 0, 1, 0], group=[3, 2])
    scores = np.array([0.0, 0.5, -1.0, 2.0, 0.0])
    hinge = objective("svm-ndcg", bound="convex", measure="p@1", feature_map="top-bad")
    assert hinge(scores, data)[0] == pytest.approx(0.75)
    value, gradient = LocalRisk(data, hinge).value_and_gradient(scores)
    assert value == pytest.approx(0.75)
    np.testing.assert_allclose(gradient, [-0.5, 0.5, 0, 0, 0])


def test_a_map_without_a_reference_part_has_no_tight_bound(top_bad):
    hinge = objective("svm-ndcg", measure="p@1", feature_map="top-bad", bound="tight")
    with pytest.raises(OptionError, match="registered without a tight bound"):
        hinge(np.zeros(2), Dataset(np.eye(2), [1, 0], group=[2]))


def test_the_discounted_pairs_map_with_even_discounts_is_the_pairs_map():
    rng = np.random.default_rng(0)
    y, scores = (rng.random(25) < 0.4).astype(float), 0.3 * rng.standard_normal(25)
    data = Dataset(np.eye(25), y, group=[25])
    for bound in ("convex", "tight"):
        even = objective(
            "svm-ndcg", measure="map", k=None, feature_map="discounted-pairs", discount=np.ones_like, bound=bound
        )
        value, u = even(scores, data)
        expected, expected_u = objective("svm-map", bound=bound)(scores, data)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(u, expected_u, atol=1e-12)
