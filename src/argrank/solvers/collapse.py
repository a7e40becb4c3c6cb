"""Whether a convex risk with kinks is least at w = 0, with a proof either way.

``|w|² / (2C) + risk(w)`` has its minimum at 0, for this and every other C, exactly where 0 is a subgradient of the risk
there. The subgradients at 0 are the mixtures of the slopes that the oracle gives a little away from 0, in any
direction. So we look for the mixture of least length: if it has (nearly) no length, 0 is the optimum; if the risk falls
along its opposite, that is a direction to go. Each round costs a pass over the features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from argrank._types import Floats
from argrank.solvers import simplex_qp

if TYPE_CHECKING:
    from argrank.solvers._result import Risk

SMALL = 1e-6  # a subgradient this short, relative to the longest seen, is 0
AWAY = 1e-3  # the spread of the scores at which the oracle is asked first
NEAREST = 1e-11  # and last: below it, rounding takes over
ACTIVE = 1e-12  # a plane that lies no lower than this share below the risk at 0 touches it


class Collapse(NamedTuple):
    """The proof that w = 0 is the optimum for every C: a subgradient of the risk at 0 of (nearly) no length.

    No optimum is longer than 2 C times ``norm``; up to ``tolerance`` that counts as 0.
    """

    norm: float
    tolerance: float


class Verdict(NamedTuple):
    """What is known of the risk at 0: a proof that it is least there, or where it falls; neither if undecided."""

    proof: Collapse | None = None
    descent: Floats | None = None
    slope: float = 0.0  # of the risk along the descent


def look_at_zero(risk: Risk, max_passes: float) -> Verdict:
    """Find out whether the risk is least at 0."""
    at_zero, u = risk.at_scores(risk.zero_scores())
    slopes = risk.pull_back(u)[None, :]
    weights, away, last = np.ones(1), AWAY, risk.n_passes + max_passes
    while risk.n_passes < last:
        gram = slopes @ slopes.T
        tolerance = SMALL * float(np.sqrt(gram.diagonal().max()))
        weights = simplex_qp.solve(gram, np.zeros(len(slopes)), weights, 0.01 * tolerance**2)
        shortest = weights @ slopes
        norm = float(np.linalg.norm(shortest))
        if norm <= tolerance:
            return Verdict(proof=Collapse(norm, tolerance))
        scores = risk.scores(-shortest)
        spread = risk.spread(scores)
        while True:  # come nearer to 0 until the plane there touches the risk at 0
            here = (away / spread if spread > 0 else 1.0) * scores
            value, u = risk.at_scores(here)
            if at_zero - (value - risk.dot(u, here)) <= ACTIVE * abs(at_zero):
                break
            away *= 0.1
            if away < NEAREST:
                return Verdict()
        slope = risk.pull_back(u)
        along = -float(slope @ shortest)
        if along < -tolerance * norm:
            return Verdict(descent=-shortest, slope=along)
        slopes, weights = np.vstack([slopes, slope]), np.append(weights, 0.0)
    return Verdict()
