"""LogRank, conditional models: ``log-mle``, ``log-gain``, ``log-loss``, ``log-combined``, ``log-convex``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._declared import Count, NotNegative, Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import AnyRisk
from argrank.measures.conventions import Convention
from argrank.measures.names import measure as parse_measure
from argrank.models.model import Stayed
from argrank.objectives.conditional import likelihoods
from argrank.objectives.conditional.likelihoods import Expectation, OfLoss, Scale
from argrank.objectives.conditional.valid_rankings import Sampling, Skew
from argrank.objectives.objective import Objective
from argrank.rankers.cheap_models import feature_spreads, near, rank_svm_weights
from argrank.rankers.estimator import GainsAndDiscounts, Measured, spoken
from argrank.rankers.linear.linear_ranker import LinearRanker, Restarted
from argrank.solvers import Regulariser, Squared

LIKELIHOOD_C = 10.0  # in units of the features' spread; had the best mean over validation parts


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalRanker(LinearRanker):
    """Base class of conditional models; those with a measure stay near RankSVM by default (see ``stayed_``).

    No single C for shrinking towards 0 suits short lists, long ones and features of any scale. With a given C, the
    objective is the paper's. The paper's C, for ``|w|² / C`` plus a sum, is 2 / P times ours where the risk is a mean
    over all P pairs (log-mle, log-combined, log-convex), and 2 / Q times ours where it is one over the Q queries
    (log-gain, log-loss).

    Parameters
    ----------
    C
        Weight of the risk against ``|w|² / 2``. With None, the default, R is half the squared distance from RankSVM,
        with every weight in units of its feature's spread within queries, and C is 0.03 times the squared spread of
        RankSVM's scores over its risk, so that the distance depends neither on the scale of the features nor on that of
        the risk. 0.03 was chosen on validation parts of nine data sets. ``C_`` is the C that was used.
    scale
        "pairs" divides the feature map by the number of pairs of the query, so that long lists count no more than short
        ones; the paper leaves it a sum.
    """

    C: Positive | None = None
    scale: Scale = None

    def _pull(self, data: Dataset, risk: AnyRisk) -> tuple[Regulariser, float]:
        if self.C is not None:
            R, self.C_ = super()._pull(data, risk)
        else:
            R, self.C_ = near(rank_svm_weights(data, self.n_jobs), data, risk, self.n_jobs)
        return R, self.C_

    def _stayed(self, R: Regulariser, w: Floats) -> Stayed | None:
        if R.centre is None or R.units is None:
            return None
        length = float(np.linalg.norm(R.units * R.centre))
        return Stayed("RankSVM", float(np.linalg.norm(R.units * (w - R.centre))) / length) if length > 0 else None


@dataclass(eq=False, repr=False, kw_only=True)
class LogMLE(ConditionalRanker):
    """Maximum likelihood of the best ranking (LogRank's L1): RankNet's cost at twice the scores, not normalised.

    The risk is the mean over all pairs of log(1 + exp(-2 (s_i - s_j))), in closed form; with ``|w|² / (2C)`` it is the
    paper's objective, convex, and minimised to convergence.

    Parameters
    ----------
    C
        Weight of the risk against ``|w|² / 2``. With None, the default, it is 10, with every weight in units of its
        feature's spread within queries, so that the scale of the features does not matter; on features between 0 and 1
        this is about ``C=100.0``. Chosen on validation parts. ``C_`` is the C that was used.
    """

    minimises: ClassVar[str] = "pairs in the wrong order"

    tol: NotNegative | None = 1e-8

    def _pull(self, data: Dataset, risk: AnyRisk) -> tuple[Regulariser, float]:
        if self.C is not None:
            return super()._pull(data, risk)
        units = feature_spreads(data, self.n_jobs)
        self.C_ = LIKELIHOOD_C
        return Squared(units=np.where(units > 0, units, 1.0)), self.C_

    def _objective(self) -> Objective:
        return likelihoods.LogLikelihood(scale=self.scale)


@dataclass(eq=False, repr=False, kw_only=True)
class MeasureRanker(Measured, GainsAndDiscounts, ConditionalRanker):
    """Base class of conditional models with a measure.

    With ``measure="auc"`` everything is a closed form. Otherwise rankings are drawn once for every query before the
    optimisation; ``sample_bytes_`` is the memory they take, ``sample_sizes_`` the number of different ones per query.
    A hundred rankings per query are too few for long lists, which is another reason to stay near RankSVM.

    Parameters
    ----------
    measure : str or Measure
        What is optimised: "auc" (relevant documents against others; "AUC(graded=True)" for all pairs of
        different label), "map", "ndcg@10", "mrr@10", "err@10" or any other.
    n_samples
        Rankings drawn for a query. More give more stable results on long lists; time and memory grow with them.
    skew : "best", "worst", "mixed" or a number
        Where the walks start: mostly at the best ranking, mostly at the worst, half and half, or at rankings of diverse
        loss drawn with probability proportional to exp(number * loss). Walks from the best ranking alone, as with -30,
        did best on validation data.
    importance
        Weigh the sampled rankings so that sums estimate those over all y. Meant for comparisons with closed forms.
    rho
        Weight of the loss against the feature map. Raise it by powers of ten to give the measure more influence.
    """

    n_samples: Count = 100
    skew: Skew = -30.0
    importance: bool = False

    @property
    def _optimised(self) -> Any:
        return spoken(self.measure[0] if isinstance(self.measure, list | tuple) else self.measure)

    def _shared(self) -> dict[str, Any]:
        """Return the parameters that all conditional objectives with a measure have."""
        measures = self.measure if isinstance(self.measure, list | tuple) else [self.measure]
        return {
            "measures": tuple(parse_measure(one) for one in measures),
            "weights": None,
            "convention": Convention(**self._counting()),
            "scale": self.scale,
            "sampling": Sampling(
                n_samples=self.n_samples,
                skew=self.skew,
                importance=self.importance,
                random_state=self.random_state or 0,
                n_jobs=self.n_jobs,
            ),
        }

    def _note(self, risk: AnyRisk) -> None:
        nbytes, sizes = risk.sample() or (0, np.zeros(risk.n_queries, np.int64))
        self.sample_bytes_, self.sample_sizes_ = nbytes, sizes


@dataclass(eq=False, repr=False, kw_only=True)
class RestartedMeasureRanker(Restarted, MeasureRanker):
    """Base class of the non-convex ones.

    Parameters
    ----------
    n_starts
        Descents from different weights, of which the best is used; only one if the model stays near RankSVM.
    """

    def _own(self) -> dict[str, Any]:
        return {"n_starts": 1} if self.C is None else super()._own()


@dataclass(eq=False, repr=False, kw_only=True)
class LogGain(RestartedMeasureRanker):
    """ExpGain: the log of the expected gain, summed over queries and maximised; not convex."""

    def _objective(self) -> Objective:
        return likelihoods.LogExpectedGain(**self._shared())


@dataclass(eq=False, repr=False, kw_only=True)
class LogLoss(RestartedMeasureRanker):
    """The expected loss (L2), or its log; not convex.

    Parameters
    ----------
    form
        Equation 4 or 5 of the paper: the expected loss of a query, or its logarithm.
    f
        The expectation is of rho * loss or of exp(rho * loss), which stresses the worst rankings.
    """

    form: Expectation = "expected"
    f: OfLoss = "identity"
    rho: Positive = 1.0

    def _objective(self) -> Objective:
        return likelihoods.ExpectedLoss(**self._shared(), form=self.form, f=self.f, rho=self.rho)


@dataclass(eq=False, repr=False, kw_only=True)
class LogCombined(RestartedMeasureRanker):
    """L3 = L1 + rho L2: likelihood and expected loss together; not convex."""

    rho: Positive = 1.0

    def _objective(self) -> Objective:
        return likelihoods.LikelihoodAndLoss(**self._shared(), rho=self.rho)


@dataclass(eq=False, repr=False, kw_only=True)
class LogConvex(MeasureRanker):
    """ConvexLoss: log of the sum over rankings of exp(rho loss - w · dphi), a convex bound of L1 + rho L2.

    Parameters
    ----------
    measure : str, Measure or list of them
        Several measures are optimised together, by the weighted sum of their losses; the first is reported.
    weights : sequence of float, optional
        Weight of every measure, 0 or more; equal ones that add up to 1 unless given.
    rho
        Weight of the loss against the feature map, which, as a sum over pairs, soon exceeds the loss (the paper's
        Figure 8). Raise it by powers of ten to give the measure more influence.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 20, 5, random_state=1)
    >>> ranker = ar.make_ranker("log-convex", measure="map", C=0.1).fit(data)
    >>> ranker.coef_.shape, ranker.gap_ <= 1e-3 * ranker.objective_
    ((5,), True)
    """

    weights: Any = None
    rho: Positive = 1.0

    def _objective(self) -> Objective:
        return likelihoods.ConvexLoss(**self._shared() | {"weights": self.weights}, rho=self.rho)
