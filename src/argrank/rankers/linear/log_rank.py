"""LogRank, conditional models: ``log-mle``, ``log-gain``, ``log-loss``, ``log-combined``, ``log-convex``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from argrank._declared import Count, Positive
from argrank.data.dataset import Dataset
from argrank.engines import AnyRisk
from argrank.measures.conventions import Convention
from argrank.measures.names import measure as parse_measure
from argrank.objectives.conditional import likelihoods
from argrank.objectives.conditional.valid_rankings import Sampling
from argrank.objectives.objective import Objective
from argrank.rankers.cheap_models import near, rank_svm_weights
from argrank.rankers.linear.linear_ranker import LinearRanker, Restarted
from argrank.rankers.parameters import GainsAndDiscounts, Measured
from argrank.solvers import Regulariser


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalRanker(LinearRanker):
    """What the conditional models share: by default they stay near RankSVM.

    No C for shrinking towards 0 suits short lists, long ones and features of any scale. Given a C, the objective is the
    paper's. Its C, for ``|w|² / C`` beside a sum, is 2 / P times ours where the risk is a mean over all P pairs
    (log-mle, log-combined, log-convex), and 2 / Q times ours where it is one over the Q queries (log-gain, log-loss).

    Parameters
    ----------
    C
        Weight of the risk against ``|w|² / 2``. With None, the default, R is half the squared distance from RankSVM,
        every weight counting in units of its feature's spread within queries, and C is 0.03 times the squared spread of
        RankSVM's scores over its risk: how far the model goes depends neither on the scale of the features nor on that
        of the risk. 0.03 was chosen on validation parts of nine data sets. ``C_`` is the C that was used.
    scale
        "pairs" divides the feature map by the number of pairs of the query, so that long lists count no more than short
        ones; the paper leaves it a sum.
    """

    C: Positive | None = None
    scale: Literal["pairs"] | None = None

    def _pull(self, data: Dataset, risk: AnyRisk) -> tuple[Regulariser, float]:
        if self.C is not None:
            R, self.C_ = super()._pull(data, risk)
        else:
            R, self.C_ = near(rank_svm_weights(data, self.n_jobs), data, risk, self.n_jobs)
        return R, self.C_


@dataclass(eq=False, repr=False, kw_only=True)
class LogMLE(ConditionalRanker):
    """Maximum likelihood of the best ranking (LogRank's L1): RankNet's cost at twice the scores, not normalised.

    The risk is the mean over all pairs of log(1 + exp(-2 (s_i - s_j))), in closed form. With features of one scale
    ``C=100.0`` is about as good as staying near RankSVM, the default.
    """

    def _objective(self) -> Objective:
        return likelihoods.LogLikelihood(scale=self.scale)


@dataclass(eq=False, repr=False, kw_only=True)
class MeasureRanker(Measured, GainsAndDiscounts, ConditionalRanker):
    """What the conditional models with a measure share.

    With ``measure="auc"`` everything is a closed form. Otherwise rankings are drawn once for every query before the
    optimisation; ``sample_bytes_`` is the memory they take, ``sample_sizes_`` the number of different ones per query.
    A hundred rankings of a query say too little about long lists: one more reason to stay near RankSVM.

    Parameters
    ----------
    measure : str or Measure
        What is optimised: "auc" (relevant documents against others; "AUC(graded=True)" for all pairs of
        different label), "map", "ndcg@10", "mrr@10", "err@10" or any other.
    n_samples
        Rankings drawn for a query. More are steadier on long lists; time and memory grow with them.
    skew : "best", "worst", "mixed" or a number
        Where the walks start: mostly at the best ranking, mostly at the worst, half and half, or at rankings of diverse
        loss drawn with probability proportional to exp(number * loss). Walks from the best ranking alone, as with -30,
        did best on validation data: rankings far from it are a hundred terms out of too many to count.
    importance
        Weigh the sampled rankings so that sums estimate those over all y. Meant for comparisons with closed forms.
    rho
        Weight of the loss against the feature map. Raise it by powers of ten to give the measure more of a
        say.
    """

    n_samples: Count = 100
    skew: Any = -30.0
    importance: bool = False

    @property
    def _optimised(self) -> Any:
        return self.measure[0] if isinstance(self.measure, list | tuple) else self.measure

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
    """What those share that are not convex.

    Parameters
    ----------
    n_starts
        Descents from different weights, of which the best counts; one alone where the model stays near RankSVM.
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

    form: Literal["expected", "log-expected"] = "expected"
    f: Literal["identity", "exp"] = "identity"
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
        Weight of the loss against the feature map, which as a sum over pairs soon outgrows it (the paper's
        Figure 8). Raise it by powers of ten to give the measure more of a say.

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
