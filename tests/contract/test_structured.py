"""Every registered most violated ranking equals the best of all n! rankings, and gives a bound and a subgradient.

Losses and feature maps are written down here from their definitions, as functions of all rankings at once; nothing is
shared with the library but the parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from argrank import Dataset, objective
from argrank._jit import LazyKernel
from argrank.engines.local import LocalRisk
from argrank.objectives.structured import ORACLES
from argrank.solvers import Squared
from argrank.solvers.meter import look_at_zero

# ---- all rankings of n documents: which document is at each rank, and the rank of each document ---------------------


@lru_cache
def rankings(n: int) -> tuple[np.ndarray, np.ndarray]:
    documents = np.array(list(itertools.permutations(range(n))))
    return documents, np.argsort(documents, axis=1)


# ---- losses of all rankings -----------------------------------------------------------------------------------------


def log2(n: int) -> np.ndarray:
    return 1 / np.log2(np.arange(n) + 2)


def letor(n: int) -> np.ndarray:
    return 1 / np.log2(np.maximum(np.arange(n) + 1, 2))


def steps(n: int) -> np.ndarray:
    """Not convex anywhere: every second rank is worth as much as the one above."""
    return 1.0 / (1 + np.arange(n) // 2)


def ones(n: int) -> np.ndarray:
    return np.ones(n)


def reciprocal(n: int) -> np.ndarray:
    return 1.0 / np.arange(1, n + 1)


def rbp(n: int) -> np.ndarray:
    return 0.2 * 0.8 ** np.arange(n)


def cut(weights: np.ndarray, k: int | None) -> np.ndarray:
    return np.where(np.arange(len(weights)) < (k or len(weights)), weights, 0.0)


def dcg_loss(k: int | None, discount: Callable = log2, gain: Callable = lambda y: 2**y - 1) -> Callable:
    def loss(y: np.ndarray) -> np.ndarray:
        worth, gains = cut(discount(len(y)), k), gain(y)
        ideal = np.sort(gains)[::-1] @ worth
        return 1 - gains[rankings(len(y))[0]] @ worth / ideal

    return loss


def binary_loss(terms: Callable) -> Callable:
    """1 - sum of terms(index among the goods, rank) over its greatest value."""

    def loss(y: np.ndarray) -> np.ndarray:
        good = y[rankings(len(y))[0]] >= 1
        index = np.cumsum(good, axis=1) - 1
        value = np.where(good, terms(index, np.arange(len(y))), 0.0).sum(axis=1)
        return 1 - value / value.max()

    return loss


def ap_loss(k: int | None = None) -> Callable:
    return binary_loss(lambda index, rank: (index + 1) / (rank + 1) * (rank < (k or 99)))


def rr_loss(k: int | None = None) -> Callable:
    return binary_loss(lambda index, rank: (index == 0) / (rank + 1) * (rank < (k or 99)))


def err_loss(k: int) -> Callable:
    return binary_loss(lambda index, rank: 0.5 * 0.5**index / (rank + 1) * (rank < k))


def auc_loss(margin: Callable = np.sign) -> Callable:
    def loss(y: np.ndarray) -> np.ndarray:
        rank = rankings(len(y))[1]
        difference = np.maximum(y[:, None] - y[None, :], 0)
        wrong = rank[:, :, None] > rank[:, None, :]
        return (wrong * margin(difference)).sum(axis=(1, 2)) / (difference > 0).sum()

    return loss


def own_terms(index: np.ndarray, rank: np.ndarray, n_goods: int) -> np.ndarray:
    """A user's loss: the goods' excess ranks, each worth less than the last."""
    return np.minimum(rank - index, 3) / (1.0 + index) / n_goods


def own_loss(y: np.ndarray) -> np.ndarray:
    good = y[rankings(len(y))[0]] >= 1
    index = np.cumsum(good, axis=1) - 1
    return np.where(good, own_terms(np.maximum(index, 0), np.arange(len(y)), good[0].sum()), 0.0).sum(axis=1)


# ---- feature maps: coefficients of the documents in all rankings, and in the reference ------------------------------


def relevant(y: np.ndarray) -> np.ndarray:
    return (y >= 1).astype(float)


def pairs(scaled: bool = True, levels: Callable = lambda y: y) -> Callable:
    """phi_po, equation 3: sum over pairs of y_ij (x_i - x_j)."""

    def coefficients(y: np.ndarray, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = levels(y)
        rank = rankings(len(y))[1]
        better = y[:, None] > y[None, :]
        sign = np.where(rank[:, :, None] < rank[:, None, :], 1.0, -1.0) * better
        phi = (sign.sum(axis=2) - sign.sum(axis=1)) / (better.sum() if scaled else 1)
        ideal = np.flatnonzero((np.diff(y[rankings(len(y))[0]], axis=1) <= 0).all(axis=1))[0]
        return phi, phi[ideal]

    return coefficients


def inversions(weight: Callable) -> Callable:
    """psi of Fact 3.1: 2 / Z times the sum over bads above goods of weight (x_bad - x_good); 0 for ideal rankings.

    The weight is a function of the bad's index among the bads.
    """

    def coefficients(y: np.ndarray, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        documents, rank = rankings(len(y))
        bad = y < 1
        index = np.take_along_axis(np.cumsum(bad[documents], axis=1) - 1, rank, axis=1)
        shares = weight(len(y))
        total = shares[: bad.sum()].sum() * (~bad).sum()
        wrong = (rank[:, :, None] < rank[:, None, :]) * (bad[:, None] & ~bad[None, :]) * shares[index][:, :, None]
        return 2 / total * (wrong.sum(axis=2) - wrong.sum(axis=1)), np.zeros(len(y))

    return coefficients


def first(weight: float = 1.0) -> Callable:
    """phi_mrr, equation 5: sum over the bads above the first good of (x_bad - x_good); 0 for ideal rankings."""

    def coefficients(y: np.ndarray, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        documents, rank = rankings(len(y))
        top = np.argmax(y[documents] >= 1, axis=1)
        phi = np.where(rank < top[:, None], weight, 0.0) - weight * top[:, None] * (rank == top[:, None])
        return phi, np.zeros(len(y))

    return coefficients


def positions(decay: Callable, reference: str = "averaged") -> Callable:
    """phi_dorm, equation 6; the reference is the mean over all rankings without loss, or one of them."""

    def coefficients(y: np.ndarray, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phi = decay(len(y))[rankings(len(y))[1]]
        if reference == "given":
            return phi, decay(len(y))
        if reference == "any":
            return phi, decay(len(y))[np.argsort(np.argsort(-y, kind="stable"))]
        return phi, phi[loss < 1e-12].mean(axis=0)

    return coefficients


# ---- the cases ------------------------------------------------------------------------------------------------------


@dataclass
class Case:
    name: str
    loss: Callable[[np.ndarray], np.ndarray]
    coefficients: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    parameters: dict[str, Any] = field(default_factory=dict)
    n_levels: int = 2
    single: bool = False  # one good document at most

    def hinge(self, bound: str = "convex") -> Any:
        return objective(self.name, **self.parameters, bound=bound)

    @property
    def label(self) -> str:
        shown = {key: getattr(value, "__name__", value) for key, value in self.parameters.items()}
        return f"{self.name} {shown} {self.n_levels} levels"


def sqrt(n: int) -> np.ndarray:
    return 1 / np.sqrt(1 + np.arange(n))


CASES = [
    Case("svm-auc", auc_loss(), pairs()),
    Case("svm-auc", auc_loss(), pairs(False), {"scale": None}),
    Case("svm-auc", auc_loss(lambda difference: difference), pairs(), {"margin": "labels"}, n_levels=4),
    Case("svm-auc", auc_loss(lambda difference: difference), pairs(False), {"margin": "labels", "scale": None}, 3),
    Case("svm-map", ap_loss(), pairs()),
    Case("svm-map", ap_loss(), pairs(False), {"scale": None}),
    Case("svm-map", ap_loss(), pairs(levels=relevant), n_levels=3),
    Case("svm-map", ap_loss(2), pairs(), {"measure": "map@2"}),
    Case("svm-map", err_loss(3), pairs(), {"measure": "err@3"}),
    Case("svm-map", own_loss, pairs(), {"measure": own_terms}),
    Case("svm-map", own_loss, pairs(False), {"measure": own_terms, "scale": None}),
    *(Case("svm-ndcg", dcg_loss(k), pairs(), {"k": k}) for k in (1, 2, 3, 5)),
    *(Case("svm-ndcg", dcg_loss(k, letor), pairs(), {"k": k, "discount": "letor"}) for k in (2, 4)),
    Case("svm-ndcg", dcg_loss(10), pairs()),
    Case("svm-ndcg", dcg_loss(10), pairs(), n_levels=5),
    Case("svm-ndcg", dcg_loss(2), pairs(False), {"k": 2, "scale": None}),
    Case("svm-ndcg", dcg_loss(2), pairs(False), {"k": 2, "scale": None}, 3),
    *(Case("svm-ndcg", dcg_loss(k), pairs(), {"k": k}, n_levels) for k in (1, 3) for n_levels in (3, 4)),
    Case("svm-ndcg", dcg_loss(3, letor, lambda y: y), pairs(), {"k": 3, "discount": "letor", "gain": "linear"}, 3),
    Case("svm-ndcg", dcg_loss(2, gain=lambda y: np.array([1, 3])[y.astype(int)]), pairs(), {"k": 2, "gain": [1, 3]}),
    Case("svm-ndcg", dcg_loss(2, gain=relevant), pairs(levels=relevant), {"k": 2, "gain": "binary"}, 4),
    Case("svm-ndcg", dcg_loss(3), pairs(), {"measure": "dcg@3"}),
    Case("svm-ndcg", dcg_loss(3), pairs(), {"measure": "dcg@3"}, 3),
    Case("svm-ndcg", dcg_loss(2, ones), pairs(), {"measure": "p@2"}),
    Case("svm-ndcg", dcg_loss(1, ones), pairs(), {"measure": "wta"}),
    Case("svm-ndcg", dcg_loss(3, rbp, relevant), pairs(levels=relevant), {"measure": "rbp@3"}, 3),
    Case("svm-ndcg", dcg_loss(2, ones, relevant), pairs(levels=relevant), {"measure": "r@2"}, 3),
    Case("svm-ndcg-nc", dcg_loss(None), pairs()),
    Case("svm-ndcg-nc", dcg_loss(None, letor), pairs(), {"discount": "letor"}),
    Case("svm-ndcg-nc", dcg_loss(None, letor), pairs(False), {"discount": "letor", "scale": None}),
    Case("svm-ndcg-nc", dcg_loss(None, steps), pairs(), {"discount": lambda rank: steps(len(rank))}),
    Case("svm-ndcg-nc", dcg_loss(None), pairs(), {"gain": "exp2"}, 4),
    *(Case("svm-mrr", rr_loss(k), first(), {"k": k, "feature_map": "first"}) for k in (1, 2, 10, None)),
    Case("svm-mrr", rr_loss(3), first(1 / 3), {"k": 3, "feature_map": "first", "scale": "cutoff"}),
    *(Case("svm-mrr", rr_loss(k), pairs(), {"k": k}) for k in (1, 2, 10, None)),
    Case("svm-mrr", rr_loss(2), pairs(False), {"k": 2, "scale": None}),
    *(Case("dorm", dcg_loss(k), positions(sqrt), {"k": k}, n_levels) for k in (1, 3, 10) for n_levels in (2, 3, 5)),
    Case("dorm", dcg_loss(None), positions(sqrt), {"k": None}, 3),
    Case("dorm", dcg_loss(3), positions(lambda n: cut(log2(n), 3)), {"k": 3, "decay": "measure"}, 4),
    Case("dorm", dcg_loss(3), positions(lambda n: np.maximum(3.0 - np.arange(n), 0)), {"k": 3, "decay": "linear"}, 4),
    Case("dorm", dcg_loss(2), positions(lambda n: (1.0 + np.arange(n)) ** -3), {"k": 2, "decay": 3}, 3),
    Case("dorm", dcg_loss(2), positions(log2), {"k": 2, "decay": "log2"}, 3),
    Case("dorm", dcg_loss(2), positions(lambda n: 1 / np.log2(1 + 1 / log2(n))), {"k": 2, "decay": "loglog"}, 3),
    Case(
        "dorm", dcg_loss(3), positions(lambda n: np.array([1, 0.5, 0, 0, 0, 0, 0])[:n]), {"k": 3, "decay": [1, 0.5]}, 5
    ),
    Case("dorm", dcg_loss(2), positions(lambda n: 1.0 - np.arange(n)), {"k": 2, "decay": 1.0 - np.arange(7)}, 3),
    Case("dorm", dcg_loss(2), positions(sqrt, "any"), {"k": 2, "reference": "any"}, 3),
    Case("dorm", dcg_loss(2), positions(sqrt, "given"), {"k": 2, "reference": "given"}, 3),
    Case("dorm", dcg_loss(2), positions(sqrt), {"measure": "dcg@2"}, 3),
    Case("dorm", dcg_loss(3, ones), positions(sqrt), {"measure": "p@3"}),
    Case("dorm", dcg_loss(1, ones), positions(sqrt), {"measure": "wta"}),
    Case("dorm", dcg_loss(3, rbp, relevant), positions(sqrt), {"measure": "rbp@3"}, 3),
    Case("dorm", dcg_loss(3, reciprocal), positions(sqrt), {"measure": "mrr@3"}, single=True),
    Case("svm-ndcg", dcg_loss(2), inversions(log2), {"k": 2, "feature_map": "discounted-pairs"}),
    Case("svm-map", ap_loss(), inversions(log2), {"feature_map": "discounted-pairs"}),
]


def instances(case: Case, n_random: int, largest: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Labels and scores: one good, one bad, ties, all-equal scores, small and large scores."""
    rng = np.random.default_rng(7)
    found = []
    while len(found) < n_random:
        n = int(rng.integers(2, largest + 1))
        y = rng.integers(0, case.n_levels, n).astype(float)
        shape = len(found) % 4
        if shape == 1 or case.single:  # one good
            y[:] = 0
            y[rng.integers(n)] = case.n_levels - 1
        elif shape == 2:  # one bad
            y = np.maximum(y, 1)
            y[rng.integers(n)] = 0
        if not (y >= 1).any() or (y >= 1).all():
            continue
        scores = rng.choice([0.05, 0.3, 1.0, 4.0]) * rng.standard_normal(n)
        if len(found) % 3 == 1:
            scores = np.round(2 * scores) / 2  # ties, and pairs exactly at the margin
        if len(found) % 7 == 3:
            scores[:] = scores[0]
        found.append((y, scores))
    return found


