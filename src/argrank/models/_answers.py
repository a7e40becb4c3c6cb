"""Leaves of symmetric trees without branches: the answers to a tree's questions are the bits of the leaf's number.

Rows are processed in blocks with contiguous columns, so that a question is one vector comparison. The kernel and NumPy
both add the leaves' values in the order of the trees, so the sums are bit-identical.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel, read_only
from argrank._types import Floats, Integers
from argrank.models._rows import as_doubles

ROWS = 256  # rows that go through the trees together
NUMPY_ROWS = 1 << 14  # the same in NumPy


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
    for start in range(0, X.shape[0], 256):
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
