"""SVMndcg-nc: NDCG without a cut-off, as structured hinge."""

from __future__ import annotations

from typing import Any, ClassVar

from argrank.rankers._structured import StructuredRanker


class SVMndcgNC(StructuredRanker):
    """Linear ranker for NDCG of the whole list, good against bad documents.

    Divide and conquer for convex discounts, two cases of it for LETOR's, the full table for any other.

    Parameters
    ----------
    C : float
        Weight of the slacks against the regulariser, as in the paper.
    discount : "log2", "letor" or callable
        Discount of the ranks; "letor" is the paper's.
    gain : "binary", table or callable
        Gain of a label; more than two different gains take a table that grows with the product of their numbers.
    relevant_at : float
        Smallest label of a good document.
    scale : "pairs", "cutoff" or None
        "pairs" divides the pairs map by the number of pairs, "cutoff" the first map by k, None leaves sums.
    bound : "convex" or "tight"
        The tight bound lies closer to the measure and is not convex; found by successive convex approximation.
    solver : "auto", "bundle", "cutting-plane" or "frank-wolfe"
        For the convex bound; all reach the same optimum.
    tol : float
        Stop when the duality gap is this share of the objective.
    max_iter : int
        At most so many passes over the data.
    normalise : str, optional
        A normaliser's name, applied before training and kept with the model; none by default.
    n_jobs : int, optional
        Threads; None for all cores. The result has the same bits for any number.
    random_state : int, optional
        Order in which the per-query solvers ask.
    verbose : int
        -1 hides the progress bar.
    """

    learner: ClassVar[str] = "svm-ndcg-nc"
    measure: Any = "ndcg"  # what score and validation report
    objective_parameters: ClassVar[tuple[str, ...]] = ("discount", "gain", "relevant_at", "scale", "bound")

    def __init__(
        self,
        *,
        C: float = 1.0,
        discount: Any = "log2",
        gain: Any = "binary",
        relevant_at: float = 1.0,
        scale: str | None = "pairs",
        bound: str = "convex",
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        normalise: str | None = None,
        n_jobs: int | None = None,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.discount = discount
        self.gain = gain
        self.relevant_at = relevant_at
        self.scale = scale
        self.bound = bound
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.normalise = normalise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
