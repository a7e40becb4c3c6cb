"""Linear rankers in the feature space of a kernel, and around given weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from argrank._declared import Count, Positive
from argrank._memory import check_memory
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.normalise import Normaliser
from argrank.engines import is_distributed
from argrank.errors import InputError, OptionError
from argrank.models.kernel import Kernel, KernelModel
from argrank.models.linear import LinearModel
from argrank.rankers.cheap_models import weights_of
from argrank.rankers.linear.linear_ranker import LinearRanker
from argrank.rankers.trace import Outcome, Watcher


@dataclass(eq=False, repr=False, kw_only=True)
class Kernelled(LinearRanker):
    """A linear ranker that can stay near given weights, or learn kernel expansions.

    Parameters
    ----------
    w0 : array or "regression", optional
        Weights near which to stay; "regression" is least squares on the labels. For small data with bound="tight", as
        in the paper's experiment on OHSUMED.
    kernel : "linear", "rbf", "poly" or "precomputed", optional
        For small data: scores are kernel expansions instead of linear functions. With "precomputed" X is the Gram
        matrix of the training rows, and at prediction the kernel of the new rows with all training rows.
    gamma, degree, coef0
        exp(-gamma |x - z|²) and (gamma x·z + coef0)^degree, as in scikit-learn; choose them by validation with C.
    """

    penalty: Literal["l2", "l1"] = "l2"
    signs: Any = None
    w0: Any = None
    kernel: str | None = None
    gamma: Positive = 1.0
    degree: Count = 3
    coef0: float = 1.0

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
