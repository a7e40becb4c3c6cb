"""Kernels for linear rankers: features whose inner products are the kernel."""

from __future__ import annotations

import numpy as np

from argrank._memory import check_memory
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.models.kernel import Kernel, KernelModel

COPIES = 5  # of the Gram matrix that a fit holds: itself, its eigenvectors, room for LAPACK, the new features
EIGENVALUE_NOISE = 1e-10  # eigenvalues below this share of the largest are noise, as are coefficients


class KernelFeatures:
    """Training data in coordinates of the kernel's feature space, in which every linear solver works as it is.

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
        """Return the kernel model of linear weights on the features made here."""
        beta: Floats = self._vectors @ (w / self._roots)
        if self._kernel.name == "precomputed":
            return KernelModel(self._kernel, np.empty((0, self._data.n_features)), self._data.to_caller(beta))
        matters = np.abs(beta) > EIGENVALUE_NOISE * max(np.abs(beta).max(), 1e-300)
        X = self._data.X[np.flatnonzero(matters)]
        support = np.asarray(X.toarray() if self._data.is_sparse else X, np.float64)
        return KernelModel(self._kernel, support, beta[matters])
