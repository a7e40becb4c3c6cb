"""What the rankers with a smooth objective share: the risk, L-BFGS, and a field for every parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines.local import LocalRisk
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import BaseRanker, Outcome
from argrank.solvers import quasi_newton


@dataclass(eq=False, repr=False, kw_only=True)
class SmoothRanker(BaseRanker):
    """A linear ranker that minimises ``|w|²/C + sum over queries of the loss`` by L-BFGS.

    LogRank's C is ours. Where the objective is convex, ``gap_`` bounds how far ``objective_`` lies above the minimum;
    elsewhere it is NaN and the best of ``n_starts`` descents is taken.

    Parameters
    ----------
    C : float
        Weight of the losses against the regulariser.
    measure : str
        What ``score`` and the validation column of ``trace_`` report.
    tol : float
        Stop when ``|gradient|² C / 4``, for convex objectives a bound of the gap, is this share of the objective.
    max_iter : int
        At most so many passes over the data.
    normalise : str, optional
        A normaliser's name, applied before training and kept with the model; none by default.
    n_jobs : int, optional
        Threads; None for all cores. The result has the same bits for any number.
    random_state : int
        Seed of the sample of rankings and of further starts.
    verbose : int
        -1 hides the progress bar.
    """

    C: float = 1.0
    measure: Any = "ndcg@10"
    tol: float = 1e-3
    max_iter: int = 1000
    normalise: str | None = None
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        wanted = self._objective()
        risk = LocalRisk(data, wanted, self.n_jobs)
        self._note(risk)
        result = quasi_newton.minimise(
            risk,
            self.C,
            self.tol,
            self.max_iter,
            start,
            watcher,
            convex=wanted.convex,
            n_starts=getattr(self, "n_starts", 1),
            random_state=self.random_state,
        )
        return Outcome.of(result)

    def _note(self, risk: LocalRisk) -> None:
        """Keep what is worth knowing of the prepared objective."""
