"""What the structured rankers share: solver, bound, and a word when the optimum has collapsed to w = 0."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines.local import LocalRisk
from argrank.errors import ArgrankWarning, OptionError, unknown_name
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.objectives.structured import StructuredHinge
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import BaseRanker, Outcome
from argrank.rankers.linear._penalty import regulariser_for
from argrank.solvers import bundle, convex_steps, cutting_plane, frank_wolfe, least_squares, patient
from argrank.solvers._result import Result
from argrank.solvers.regularisers import Regulariser, Squared

SOLVERS: dict[str, Callable[..., Result]] = {
    "bundle": bundle.minimise,
    "cutting-plane": cutting_plane.minimise,
    "frank-wolfe": frank_wolfe.minimise,
}
COLLAPSED = 0.999  # an optimum that keeps this share of the objective at w = 0 has learned nothing
SCALES = np.geomspace(1e-6, 1e3, 19)  # lengths at which a start for the tight bound is tried


@dataclass(eq=False, repr=False, kw_only=True)
class StructuredRanker(BaseRanker):
    """A ranker that minimises ``|w|² / (2C) + risk``, the risk being the mean of a structured hinge (KDD 2008).

    The hinge is the loss of the most violated ranking and an upper bound of 1 - measure; the risk is the paper's
    average slack, and its C is ours. After fit, ``objective_at_zero_`` holds the objective at w = 0, which the optimum
    should leave well behind. The rankers are dataclasses: a field is a parameter of ``__init__``.

    Parameters
    ----------
    C : float
        Weight of the slacks against the regulariser, as in the paper.
    bound : "convex" or "tight"
        The tight bound lies closer to the measure and is not convex; found by successive convex approximation.
    solver : "auto", "bundle", "cutting-plane" or "frank-wolfe"
        For the convex bound; all reach the same optimum. "auto" is the bundle method, and cutting planes with a slack
        per query where that is not done after 100 passes on few queries.
    penalty : "l2" or "l1"
        "l1" puts ``|w|₁ / C`` in the place of the squares, which sets the weights of needless features to 0.
    signs : vector of -1, 0 and 1, or mapping from feature names, optional
        1 keeps a feature's weight at 0 or above, -1 at 0 or below, 0 (and a name left out) leaves it free. Both need
        the bundle method, whose gap stays a proof.
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

    ranker: ClassVar[str]

    C: float = 1.0
    bound: str = "convex"
    solver: str = "auto"
    penalty: str = "l2"
    signs: Any = None
    tol: float = 1e-3
    max_iter: int = 1000
    normalise: str | None = None
    n_jobs: int | None = None
    random_state: int | None = 0
    verbose: int = 0

    def _hinge(self, measure: Any, convention: Convention, **changed: Any) -> StructuredHinge:
        """Return the hinge of a measure with this ranker's bound, on the pairs map unless said otherwise."""
        usual: dict[str, Any] = {
            "normalised": True, "feature_map": "pairs", "scale": "pairs", "margin": "unit", "decay": None,
            "reference": "averaged", "assignment": "auto", "diverse": False,
        }  # fmt: skip
        return StructuredHinge(
            name=self.ranker, measure=measure, convention=convention, bound=self.bound, **(usual | changed)
        )

    def _convention(self, **given: Any) -> Convention:
        """Return the convention of a ranker's gain, discount and relevant_at; a good document of ERR has grade 1."""
        return Convention(max_grade=1.0, **given)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        asked, regulariser = cast(Any, self._objective()), regulariser_for(self.penalty, self.signs, data)
        convex = LocalRisk(data, asked.convex_part(), self.n_jobs)
        at_zero = np.zeros(data.n_documents)
        self.objective_at_zero_ = convex.at_scores(at_zero)[0]
        if self.bound == "convex":
            result = self._solve(convex, start, watcher, regulariser)
        else:
            subtracted = LocalRisk(data, asked.subtracted_part(), self.n_jobs)
            self.objective_at_zero_ -= subtracted.at_scores(at_zero)[0]
            first = self._start(data, convex, subtracted, start, regulariser)
            result = convex_steps.minimise(
                convex, subtracted, self.C, self.tol, self.max_iter, first, watcher, regulariser
            )
        self._warn_of_collapse(result.objective)
        return Outcome.of(result)

    def _solve(
        self, risk: LocalRisk, start: Floats | None, watcher: Watcher | None, regulariser: Regulariser
    ) -> Result:
        if self.solver == "auto" and isinstance(regulariser, Squared) and regulariser.is_free:
            return patient.minimise(risk, self.C, self.tol, self.max_iter, start, watcher, self.random_state)
        name = "bundle" if self.solver == "auto" else self.solver
        if name not in SOLVERS:
            raise unknown_name("solver", self.solver, {*SOLVERS, "auto"})
        self._check_penalty(name, regulariser)
        own = {"regulariser": regulariser} if name == "bundle" else {"random_state": self.random_state}
        return SOLVERS[name](risk, self.C, self.tol, self.max_iter, start, watcher, **own)

    def _check_penalty(self, solver: str, regulariser: Regulariser, *others: str) -> None:
        """Refuse what only some solvers can do: the bundle method everything, ``others`` signs with squares."""
        plain = isinstance(regulariser, Squared)
        if solver == "bundle" or (plain and (regulariser.is_free or solver in others)):
            return
        asked = "signs" if plain else "penalty='l1'"
        able = " or ".join(map(repr, ("bundle", *others) if plain else ("bundle",)))
        raise OptionError(f"{asked}: expected solver={able}, got {solver!r}, which cannot do it")

    def _start(
        self,
        data: Dataset,
        convex: LocalRisk,
        subtracted: LocalRisk,
        given: Floats | None,
        regulariser: Regulariser,
    ) -> Floats:
        """Return where the tight bound starts: the best, by its own objective, of a few cheap models.

        They are the convex bound's solution and least squares on the labels, at several lengths: the convex bound
        may have collapsed, and the length of a least-squares solution means nothing. It never is w = 0 while there is
        a direction: there all scores tie, and the tangent would depend on the order of the rows.
        """
        candidates = [
            regulariser.project(least_squares.solve(data.X, data.y, n_jobs=self.n_jobs).w),
            self._solve(convex, None, None, regulariser).w,
        ]
        candidates += [] if given is None else [regulariser.project(given)]

        def tight(w: Floats, scores: Floats) -> float:
            return convex.at_scores(scores)[0] - subtracted.at_scores(scores)[0] + regulariser.value(w) / self.C

        best, best_value = np.zeros(data.n_features), np.inf
        for w in candidates:
            scores = convex.scores(w)
            for scale in SCALES if w.any() else ():
                value = tight(scale * w, scale * scores)
                if value < best_value:
                    best, best_value = scale * w, value
        return best

    def _warn_of_collapse(self, value: float) -> None:
        if self.objective_at_zero_ > 0 and value >= COLLAPSED * self.objective_at_zero_:
            helps = "bound='tight', " if self.bound == "convex" else ""
            warnings.warn(
                f"{type(self).__name__}: the optimum is (nearly) w = 0: the objective is {value:.6g}, at w = 0 "
                f"{self.objective_at_zero_:.6g}. The bound costs more than the measure can gain on these data; what "
                f"helps is {helps}another feature_map, a larger C, or features scaled within queries "
                "(normalise='query-minmax')",
                ArgrankWarning,
                stacklevel=5,
            )


def with_cutoff(measure: Any, k: Any, default: int | None) -> Any:
    """Return the measure a ranker is asked for with its cut-off; loss terms of the user's own come back as they are."""
    if callable(measure) and not isinstance(measure, Measure):
        return measure
    return parse_measure(measure).cut(k, default)


def reported(measure: Any) -> Measure:
    """Return what is reported: the measure itself, or NDCG@10 where it is a loss of the user's own."""
    return measure if isinstance(measure, Measure) else parse_measure("ndcg@10")
