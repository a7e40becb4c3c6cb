"""A risk seen from other weights, so that solvers that shrink towards 0 shrink towards those (|w - w0|²)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from argrank._types import Floats
from argrank.solvers._result import Callback, QueryRisk, Result, Risk


class Offset:
    """A risk whose rows have a score of their own, on top of which the weights score."""

    def __init__(self, risk: Risk, base: Floats) -> None:
        self._risk, self._base = risk, base
        self.n_features = risk.n_features
        self.scores, self.pull_back = risk.scores, risk.pull_back

    @property
    def n_passes(self) -> float:
        """Passes over the features so far."""
        return self._risk.n_passes

    @property
    def seconds(self) -> float:
        """Time spent in the risk so far."""
        return self._risk.seconds

    def at_scores(self, scores: Floats) -> tuple[float, Floats]:
        """Return risk and gradient at the scores of the weights together with the rows' own."""
        return self._risk.at_scores(scores + self._base)


class Shifted(Offset):
    """The risk of ``w0 + v`` as a function of v: minimising ``|v|² / (2C) + risk`` keeps w near w0."""

    def __init__(self, risk: QueryRisk, w0: Floats) -> None:
        super().__init__(risk, risk.scores(w0))
        self._asked, self._w0 = risk, w0
        self.n_queries, self.query_shares = risk.n_queries, risk.query_shares

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query, the offset by v."""
        loss, gradient, _ = self._asked.query(q, self._w0 + w)
        return loss, gradient, loss - float(gradient @ w)


def shifted_callback(callback: Callback | None, w0: Floats) -> Callback | None:
    """Return a callback that sees w where the solver sees v."""
    if callback is None:
        return None
    told = callback

    def tell(v: Floats, facts: Mapping[str, float]) -> bool | None:
        return told(w0 + v, facts)

    return tell


def shifted_result(result: Result, w0: Floats) -> Result:
    """Return a result in terms of w."""
    return replace(result, w=w0 + result.w)
