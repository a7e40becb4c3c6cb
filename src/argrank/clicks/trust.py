"""Trust bias: P(click) = alpha of the rank times gamma of the (query, document), plus beta of the rank.

At high ranks people also click on unattractive documents. A document is attractive with probability gamma; at rank k an
attractive one is clicked with probability a, others with b, so alpha = a - b and beta = b. The log identifies gamma
only up to s gamma + t: alpha of rank 1 is set to 1 and beta of the last rank to 0, and only differences between
documents (or rankers) are meaningful.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from argrank._types import Floats
from argrank.clicks.cells import Cells

MAX_ITER = 500
TOL = 1e-7  # of a step of the normalised curve
LEAST = 1e-9
LEVEL = 0.05  # of the test against no trust bias


class Trust(NamedTuple):
    """Slopes alpha and offsets beta of the ranks, the log-likelihood, and where the iterations ended."""

    slopes: Floats
    offsets: Floats
    log_likelihood: float
    point: Floats


def fit(cells: Cells, start: Floats | None = None, offsets: bool = True) -> Trust:
    """Maximise the likelihood by expectation maximisation, sped up (SQUAREM, Varadhan and Roland 2008) on logits.

    Without ``offsets``, unattractive documents are never clicked: the position-based model.
    """
    n, n_things = cells.n_ranks, int(cells.thing.max()) + 1
    rank, thing, clicks, others = cells.rank, cells.thing, cells.clicks, cells.others
    shown = np.maximum(np.bincount(thing, clicks + others, n_things), 1e-300)

    def step(point: Floats) -> Floats:
        a, b, gamma = point[:n][rank], point[n : 2 * n][rank], point[2 * n :][thing]
        worth_clicked = clicks * gamma * a / (gamma * a + (1.0 - gamma) * b)
        worth_passed = others * gamma * (1.0 - a) / (1.0 - gamma * a - (1.0 - gamma) * b)
        worth = worth_clicked + worth_passed
        of_rank = np.maximum(np.bincount(rank, worth, n), 1e-300)
        rest = np.maximum(np.bincount(rank, clicks + others - worth, n), 1e-300)
        new_a = np.bincount(rank, worth_clicked, n) / of_rank
        new_b = np.bincount(rank, clicks - worth_clicked, n) / rest
        new = np.concatenate((new_a, new_b, np.bincount(thing, worth, n_things) / shown))
        if not offsets:
            new[n : 2 * n] = LEAST
        return np.clip(new, LEAST, 1.0 - LEAST)

    if start is None:
        rate = np.bincount(rank, clicks, n) / np.maximum(np.bincount(rank, clicks + others, n), 1e-300)
        attraction = (0.5 + np.bincount(thing, clicks, n_things)) / (1.0 + shown)
        start = np.clip(np.concatenate((np.minimum(2.0 * rate, 0.9), rate / 4.0, attraction)), LEAST, 1.0 - LEAST)
    point, curve = start, _normalised(start, n)
    for _ in range(MAX_ITER):
        first = step(point)
        second = step(first)
        change, bend = logit(first) - logit(point), logit(second) - 2.0 * logit(first) + logit(point)
        length = min(max(float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), 1e-300), 1.0), 64.0)
        ahead = expit(logit(point) + 2.0 * length * change + length**2 * bend)
        point = step(np.clip(ahead, LEAST, 1.0 - LEAST))
        before, curve = curve, _normalised(point, n)
        if np.abs(curve - before).max() <= TOL:
            break
    a, b, gamma = point[:n][rank], point[n : 2 * n][rank], point[2 * n :][thing]
    chance = gamma * a + (1.0 - gamma) * b
    return Trust(curve[:n], curve[n:], float(clicks @ np.log(chance) + others @ np.log1p(-chance)), point)


def has_evidence(cells: Cells, found: Trust) -> bool:
    """Test whether the log shows offsets, by the likelihood ratio to the same model without them."""
    plain = fit(cells, offsets=False)
    ratio = 2.0 * (found.log_likelihood - plain.log_likelihood)
    return bool(ratio > stats.chi2.ppf(1.0 - LEVEL, cells.n_ranks - 1))


def _normalised(point: Floats, n: int) -> Floats:
    """Return slopes with 1 at rank 1 and offsets with 0 at the last rank, which give the same probabilities."""
    slopes, offsets = point[:n] - point[n : 2 * n], point[n : 2 * n]
    slopes = np.where(slopes == 0.0, LEAST, slopes)
    shift = offsets[-1] / slopes[-1]
    return np.concatenate((slopes / slopes[0], offsets - shift * slopes))
