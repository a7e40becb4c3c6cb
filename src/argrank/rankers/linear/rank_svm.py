"""RankSVM: the pairwise hinge, squared or plain, minimised without ever forming a pair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines.local import LocalRisk
from argrank.errors import check_positive
from argrank.objectives.objective import Objective
from argrank.objectives.pairwise import PairwiseHinge
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import BaseRanker, Outcome
from argrank.solvers import bundle, newton


@dataclass(eq=False, repr=False, kw_only=True)
class RankSVM(BaseRanker):
    """Linear ranker that minimises ``|w|²/2 + C * sum over pairs of max(0, 1 - w·(x_i - x_j))²``.

    The pairs are all documents i, j of one query with label i > label j, or the data's ``preferences``. The sum is
    over all pairs of all queries, as in Lee & Lin (2014), so their C is ours; where a paper divides by the number of
    pairs, as LETOR's runs do, divide C. Objective, gradient and Hessian products cost O(n log n) a query.
    ``loss="hinge"`` leaves the square out, as svm_rank does; it is then SVMauc on another scale.

    Parameters
    ----------
    C : float
        Weight of the pairs against the regulariser.
    loss : "squared" or "hinge"
        The loss of a pair; the squared one is minimised by truncated Newton, the plain one by a bundle method.
    measure : str
        What ``score`` and the validation column of ``trace_`` report; it does not enter the training.
    normalise : str, optional
        A normaliser's name, applied before training and kept with the model; none by default.
    tol : float, optional
        Squared hinge: stop when the gradient norm is this share of the norm at w = 0 (default 1e-6). Plain hinge: when
        the duality gap is this share of the objective (default 1e-3).
    max_iter : int
        At most so many passes over the data.
    n_jobs : int, optional
        Threads; None for all cores. The result has the same bits for any number.
    verbose : int
        -1 hides the progress bar.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 20, 5, random_state=1)
    >>> ranker = ar.make_ranker("rank-svm", C=0.01).fit(data)
    >>> ranker.coef_.shape, ranker.gap_ < 1e-6 * ranker.objective_
    ((5,), True)
    """

    takes_preferences: ClassVar[bool] = True

    C: float = 1.0
    loss: str = "squared"
    measure: Any = "ndcg@10"
    normalise: str | None = None
    tol: float | None = None
    max_iter: int = 1000
    n_jobs: int | None = None
    verbose: int = 0

    def _objective(self) -> Objective:
        return PairwiseHinge(loss=self.loss)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        risk = LocalRisk(data, self._objective(), self.n_jobs)
        if self.loss == "squared":
            tol = 1e-6 if self.tol is None else self.tol
            return Outcome.of(newton.minimise(risk, self.C, tol, self.max_iter, start, watcher))
        check_positive("C", self.C)
        scale = self.C * data.n_queries  # |w|²/2 + C Q risk is this times what the bundle method minimises
        result = bundle.minimise(risk, scale, 1e-3 if self.tol is None else self.tol, self.max_iter, start, watcher)
        return Outcome.of(replace(result, objective=scale * result.objective, gap=scale * result.gap))
