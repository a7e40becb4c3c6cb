"""LogRank's objectives by name: ``log-mle``, ``log-gain``, ``log-loss``, ``log-combined``, ``log-convex``."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import LazyKernel
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, check_positive, shown
from argrank.objectives.conditional import forms
from argrank.objectives.conditional.closed_forms import log_mean_sigmoid, mean_sigmoid, softplus_sum
from argrank.objectives.conditional.losses import RankingLoss
from argrank.objectives.conditional.sampled import Form, Sampled
from argrank.objectives.conditional.sampling import draw
from argrank.objectives.conditional.valid_rankings import Sampling
from argrank.objectives.objective import Kernels, Objective, Prepared, refuse_row_weights, require_labels
from argrank.objectives.pairwise import level_numbers

ClosedForm = tuple[LazyKernel, tuple[float, ...]]


def _check_scale(name: str, scale: Any) -> float:
    """Return 1 where dphi is divided by the number of pairs, else 0."""
    if scale not in ("pairs", None):
        raise OptionError(f"{name}: expected scale to be 'pairs' or None, got {shown(scale)}")
    return 0.0 if scale is None else 1.0


@dataclass(frozen=True)
class LogMLE(Objective):
    """Minus the log-likelihood of the best ranking (L1): sum over pairs of log(1 + exp(-2 (s_i - s_j))).

    It sums over all y in {-1, +1}^pairs and is RankNet's cost without normalisation, at twice the scores. No measure
    enters.
    """

    name: ClassVar[str] = "log-mle"
    mean_over: ClassVar[str] = "pairs"
    smooth: ClassVar[bool] = True

    scale: str | None = None

    def __post_init__(self) -> None:
        _check_scale(self.name, self.scale)

    def prepare(self, data: Dataset) -> Prepared:
        """Number the label levels."""
        refuse_row_weights(data, self.name)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        constants = np.array([_check_scale(self.name, self.scale), 0.0, 0.0, 0.0])
        return Kernels(data.indptr, levels, constants, softplus_sum, ranks=False)


@dataclass(frozen=True)
class Conditional(Objective):
    """What the objectives with a measure share.

    AUC has closed forms, which sum over all y in {-1, +1}^pairs; other measures are summed over a sample of valid
    rankings. The two sets differ, so values for AUC and for other measures cannot be compared.

    Parameters
    ----------
    measure : str or Measure
        Any measure; documents of different worth to it form pairs: grades for NDCG and ERR, relevant or not for AP and
        RR, labels for AUC. The loss of a ranking is 1 - measure / (measure of the best ranking).
    gain, discount, relevant_at
        What the measure does not say itself.
    scale : "pairs" or None
        "pairs" divides phi by the number of pairs of the query; the paper leaves it a sum.
    n_samples, skew, importance, random_state
        See ``Sampling``.
    """

    smooth: ClassVar[bool] = True

    measure: Any = "ndcg@10"
    gain: Any = "exp2"
    discount: Any = "log2"
    relevant_at: float = 1.0
    scale: str | None = None
    n_samples: int = 100
    skew: Any = -30.0
    importance: bool = False
    random_state: int = 0

    def __post_init__(self) -> None:
        _check_scale(self.name, self.scale)
        check_positive("rho", getattr(self, "rho", 1.0))
        _ = self.loss, self.sampling

    @property
    def loss(self) -> RankingLoss:
        """The loss of rankings."""
        weights = getattr(self, "weights", None)
        return RankingLoss.of(self.name, self.measure, weights, self.gain, self.discount, self.relevant_at)

    @property
    def sampling(self) -> Sampling:
        """How rankings are drawn."""
        return Sampling(self.n_samples, self.skew, self.importance, self.random_state)

    @abstractmethod
    def _closed_form(self) -> ClosedForm:
        """Return the kernel for AUC and its constants after the first."""

    @abstractmethod
    def _form(self) -> Form:
        """Return the objective as a function of exponents and losses."""

    def prepare(self, data: Dataset) -> Prepared:
        """Number the levels for AUC, otherwise draw the sample; it is drawn once and never again."""
        refuse_row_weights(data, self.name)
        labels, loss = require_labels(data, self.name), self.loss
        scaled = _check_scale(self.name, self.scale)
        if loss.is_auc:
            kernel, constants = self._closed_form()
            levels = level_numbers(labels, data.indptr)
            return Kernels(data.indptr, levels, np.array([scaled, *constants]), kernel, ranks=False)
        return self.sampled(data)

    def sampled(self, data: Dataset) -> Sampled:
        """Draw the sample, also for AUC, whose sampled sums one may want to compare with the exact ones."""
        labels = require_labels(data, self.name)
        scaled = _check_scale(self.name, self.scale) > 0
        return Sampled(data.indptr, draw(data, self.loss, labels, self.sampling), self._form(), scaled)


@dataclass(frozen=True)
class LogGain(Conditional):
    """Minus the log of the expected gain (ExpGain, equation 7)."""

    name: ClassVar[str] = "log-gain"
    convex: ClassVar[bool] = False

    def _closed_form(self) -> ClosedForm:
        return log_mean_sigmoid, (1.0, -1.0, 0.0)

    def _form(self) -> Form:
        return forms.gain


@dataclass(frozen=True)
class LogLoss(Conditional):
    """The expected loss or its log, equations 4 (which is L2) and 5.

    Parameters
    ----------
    form : "expected" or "log-expected"
    f : "identity" or "exp"
        What the expectation is taken of: rho * loss, or exp(rho * loss).
    rho : float
        Weight of the loss against phi.
    """

    name: ClassVar[str] = "log-loss"
    convex: ClassVar[bool] = False

    form: str = "expected"
    f: str = "identity"
    rho: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for parameter, known in (("form", ("expected", "log-expected")), ("f", ("identity", "exp"))):
            value = getattr(self, parameter)
            if value not in known:
                raise OptionError(
                    f"{self.name}: expected {parameter} to be {' or '.join(map(repr, known))}, got {shown(value)}"
                )

    def _closed_form(self) -> ClosedForm:
        if self.f == "exp":
            return softplus_sum, (self.rho, 1.0, float(self.form == "expected"))
        if self.form == "expected":
            return mean_sigmoid, (self.rho, 0.0)
        return log_mean_sigmoid, (-1.0, 1.0, float(np.log(self.rho)))

    def _form(self) -> Form:
        return (forms.expected if self.form == "expected" else forms.log_expected)(self._log_f)

    def _log_f(self, losses: Floats) -> Floats:
        if self.f == "exp":
            return self.rho * losses
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.rho * losses)
        return logs


@dataclass(frozen=True)
class LogCombined(Conditional):
    """L3 = L1 + rho L2: minus the log-likelihood of the best ranking plus the expected loss (equation 12)."""

    name: ClassVar[str] = "log-combined"
    mean_over: ClassVar[str] = "pairs"
    convex: ClassVar[bool] = False

    rho: float = 1.0

    def _closed_form(self) -> ClosedForm:
        return mean_sigmoid, (self.rho, 1.0)

    def _form(self) -> Form:
        return forms.combined(self.rho)


@dataclass(frozen=True)
class LogConvex(Conditional):
    """ConvexLoss: log of the sum over y of exp(rho loss(y) - w · dphi(y)), at least L1 + rho L2 (section 3).

    Parameters
    ----------
    measure : str, Measure or sequence
        Several measures are optimised together, by the weighted sum of their losses.
    weights : sequence of float, optional
        Weight of every measure; equal ones that add up to 1 unless given.
    rho : float
        Weight of the loss against phi.
    """

    name: ClassVar[str] = "log-convex"
    mean_over: ClassVar[str] = "pairs"

    weights: Any = None
    rho: float = 1.0

    def _closed_form(self) -> ClosedForm:
        weight = self.loss.weights[0]
        return softplus_sum, (self.rho * weight, 0.0, 0.0)

    def _form(self) -> Form:
        return forms.convex(self.rho)
