"""One regression tree as plain arrays, its evaluation in NumPy, and the nodes of many trees for kernels.

A tree of n leaves has n - 1 inner nodes, numbered so that a child comes after its parent; node 0 is the root. A child
below 0 is a leaf: -1 is leaf 0, -2 is leaf 1, and so on. The rules of LightGBM decide where a row goes:

- a number goes left where ``value <= threshold``;
- NaN goes the default way at a node whose missing type is "nan"; elsewhere it counts as 0;
- 0 (up to 1e-35) and NaN go the default way at a node whose missing type is "zero";
- at a node with categories a row goes left where the whole part of its value is one of them; NaN goes right.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.errors import ModelError

MISSING = ("none", "zero", "nan")  # in LightGBM's numbering
ZERO = float(np.float32(1e-35))  # LightGBM treats smaller values as 0
LARGEST_CATEGORY = 2**31 - 1
LARGEST_COUNT = 2**53


@dataclass(frozen=True, eq=False)
class Tree:
    """Inner nodes (feature, threshold, default_left, missing, left, right, gain, categories) and leaves (value, count).

    ``gain`` is the split's improvement in training and ``count`` the training documents of a leaf; both are
    informational. ``categories`` holds the sorted categories that go left for every node that splits by category.
    """

    feature: Integers
    threshold: Floats
    default_left: NDArray[np.bool_]
    missing: Integers
    left: Integers
    right: Integers
    gain: Floats
    value: Floats
    count: Integers
    categories: Mapping[int, Integers]

    @classmethod
    def constant(cls, value: float, count: int = 0) -> Tree:
        """Return a tree of one leaf."""
        none, whole = np.empty(0), np.empty(0, np.int64)
        leaf, documents = np.array([value], np.float64), np.array([count], np.int64)
        return cls(whole, none, np.empty(0, bool), whole, whole, whole, none, leaf, documents, {})

    @classmethod
    def stump(cls, feature: int, threshold: float, default_left: bool, missing: int, value: Sequence[float]) -> Tree:
        """Return a tree of one split, with the values of its left and its right leaf."""
        way, left, right = np.array([default_left]), np.array([-1]), np.array([-2])
        split = (np.array([feature]), np.array([threshold]), way, np.array([missing]), left, right, np.zeros(1))
        return cls(*split, np.array(value), np.zeros(2, np.int64), {})

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.value)

    @property
    def depth(self) -> int:
        """Number of splits on the longest path to a leaf."""
        depth = np.zeros(len(self.left), np.int64)
        for node in range(len(self.left)):
            for child in (int(self.left[node]), int(self.right[node])):
                if child >= 0:
                    depth[child] = depth[node] + 1
        return int(depth.max()) + 1 if len(depth) else 0

    def with_values(self, value: Floats) -> Tree:
        """Return the same splits with other values of the leaves."""
        return replace(self, value=value)

    def leaves(self, columns: NDArray[Any], feature: Integers | None = None) -> Integers:
        """Return the leaf of every row, given the features of a dense block as rows of ``columns``.

        ``feature`` holds the rows of ``columns`` that the nodes split, if these are not all features.

        Every node splits its rows into two lists, so a row is touched once on each level of its path.
        """
        feature = self.feature if feature is None else feature
        reached = np.zeros(columns.shape[1], np.int64)
        waiting = [(0, np.arange(columns.shape[1]))] if self.n_leaves > 1 else []
        while waiting:
            node, rows = waiting.pop()
            left = self._goes_left(node, columns[feature[node]].take(rows))
            for child, part in ((int(self.left[node]), rows[left]), (int(self.right[node]), rows[~left])):
                if child < 0:
                    reached[part] = ~child
                elif len(part):
                    waiting.append((child, part))
        return reached

    def _goes_left(self, node: int, values: NDArray[Any]) -> NDArray[np.bool_]:
        if node in self.categories:
            whole = np.where(values > -1, np.trunc(values), -1)  # NaN compares as false and goes right too
            return np.isin(whole, self.categories[node])
        threshold, missing = self.threshold[node], self.missing[node]
        left: NDArray[np.bool_] = values <= threshold  # as float64, also where the values are float32
        nan = np.isnan(values)
        if missing == 2:
            left[nan] = self.default_left[node]
        else:
            left[nan] = threshold >= 0
        if missing == 1:
            left[(np.abs(values) <= ZERO) | nan] = self.default_left[node]
        return left

    # ---- plain data ---------------------------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, fields: Any, n_features: int) -> Tree:
        """Make a tree from lists, as in the first model files, or raise if it is invalid."""
        if not isinstance(fields, dict):
            raise ModelError("expected a tree as an object with arrays")
        value = _numbers(fields, "value", None)
        if len(value) == 0:
            raise ModelError("value: expected at least one leaf")
        n_nodes = len(value) - 1
        missing = _list(fields, "missing", n_nodes)
        unknown = [kind for kind in missing if kind not in MISSING]
        if unknown:
            raise ModelError(f"missing: expected {', '.join(MISSING)}, got {unknown[0]!r:.60}")
        default_left = _list(fields, "default_left", n_nodes)
        if not all(isinstance(one, bool) for one in default_left):
            raise ModelError("default_left: expected true or false")
        tree = cls(
            feature=_whole(fields, "feature", n_nodes, 0, n_features - 1),
            threshold=_numbers(fields, "threshold", n_nodes),
            default_left=np.array(default_left, bool),
            missing=np.array([MISSING.index(kind) for kind in missing], np.int64),
            left=_whole(fields, "left", n_nodes, -len(value), n_nodes - 1),
            right=_whole(fields, "right", n_nodes, -len(value), n_nodes - 1),
            gain=_numbers(fields, "gain", n_nodes),
            value=value,
            count=_whole(fields, "count", len(value), 0, LARGEST_COUNT),
            categories=_categories(fields.get("categories", {}), n_nodes),
        )
        tree.check_children()
        return tree

    def check(self, n_features: int) -> None:
        """Raise unless the arrays are consistent and can be stored in a model file."""
        n_nodes = self.n_leaves - 1
        for name in ("feature", "threshold", "default_left", "missing", "left", "right", "gain"):
            if len(getattr(self, name)) != n_nodes:
                raise ModelError(f"{name}: expected {n_nodes} values, got {len(getattr(self, name))}")
        if len(self.count) != self.n_leaves:
            raise ModelError(f"count: expected {self.n_leaves} values, got {len(self.count)}")
        for name in ("threshold", "gain", "value"):
            if not np.isfinite(getattr(self, name)).all():
                raise ModelError(f"{name}: expected finite numbers")
        for name, greatest in (("feature", n_features - 1), ("missing", len(MISSING) - 1), ("count", LARGEST_COUNT)):
            values = getattr(self, name)
            if len(values) and not 0 <= values.min() <= values.max() <= greatest:
                raise ModelError(f"{name}: expected whole numbers from 0 to {greatest}")
        for members in self.categories.values():
            if len(members) == 0 or members[0] < 0 or members[-1] > LARGEST_CATEGORY:
                raise ModelError(f"categories: expected whole numbers from 0 to {LARGEST_CATEGORY}")
        self.check_children()

    def check_children(self) -> None:
        """Raise unless every node and leaf has exactly one earlier parent, so that every path ends in a leaf."""
        children = np.concatenate((self.left, self.right))
        parents = np.tile(np.arange(len(self.left)), 2)
        expected = np.concatenate((np.arange(-self.n_leaves, 0), np.arange(1, len(self.left))))
        if len(self.left) and not np.array_equal(np.sort(children), expected):
            raise ModelError("left, right: expected every node and every leaf as a child of one node")
        if ((children >= 0) & (children <= parents)).any():
            raise ModelError("left, right: expected children with greater numbers than their parent")


@contextlib.contextmanager
def tree_number(number: int) -> Iterator[None]:
    """Let an error say which tree it is about."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"tree {number}: {error}") from error