def dataset(y: np.ndarray) -> Dataset:
    return Dataset(np.eye(len(y)), y, group=[len(y)])


@pytest.fixture(params=["jit", "python"])
def jit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(LazyKernel, "compiled", property(lambda kernel: kernel.function))
    return request.param


every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)


def test_every_registered_oracle_has_a_case():
    shown = set()
    for case in CASES:
        hinge = case.hinge()
        shown.add((hinge.feature_map, hinge.kind))
    assert shown == set(ORACLES)


@every_case
def test_the_worst_ranking_is_the_best_of_all(case: Case, jit: str):
    for y, scores in instances(case, 24 if jit == "jit" else 8, 6 if jit == "jit" else 5):
        value, u = case.hinge()(scores, dataset(y))
        loss = case.loss(y)
        phi, reference = case.coefficients(y, loss)
        hinges = loss + (phi - reference) @ scores
        assert value == pytest.approx(hinges.max(), rel=1e-12, abs=1e-12)
        attained = np.abs(phi - reference - u).max(axis=1) < 1e-9  # u belongs to a ranking that attains the maximum
        assert hinges[attained].max(initial=-np.inf) == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.parameters in ({}, {"k": 3}, {"k": 2})], ids=lambda case: case.label
)
def test_the_worst_of_seven_documents(case: Case):
    for y, scores in [one for one in instances(case, 40, 7) if len(one[0]) == 7][:4]:
        value, _ = case.hinge()(scores, dataset(y))
        loss = case.loss(y)
        phi, reference = case.coefficients(y, loss)
        assert value == pytest.approx((loss + (phi - reference) @ scores).max(), rel=1e-12, abs=1e-12)


