"""What a trial refits with: the parameters that are best over all folds."""

from __future__ import annotations

import numpy as np
import pytest

from argrank.trials.engine import Run, mean_points, params_of
from argrank.trials.select import Point


def run(values: dict[float, float], name: str = "C", chosen: float | None = None) -> Run:
    """Return one fold in which the values of a parameter had these values of the measure."""
    points = tuple(Point({name: one}, value, 0.0, 1.0) for one, value in values.items())
    params = {name: max(values, key=values.__getitem__) if chosen is None else chosen}
    best = max(values.values())
    return Run(0, None, params, best, points, np.zeros(0), None, (), 0.0)


@pytest.mark.parametrize(("name", "most_regularised"), [("C", 0.1), ("ridge", 10.0)])
def test_of_equals_the_most_regularised_is_taken(name, most_regularised):
    for order in ((10.0, 1.0, 0.1), (0.1, 1.0, 10.0)):
        first, second = dict.fromkeys(order, 0.5), dict.fromkeys(order, 0.25)
        assert params_of([run(first, name), run(second, name)]) == {name: most_regularised}


def test_the_best_mean_counts_and_not_the_best_fold():
    folds = [run({0.1: 0.3, 1.0: 0.9}), run({0.1: 0.8, 1.0: 0.1})]
    assert params_of(folds) == {"C": 0.1}
    assert [point.value for point in mean_points(folds)] == pytest.approx([0.55, 0.5])


def test_a_point_that_some_fold_lacks_or_failed_at_is_not_taken():
    assert params_of([run({0.1: 0.3, 1.0: 0.9}), run({0.1: 0.3})]) == {"C": 0.1}
    assert params_of([run({0.1: 0.3, 1.0: 0.9}), run({0.1: 0.3, 1.0: np.nan}, chosen=0.1)]) == {"C": 0.1}


def test_where_no_point_is_in_every_fold_the_best_fold_decides():
    assert params_of([run({0.1: 0.3}), run({1.0: 0.9})]) == {"C": 1.0}
