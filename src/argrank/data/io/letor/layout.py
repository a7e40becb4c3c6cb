"""What the two readers of LETOR text share: what was asked for, dense or sparse, and what they hand on."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.io.letor.row import MAX_ID, Limits
from argrank.errors import OptionError

SPARSE_SHARE = 0.2  # "auto" makes a CSR matrix where fewer of the entries are written out than this …
SPARSE_FEATURES = 256  # … and there are more features than this, or the dense matrix would exceed
HUGE = 1 << 30  # … this number of bytes
ABSURD_SHARE = 0.01  # a matrix that is huge and emptier than this is never made dense

#: A document id in a comment, as LETOR 2 to 4 write it.
DOCUMENT_ID = re.compile(r"^[ \t]*docid[ \t]*=[ \t]*(\S+)", re.MULTILINE)


class Options(NamedTuple):
    """What the caller asked for."""

    dtype: np.dtype[Any]
    sparse: bool | str
    n_features: int | None
    feature_base: int | None

    @classmethod
    def checked(cls, dtype: Any, sparse: Any, n_features: Any, feature_base: Any) -> Options:
        """Refuse what does not exist."""
        try:
            real = np.dtype(dtype)
        except TypeError:
            real = None
        if real not in (np.float32, np.float64):
            raise OptionError(f"dtype: expected float32 or float64, got {dtype!r}")
        if sparse not in ("auto", True, False):
            raise OptionError(f"sparse: expected 'auto', True or False, got {sparse!r}")
        if n_features is not None and not 1 <= n_features <= MAX_ID:
            raise OptionError(f"n_features: expected a number from 1 to {MAX_ID} or None, got {n_features!r}")
        if feature_base not in (None, 0, 1):
            raise OptionError(f"feature_base: expected 0, 1 or None, got {feature_base!r}")
        return cls(real, sparse, n_features, feature_base)

    def limits(self, with_qid: bool, has_zero: bool) -> Limits:
        """Return what rows may hold; features count from 0 where a feature 0 occurs."""
        base = self.feature_base if self.feature_base is not None else 0 if has_zero else 1
        last_id = MAX_ID if self.n_features is None else self.n_features - 1 + base
        # the middle between the largest float32 and 2^128: from there on, rounding to float32 gives infinity
        largest = math.inf if self.dtype == np.float64 else math.ldexp(2 - 2.0**-24, 127)
        return Limits(with_qid, base, last_id, largest)

    def make_sparse(self, n_rows: int, n_features: int, n_entries: int) -> bool:
        """Choose between dense and CSR; ``n_entries`` counts what is written out, zeros too.

        A matrix that would be absurdly large becomes CSR even if dense was asked for; it is refused at the end, when
        the file is known to be in order otherwise.
        """
        size, share = n_rows * n_features * self.dtype.itemsize, n_entries / max(1, n_rows * n_features)
        if self.sparse == "auto":
            return share < SPARSE_SHARE and (n_features > SPARSE_FEATURES or size > HUGE)
        return bool(self.sparse) or (size > HUGE and share < ABSURD_SHARE)


class Parsed(NamedTuple):
    """A file's contents in the order of its rows. A run is a stretch of adjacent rows with the same qid."""

    X: Any
    y: Floats
    run_ids: list[bytes]
    run_starts: Integers
    comments: NDArray[Any] | None
    document_ids: NDArray[Any] | None
    base: int
