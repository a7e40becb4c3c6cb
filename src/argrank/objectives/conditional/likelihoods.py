"""LogRank's objectives: minus the log-likelihood (L1), expected gain, expected loss (L2), L3 and ConvexLoss."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from argrank._declared import Positive
from argrank._jit import LazyKernel
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.structure import level_numbers, pair_counts
from argrank.objectives.conditional.closed_forms import log_mean_sigmoid, mean_sigmoid, softplus_sum
from argrank.objectives.conditional.losses import RankingLoss, ranking_loss
from argrank.objectives.conditional.sampled import (
    Form,
    Sampled,
    convex_loss,
    expected_loss,
    likelihood_and_loss,
    log_expected_loss,
    minus_log_gain,
)
from argrank.objectives.conditional.sampling import draw
from argrank.objectives.conditional.valid_rankings import Sampling
from argrank.objectives.objective import Kernels, Objective, Prepared, as_value, refuse_row_weights, require_labels

ClosedForm = tuple[LazyKernel, tuple[float, ...]]

Scale = Literal["pairs"] | None  # "pairs" divides dphi by the number of pairs of the query
Expectation = Literal["expected", "log-expected"]
OfLoss = Literal["identity", "exp"]


@dataclass(frozen=True, kw_only=True)
class LogLikelihood(Objective):
    """Minus the log-likelihood of the best ranking (L1): sum over pairs of log(1 + exp(-2 (s_i - s_j))).

    It sums over all y in {-1, +1}^pairs and is RankNet's cost without normalisation, at twice the scores. It depends on
    no measure. The risk is the mean over pairs.
    """

    name: ClassVar[str] = "log-mle"
    mean_over: ClassVar[str] = "pairs"
    smooth: ClassVar[bool] = True

    scale: Scale

    def prepare(self, data: Dataset) -> Prepared:
        """Number the label levels."""
        refuse_row_weights(data, self.name)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        constants = np.array([float(self.scale == "pairs"), 0.0, 0.0, 0.0])
        return Kernels(data.indptr, levels, constants, softplus_sum, ranks=False)


@dataclass(frozen=True, kw_only=True)
class Conditional(Objective):
    """Base class of the objectives with a measure.

    AUC has closed forms, which sum over all y in {-1, +1}^pairs; other measures are summed over a sample of valid
    rankings. The two sets differ, so values for AUC and for other measures cannot be compared. Documents that the
    measures distinguish form pairs: those of different grade for NDCG and ERR, relevant ones and others for AP, RR and
    AUC (all grades for AUC(graded=True)). The loss of a ranking is 1 - measure / (measure of the best ranking), for
    several measures the weighted sum.
    """

    smooth: ClassVar[bool] = True

    measures: tuple[Measure, ...]
    weights: Any
    convention: Convention
    scale: Scale
    sampling: Sampling

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", as_value("weights", self.weights))
        super().__post_init__()
        _ = self.loss

    @property
    def loss(self) -> RankingLoss:
        """The loss of rankings."""
        return ranking_loss(self.name, self.measures, self.weights, self.convention)

    def n_pairs(self, data: Dataset) -> Floats:
        """Count the pairs of documents that the measures distinguish."""
        return pair_counts(data.indptr, self._levels(data))

    @abstractmethod
    def _closed_form(self) -> ClosedForm:
        """Return the kernel for AUC and its constants after the first."""

    @abstractmethod
    def _form(self) -> Form:
        """Return the objective as a function of exponents and losses."""

    def _levels(self, data: Dataset) -> Floats:
        return level_numbers(self.loss.levels(require_labels(data, self.name)), data.indptr)

    def prepare(self, data: Dataset) -> Prepared:
        """Number the levels for AUC, otherwise draw the sample; it is drawn only once."""
        refuse_row_weights(data, self.name)
        if not self.loss.is_of_pairs:
            return self.sampled(data)
        kernel, constants = self._closed_form()
        scaled = float(self.scale == "pairs")
        return Kernels(data.indptr, self._levels(data), np.array([scaled, *constants]), kernel, ranks=False)

    def sampled(self, data: Dataset) -> Sampled:
        """Draw the sample, also for AUC, to compare sampled sums with exact ones."""
        sample = draw(data, self.loss, require_labels(data, self.name), self.sampling)
        return Sampled(data.indptr, sample, self._form(), self.scale == "pairs")


@dataclass(frozen=True, kw_only=True)
class LogExpectedGain(Conditional):
    """Minus the log of the expected gain (ExpGain, equation 7)."""

    name: ClassVar[str] = "log-gain"
    convex: ClassVar[bool] = False

    def _closed_form(self) -> ClosedForm:
        return log_mean_sigmoid, (1.0, -1.0, 0.0)

    def _form(self) -> Form:
        return minus_log_gain


@dataclass(frozen=True, kw_only=True)
class ExpectedLoss(Conditional):
    """The expected loss or its log, equations 4 (which is L2) and 5.

    The expectation is of f(loss), which is rho * loss or exp(rho * loss).
    """

    name: ClassVar[str] = "log-loss"
    convex: ClassVar[bool] = False

    form: Expectation
    f: OfLoss
    rho: Positive

    def _closed_form(self) -> ClosedForm:
        if self.f == "exp":
            return softplus_sum, (self.rho, 1.0, float(self.form == "expected"))
        if self.form == "expected":
            return mean_sigmoid, (self.rho, 0.0)
        return log_mean_sigmoid, (-1.0, 1.0, float(np.log(self.rho)))

    def _form(self) -> Form:
        return functools.partial(expected_loss if self.form == "expected" else log_expected_loss, self._log_f)

    def _log_f(self, losses: Floats) -> Floats:
        if self.f == "exp":
            return self.rho * losses
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.rho * losses)
        return logs


@dataclass(frozen=True, kw_only=True)
class LikelihoodAndLoss(Conditional):
    """L3 = L1 + rho L2: minus the log-likelihood of the best ranking plus the expected loss (equation 12)."""

    name: ClassVar[str] = "log-combined"
    mean_over: ClassVar[str] = "pairs"
    convex: ClassVar[bool] = False

    rho: Positive

    def _closed_form(self) -> ClosedForm:
        return mean_sigmoid, (self.rho, 1.0)

    def _form(self) -> Form:
        return functools.partial(likelihood_and_loss, self.rho)


@dataclass(frozen=True, kw_only=True)
class ConvexLoss(Conditional):
    """ConvexLoss: log of the sum over y of exp(rho loss(y) - w · dphi(y)), at least L1 + rho L2 (section 3)."""

    name: ClassVar[str] = "log-convex"
    mean_over: ClassVar[str] = "pairs"

    rho: Positive

    def _closed_form(self) -> ClosedForm:
        weight = self.loss.weights[0]
        return softplus_sum, (self.rho * weight, 0.0, 0.0)

    def _form(self) -> Form:
        return functools.partial(convex_loss, self.rho)
