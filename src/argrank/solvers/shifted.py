"""A risk seen from other weights, so that solvers that shrink towards 0 shrink towards a centre, in given units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.solvers._result import Problem, Result, Risk, Scores


class Wrapped:
    """A risk that answers as another one does where a subclass does not say otherwise."""

    def __init__(self, risk: Risk) -> None:
        self._risk = risk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._risk, name)


class Offset(Wrapped):
    """A risk whose rows have a score of their own, to which that of the weights is added."""

    per_query = False
    second_order = False

    def __init__(self, risk: Risk, base: Scores) -> None:
        super().__init__(risk)
        self._base = base

    def at_scores(self, scores: Scores) -> tuple[float, Scores]:
        """Return risk and gradient at the scores of the weights together with the rows' own."""
        return self._risk.at_scores(scores + self._base)


class Shifted(Offset):
    """The risk of ``centre + v / units`` as a function of v."""

    def __init__(self, risk: Risk, centre: Floats, units: Floats | None = None) -> None:
        super().__init__(risk, risk.scores(centre))
        self._centre, self._units = centre, units
        self.per_query, self.second_order = risk.per_query, risk.second_order

    def _away(self, v: Floats) -> Floats:
        """Return how far from the centre the weights of v are; a gradient by v comes of one by the weights alike."""
        return v if self._units is None else v / self._units

    def scores(self, v: Floats) -> Scores:
        """Return what v adds to the scores of the centre."""
        return self._risk.scores(self._away(v))

    def pull_back(self, u: Scores) -> Floats:
        """Return the gradient by v."""
        return self._away(self._risk.pull_back(u))

    def value_and_gradient(self, v: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient."""
        value, gradient = self._risk.value_and_gradient(self._centre + self._away(v))
        return value, self._away(gradient)

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian by v times a direction."""
        return self._away(self._risk.hessian_product(self._away(direction)))

    def query(self, q: int, v: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query, the offset by v."""
        loss, gradient, _ = self._risk.query(q, self._centre + self._away(v))
        gradient = self._away(gradient)
        return loss, gradient, loss - float(gradient @ v)

    def parts(self) -> tuple[Risk, Risk]:
        """Return both parts, seen from the centre."""
        convex, subtracted = self._risk.parts()
        return Shifted(convex, self._centre, self._units), Shifted(subtracted, self._centre, self._units)


def solve_around(problem: Problem, solve: Callable[[Problem], Result]) -> Result:
    """Solve a problem whose regulariser has a centre or units by one that shrinks towards 0."""
    callback, R = problem.callback, problem.regulariser
    centre = np.zeros(problem.risk.n_features) if R.centre is None else R.centre
    units = 1.0 if R.units is None else R.units

    def weights(v: Floats) -> Floats:
        return R.project(centre + v / units)  # a limit at 0 is 0 exactly

    def tell(v: Floats, facts: Mapping[str, float]) -> bool | None:
        w = weights(v)
        return None if callback is None else callback(w, {**facts, "norm": float(np.sqrt(w @ w))})

    result = solve(
        replace(
            problem,
            risk=Shifted(problem.risk, centre, R.units),
            regulariser=R.around_zero(),
            start=None if problem.start is None else units * (problem.start - centre),
            callback=None if callback is None else tell,
        )
    )
    return replace(result, w=weights(result.w))
