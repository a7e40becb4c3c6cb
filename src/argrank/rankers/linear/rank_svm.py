"""RankSVM: the pairwise hinge, squared or plain, minimised without forming pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from argrank._declared import Positive
from argrank.objectives.objective import Objective
from argrank.objectives.pairwise import PairwiseHinge, Shape
from argrank.rankers.cheap_models import RANK_SVM_C
from argrank.rankers.linear.linear_ranker import LinearRanker


@dataclass(eq=False, repr=False, kw_only=True)
class RankSVM(LinearRanker):
    """Linear ranker that minimises ``|w|² / (2C) + mean over all pairs of max(0, 1 - w·(x_i - x_j))²``.

    The pairs are all documents i, j of one query with label i > label j, or the data's ``preferences``. With row
    weights (``sample_weight``) a pair's weight is their product, as if a row of weight 2 occurred twice. The C of Lee &
    Lin (2014) and svm_rank weighs the sum over the P pairs of the training data: theirs is C / P; LETOR's runs, which
    divide by the number of pairs, use ours. Objective, gradient and Hessian products cost O(n log n) per query.
    ``loss="hinge"`` is the plain hinge, as in svm_rank; it is then SVMauc on another scale. C = 30 had the best mean
    over validation parts; fewer queries need a smaller C, more queries a larger one.

    Parameters
    ----------
    loss
        The loss of a pair; the squared one is minimised by truncated Newton, the plain one by a bundle method. The
        squared one is faster.
    tol
        Squared hinge: stop when the gradient norm is this share of the norm at w = 0 (default 1e-6). Plain hinge: when
        the duality gap is this share of the objective (default 1e-3).

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 20, 5, random_state=1)
    >>> ranker = ar.make_ranker("rank-svm", C=10.0).fit(data)
    >>> ranker.coef_.shape, ranker.gap_ < 1e-6 * ranker.objective_
    ((5,), True)
    """

    takes_gains: ClassVar[bool] = True
    ranker: ClassVar[str] = "rank-svm"
    takes_preferences: ClassVar[bool] = True
    uses_row_weights: ClassVar[bool] = True
    minimises: ClassVar[str] = "pairs in the wrong order"

    C: Positive = RANK_SVM_C
    loss: Shape = "squared"

    def _objective(self) -> Objective:
        return PairwiseHinge(loss=self.loss)
