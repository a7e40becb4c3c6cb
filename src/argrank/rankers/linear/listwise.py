"""Listwise rankers with a smooth loss: ListNet and RankCosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.objectives.listwise import CosineLoss, TopOneCrossEntropy
from argrank.objectives.objective import Objective
from argrank.rankers.linear.linear_ranker import LinearRanker, Restarted


@dataclass(eq=False, repr=False, kw_only=True)
class ListNet(LinearRanker):
    """Linear ListNet (Cao et al. 2007): divergence of top-one probabilities, minimised to convergence; convex.

    Its value is the Kullback-Leibler divergence: the paper's cross entropy minus the entropy of the target
    probabilities.

    Parameters
    ----------
    gain : "linear", "exp2", "binary", table or callable
        Judgements whose softmax is the target; the paper uses the labels. "exp2" concentrates on the best documents.
    """

    takes_gains: ClassVar[bool] = True

    minimises: ClassVar[str] = "the divergence of the chances to come first from those of the labels"

    C: Positive = 1000.0
    gain: Any = "linear"

    def _objective(self) -> Objective:
        return TopOneCrossEntropy(gain=self.gain)


@dataclass(eq=False, repr=False, kw_only=True)
class RankCosine(Restarted, LinearRanker):
    """Linear RankCosine (Qin et al. 2008), in the form consistent with NDCG (Ravikumar et al. 2011); not convex.

    Parameters
    ----------
    gain : "exp2", "linear", "binary", table or callable
        Gain of a label; the angle between gains and scores is minimised. Use the gain of the measure that you report.
    """

    minimises: ClassVar[str] = "the angle between scores and gains"

    C: Positive = 1000.0
    gain: Any = "exp2"

    def _objective(self) -> Objective:
        return CosineLoss(gain=self.gain)
