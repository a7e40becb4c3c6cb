"""Normalisation of features, per query or over all data: fitted, applied, and stored in a model as plain numbers.

Every normaliser maps x to (x - shift) / scale, feature by feature. The per-query ones take shift and scale from the
query at hand and have nothing to fit; the global ones (`standard`, `minmax`) take them from the data they were fitted
on. Where the scale is 0, as for a constant feature, the result is 0, as in LETOR's QueryLevelNorm files. NaN is
ignored in the statistics and stays NaN. Values of other data may leave [0, 1]; they are not clipped. Category columns
are left unchanged, because their codes are not quantities.

In CSR, zeros that are not stored count as values. The result stays CSR if they stay 0 (always for `query-sum`, for
`query-minmax` on features that are not negative); otherwise it is dense, and an error if it would hold more than
DENSE_VALUES numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from argrank._declared import checked
from argrank._types import Floats, Integers
from argrank.data.categories import places
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders
from argrank.data.mapped import is_mapped, refuse_copy, row_view
from argrank.data.prepare.query_statistics import Block, blocks
from argrank.data.prepare.row_statistics import Over, extremes, moments
from argrank.data.prepare.scaled_rows import ScaledRows
from argrank.errors import InputError, ModelError, OptionError, check_name, shown

DENSE_VALUES = 1 << 25  # 256 MB of float64


def _minmax(block: Block) -> tuple[Floats, Floats]:
    low = block.minimum()
    with np.errstate(over="ignore"):  # checked by _usable
        return low, block.maximum() - low


def _zscore(block: Block) -> tuple[Floats, Floats]:
    mean = block.mean()
    with np.errstate(over="ignore"):
        deviation = block.deviation(mean)
    constant = ~(block.maximum() > block.minimum())  # the mean of equal numbers may be off by a rounding error
    return mean, np.where(constant, 0.0, deviation)


def _sum(block: Block) -> tuple[Floats, Floats]:
    with np.errstate(over="ignore"):
        total = block.total(np.abs(block.values))
    return np.zeros_like(total), total


_Rule = Callable[[Block], tuple[Floats, Floats]]

#: name -> (shift and scale of a group of documents, whether the group is the query rather than all data)
_RULES: dict[str, tuple[_Rule, bool]] = {
    "minmax": (_minmax, False),
    "query-minmax": (_minmax, True),
    "query-sum": (_sum, True),
    "query-zscore": (_zscore, True),
    "standard": (_zscore, False),
}


@dataclass(frozen=True, eq=False)
class Normaliser:
    """One of `normaliser_names`; a global one holds ``shift`` and ``scale`` (one per feature) once it is fitted."""

    name: str
    shift: Floats | None = None
    scale: Floats | None = None

    @property
    def needs_queries(self) -> bool:
        """Whether applying it needs to know which rows belong to one query."""
        return _RULES[self.name][1]

    def fit(self, data: Dataset, over: Over | None = None) -> Normaliser:
        """Return the normaliser with the statistics of the data; a per-query one is returned as it is.

        ``over`` is for data on a cluster: it applies a function to the features of every block.
        """
        if self.needs_queries:
            return self
        rule = _RULES[self.name][0]
        shift, scale = np.zeros(data.n_features), np.zeros(data.n_features)
        if over is not None or is_mapped(data.X):
            shift, scale = _usable(*_by_row(_over_blocks(data) if over is None else over, rule))
        else:
            for block in _by_feature(data.X):
                block_shift, block_scale = _usable(*rule(block))
                shift[block.features], scale[block.features] = block_shift, block_scale
        kept = places(data.categories, data.feature_names)
        shift[kept], scale[kept] = 0.0, 1.0
        return Normaliser(self.name, shift, scale)

    def apply(
        self, X: Any, indptr: Integers | None = None, kept: Sequence[int] = (), dtype: DTypeLike | None = None
    ) -> Any:
        """Return the normalised features, computed in float64 and rounded to ``dtype``, by default the type of X.

        ``indptr`` (query offsets) is needed only by per-query normalisers; ``kept`` are columns that are not changed.
        """
        out = self._apply(X, indptr, np.dtype(X.dtype if dtype is None else dtype))
        if kept:
            out[:, kept] = X[:, kept]
        return out

    def _apply(self, X: Any, indptr: Integers | None, dtype: np.dtype[Any]) -> Any:
        if self.needs_queries:
            if indptr is None:
                raise InputError(f"{self.name}: expected the queries of the rows (indptr), got none")
            return _apply_by_query(X, indptr, _RULES[self.name][0], self.name, dtype)
        if self.shift is None or self.scale is None:
            raise InputError(f"{self.name}: expected a fitted normaliser, got one that is not fitted; call fit")
        if X.shape[1] != len(self.shift):
            raise InputError(f"{self.name}: expected the {len(self.shift)} features of fit, got {X.shape[1]}")
        if sparse.issparse(X):
            stays = (self.shift == 0) | (self.scale == 0)
            if stays.all():
                return _with_entries(X, _ratio(X.data, self.shift[X.indices], self.scale[X.indices]), dtype)
            X = _dense(X, self.name)
        out = np.empty_like(X, dtype)
        with np.errstate(over="ignore"):  # beyond the dtype is infinity, which trees put above every cut
            for block in blocks(X, np.arange(len(X) + 1)):
                out[block.place] = _ratio(block.values, self.shift, self.scale)
        return out

    def transform(self, data: Dataset, dtype: DTypeLike | None = None) -> Dataset:
        """Return the data with a normalised copy of its features, by default of the same dtype."""
        if data.normalised == self.name and dtype in (None, data.X.dtype):
            return data
        refuse_copy(data.X, f"X: {self.name}", "normalise within queries when packing, or let a linear ranker do it")
        if data.normalised == self.name:
            return data.with_features(data.X.astype(dtype))
        kept = places(data.categories, data.feature_names)
        return data.with_features(self.apply(data.X, data.indptr, kept, dtype))

    def prepare(self, data: Dataset) -> Dataset:
        """Return the data with normalised features; mapped ones are not copied, but scaled on access."""
        if data.normalised == self.name or not is_mapped(data.X):
            return self.transform(data)
        if self.needs_queries:
            raise OptionError(
                f"normalise: {self.name} would need a copy of features that are on disk; pack them with "
                f"--normalise {self.name} (ar.pack(…, normalise={self.name!r}))"
            )
        return data._but(X=ScaledRows(data.X, self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a model file; JSON keeps the numbers exactly."""
        if self.shift is None or self.scale is None:
            return {"name": self.name}
        return {"name": self.name, "shift": self.shift.tolist(), "scale": self.scale.tolist()}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Normaliser:
        """Return the normaliser that `to_dict` described; raise ModelError if the values are invalid."""
        if not isinstance(values, Mapping) or values.get("name") not in _RULES:
            raise ModelError(f"normaliser: expected a name of {', '.join(_RULES)}, got {shown(values)}")
        name = values["name"]
        if _RULES[name][1]:
            return Normaliser(name)
        try:
            shift, scale = (np.array(values[part], dtype=np.float64) for part in ("shift", "scale"))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"normaliser {name}: expected numbers shift and scale, got {shown(values)}") from error
        usable = shift.ndim == 1 and shift.shape == scale.shape and np.isfinite([shift, scale]).all()
        if not usable or (scale < 0).any():
            raise ModelError(f"normaliser {name}: expected one finite shift and scale >= 0 for each feature")
        return Normaliser(name, shift, scale)