def _list(fields: Mapping[str, Any], name: str, length: int | None) -> list[Any]:
    values = fields.get(name)
    if not isinstance(values, list) or (length is not None and len(values) != length):
        count = "" if length is None else f"{length} "
        raise ModelError(f"{name}: expected a list of {count}values")
    return values


def _numbers(fields: Mapping[str, Any], name: str, length: int | None) -> Floats:
    values = _list(fields, name, length)
    if not all(type(value) in (int, float) for value in values):
        raise ModelError(f"{name}: expected numbers")
    try:
        array = np.array(values, np.float64)
    except OverflowError as error:
        raise ModelError(f"{name}: expected numbers within the range of float64") from error
    if not np.isfinite(array).all():
        raise ModelError(f"{name}: expected finite numbers")
    return array


def _whole(fields: Mapping[str, Any], name: str, length: int, least: int, greatest: int) -> Integers:
    return _whole_list(_list(fields, name, length), name, least, greatest)


def _whole_list(values: Sequence[Any], name: str, least: int, greatest: int) -> Integers:
    wrong = [value for value in values if type(value) is not int or not least <= value <= greatest]
    if wrong:
        raise ModelError(f"{name}: expected whole numbers from {least} to {greatest}, got {wrong[0]!r:.60}")
    return np.array(values, np.int64)


