"""Rankers with a structured hinge: feature map, bound and measure, and the resulting objective."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from argrank._declared import NotNegative, Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, check_name, shown, unknown_name
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.objectives.objective import Objective
from argrank.objectives.structured import StructuredHinge
from argrank.objectives.structured.hinge import Bound, Scale
from argrank.rankers.estimator import Measured, Relevance
from argrank.rankers.linear.kernelled import Kernelled
from argrank.solvers import Absolute, Regulariser, Squared

HingeBound = Literal["convex", "tight"]  # those that every map has


@dataclass(eq=False, repr=False, kw_only=True)
class FeatureMap:
    """A structured ranker with a choice of feature maps.

    Parameters
    ----------
    feature_map : "pairs", "first", "positions" or a registered name
        The feature vector of a ranking; the theory page on structured SVMs describes each. Change it to reproduce a
        paper.
    scale
        "pairs" divides the pairs map by the number of pairs, "cutoff" the first map by k, None leaves sums. Change it
        only to reproduce a paper: C then has another scale.
    """

    feature_map: str = "pairs"
    scale: Scale = "pairs"

    def _hinge_options(self) -> dict[str, Any]:
        return {"feature_map": self.feature_map, "scale": self.scale}


@dataclass(eq=False, repr=False, kw_only=True)
class StructuredRanker(Kernelled):
    """A ranker whose risk is the mean over queries of a structured hinge (KDD 2008).

    The hinge is the loss of the most violated ranking and an upper bound of 1 - measure; the risk is the paper's
    average slack, with the same C. After fit, ``objective_at_zero_`` holds the objective at w = 0; the optimum should
    be well below it. ``collapsed_`` is None, or the proof that w = 0 is the optimum of a convex bound for every C: the
    norm of a subgradient of the risk at 0 and the tolerance below which it counts as 0. With ``signs``, slopes towards
    forbidden values do not count.

    Parameters
    ----------
    bound
        The tight bound lies closer to the measure and is not convex; successive convex approximation minimises it,
        starting from RankSVM or least squares (whichever is lower at its best length), until a step gains less than
        ``tol``. Only a ``tol`` below 1e-3 continues to a local minimum, which fits more closely but ranked worse on
        validation parts; other minima may be lower. The convex bound is solved to a proven gap, and may have its
        optimum at w = 0.
    solver : "auto", "bundle", "cutting-plane" or "frank-wolfe"
        For the convex bound; all reach the same optimum. "auto" is the bundle method, followed by cutting planes with a
        slack per query if that has not converged after 100 passes on few queries.
    penalty
        "l1" replaces the squares by ``|w|₁ / C``, which sets the weights of unnecessary features to 0.
    signs : vector of -1, 0 and 1, or mapping from feature names, optional
        1 keeps a feature's weight at 0 or above, -1 at 0 or below, 0 (and a name left out) leaves it free;
        ``signs={"price": -1}`` guarantees that a higher price never raises a score. L1 and signs need the bundle
        method, which still proves its gap.
    """

    ranker: ClassVar[str]

    C: Positive = 1.0
    bound: Bound = "convex"
    tol: NotNegative | None = 1e-3

    @property
    @abstractmethod
    def _asked(self) -> Any:
        """What is optimised: a measure with its cut-off, or a user's loss terms."""

    @property
    def _optimised(self) -> Measure | None:
        return self._asked if isinstance(self._asked, Measure) else None

    def _regulariser(self, data: Dataset) -> Regulariser:
        return regulariser_for(self.penalty, self.signs, data, self._centre(data))

    def _remedies(self) -> tuple[str, str]:
        tight = "bound='tight', which starts from RankSVM, " if self.bound == "convex" else ""
        return "" if self.signs is None else "fewer signs, ", f"{tight}another measure or feature_map"

    def _objective(self) -> Objective:
        """Return the hinge of the measure, with this ranker's options."""
        return self._hinge(self._asked, self._convention(), **self._hinge_options())

    def _hinge_options(self) -> dict[str, Any]:
        """Return the non-default options of the hinge."""
        return {}

    def _hinge(self, measure: Any, convention: Convention, **changed: Any) -> StructuredHinge:
        """Return the hinge of a measure with this ranker's bound, on the pairs map by default."""
        usual: dict[str, Any] = {
            "normalised": True, "feature_map": "pairs", "scale": "pairs", "margin": "unit", "decay": None,
            "reference": "averaged", "assignment": "auto", "diverse": False,
        }  # fmt: skip
        return StructuredHinge(
            name=self.ranker, measure=measure, convention=convention, bound=self.bound, **(usual | changed)
        )

    def _convention(self) -> Convention:
        """Return the convention for labels and ranks; a good document of ERR has grade 1."""
        return Convention(max_grade=1.0, **self._counting())


