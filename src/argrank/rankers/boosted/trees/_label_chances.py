"""The log loss of McRank's sums: its slopes, and the lines from one score to the sums that minimise it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import gains_of
from argrank.models.tree_classes import expected, outputs_of, probabilities
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.boosting import Draw, Loss

LEAST_CHANCE = 1e-300  # keeps the logarithm finite
RIDGE = 1e-3  # ridge on lines: they would diverge if the score separates the labels
PRECISION = 1e-10  # share of the loss that a step must gain
MOST_STEPS = 50


class LabelChances(Loss):
    """Minus the log likelihood of the labels."""

    def __init__(self, labels: Floats, data: Dataset, gain: Any, link: str) -> None:
        self._which, self._weight, self._link = np.searchsorted(labels, data.y), row_weights(data), link
        self._gains = gains_of(labels, gain)
        self.n_outputs = outputs_of(len(labels), link)

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return the slopes, weighted; 0 if there is a single label."""
        if len(self._gains) == 1:
            return np.zeros_like(scores), np.zeros_like(scores)
        gradient, curvature = slopes(scores, self._which, self._link)
        return self._weight[:, None] * gradient, self._weight[:, None] * curvature

    def value(self, scores: Floats) -> float:
        """Return the log loss."""
        return log_loss(scores, self._which, self._link, self._weight)

    def score(self, sums: Floats) -> Floats:
        """Return the expected gain of the label."""
        return expected(probabilities(sums, self._link), self._gains)

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return slope and constant of every sum, ``slope * score + constant``, that make the labels most likely.

        Newton's method with halved steps, on the standardised score.
        """
        weight = self._weight
        centre = float(np.average(scores, weights=weight))
        spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=weight)))
        basis = np.stack((np.ones(len(scores)), (scores - centre) / spread))

        def value(lines: Floats) -> float:
            return self.value(basis.T @ lines) + 0.5 * RIDGE * float((lines * lines).sum())

        lines = np.zeros((2, self.n_outputs))
        here = value(lines)
        for _ in range(MOST_STEPS):
            sums = basis.T @ lines
            gradient = basis @ (weight[:, None] * slopes(sums, self._which, self._link)[0]) + RIDGE * lines
            matrix = hessian(basis, sums, weight, self._link) + RIDGE * np.eye(lines.size)
            step = -np.linalg.solve(matrix, gradient.ravel()).reshape(lines.shape)
            fall, size = -float((gradient * step).sum()), 1.0
            if fall <= PRECISION * here:
                break
            while (there := value(lines + size * step)) > here - 1e-4 * size * fall and size > PRECISION:
                size *= 0.5
            lines, here = lines + size * step, there
        return lines[1] / spread, lines[0] - lines[1] * (centre / spread)


def slopes(sums: Floats, which: NDArray[np.intp], link: str) -> tuple[Floats, Floats]:
    """Return gradient and curvature of ``log_loss`` by the sums, before row weights; K/(K-1) is Friedman's factor."""
    if link == "multi-class":
        chances = probabilities(sums, link)
        n_labels = sums.shape[1]
        curvature = n_labels / max(1, n_labels - 1) * chances * (1.0 - chances)
        target = which[:, None] == np.arange(n_labels)
    else:
        chances = 0.5 * (1.0 + np.tanh(0.5 * sums))
        curvature = chances * (1.0 - chances)
        target = which[:, None] <= np.arange(sums.shape[1])
    return chances - target, curvature


def log_loss(sums: Floats, which: NDArray[np.intp], link: str, weight: Floats) -> float:
    """Return minus the log likelihood: of the label, or ordinal of every "at most this label"."""
    if link == "multi-class":
        mine = probabilities(sums, link)[np.arange(len(sums)), which]
        return float(-(weight * np.log(np.maximum(mine, LEAST_CHANCE))).sum())
    at_most = which[:, None] <= np.arange(sums.shape[1])
    return float((weight[:, None] * np.logaddexp(0.0, np.where(at_most, -sums, sums))).sum())


def hessian(basis: Floats, sums: Floats, weight: Floats, link: str) -> Floats:
    """Return the second derivatives of ``log_loss`` by lines: by all constants, then by all slopes."""
    n_sums, own = sums.shape[1], np.arange(sums.shape[1])
    total = np.zeros((2 * n_sums, 2 * n_sums))
    if link == "multi-class":
        curvature = probabilities(sums, link)
        products = np.concatenate([column[:, None] * curvature for column in basis], axis=1)
        total -= products.T @ (weight[:, None] * products)
    else:
        curvature = slopes(sums, np.zeros(len(sums), np.intp), link)[1]
    for i, one in enumerate(basis):
        for j, other in enumerate(basis):
            total[i * n_sums + own, j * n_sums + own] += (weight * one * other) @ curvature
    return total
