from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

from argrank import Dataset, objective
from argrank.errors import OptionError
from argrank.objectives.structured.hinge import count_states
from argrank.objectives.structured.pairs import ndcg, staircase, suffixes


def one_query(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = (rng.random(n) < rng.choice([0.05, 0.3, 0.7])).astype(float)
    y[rng.permutation(n)[:2]] = [0, 1]
    scores = rng.choice([0.01, 0.3, 2.0]) * rng.standard_normal(n) + 0.2 * y
    return y, np.round(scores, 2) if rng.random() < 0.3 else scores


@pytest.mark.parametrize("discount", ["log2", "letor"])
@pytest.mark.parametrize("k", [1, 3, 10, 30, 70, 500, None])
def test_it_equals_the_full_table(k, discount):
    rng = np.random.default_rng(0)
    hinge = objective("svm-ndcg", bound="convex", k=k, discount=discount)
    for _ in range(25):
        y, scores = one_query(rng, int(rng.integers(2, 120)))
        data = Dataset(np.eye(len(y)), y, group=[len(y)])
        order = np.argsort(-scores)
        found, table = np.empty(len(y)), np.empty(len(y))
        value = hinge.prepare(data).evaluate(0, 1, scores, order, found)
        assert value == pytest.approx(staircase.prepare(hinge, data).evaluate(0, 1, scores, order, table), rel=1e-11)
        assert found.sum() == pytest.approx(0, abs=1e-12)


def test_a_shift_of_all_scores_changes_nothing():
    rng = np.random.default_rng(1)
    y, scores = one_query(rng, 60)
    data = Dataset(np.eye(60), y, group=[60])
    for name in ("svm-ndcg", "svm-ndcg-nc", "svm-map", "svm-auc", "svm-mrr", "dorm"):
        value, gradient = objective(name)(scores, data)
        moved, moved_gradient = objective(name)(scores + 1e6, data)
        assert moved == pytest.approx(value, rel=1e-8)
        np.testing.assert_allclose(moved_gradient, gradient, atol=1e-12)


# ---- the algorithms printed in the KDD 2008 paper, which are not exact ----------------------------------------------


def paper_cells(scores, good, k, discount):
    """The cells [g, b] of Figure 2: w · phi_po and minus the gain of the g-th good with b bads above it."""
    n_good, n_bad = int(good.sum()), int((~good).sum())
    goods, bads = np.sort(scores[good])[::-1], np.sort(scores[~good])[::-1]
    worth = np.where(np.arange(2 * len(scores)) < k, discount(np.arange(2 * len(scores))), 0.0)
    ideal = worth[:n_good].sum()
    cells = np.empty((n_good, n_bad + 1))
    for g in range(n_good):
        for b in range(n_bad + 1):
            score = ((bads[:b] - goods[g]).sum() + (goods[g] - bads[b:]).sum()) / (n_good * n_bad)
            cells[g, b] = score - worth[g + b] / ideal
    return cells


def best_staircase(cells):
    best = np.zeros(cells.shape[1])
    for row in cells:
        best = np.maximum.accumulate(best + row)
    return 1 + best[-1]


def greedy_of_fact_3_4(cells):
    total, column = 1.0, 0
    for row in cells:  # the best column of each row, not left of the one before: said to be optimal
        column += int(row[column:].argmax())
        total += row[column]
    return total


def ranking_of_fact_3_3(cells, k):
    """H of the ranking found with min(n+, k) rows alone; the other goods then go to their best places below."""
    columns = np.arange(cells.shape[1])
    chosen = max(
        (c for c in itertools.product(columns, repeat=min(len(cells), k)) if list(c) == sorted(c)),
        key=lambda c: cells[np.arange(len(c)), list(c)].sum(),
    )
    total = 1 + cells[np.arange(len(chosen)), list(chosen)].sum()
    column = chosen[-1]
    for row in cells[len(chosen) :]:
        column += int(row[column:].argmax())
        total += row[column]
    return total


def log2(rank):
    return 1 / np.log2(2 + rank)


def letor(rank):
    return 1 / np.log2(np.maximum(1 + rank, 2))


def against_ideal(h, scores, good):
    """H of a ranking less w · phi of the ideal one: the hinge."""
    n_good, n_bad = good.sum(), (~good).sum()
    return h - (n_bad * scores[good].sum() - n_good * scores[~good].sum()) / (n_good * n_bad)


def ours(scores, good, **parameters):
    data = Dataset(np.eye(len(scores)), good.astype(float), group=[len(scores)])
    return objective("svm-ndcg", bound="convex", **parameters)(scores, data)[0]


def test_fact_3_4_is_not_exact():
    """Its greedy chooses the best column row by row; here it even ends below the ideal ranking, whose H is .1433."""
    scores, good = np.array([0.11, -0.10, 0.03, -0.01]), np.array([True, False, True, True])
    cells = paper_cells(scores, good, 99, log2)
    assert best_staircase(cells) == pytest.approx(0.1433, abs=5e-5)
    assert greedy_of_fact_3_4(cells) == pytest.approx(0.1238, abs=5e-5)
    assert ours(scores, good, k=None) == pytest.approx(against_ideal(best_staircase(cells), scores, good), abs=1e-12)


@pytest.mark.parametrize(("discount", "found"), [(log2, 0.260), (letor, 0.373)])
def test_fact_3_3_is_not_exact(discount, found):
    """Goods beyond the k-th still pay with their score when they are pushed below k bads."""
    scores, good = np.array([-0.21, 0.29, 0.42, 0.30]), np.array([False, True, True, True])
    cells = paper_cells(scores, good, 2, discount)
    exact = best_staircase(cells)
    assert exact == pytest.approx(0.547, abs=5e-4)
    assert ranking_of_fact_3_3(cells, 2) == pytest.approx(found, abs=5e-4)
    name = "log2" if discount is log2 else "letor"
    assert ours(scores, good, k=2, discount=name) == pytest.approx(against_ideal(exact, scores, good), abs=1e-12)


def test_figure_2_leaves_out_the_last_column():
    """A good document after all bads (b = n-) is the optimum of many small queries."""
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(200):
        y, scores = one_query(rng, 5)
        cells = paper_cells(scores, y > 0, 3, log2)
        missed += best_staircase(cells[:, :-1]) < best_staircase(cells) - 1e-9
        assert ours(scores, y > 0, k=3) == pytest.approx(against_ideal(best_staircase(cells), scores, y > 0), abs=1e-12)
    assert missed > 50


def test_too_many_states_name_a_way_out():
    rng = np.random.default_rng(3)
    data = Dataset(np.zeros((400, 1)), rng.integers(0, 8, 400), group=[100, 300])
    with pytest.raises(OptionError, match=r"states .* 8 levels, k=None.*smaller k.*dorm"):
        objective("svm-ndcg-nc", gain="exp2").prepare(data)
    assert objective("svm-ndcg-nc", gain="binary")(rng.standard_normal(400), data)[0] > 0


def test_count_states_counts():
    assert count_states(np.array([[5, 5, 5]]), 4).tolist() == [35]  # C(7, 3)
    assert count_states(np.array([[1, 2]]), 9).tolist() == [6]
    assert count_states(np.full((1, 60), 50), 60).tolist() == [1 << 62]


def test_the_two_copies_of_a_helper_are_the_same():
    """A kernel's helpers lie in its own file, so that both files have this one."""
    assert inspect.getsource(ndcg.look_at_gains) == inspect.getsource(suffixes.look_at_gains)