def takes_terms(function: Callable[..., Any]) -> bool:
    """Tell a function that gives loss terms of ``(index, rank, n_goods)`` from one of the labels of a ranking."""
    try:
        inspect.signature(function).bind(0, 0, 0)
    except (TypeError, ValueError):
        return False
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class MeasureHinge(Relevance, StructuredRanker, Measured):
    """A structured ranker with a choice of measures.

    Parameters
    ----------
    measure : str, Measure or callable
        What is optimised: any measure with an oracle on the feature map. The ranker's name is its default; use the
        measure that you report.
    """

    cutoff: ClassVar[int | None] = 10  # of a measure whose name has none
    kinds: ClassVar[tuple[type[Measure], ...]] = ()  # of measures that go by the ranker's name

    @property
    def _has_default_measure(self) -> bool:
        return super()._has_default_measure and self._cut_at == "auto"

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return isinstance(measure, self.kinds) and measure.cut("auto", self.cutoff) == measure

    @property
    def _cut_at(self) -> int | str | None:
        return "auto"

    @property
    def _asked(self) -> Any:
        if not callable(self.measure) or isinstance(self.measure, Measure | type) or not takes_terms(self.measure):
            return parse_measure(self.measure).cut(self._cut_at, self.cutoff)
        if self._cut_at != "auto":
            raise OptionError(
                f"k: expected 'auto' for a loss of your own, whose terms see the rank, got {self._cut_at!r}"
            )
        return self.measure


PENALTIES: dict[str, type[Regulariser]] = {"l1": Absolute, "l2": Squared}


def regulariser_for(penalty: str, signs: Any, data: Dataset, centre: Floats | None = None) -> Regulariser:
    """Return the regulariser of a fit; ``signs`` limits the weights of features to one side of 0."""
    check_name("penalty", penalty, PENALTIES)
    if signs is None:
        return PENALTIES[penalty](centre=centre)
    direction = sign_vector(signs, data)
    return PENALTIES[penalty](np.where(direction > 0, 0.0, -np.inf), np.where(direction < 0, 0.0, np.inf), centre)


def sign_vector(signs: Any, data: Dataset) -> Floats:
    """Return +1, -1 or 0 (any sign) for every feature, from such a vector or a mapping from names of features."""
    named = _by_name(signs, data) if isinstance(signs, Mapping) else signs
    try:
        vector: Floats = np.array(named, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"signs: expected -1, 0 or 1 for every feature, got {shown(signs)}") from error
    if vector.shape != (data.n_features,):
        raise OptionError(f"signs: expected one for each of {data.n_features} features, got shape {vector.shape}")
    if not np.isin(vector, (-1.0, 0.0, 1.0)).all():
        raise OptionError(f"signs: expected -1, 0 or 1 for every feature, got {shown(signs)}")
    return vector


def _by_name(signs: Mapping[Any, Any], data: Dataset) -> list[Any]:
    names = data.feature_names
    if names is None:
        raise OptionError("signs: expected a vector, since the features have no names, got a mapping")
    unknown = [name for name in signs if name not in names]
    if unknown:
        raise unknown_name("feature in signs", unknown[0], names)
    return [signs.get(name, 0) for name in names]
