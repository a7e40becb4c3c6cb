"""SVMmap: average precision, as structured hinge."""

from __future__ import annotations

from typing import Any, ClassVar

from argrank.rankers._structured import StructuredRanker


class SVMmap(StructuredRanker):
    """Linear ranker for MAP; the most violated ranking is found by divide and conquer in O(n log n).

    Documents from label ``relevant_at`` up are good.

    Parameters
    ----------
    C : float
        Weight of the slacks against the regulariser, as in the paper.
    measure : str, Measure or callable
        What is optimised and reported: any measure with an oracle on the feature map.
    relevant_at : float
        Smallest label of a good document.
    feature_map : "pairs", "first", "positions" or a registered name
        How a ranking becomes a feature vector; the default is the paper's.
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

    learner: ClassVar[str] = "svm-map"
    objective_parameters: ClassVar[tuple[str, ...]] = ("measure", "relevant_at", "feature_map", "scale", "bound")

    def __init__(
        self,
        *,
        C: float = 1.0,
        measure: Any = "map",
        relevant_at: float = 1.0,
        feature_map: str = "pairs",
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
        self.measure = measure
        self.relevant_at = relevant_at
        self.feature_map = feature_map
        self.scale = scale
        self.bound = bound
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.normalise = normalise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
