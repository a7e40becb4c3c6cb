"""DORM: measures of the form sum of gains times discounts, on the positions map."""

from __future__ import annotations

from typing import Any, ClassVar

from argrank.rankers._structured import StructuredRanker


class DORM(StructuredRanker):
    """Linear ranker for NDCG@k on the positions map: ``w·phi`` is the sum of the scores times a decay of the rank.

    The most violated ranking is an assignment, solved exactly by far smaller problems than the paper's n x n.

    Parameters
    ----------
    C : float
        Weight of the slacks against the regulariser, as in the paper.
    measure : str, Measure or callable
        What is optimised and reported: any measure with an oracle on the feature map.
    k : int or None
        Cut-off of the measure; None for none.
    discount : "log2", "letor" or callable
        Discount of the ranks; "letor" is the paper's.
    gain : "exp2", "linear", "binary", table or callable
        Gain of a label.
    relevant_at : float
        Smallest label of a good document.
    decay : optional
        Weight of the ranks in the positions map: "sqrt" (default), a power, "linear", "log2", "loglog", "measure" or a
        vector that never rises.
    reference : "averaged", "any" or "given"
        The ideal ranking of equal labels in the positions map.
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

    learner: ClassVar[str] = "dorm"
    objective_parameters: ClassVar[tuple[str, ...]] = (
        "measure",
        "k",
        "discount",
        "gain",
        "relevant_at",
        "decay",
        "reference",
        "bound",
    )

    def __init__(
        self,
        *,
        C: float = 1.0,
        measure: Any = "ndcg",
        k: int | None = 10,
        discount: Any = "log2",
        gain: Any = "exp2",
        relevant_at: float = 1.0,
        decay: Any = None,
        reference: str = "averaged",
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
        self.measure = measure
        self.k = k
        self.discount = discount
        self.gain = gain
        self.relevant_at = relevant_at
        self.decay = decay
        self.reference = reference
        self.bound = bound
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.normalise = normalise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
