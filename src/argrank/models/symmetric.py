"""Symmetric trees: all nodes of a level have the same split, so that a tree is a few questions and a table.

The answers to a tree's questions are the bits of the leaf's number, found without branches. Rows are processed in
blocks with contiguous columns, so that a question is one vector comparison. The kernel and NumPy both add the leaves'
values in the order of the trees, so the sums are bit-identical.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel, read_only
from argrank._types import Floats, Integers
from argrank.errors import ModelError, OptionError
from argrank.models import plain_data
from argrank.models._flat import FlatTrees
from argrank.models._rows import as_doubles, blocks, kernel_pays
from argrank.models.model import Model, Thresholded
from argrank.models.tree import LARGEST_COUNT, Tree

NUMPY_ROWS = 1 << 14  # rows that go through the trees together in NumPy


class Questions(NamedTuple):
    """Symmetric trees in the kernel's form; the arrays are read-only, as the kernel declares them."""

    used: Integers  # the columns that are asked, in order
    place: NDArray[np.int32]  # (trees, levels) of the column asked among the used ones
    cut: Floats  # (trees, levels)
    missing: NDArray[np.bool_]  # (trees, levels)
    value: Floats  # (trees, leaves)
    borders: Integers  # offsets of each used column's category table; empty for numbers
    numbers: Floats  # numbers compared instead of category codes


def _signature(types: ModuleType) -> Any:
    def matrix(element: Any) -> Any:
        return types.Array(element, 2, "C", readonly=True)

    real, whole = matrix(types.float64), read_only(types, "int64")
    parts = (whole, matrix(types.int32), real, matrix(types.boolean), real, whole, read_only(types))
    return types.void(real, types.NamedTuple(parts, Questions), types.float64[::1])


@kernel(_signature)
def add_values(X: Floats, asked: Questions, totals: Floats) -> None:
    """Add the value of its leaf in every tree to the total of every row."""
    used, borders, numbers = asked.used, asked.borders, asked.numbers
    columns, answers = np.empty((len(used), 256)), np.empty(256, np.int32)
    n_trees, depth = asked.place.shape
    for start in range(0, X.shape[0], 256):  # rows that go through the trees together
        n = min(256, X.shape[0] - start)
        for j in range(len(used)):
            first, n_codes = borders[j], borders[j + 1] - borders[j]
            for i in range(n):
                x = X[start + i, used[j]]
                if n_codes > 0:
                    x = numbers[first + int(x)] if x > -1.0 and x < n_codes else np.nan
                columns[j, i] = x
        for tree in range(n_trees):
            for i in range(n):
                answers[i] = 0
            for level in range(depth):
                column, cut = columns[asked.place[tree, level]], asked.cut[tree, level]
                if asked.missing[tree, level]:  # a missing value answers yes: it is not below the cut either
                    for i in range(n):
                        answers[i] = 2 * answers[i] + (0 if column[i] <= cut else 1)
                else:
                    for i in range(n):
                        answers[i] = 2 * answers[i] + (1 if column[i] > cut else 0)
            value = asked.value[tree]
            for i in range(n):
                totals[start + i] += value[answers[i]]


def add_values_by_numpy(X: Any, asked: Questions, totals: Floats) -> None:
    """Add the same in NumPy."""
    for start in range(0, X.shape[0], NUMPY_ROWS):
        rows = slice(start, start + NUMPY_ROWS)
        columns = np.ascontiguousarray(as_doubles(X[rows][:, asked.used]).T)
        for place, column in enumerate(columns):
            table = asked.numbers[asked.borders[place] : asked.borders[place + 1]]
            if len(table):
                known = (column > -1.0) & (column < len(table))
                column[known] = table[column[known].astype(np.int64)]
                column[~known] = np.nan
        for places, cuts, missing, value in zip(asked.place, asked.cut, asked.missing, asked.value, strict=True):
            answers = np.zeros(columns.shape[1], np.int64)
            for place, cut, yes in zip(places, cuts, missing, strict=True):
                answers = 2 * answers + (~(columns[place] <= cut) if yes else columns[place] > cut)
            totals[rows] += value.take(answers)


LARGEST = float(np.finfo(np.float64).max)
DEEPEST = 16  # levels
MOST_CODES = 1 << 24  # of a column