def normaliser(name: str) -> Normaliser:
    """Return the normaliser of a name, not fitted yet."""
    check_name("normalisation", name, _RULES)
    return Normaliser(name)


def normaliser_names() -> list[str]:
    """Return the names of all normalisers."""
    return sorted(_RULES)


@checked
def normalise(data: Dataset, how: str = "query-minmax", *, fit_on: Dataset | None = None) -> Dataset:
    """Return the data with normalised features; categories are left unchanged.

    Parameters
    ----------
    data : Dataset
    how : str
        Within each query: "query-minmax" maps to [0, 1] as LETOR's QueryLevelNorm, "query-zscore" to mean 0 and
        deviation 1, "query-sum" divides by the sum of absolute values. Over all data: "standard", "minmax".
    fit_on : Dataset, optional
        Where "standard" and "minmax" take their statistics from, usually the training part; by default the data itself.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[1.0], [3.0], [2.0], [7.0]], [0, 1, 0, 1], qid=["a", "a", "b", "b"])
    >>> ar.normalise(data, "query-minmax").X.ravel().tolist()
    [0.0, 1.0, 0.0, 1.0]
    """
    return normaliser(how).fit(data if fit_on is None else fit_on).transform(data)


def _by_feature(X: Any) -> Iterator[Block]:
    """Yield Blocks in which all rows are one group, some features at a time."""
    rows = np.array([0, X.shape[0]])
    if sparse.issparse(X):
        yield from blocks(X, rows)
        return
    step = max(1, (1 << 22) // X.shape[0])
    for first in range(0, X.shape[1], step):
        part = X[:, first : first + step]
        for block in blocks(part, rows):
            columns = np.arange(first, first + part.shape[1])
            yield replace(block, features=columns)


def _over_blocks(data: Dataset) -> Over:
    """Return a function that applies a function to the features of every block of queries."""
    cuts = data.indptr[block_borders(data.indptr)].tolist()
    return lambda function: [function(row_view(data.X, slice(a, b))) for a, b in itertools.pairwise(cuts)]


def _by_row(over: Over, rule: _Rule) -> tuple[Floats, Floats]:
    """Return shift and scale from passes over the rows: in a file of rows, the values of a column are far apart."""
    low, high = extremes(over)
    with np.errstate(over="ignore"):
        if rule is _minmax:
            return low, high - low
        mean, deviation = moments(over)
        return mean, np.where(high > low, deviation, 0.0)


def _apply_by_query(X: Any, indptr: Integers, rule: _Rule, name: str, dtype: np.dtype[Any]) -> Any:
    if not sparse.issparse(X):
        out = np.empty_like(X, dtype)
        for block in blocks(X, indptr):
            shift, scale = _usable(*rule(block))
            out[block.place] = _ratio(block.values, block.spread(shift), block.spread(scale))
        return out
    entries = np.empty_like(X.data, dtype)
    for block in blocks(X, indptr):
        shift, scale = _usable(*rule(block))
        if ((shift != 0) & (scale != 0) & (block.unstored > 0)).any():
            return _apply_by_query(_dense(X, name), indptr, rule, name, dtype)
        entries[block.place] = _ratio(block.values, block.spread(shift), block.spread(scale))
    return _with_entries(X, entries, dtype)


def _usable(shift: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Set shift and scale to 0 for groups without known values; raise on overflow."""
    shift, scale = (np.where(np.isnan(part), 0.0, part) for part in (shift, scale))
    if not (np.isfinite(shift).all() and np.isfinite(scale).all()):
        raise InputError("normalisation: expected features whose range or sum is a finite number, got an overflow")
    return shift, scale


def _ratio(values: NDArray[Any], shift: Floats, scale: Floats) -> Floats:
    """Return (values - shift) / scale, where the scale is 0 by the rule above."""
    # a division, not a product with 1 / scale: the largest value of a query must become exactly 1;
    # dividing by infinity gives the 0 of a constant feature and keeps NaN
    result: Floats = values - shift
    result /= np.where(scale == 0, np.inf, scale)
    return result


def _with_entries(X: Any, entries: NDArray[Any], dtype: np.dtype[Any]) -> Any:
    result = X.copy()
    result.data = entries.astype(dtype)
    result.eliminate_zeros()
    return result


def _dense(X: Any, name: str) -> NDArray[Any]:
    if np.prod(X.shape, dtype=np.float64) > DENSE_VALUES:
        raise OptionError(
            f"{name}: expected features whose zeros stay zeros, got a sparse matrix of {X.shape[0]:,} x "
            f"{X.shape[1]:,} that would become dense; use query-sum, or make it dense yourself"
        )
    return np.asarray(X.toarray())