@every_case
def test_bounds_and_subgradients(case: Case):
    """Convex >= tight >= loss of the ranking by score, whatever the order of ties; h(s') >= h(s) + u · (s' - s)."""
    convex = case.hinge()
    tight, subtracted = case.hinge("tight"), convex.subtracted_part()
    rng = np.random.default_rng(8)
    for y, scores in instances(case, 16, 6):
        data = dataset(y)
        (value, u), (tight_value, tight_u) = convex(scores, data), tight(scores, data)
        best, best_u = subtracted(scores, data)
        loss = case.loss(y)
        phi, reference = case.coefficients(y, loss)
        assert best == pytest.approx(((phi - reference) @ scores).max(), abs=1e-12, rel=1e-12)
        assert tight_value == pytest.approx(value - best, abs=1e-12)
        np.testing.assert_allclose(tight_u, u - best_u, atol=1e-12)
        by_score = (np.diff(scores[rankings(len(y))[0]], axis=1) <= 0).all(axis=1)
        assert tight_value >= loss[by_score].max() - 1e-12
        assert value >= tight_value - 1e-12
        assert best == pytest.approx(best_u @ scores, abs=1e-12, rel=1e-12)  # homogeneous
        for scale in (0.1, 1.0, 5.0):
            other = scores + scale * rng.standard_normal(len(y))
            assert convex(other, data)[0] >= value + u @ (other - scores) - 1e-11
            assert subtracted(other, data)[0] >= best + best_u @ (other - scores) - 1e-11


