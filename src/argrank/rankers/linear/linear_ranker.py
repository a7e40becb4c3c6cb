"""Base class of linear rankers: from parameters to a problem, its solver, and notes on the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from argrank._declared import Count, NotNegative, Positive, Seed
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import AnyRisk, make_risk
from argrank.errors import OptionError
from argrank.models.model import Stayed
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.cheap_models import best_length, rank_svm_weights, regression_weights
from argrank.rankers.trace import Outcome, Watcher
from argrank.rankers.training_data import notes_of_scales
from argrank.solvers import Regulariser, Result, Squared, minimise, usable
from argrank.solvers.problem import Collapse, Stop

COLLAPSED = 0.999  # an optimum with at least this share of the objective at w = 0 has learned nothing


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRanker(BaseRanker):
    """A linear ranker that minimises ``R(w) / C + risk(w)``: the risk is a mean, R = |w|² / 2 by default.

    Rankers are dataclasses: a field is a parameter of ``__init__``. ``_objective`` returns the loss whose mean is the
    risk.

    Parameters
    ----------
    C
        Weight of the risk against the regulariser. A small C keeps weights small and suits few queries; a
        large one fits the data more closely. Choose it by validation, in powers of ten.
    solver : str
        "auto" chooses one that suits the objective; other names of ``argrank.solvers.SOLVERS`` are for comparisons.
    tol
        Stop when the gap is at most this share of the objective; None for the solver's own, which is 1e-3
        (Newton: a gradient norm of 1e-6 of the first). Objectives that are not convex have no gap; for them
        ``C |gradient|² / 2`` is used instead. Lower it to compare optima, raise it to try something quickly.
    max_iter
        Number of passes over the data after which to stop, with a warning. Raise it if a fit warns.
    random_state
        Seed of samples of rankings, further starts and the order of queries. Results are bit-identical for the same
        seed.
    """

    scales_lazily: ClassVar[bool] = True

    C: Positive | None = 1.0
    solver: str = "auto"
    tol: NotNegative | None = None
    max_iter: Count = 1000
    random_state: Seed | None = 0

    def _regulariser(self, data: Dataset) -> Regulariser:
        """Return R."""
        return Squared(centre=self._centre(data))

    def _pull(self, data: Dataset, risk: AnyRisk) -> tuple[Regulariser, float]:
        """Return R and C."""
        if self.C is None:
            raise OptionError("C: expected a positive number, got None")
        return self._regulariser(data), self.C

    def _centre(self, data: Dataset) -> Floats | None:
        """Return the weights near which to stay, if not 0."""
        return None

    def _start(self, data: Dataset, risk: AnyRisk, R: Regulariser, C: float, given: Floats | None) -> Floats | None:
        """Return the solver's start; ``given`` is the last point of a regularisation path."""
        if given is None and R.centre is not None:
            return R.centre
        return self._tight_start(data, risk, R, C, given) if risk.difference and self.solver != "online" else given

    def _own(self) -> dict[str, Any]:
        """Return the parameters that are options of some solvers."""
        return {}

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        risk = make_risk(data, self._objective(), self.n_jobs)
        R, C = self._pull(data, risk)
        self._note(risk)
        watcher.notes += notes_of_scales(data, self.n_jobs) if R.units is None or R.centre is not None else []
        result = minimise(
            risk,
            self.solver,
            C=C,
            regulariser=R,
            tol=self.tol,
            max_iter=self.max_iter,
            start=self._start(data, risk, R, C, start),
            callback=watcher,
            random_state=self.random_state,
            keeper=watcher.keeper,
            **usable(self.solver, risk, R, self._own()),
        )
        watcher.notes += self._notes_of_proof(risk, result)
        if not risk.smooth:
            zero = np.zeros(data.n_features)
            self.objective_at_zero_ = risk.at_scores(risk.zero_scores())[0] + R.value(zero) / C
            self.collapsed_ = result.collapsed if R.centre is None else None
            watcher.notes += self._notes_of_collapse(result.objective)
        return Outcome.of(result)._replace(stayed=self._stayed(R, result.w))

    def _notes_of_proof(self, risk: AnyRisk, result: Result) -> list[str]:
        """Say where another solver would have told how far the optimum is, or met ``tol``, and this one cannot."""
        if not np.isnan(result.gap) or result.reason is Stop.INTERRUPTED:
            return []
        if risk.convex:
            return [
                f"solver={self.solver!r} proves no gap: {result.message}, but the optimum may be lower than the "
                f"objective of {result.objective:.6g} by several per cent; solver='auto' gives a bound"
            ]
        if self.solver == "auto" or result.reason not in (Stop.STEPS, Stop.EPOCHS):
            return []
        return [
            f"solver={self.solver!r} cannot tell how far the next minimum is, so tol was not checked: "
            f"{result.message}, at an objective of {result.objective:.6g}; solver='auto' continues until tol is met"
        ]

    def _stayed(self, R: Regulariser, w: Floats) -> Stayed | None:
        """Return which other method's model the weights stay near by design."""
        return None

    def _note(self, risk: AnyRisk) -> None:
        """Store facts about the prepared objective."""

    def _tight_start(self, data: Dataset, risk: AnyRisk, R: Regulariser, C: float, given: Floats | None) -> Floats:
        """Return the start for a tight bound: the best of a few cheap models, by its own objective.

        They are RankSVM and least squares on the labels, scaled to several lengths. The convex bound's solution is not
        among them: it costs more than all the others, may have collapsed, and did not lead to a lower objective. The
        start is w = 0 only if there is no other: there all scores tie, and the tangent would depend on the order of the
        rows.
        """
        cheap = [rank_svm_weights(data, self.n_jobs), regression_weights(data, self.n_jobs)]
        candidates = [R.project(w) for w in (cheap if given is None else [*cheap, given])]
        return best_length(candidates, risk, lambda w: R.value(w) / C)

    def _restored(self, name: str, value: Any) -> Any:
        return Collapse(*value) if name == "collapsed_" and value is not None else super()._restored(name, value)

    def _notes_of_collapse(self, value: float) -> list[str]:
        """Return a note if nothing was learned, and what helps: an optimum at 0 for every C cannot be changed by C."""
        if not self.objective_at_zero_ > 0 or value < COLLAPSED * self.objective_at_zero_:
            return []
        signs, other = self._remedies()
        if self.collapsed_ is not None:
            found = f"the optimum is w = 0 for every C (a subgradient there has norm {self.collapsed_.norm:.1e})"
            helps = f"{signs}{other}, or features normalised within queries (normalise='query-minmax')"
        else:
            found, helps = "the optimum is (nearly) w = 0", f"a larger C, {other}"
        return [
            f"{found}: the objective is {value:.6g}, at w = 0 {self.objective_at_zero_:.6g}. "
            f"On this data the bound's penalty exceeds any gain of the measure; what helps is {helps}"
        ]

    def _remedies(self) -> tuple[str, str]:
        """Return what helps if signs keep weights at 0, and what helps in any case."""
        return "", "another measure or feature_map"


@dataclass(eq=False, repr=False, kw_only=True)
class Restarted:
    """A ranker with a non-convex objective and several descents.

    Parameters
    ----------
    n_starts
        Descents from different weights, of which the best is used. More help if results vary with ``random_state``.
    """

    n_starts: Count = 3

    def _own(self) -> dict[str, Any]:
        return {"n_starts": self.n_starts}


@dataclass(eq=False, repr=False, kw_only=True)
class CutOff:
    """A ranker whose measure has a cut-off.

    Parameters
    ----------
    k
        Cut-off of the measure; "auto" for the one in its name, else 10; None for none. A small one uses few documents
        of each query.
    """

    k: Count | Literal["auto"] | None = "auto"

    @property
    def _cut_at(self) -> int | str | None:
        return self.k
