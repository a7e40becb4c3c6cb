"""A kernel model: score = sum over support vectors of coefficient times kernel; for small data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from argrank._memory import check_memory
from argrank._types import Floats, Integers
from argrank.errors import ModelError, OptionError, unknown_name
from argrank.models.model import Model
from argrank.models.plain_data import read_served, served_fields

KERNELS = ("linear", "poly", "precomputed", "rbf")


@dataclass(frozen=True)
class Kernel:
    """A kernel and its parameters: x·z, (gamma x·z + coef0)^degree, exp(-gamma |x - z|²), or rows of a Gram matrix."""

    name: str = "linear"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in KERNELS:
            raise unknown_name("kernel", self.name, KERNELS)
        if not self.gamma > 0 or self.degree < 1 or self.coef0 < 0:
            raise OptionError(
                f"kernel: expected gamma > 0, degree >= 1 and coef0 >= 0, got {self.gamma}, {self.degree}, {self.coef0}"
            )

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Return the kernel of all rows of X with all rows of Z; for "precomputed" X is that already."""
        rows, others = _dense(X), _dense(Z)
        if self.name == "precomputed":
            return rows
        check_memory("kernel", 8.0 * len(rows) * len(others), "score a part of the rows at a time")
        products: Floats = rows @ others.T
        if self.name == "linear":
            return products
        if self.name == "poly":
            return np.asarray((self.gamma * products + self.coef0) ** self.degree)
        squares = (rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)[None, :] - 2.0 * products
        return np.asarray(np.exp(-self.gamma * np.maximum(squares, 0.0)))


@dataclass(frozen=True, eq=False, repr=False)
class KernelModel(Model):
    """Support vectors with coefficients. With "precomputed", a row of features is its kernel with all training rows."""

    kind: ClassVar[str] = "kernel"

    kernel: Kernel
    support: Floats  # for "precomputed" of shape (0, number of training rows)
    coefficients: Floats

    @property
    def width(self) -> int:
        """Number of features of a support vector."""
        return int(self.support.shape[1])

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the kernel with the support vectors times the coefficients."""
        X = self.normalised(X, indptr)
        return np.asarray(self.kernel(X, self.support) @ self.coefficients)

    def to_dict(self) -> dict[str, Any]:
        """Return kernel, support vectors and coefficients as plain data."""
        own = {"kernel": vars(self.kernel), "n_features": self.width, "support": self.support.tolist()}
        return own | {"coefficients": self.coefficients.tolist()} | served_fields(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> KernelModel:
        """Make the model from the plain data of a model file."""
        n_features: Any = fields.get("n_features")
        try:
            kernel = Kernel(**dict(fields["kernel"]))
            coefficients = np.array(fields["coefficients"], np.float64)
            support = np.array(fields["support"], np.float64).reshape(-1, int(n_features))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("expected a kernel, support vectors and coefficients") from error
        n_vectors = support.shape[1] if kernel.name == "precomputed" else len(support)
        if coefficients.shape != (n_vectors,):
            raise ModelError(f"expected {n_vectors} coefficients")
        return cls(kernel, support, coefficients, **read_served(fields, support.shape[1]))


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, np.float64)