@every_case
def test_the_risk_of_the_identity_is_the_mean_over_queries(case: Case):
    """Queries without a good or without a bad document count with loss 0 and gradient 0."""
    chosen = instances(case, 6, 6)
    extra = [(np.zeros(3), np.arange(3.0)), (np.ones(1), np.ones(1))]
    if not case.single:
        extra.append((np.full(4, 1.0), np.arange(4.0)))
    y = np.concatenate([one[0] for one in [*chosen, *extra]])
    scores = np.concatenate([one[1] for one in [*chosen, *extra]])
    sizes = [len(one[0]) for one in [*chosen, *extra]]
    hinge = case.hinge()
    alone = [hinge(s, dataset(labels)) for labels, s in chosen]
    value, gradient = LocalRisk(Dataset(np.eye(len(y)), y, group=sizes), hinge).value_and_gradient(scores)
    assert value == pytest.approx(sum(one[0] for one in alone) / len(sizes), rel=1e-12)
    expected = np.concatenate([one[1] for one in alone]) / len(sizes)
    np.testing.assert_allclose(gradient[: len(expected)], expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(gradient[len(expected) :], 0)


def slopes_at_zero(case: Case, labels: list[np.ndarray], X: list[np.ndarray]) -> list[np.ndarray]:
    """Return, for every query, the gradients by the weights of all rankings that are worst at w = 0."""
    found = []
    for y, features in zip(labels, X, strict=True):
        loss = case.loss(y)
        phi, reference = case.coefficients(y, loss)
        found.append((phi - reference)[loss >= loss.max() - 1e-12] @ features / len(labels))
    return found


def least_subgradient(slopes: list[np.ndarray], signs: np.ndarray) -> float:
    """Return the least norm of a subgradient at 0, by a quadratic program in all mixtures of all rankings' slopes.

    SciPy's least squares with bounds solve it: the weights of a query, at least 0, must sum to 1, which counts so
    much more than the length that what is missing is made up for by scaling them. A weight that may not fall below 0
    stands against any rise of its slope.
    """
    slopes = [np.unique(np.round(one, 14), axis=0) for one in slopes]
    query = np.repeat(np.arange(len(slopes)), [len(one) for one in slopes])
    mixture, sums, much = np.concatenate(slopes).T, np.eye(len(slopes))[:, query], 1e4
    wanted = np.concatenate([np.zeros(len(mixture)), np.full(len(slopes), much)])
    limits = np.vstack([np.diag(-signs), np.zeros((len(slopes), len(signs)))])
    columns = np.hstack([np.vstack([mixture, much * sums]), limits])
    weights = lsq_linear(columns, wanted, (0, np.inf), method="bvls", max_iter=20_000, tol=1e-15).x
    weights, against = weights[: len(query)], weights[len(query) :]
    return float(np.linalg.norm(mixture @ (weights / (sums @ weights)[query]) - signs * against))


@pytest.mark.parametrize("signs", [[0.0, 0.0], [1.0, 0.0], [1.0, -1.0]], ids=str)
def test_a_collapse_is_proven_exactly_where_all_rankings_say_so(signs):
    signs = np.array(signs)
    limits = Squared(np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf))
    rng, n_proven, n_refuted = np.random.default_rng(11), 0, 0
    for case in CASES:
        if case.name == "svm-auc":  # one plane at w = 0
            continue
        largest = 6 if case.parameters in ({}, {"k": 3}) else 5
        labels = [y for y, _ in instances(case, 8, largest)]
        for signal in (0.0, 0.0, 1.0):
            X = [rng.standard_normal((len(y), 2)) + signal * y[:, None] for y in labels]
            data = Dataset(np.concatenate(X), np.concatenate(labels), group=[len(y) for y in labels])
            verdict = look_at_zero(LocalRisk(data, case.hinge()), limits, max_passes=100)
            slopes = slopes_at_zero(case, labels, X)
            least = least_subgradient(slopes, signs)
            if verdict.proof is not None:
                assert least <= verdict.proof.norm + 1e-9, case.label
                assert verdict.proof.norm <= verdict.proof.tolerance
                n_proven += 1
            else:
                expected = sum((one @ verdict.descent).max() for one in slopes)
                assert verdict.slope == pytest.approx(expected, rel=1e-9), case.label
                assert verdict.slope < 0
                np.testing.assert_array_equal(limits.project(verdict.descent), verdict.descent)
                # no direction falls more steeply than the least subgradient is long
                assert -verdict.slope / np.linalg.norm(verdict.descent) <= least * (1 + 1e-6), case.label
                n_refuted += 1
    assert n_proven > 20
    assert n_refuted > 20


