"""Ranking matrix factorisation: optimises the order of a user's items, not the exact ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from argrank._declared import Count, Jobs, NotNegative, Positive
from argrank.data.dataset import Dataset
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.product import is_product
from argrank.objectives.structured.hinge import Bound
from argrank.rankers.estimator import Gains, Measured
from argrank.rankers.factors._alternation import Alternation
from argrank.rankers.factors.factor_ranker import FactorRanker, Factors, Rated, Watch


@dataclass(eq=False, repr=False, kw_only=True)
class FactorRank(Measured, Gains, FactorRanker):
    """Factors of users and items that rank: ``(|U - U0|² + |V - V0|²) / (2 C m) + mean over the m users of a loss``.

    A user's score of an item is ``U_user · V_item + bias of the item``, the bias being V's last column, plus the item's
    known offset (``item_offsets`` of ``fit``). The loss is ORM's bound of 1 - NDCG@k (or any measure a · b) over the
    items the user rated (ORM section 7.2; Weimer et al. 2008). U0 and V0 are a factorisation by squared error
    (``factor-regression``), at the length that suits the convex bound best, and for a tight bound at ten times that.
    For fixed V the problem separates by user, and with the convex bound it is convex in U, and for fixed U in V. Both
    are improved alternately by L-BFGS; a step that does not lower the objective is rejected. The joint problem is not
    convex: with few ratings, minima from other starts may be lower by half.

    Parameters
    ----------
    C
        Weight of a user's loss against the regulariser. A small one gives the factorisation by squared error, a larger
        one a model that ranks better in training.
    measure, decay, bound, gain, relevant_at
        The loss, as in ``orm``; "measure" as decay is c = a, which one sort solves.
    user_weight
        Weight of a user's loss: equal, or proportional to the number of the user's ratings.
    near_start
        Whether to stay near the factorisation by squared error, which keeps what is known of items with few ratings;
        otherwise it is only the start of the descent, and factors are shrunk to 0 (then C = 1 is a good first value).
    start_ridge
        Ridge of the factorisation by squared error; as ``ridge`` of ``factor-regression``.
    rounds
        Number of rounds of U and V after which to stop. Few are enough near the start.
    tol
        Stop when a round gains less than this share of the objective. Below 1e-3 the halves are solved to
        this gap, a tight bound's by convex steps to a minimum, with enough ``max_iter``: then neither half can be
        improved alone.
    max_iter
        Passes over the ratings in one half of a round.
    n_jobs
        Threads; None for all cores.

    Examples
    --------
    >>> users, items, ratings = [1, 1, 1, 2, 2, 2], list("abcabd"), [5, 3, 1, 5, 2, 4]
    >>> FactorRank(rank=1).fit(users, items, ratings).recommend(1, n=1)
    ['d']
    """

    C: Positive = 0.01
    decay: Any = "measure"
    bound: Bound = "convex"
    user_weight: Literal["equal", "ratings"] = "equal"
    near_start: bool = True
    start_ridge: Positive = 15.0
    rounds: Count = 20
    tol: NotNegative = 1e-3
    max_iter: Count = 30
    n_jobs: Jobs = None

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return is_product(measure, Convention(**self._counting()), data)

    def _factorise(self, rated: Rated, watch: Watch) -> Factors:
        problem = Alternation(self, rated)
        problem.run(watch)
        return Factors(problem.U, problem.V, problem.objective, problem.n_rounds)
