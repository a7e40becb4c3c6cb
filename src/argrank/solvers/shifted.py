"""A risk seen from other weights, so that solvers that shrink towards 0 shrink towards a centre."""

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
    """The risk of ``centre + v`` as a function of v."""

    def __init__(self, risk: Risk, centre: Floats) -> None:
        super().__init__(risk, risk.scores(centre))
        self._centre, self.per_query, self.second_order = centre, risk.per_query, risk.second_order

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient."""
        return self._risk.value_and_gradient(self._centre + w)

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query, the offset by v."""
        loss, gradient, _ = self._risk.query(q, self._centre + w)
        return loss, gradient, loss - float(gradient @ w)

    def parts(self) -> tuple[Risk, Risk]:
        """Return both parts, seen from the centre."""
        convex, subtracted = self._risk.parts()
        return Shifted(convex, self._centre), Shifted(subtracted, self._centre)


def solve_around(centre: Floats, problem: Problem, solve: Callable[[Problem], Result]) -> Result:
    """Solve a problem whose regulariser has a centre by one that shrinks towards 0."""
    callback = problem.callback

    def tell(v: Floats, facts: Mapping[str, float]) -> bool | None:
        w = problem.regulariser.project(centre + v)
        return None if callback is None else callback(w, {**facts, "norm": float(np.sqrt(w @ w))})

    result = solve(
        replace(
            problem,
            risk=Shifted(problem.risk, centre),
            regulariser=problem.regulariser.around_zero(),
            start=None if problem.start is None else problem.start - centre,
            callback=None if callback is None else tell,
        )
    )
    return replace(result, w=problem.regulariser.project(centre + result.w))  # a limit at 0 is 0 exactly