def _categories(given: Any, n_nodes: int) -> dict[int, Integers]:
    if not isinstance(given, dict):
        raise ModelError("categories: expected lists by the number of the node")
    nodes, categories = set(map(str, range(n_nodes))) if given else set(), {}
    for text, members in given.items():
        if text not in nodes or not isinstance(members, list) or not members:
            raise ModelError(f"categories: expected lists by the number of the node, got {text!r:.60}")
        sorted_members = np.unique(_whole_list(members, "categories", 0, LARGEST_CATEGORY))
        categories[int(text)] = sorted_members
    return categories


PLAIN, ZERO_MISSING, CATEGORICAL = 0, 1, 2


class Nodes(NamedTuple):
    """All trees in the kernels' form; the arrays are read-only, as the kernels declare them."""

    feature: Integers
    threshold: Floats
    child: Integers  # the left and the right one of every node
    kinds: NDArray[np.int8]
    nan_right: NDArray[np.int8]
    borders: Integers  # of the categories of every node
    categories: Integers
    roots: Integers
    value: Floats  # of the leaves


def flattened(trees: Sequence[Tree]) -> Nodes:
    """Return the nodes of all trees in the kernels' form."""
    sizes = np.array([len(tree.feature) for tree in trees], np.int64)
    leaves = np.array([tree.n_leaves for tree in trees], np.int64)
    first_node, first_leaf = np.cumsum(sizes) - sizes, np.cumsum(leaves) - leaves
    n_nodes = int(sizes.sum())
    child = np.empty((n_nodes, 2), np.int64)
    kinds, nan_right = np.zeros(n_nodes, np.int8), np.ones(n_nodes, np.int8)
    counts = np.zeros(n_nodes + 1, np.int64)
    categories: list[Integers] = []
    for tree, node, leaf in zip(trees, first_node.tolist(), first_leaf.tolist(), strict=True):
        here = slice(node, node + len(tree.feature))
        for side, children in enumerate((tree.left, tree.right)):
            child[here, side] = np.where(children >= 0, children + node, children - leaf)
        kinds[here] = np.where(tree.missing == 1, ZERO_MISSING, PLAIN)
        nan_right[here] = ~np.where(tree.missing > 0, tree.default_left, tree.threshold >= 0)
        for place in sorted(tree.categories):
            kinds[node + place], nan_right[node + place] = CATEGORICAL, 1
            counts[node + place + 1] = len(tree.categories[place])
            categories.append(tree.categories[place])
    found = Nodes(
        joined([tree.feature for tree in trees], np.int64),
        joined([tree.threshold for tree in trees], np.float64),
        child.ravel(),
        kinds,
        nan_right,
        np.cumsum(counts),
        joined(categories, np.int64),
        np.where(sizes > 0, first_node, -1 - first_leaf),
        joined([tree.value for tree in trees], np.float64),
    )
    for array in found:
        array.flags.writeable = False
    return found


def joined(arrays: Sequence[Any], dtype: Any) -> Any:
    """Return some arrays, perhaps none, as one of a type."""
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype)