def test_fact_3_1_psi_equals_phi_po():
    """Sums over inverted pairs differ from phi_po by a constant vector alone (KDD 2008, equation 4)."""
    for y, _ in instances(CASES[0], 20, 6):
        psi, _ = inversions(ones)(y, np.empty(0))
        phi, reference = pairs()(y, np.empty(0))
        np.testing.assert_allclose(psi, phi - reference, atol=1e-14)


def test_graded_independent_pairs_are_the_best_of_all_relaxed_preferences():
    """Every assignment of -1 or 1 to the pairs, also those no ranking obeys; they exceed the best ranking at times."""
    rng = np.random.default_rng(5)
    exceeded = 0
    for _ in range(60):
        y, scores = rng.integers(0, 3, 5).astype(float), 0.6 * rng.standard_normal(5)
        i, j = np.nonzero(y[:, None] > y[None, :])
        if len(i) == 0:
            continue
        preferences = np.array(list(itertools.product([-1, 1], repeat=len(i))))
        relaxed = ((1 - preferences) / 2 + (preferences - 1) * (scores[i] - scores[j])).mean(axis=1).max()
        value, _ = objective("svm-auc")(scores, dataset(y))
        assert value == pytest.approx(relaxed, rel=1e-12, abs=1e-12)
        phi, reference = pairs()(y, np.empty(0))
        best_ranking = (auc_loss()(y) + (phi - reference) @ scores).max()
        assert value >= best_ranking - 1e-12
        exceeded += value > best_ranking + 1e-9
    assert exceeded > 0