@dataclass(frozen=True, eq=False, repr=False)
class SymmetricTrees(Thresholded, Model):
    """Score = sum over trees of the value at the number whose bits are the answers to the tree's questions.

    Level l of tree t asks whether column ``features[t, l]`` is above ``cuts[t, l]``; a missing value answers
    ``missing[t, l]``. The first question is the highest bit of the leaf's number. A level without a question has the
    cut infinity and ``missing`` false, and always answers no; a cut of infinity with ``missing`` true, which asks
    whether the value is missing, counts as the largest number. Columns of ``codes`` are categories: the table's number
    of a code is compared instead of the code; codes without a number count as missing.

    Examples
    --------
    >>> import numpy as np
    >>> model = SymmetricTrees(
    ...     features=np.array([[0, 1]], np.int32), cuts=np.array([[0.5, 2.0]]), missing=np.array([[False, True]]),
    ...     values=np.array([[0.0, 1.0, 10.0, 11.0]]), gains=np.ones((1, 2)), counts=np.ones((1, 4), np.int64),
    ...     n_columns=2,
    ... )
    >>> model.predict(np.array([[1.0, 3.0], [1.0, 2.0], [0.0, np.nan]])).tolist()
    [11.0, 10.0, 1.0]
    """

    kind: ClassVar[str] = "symmetric-trees"

    features: NDArray[np.int32]  # (trees, levels)
    cuts: Floats  # (trees, levels)
    missing: NDArray[np.bool_]  # (trees, levels)
    values: Floats  # (trees, leaves)
    gains: Floats  # (trees, levels): how much a level helped in training
    counts: Integers  # (trees, leaves): documents of training
    n_columns: int
    codes: Mapping[int, Floats] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Number of questions of a tree."""
        return int(self.features.shape[1])

    @cached_property
    def asks(self) -> NDArray[np.bool_]:
        """Which levels of the trees have a question."""
        return np.asarray((self.cuts < np.inf) | self.missing)

    @cached_property
    def _finite_cuts(self) -> Floats:
        """The cuts, finite where there is a question: a feature that becomes infinite by normalising is above all."""
        return np.where(self.asks, np.clip(self.cuts, -LARGEST, LARGEST), np.inf)

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the sum of the trees' values for every row."""
        X = self.normalised(X, indptr)
        totals = np.zeros(X.shape[0])
        if kernel_pays(X.shape[0] * len(self.values)):
            for rows, part in blocks(X):
                add_values(part, self._questions, totals[rows])
        else:
            add_values_by_numpy(X, self._questions, totals)
        return totals

    @cached_property
    def _questions(self) -> Questions:
        used, place = np.unique(np.where(self.asks, self.features, self.features.flat[:1]), return_inverse=True)
        tables = [self.codes.get(column, np.empty(0)) for column in used.tolist()]
        found = Questions(
            used.astype(np.int64),
            place.reshape(self.features.shape).astype(np.int32),
            self._finite_cuts,
            np.ascontiguousarray(self.missing),
            np.ascontiguousarray(self.values),
            np.cumsum([0, *map(len, tables)]),
            np.concatenate([np.empty(0), *tables]),
        )
        views: list[Any] = [array.view() for array in found]
        for view in views:
            view.flags.writeable = False
        return Questions(*views)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out cached values: in a copy their arrays would be writable, which the kernel refuses."""
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}

    # ---- as ordinary trees --------------------------------------------------------------------------------------

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The same as ordinary trees; levels without a question are removed."""
        return tuple(self._ordinary(number) for number in range(len(self.values)))

    @cached_property
    def _flat(self) -> FlatTrees:
        return FlatTrees(self.trees)

    def _contributions(self, X: Any, indptr: Integers | None) -> Any:
        return self._flat.contributions(X)

    def _shap_parts(self, X: Any, indptr: Integers | None) -> Floats:
        return self._flat.shap_values(X)

    def _ordinary(self, number: int) -> Tree:
        shape = (2,) * self.depth
        value, count = self.values[number].reshape(shape), self.counts[number].reshape(shape)
        asked: list[int] = []
        members: list[Integers | None] = []
        for level in range(self.depth):
            axis, yes = len(asked), bool(self.missing[number, level])
            own = self._members(number, level)
            if not self.asks[number, level] or (own is not None and not len(own)):  # all values get the answer of NaN
                value, count = value.take(int(yes), axis), count.take(int(yes), axis)
                continue
            if own is not None and not yes:  # members go left; here they answer yes
                value, count = np.flip(value, axis), np.flip(count, axis)
            asked.append(level)
            members.append(own)
        if not asked:
            return Tree.constant(float(value), int(count))
        n_nodes = value.size - 1
        level_of = np.repeat(np.arange(len(asked)), 1 << np.arange(len(asked)))
        of = np.array(asked)[level_of]
        child = 2 * np.arange(n_nodes)[:, None] + [1, 2]
        child = np.where(child < n_nodes, child, n_nodes - 1 - child)
        return Tree(
            feature=self.features[number, of].astype(np.int64),
            threshold=self._finite_cuts[number, of],
            default_left=~self.missing[number, of],
            missing=np.full(n_nodes, 2, np.int64),
            left=child[:, 0],
            right=child[:, 1],
            gain=self.gains[number, of] / (1 << level_of),
            value=value.ravel(),
            count=count.ravel(),
            categories={
                node: own for node, level in enumerate(level_of.tolist()) if (own := members[level]) is not None
            },
        )

    def _members(self, number: int, level: int) -> Integers | None:
        """Return the categories that go left if NaN goes right, as in ordinary trees; None for a number."""
        table = self.codes.get(int(self.features[number, level]))
        if table is None:
            return None
        cut = self.cuts[number, level]
        return np.flatnonzero(table <= cut if self.missing[number, level] else table > cut)

    def importances(self, kind: str = "gain") -> Floats:
        """Return what every feature contributed: the summed "gain" of its questions, or their number ("split")."""
        if kind not in ("gain", "split"):
            raise OptionError(f'importance: expected "gain" or "split", got {kind!r}')
        weights = self.gains[self.asks] if kind == "gain" else np.ones(int(self.asks.sum()))
        return np.asarray(np.bincount(self.features[self.asks], weights, self.n_columns), np.float64)

    def _own_facts(self) -> list[tuple[str, str]]:
        return [("trees", f"{len(self.values):,}, symmetric, of {self.depth} questions")]

    # ---- several forests as one ---------------------------------------------------------------------------------

    @classmethod
    def joined(cls, parts: Sequence[SymmetricTrees], weights: Sequence[float]) -> SymmetricTrees:
        """Return one forest whose score is the weighted sum of the scores of some on the same columns."""
        deepest = max(part.depth for part in parts)
        padded = [part._deeper(deepest - part.depth) for part in parts]
        names = ("features", "cuts", "missing", "gains", "counts")
        found: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in padded]) for name in names}
        values = np.concatenate([weight * part.values for part, weight in zip(padded, weights, strict=True)])
        return replace(parts[0], **found, values=values)

    def _deeper(self, more: int) -> SymmetricTrees:
        """Return the same trees with some levels without a question before their own, whose answers are 0."""
        front, behind = ((0, 0), (more, 0)), ((0, 0), (0, self.values.shape[1] * ((1 << more) - 1)))
        return replace(
            self,
            features=np.pad(self.features, front),
            cuts=np.pad(self.cuts, front, constant_values=np.inf),
            missing=np.pad(self.missing, front),
            gains=np.pad(self.gains, front),
            values=np.pad(self.values, behind),
            counts=np.pad(self.counts, behind),
        )

    # ---- plain data ---------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return questions, values and names as plain data, exactly."""
        tables = {str(column): plain_data.stored_array(table) for column, table in sorted(self.codes.items())}
        return {
            "n_features": self.n_columns,
            **plain_data.served_fields(self),
            **{name: plain_data.stored_array(vars(self)[name]) for name in ("features", "cuts", "missing", "counts")},
            **{name: plain_data.stored_finite(vars(self)[name], name) for name in ("values", "gains")},
            **({"codes": tables} if tables else {}),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> SymmetricTrees:
        """Make the model from the plain data of a model file, every part checked."""
        n_features = plain_data.read_width(fields)
        cuts = plain_data.read_array(fields, "cuts", "float64", (None, None))
        n_trees, depth = cuts.shape
        if n_trees == 0 or depth > DEEPEST or np.isnan(cuts).any():
            raise ModelError(f"cuts: expected at least one tree of at most {DEEPEST} levels, and numbers")
        levels, leaves = (n_trees, depth), (n_trees, 1 << depth)
        return cls(
            plain_data.read_within(fields, "features", "int32", levels, 0, n_features - 1),
            cuts,
            plain_data.read_array(fields, "missing", "bool", levels),
            plain_data.read_finite(fields, "values", leaves),
            plain_data.read_finite(fields, "gains", levels),
            plain_data.read_within(fields, "counts", "int64", leaves, 0, LARGEST_COUNT),
            n_features,
            _read_codes(fields.get("codes", {}), n_features),
            **plain_data.read_served(fields, n_features),
        )


def _read_codes(given: Any, n_features: int) -> dict[int, Floats]:
    if not isinstance(given, dict):
        raise ModelError("codes: expected an array for each column of categories")
    found: dict[int, Floats] = {}
    for text in given:
        column = int(text) if text.isdecimal() and text.isascii() and len(text) < 11 else -1
        if not 0 <= column < n_features or text != str(column):
            raise ModelError(f"codes: expected columns from 0 to {n_features - 1}, got {text!r:.60}")
        found[column] = plain_data.read_array(given, text, "float64", (None,))
        if not 1 <= len(found[column]) <= MOST_CODES or np.isinf(found[column]).any():
            raise ModelError(f"codes: column {column}: expected 1 to {MOST_CODES:,} numbers, or NaN for missing")
    return found
