"""SmoothGrad and SoftRank: a measure smoothed over near scores, with gradually less of it, or by noise on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from argrank._declared import CountFromZero, Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import AnyRisk, make_risk
from argrank.measures.conventions import Convention
from argrank.objectives.objective import Objective
from argrank.objectives.smooth import ExpectedMeasure, SmoothedMeasure
from argrank.rankers.cheap_models import (
    best_length,
    near,
    rank_svm_weights,
    regression_weights,
    spread_within_queries,
    weights_of,
)
from argrank.rankers.estimator import ProductMeasure
from argrank.rankers.linear.linear_ranker import LinearRanker, Restarted
from argrank.rankers.trace import Outcome, Watcher
from argrank.rankers.training_data import notes_of_scales
from argrank.solvers import Regulariser, minimise
from argrank.solvers.problem import Stop


@dataclass(eq=False, repr=False, kw_only=True)
class SmoothGrad(ProductMeasure, LinearRanker):
    """Linear ranker that minimises ``|w - w0|² / (2C) + risk``, where the risk is the loss of a smoothed measure.

    Every rank is shared by the documents whose scores are within about sigma of the one there (ORM section 5).
    Algorithm 4: from a cheap model, minimise with a wide sigma, halve sigma, start again from there. The paper's
    lambda, with a sum over m queries, is m / (2C). ``tol`` applies to every sigma.

    Parameters
    ----------
    C
        Weight of the risk against ``|w - w0|² / 2``. With None, the default, every weight is in units of its feature's
        spread within queries, and C is 0.03 times the squared spread of w0's scores over its risk, so that the scale of
        the features does not matter; chosen on validation parts. ``C_`` is the C that was used.
    measure : str or Measure
        Any of the form a · b, as in ``orm``; also "map", in SmoothRank's form.
    sigma
        Start of the annealing, in units of the standard deviation of w0's scores within queries. A larger one moves
        farther from w0.
    halvings
        How often sigma is halved; one minimisation for each value. More come closer to the measure itself.
    w0 : array or "regression", optional
        Start, and weights near which to stay: RankSVM by default, which did better on validation parts than the
        paper's "regression", least squares on the labels.
    solver : "l-bfgs" or "cg"
        The solver for a fixed sigma; "cg" is the paper's.
    """

    takes_gains: ClassVar[bool] = True

    C: Positive | None = None
    sigma: Positive = 1.0
    halvings: CountFromZero = 6
    w0: Any = None
    solver: Literal["l-bfgs", "cg"] = "l-bfgs"

    def _objective(self) -> Objective:
        return self._smoothed(self.sigma_ if self.__sklearn_is_fitted__() else self.sigma)

    def _smoothed(self, sigma: float) -> SmoothedMeasure:
        return SmoothedMeasure(measure=self._optimised, convention=Convention(**self._counting()), sigma=sigma)

    def _centre(self, data: Dataset) -> Floats:
        return rank_svm_weights(data, self.n_jobs) if self.w0 is None else weights_of(self.w0, data, self.n_jobs)

    def _width(self, w0: Floats, data: Dataset) -> float:
        """Return the widest sigma, in units of the score."""
        return self.sigma * (spread_within_queries(w0, data, self.n_jobs) or 1.0)

    def _pull(self, data: Dataset, risk: AnyRisk) -> tuple[Regulariser, float]:
        """Return R and C, which depends only on the risk with the widest sigma."""
        if self.C is not None:
            return super()._pull(data, risk)
        w0 = self._centre(data)
        widest = make_risk(data, self._smoothed(self._width(w0, data)), self.n_jobs)
        return near(w0, data, widest, self.n_jobs)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        if self.C is not None or self.w0 is None:  # RankSVM depends on scales, and so does a C of the user's
            watcher.notes += notes_of_scales(data, self.n_jobs)
        w0 = self._centre(data)
        width = self._width(w0, data)
        R, self.C_ = self._pull(data, make_risk(data, self._smoothed(width), self.n_jobs))
        w = w0 if start is None else start
        left, n_iter = self.max_iter, 0
        for halving in range(self.halvings + 1):
            self.sigma_ = width * 0.5**halving
            risk = make_risk(data, self._smoothed(self.sigma_), self.n_jobs)

            def tell(w: Floats, facts: Mapping[str, float]) -> None:
                watcher(w, {**facts, "sigma": self.sigma_})

            result = minimise(
                risk,
                self.solver,
                C=self.C_,
                regulariser=R,
                tol=self.tol,
                max_iter=left,
                start=w,
                callback=tell,
                keeper=watcher.keeper,
            )
            w, left, n_iter = result.w, left - int(result.n_passes), n_iter + result.n_iter
            if result.reason is Stop.INTERRUPTED or left <= 0:
                break
        # with a narrow sigma the objective is almost a step function: stopping by rounding counts as converged
        reason = Stop.STEPS if result.reason is Stop.PRECISION else result.reason
        return Outcome.of(replace(result, n_iter=n_iter, reason=reason))


@dataclass(eq=False, repr=False, kw_only=True)
class SoftRank(Restarted, ProductMeasure, LinearRanker):
    """Linear SoftRank (Taylor et al. 2008): the loss of the expected measure under Gaussian noise on the scores.

    The paper trains a neural network by gradient steps with NDCG; here ``|w|² / (2C)`` regularises the weights. Halving
    sigma is the same as doubling the weights, so it can stay 1 while C is tuned. Not convex; the first descent starts
    from a regression at its best length, since at w = 0 every document beats half of the others and hardly any reaches
    the top ranks.

    Parameters
    ----------
    sigma
        Standard deviation of the noise on every score. Smaller ones are closer to the measure and harder to optimise.
    """

    takes_gains: ClassVar[bool] = True

    C: Positive = 1000.0
    sigma: Positive = 1.0

    def _objective(self) -> Objective:
        return ExpectedMeasure(measure=self._optimised, convention=Convention(**self._counting()), sigma=self.sigma)

    def _start(self, data: Dataset, risk: AnyRisk, R: Regulariser, C: float, given: Floats | None) -> Floats | None:
        """Return the weights of a regression at the best length.

        Long lists need long weights: if scores differ by no more than their noise, no document of a thousand is likely
        to reach the top ranks, and the risk is flat.
        """
        if given is not None:
            return given
        return best_length([regression_weights(data, self.n_jobs)], risk, lambda w: R.value(w) / C)
