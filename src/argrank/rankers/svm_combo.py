"""SVMcombo: several measures at once."""

from __future__ import annotations

from typing import Any, ClassVar

from argrank.rankers._structured import StructuredRanker


class SVMcombo(StructuredRanker):
    """Linear ranker for several measures together, each with its own most violated ranking.

    ``weights`` are the paper's C_l, relative to C.

    Parameters
    ----------
    C : float
        Weight of the slacks against the regulariser, as in the paper.
    measures : sequence of measures or structured objectives
        What is optimised together; a measure by name takes the map of its own learner.
    weights : number, sequence of one weight per measure, or array of shape (n_queries, n_measures)
        The array gives every query its own, so that navigational queries may train on MRR, others on NDCG.
    slacks : "separate" or "shared"
        The sum of the measures' hinges, or the largest of them.
    discount : "log2", "letor" or callable
        Discount of the ranks; "letor" is the paper's.
    gain : "exp2", "linear", "binary", table or callable
        Gain of a label.
    relevant_at : float
        Smallest label of a good document.
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

    learner: ClassVar[str] = "svm-combo"
    measure: Any = "ndcg@10"  # what score and validation report
    objective_parameters: ClassVar[tuple[str, ...]] = (
        "measures",
        "weights",
        "slacks",
        "discount",
        "gain",
        "relevant_at",
        "bound",
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        measures: Any = ("ndcg@10", "map", "mrr@10"),
        weights: Any = 1.0,
        slacks: str = "separate",
        discount: Any = "log2",
        gain: Any = "exp2",
        relevant_at: float = 1.0,
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
        self.measures = measures
        self.weights = weights
        self.slacks = slacks
        self.discount = discount
        self.gain = gain
        self.relevant_at = relevant_at
        self.bound = bound
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.normalise = normalise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
