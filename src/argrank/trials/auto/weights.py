"""Weights of a blend: a listwise likelihood of held-out scores, with a penalty on unequal weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import row_targets
from argrank.objectives.objective import query_shares

PULL = 10.0  # least penalty on unequal weights, on the scale of a sum over queries
PULL_SHARE = 0.1  # penalty per query, if larger
STEPS = 100
CONVERGED = 1e-10


@dataclass(frozen=True, eq=False)
class Likelihood:
    """``-sum over queries, documents of p log softmax(Z w) + pull sum (w - mean w)²``, p proportional to 2^y - 1."""

    Z: Floats
    data: Dataset
    p: Floats
    heavy: Floats  # the sum of p of every query: its weight, or 0 if nothing is relevant; for row gains their sum
    pull: float

    @classmethod
    def of(cls, Z: Floats, data: Dataset) -> Likelihood:
        """Prepare from the data's labels; query weights are 1 on average."""
        gains = np.maximum(row_targets(data, "exp2"), 0.0)
        totals = np.add.reduceat(gains, data.indptr[:-1])
        heavy = query_shares(data) * data.n_queries * (totals > 0 if data.gains is None else totals)
        p = gains * np.repeat(heavy / np.where(totals > 0, totals, 1.0), data.sizes)
        return cls(Z, data, p, heavy, max(PULL, PULL_SHARE * data.n_queries))

    def value(self, w: Floats) -> float:
        """Return the objective."""
        scores = self.Z @ w
        top = np.maximum.reduceat(scores, self.data.indptr[:-1])
        powers = np.exp(scores - np.repeat(top, self.data.sizes))
        logs = np.log(np.add.reduceat(powers, self.data.indptr[:-1])) + top
        return float((self.heavy * logs).sum() - self.p @ scores + self.pull * ((w - w.mean()) ** 2).sum())

    def slopes(self, w: Floats) -> tuple[Floats, Floats]:
        """Return gradient and Hessian."""
        scores, begin, sizes = self.Z @ w, self.data.indptr[:-1], self.data.sizes
        powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, begin), sizes))
        chances = powers / np.repeat(np.add.reduceat(powers, begin), sizes)
        means = np.add.reduceat(chances[:, None] * self.Z, begin, axis=0)
        centre = 2.0 * self.pull * (np.eye(len(w)) - 1.0 / len(w))
        gradient = self.heavy @ means - self.p @ self.Z + centre @ w
        weighed = np.repeat(self.heavy, sizes) * chances
        hessian = self.Z.T @ (weighed[:, None] * self.Z) - means.T @ (self.heavy[:, None] * means) + centre
        return gradient, hessian


def blend_weights(Z: Floats, data: Dataset) -> Floats:
    """Return the weights >= 0 of the columns of Z, one for each member; equal ones if nothing can be learned.

    Newton's steps on the free weights, shortened until the convex objective falls.
    """
    problem, n = Likelihood.of(Z, data), Z.shape[1]
    w = np.ones(n)
    value = problem.value(w)
    for _ in range(STEPS):
        gradient, hessian = problem.slopes(w)
        free = (w > 0) | (gradient < 0)
        if not free.any() or np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0.0))).max() < 1e-9:
            break
        step = np.zeros(n)
        ridge = 1e-10 * max(1.0, float(np.trace(hessian)))
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)] + ridge * np.eye(int(free.sum())), -gradient[free])
        length, before = 1.0, value
        while length > 1e-10:
            moved = np.maximum(w + length * step, 0.0)
            value = problem.value(moved)
            if value < before:
                break
            length *= 0.5
        if not value < before - CONVERGED * abs(before):
            w = moved if value < before else w
            break
        w = moved
    return w if w.any() else np.ones(n)


def standardised(columns: Sequence[Floats], data: Dataset) -> tuple[Floats, Floats]:
    """Return scores centred within queries and divided by their deviation, as columns, and the deviations."""
    centred = [column - np.repeat(_means(column, data), data.sizes) for column in columns]
    deviations = np.array([float(np.sqrt(np.mean(column**2))) for column in centred])
    scaled = [column / (deviation or 1.0) for column, deviation in zip(centred, deviations, strict=True)]
    return np.stack(scaled, axis=1), deviations


def _means(column: Floats, data: Dataset) -> Floats:
    means: Floats = np.add.reduceat(column, data.indptr[:-1]) / data.sizes
    return means
