"""Rankers with a structured hinge: feature map, bound and measure; kernels, given weights, signs of weights."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np

from argrank._declared import Count, NotNegative, Positive
from argrank._memory import check_memory
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.normalise import Normaliser
from argrank.engines import is_distributed
from argrank.errors import InputError, OptionError, check_name, shown, unknown_name
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.models.kernel import Kernel, KernelModel
from argrank.models.linear import LinearModel
from argrank.objectives.objective import Objective
from argrank.objectives.structured import StructuredHinge
from argrank.objectives.structured.hinge import Bound, Scale
from argrank.rankers.cheap_models import weights_of
from argrank.rankers.estimator import Measured, Relevance
from argrank.rankers.linear.linear_ranker import LinearRanker
from argrank.rankers.trace import Outcome, Watcher
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
class StructuredRanker(LinearRanker):
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
    w0 : array or "regression", optional
        Weights near which to stay; "regression" is least squares on the labels. For small data with bound="tight", as
        in the paper's experiment on OHSUMED.
    kernel : "linear", "rbf", "poly" or "precomputed", optional
        For small data: scores are kernel expansions instead of linear functions. With "precomputed" X is the Gram
        matrix of the training rows, and at prediction the kernel of the new rows with all training rows.
    gamma, degree, coef0
        exp(-gamma |x - z|²) and (gamma x·z + coef0)^degree, as in scikit-learn; choose them by validation with C.
    """

    ranker: ClassVar[str]

    C: Positive = 1.0
    bound: Bound = "convex"
    tol: NotNegative | None = 1e-3
    penalty: Literal["l2", "l1"] = "l2"
    signs: Any = None
    w0: Any = None
    kernel: str | None = None
    gamma: Positive = 1.0
    degree: Count = 3
    coef0: float = 1.0

    @property
    @abstractmethod
    def _asked(self) -> Any:
        """What is optimised: a measure with its cut-off, or a user's loss terms."""

    @property
    def _optimised(self) -> Measure | None:
        return self._asked if isinstance(self._asked, Measure) else None

    def _regulariser(self, data: Dataset) -> Regulariser:
        check_name("penalty", self.penalty, PENALTIES)
        kind, centre = PENALTIES[self.penalty], self._centre(data)
        if self.signs is None:
            return kind(centre=centre)
        direction = sign_vector(self.signs, data)
        return kind(np.where(direction > 0, 0.0, -np.inf), np.where(direction < 0, 0.0, np.inf), centre)

    def _scaled(self, scaling: Normaliser, data: Dataset) -> Dataset:
        return super()._scaled(scaling, data) if self.kernel is None else scaling.transform(data)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        if self.kernel is None:
            return super()._train(data, watcher, start)
        if is_distributed(data):
            raise OptionError("kernel: expected None on a cluster, where the Gram matrix of all rows would not fit")
        if self.penalty != "l2" or self.signs is not None:
            raise OptionError(
                "kernel: expected penalty='l2' and no signs, since a kernel's weights are not of features"
            )
        features = KernelFeatures(Kernel(self.kernel, self.gamma, self.degree, self.coef0), data)
        outcome = super()._train(features.data, cast(Watcher, _KernelWatcher(features, watcher)), None)
        return outcome._replace(model=features.model(cast(LinearModel, outcome.model).weights))

    def _centre(self, data: Dataset) -> Floats | None:
        return None if self.w0 is None else weights_of(self.w0, data, self.n_jobs)

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


class _KernelWatcher:
    """Watches a solver whose weights are those of the kernel's features."""

    def __init__(self, features: KernelFeatures, watcher: Watcher) -> None:
        self._features, self._watcher = features, watcher
        self.keeper, self.notes = watcher.keeper, watcher.notes

    def __call__(self, w: Floats, facts: Mapping[str, float]) -> None:
        model = self._features.model(w)
        self._watcher.record([model.scores(part.data.X) for part in self._watcher.validations], facts)


COPIES = 5  # copies of the Gram matrix in a fit: itself, its eigenvectors, LAPACK's workspace, the new features
EIGENVALUE_NOISE = 1e-10  # eigenvalues below this share of the largest are noise, as are coefficients


class KernelFeatures:
    """Training data in coordinates of the kernel's feature space, for any linear solver.

    The Gram matrix of the training documents is K = Z Z', by its eigenvectors; a linear model w on the rows of Z is
    the kernel expansion with coefficients beta where ``w = Z' beta``, and |w|² its norm. So the solution on Z is that
    of the dual problem of ORM's section 4.5 (with the sign of equation 37 corrected).
    """

    def __init__(self, kernel: Kernel, data: Dataset) -> None:
        needed = COPIES * 8.0 * data.n_documents**2
        check_memory("kernel: the Gram matrix of all documents", needed, "take a part of the queries, or no kernel")
        self._kernel, self._data = kernel, data
        gram = self._gram()
        values, vectors = np.linalg.eigh(gram)
        kept = values > EIGENVALUE_NOISE * max(values[-1], 0.0)
        if not kept.any():
            raise InputError("kernel: expected a Gram matrix with a positive eigenvalue, got none")
        self._vectors, self._roots = vectors[:, kept], np.sqrt(values[kept])
        self.data = data.with_features(self._vectors * self._roots)

    def _gram(self) -> Floats:
        data = self._data
        if self._kernel.name != "precomputed":
            return self._kernel(data.X, data.X)
        if data.n_features != data.n_documents:
            raise InputError(f"kernel: expected a square Gram matrix, got {data.n_documents} x {data.n_features}")
        gram = self._kernel(data.X, data.X)
        gram = gram if data.rows is None else gram[:, data.rows]
        if not np.allclose(gram, gram.T, rtol=1e-8, atol=1e-12 * np.abs(gram).max()):
            raise InputError("kernel: expected a symmetric Gram matrix, rows and columns in the same order")
        return gram

    def model(self, w: Floats) -> KernelModel:
        """Return the kernel model of linear weights on these features."""
        beta: Floats = self._vectors @ (w / self._roots)
        if self._kernel.name == "precomputed":
            return KernelModel(self._kernel, np.empty((0, self._data.n_features)), self._data.to_caller(beta))
        matters = np.abs(beta) > EIGENVALUE_NOISE * max(np.abs(beta).max(), 1e-300)
        X = self._data.X[np.flatnonzero(matters)]
        support = np.asarray(X.toarray() if self._data.is_sparse else X, np.float64)
        return KernelModel(self._kernel, support, beta[matters])
