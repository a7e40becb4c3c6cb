"""SVMauc: the area under the ROC curve, as structured hinge."""

from __future__ import annotations

from typing import Any, ClassVar

from argrank.rankers._structured import StructuredRanker


class SVMauc(StructuredRanker):
    """Linear ranker for AUC: the mean over a query's pairs of ``max(0, 1 - 2 w·(x_i - x_j))``.

    Pairs are across all levels of graded labels. It is RankSVM's hinge, averaged within queries, with margin 1/2.

    Parameters
    ----------
    C : float
        Weight of the slacks against the regulariser, as in the paper.
    scale : "pairs", "cutoff" or None
        "pairs" divides the pairs map by the number of pairs, "cutoff" the first map by k, None leaves sums.
    margin : "unit" or "labels"
        For graded labels: a margin of 1 for every pair, or of the difference of the labels.
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

    learner: ClassVar[str] = "svm-auc"
    measure: Any = "auc"  # what score and validation report
    objective_parameters: ClassVar[tuple[str, ...]] = ("scale", "margin", "bound")

    def __init__(
        self,
        *,
        C: float = 1.0,
        scale: str | None = "pairs",
        margin: str = "unit",
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
        self.scale = scale
        self.margin = margin
        self.bound = bound
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.normalise = normalise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
