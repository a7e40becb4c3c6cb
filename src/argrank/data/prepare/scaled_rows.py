"""Features (x - shift) / scale that are computed on access from mapped rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argrank._memory import check_memory
from argrank._types import Floats
from argrank.data.mapped import LazyRows, row_view, size_of

if TYPE_CHECKING:
    from argrank.data.prepare.normalise import Normaliser

BLOCK_VALUES = 1 << 19  # of features that are scaled together


class ScaledRows(LazyRows):
    """Rows of features and a global normaliser that is applied on access.

    Products need no scaled features: with ``factor`` = 1 / scale (0 for a constant feature), the scores are
    ``X @ (factor w) - shift · factor w``, and the backward product is ``factor (X.T u - shift Σu)``. They differ by
    rounding from those of scaled features. Converted to an array, they are bit-identical to the normaliser's result.
    """

    def __init__(self, rows: Any, normaliser: Normaliser) -> None:
        super().__init__(rows)
        self._normaliser = normaliser
        scale = np.asarray(normaliser.scale)
        self.shift: Floats = np.asarray(normaliser.shift)
        self.factor: Floats = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale != 0)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return size_of(self.rows)

    def __getitem__(self, chosen: Any) -> Any:
        """Return adjacent rows as they are here, others as an array."""
        if isinstance(chosen, slice) and chosen.step in (None, 1):
            start, stop, _ = chosen.indices(len(self))
            return ScaledRows(row_view(self.rows, slice(start, max(start, stop))), self._normaliser)
        return self._normaliser.apply(self.rows[chosen])

    def __matmul__(self, w: Floats) -> Floats:
        """Return the scores of weights, or of the columns of a matrix of weights."""
        scaled = (self.factor * np.asarray(w).T).T
        scores = np.empty((len(self), *np.shape(w)[1:]))
        step = max(1, BLOCK_VALUES // self.shape[1])
        for start in range(0, len(self), step):
            part = row_view(self.rows, slice(start, min(start + step, len(self))))
            scores[start : start + step] = part @ scaled
        scores -= self.shift @ scaled
        return scores

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        advice = "train a linear ranker, which scales a pack without a copy, or normalise within queries when packing"
        check_memory("X", self.shape[0] * self.shape[1] * self.dtype.itemsize, advice)
        return np.asarray(self._normaliser.apply(self.rows), dtype)
