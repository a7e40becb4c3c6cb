"""Many trees in a model file: one array for each part of a tree, all trees one after another.

``leaves`` has the number of leaves of every tree; a tree of n leaves has n - 1 nodes. Nodes that split by category are
listed in ``split_by_category``, their categories one after another in ``categories``, with the number of each in
``n_categories``. Older files have a list of trees, each with its own lists; they can still be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argrank._types import Integers
from argrank.errors import ModelError
from argrank.models.plain_data import read_array, read_finite, read_width, read_within, stored_array, stored_finite
from argrank.models.tree import LARGEST_CATEGORY, LARGEST_COUNT, MISSING, Tree, joined, tree_number

MOST_NODES = 1 << 31
#: The arrays of a tree and their kinds in a file.
PARTS = {"feature": "int32", "threshold": "float64", "default_left": "bool", "missing": "uint8", "left": "int32"}
PARTS |= {"right": "int32", "gain": "float64", "value": "float64", "count": "int64"}


def stored_trees(trees: Sequence[Tree]) -> dict[str, Any]:
    """Return trees as plain data for a model file, exactly."""

    def stored(name: str, kind: str) -> dict[str, Any]:
        array = joined([getattr(tree, name) for tree in trees], kind)
        return stored_finite(array, name) if kind == "float64" else stored_array(array)

    n_leaves = np.array([tree.n_leaves for tree in trees], np.int32)
    first = np.cumsum(n_leaves - 1, dtype=np.int64) - (n_leaves - 1)
    sets = [
        (start + node, members)
        for tree, start in zip(trees, first.tolist(), strict=True)
        for node, members in sorted(tree.categories.items())
    ]
    by_category = {
        "split_by_category": stored_array(np.array([node for node, _ in sets], np.int64)),
        "n_categories": stored_array(np.array([len(members) for _, members in sets], np.int64)),
        "categories": stored_array(joined([members for _, members in sets], "int64")),
    }
    return {
        "leaves": stored_array(n_leaves),
        **{name: stored(name, kind) for name, kind in PARTS.items()},
        **(by_category if sets else {}),
    }


def trees_from(fields: Mapping[str, Any]) -> tuple[list[Tree], int]:
    """Return the trees of a model file and the number of features, all checked."""
    n_features, given = read_width(fields), fields.get("trees")
    if isinstance(given, dict):
        return read_trees(given, n_features), n_features
    if not isinstance(given, list) or not given:
        raise ModelError("expected trees")
    trees = []
    for number, tree in enumerate(given):
        with tree_number(number):
            trees.append(Tree.from_dict(tree, n_features))
    return trees, n_features


def read_trees(fields: Mapping[str, Any], n_features: int) -> list[Tree]:
    """Make trees from plain data, or raise if it is invalid: every path through a tree must end in a leaf."""
    n_leaves = read_within(fields, "leaves", "int32", (None,), 1, MOST_NODES).astype(np.int64)
    if not len(n_leaves):
        raise ModelError("leaves: expected at least one tree")
    n_nodes = n_leaves - 1
    every, all_leaves = int(n_nodes.sum()), int(n_leaves.sum())
    first, first_leaf = np.cumsum(n_nodes) - n_nodes, np.cumsum(n_leaves) - n_leaves
    left, right = (
        read_within(fields, name, "int32", (every,), -MOST_NODES, MOST_NODES).astype(np.int64)
        for name in ("left", "right")
    )
    _check_children(left, right, n_leaves)
    whole = {
        "feature": read_within(fields, "feature", "int32", (every,), 0, n_features - 1).astype(np.int64),
        "threshold": read_finite(fields, "threshold", (every,)),
        "default_left": read_array(fields, "default_left", "bool", (every,)),
        "missing": read_within(fields, "missing", "uint8", (every,), 0, len(MISSING) - 1).astype(np.int64),
        "left": left,
        "right": right,
        "gain": read_finite(fields, "gain", (every,)),
    }
    value = read_finite(fields, "value", (all_leaves,))
    count = read_within(fields, "count", "int64", (all_leaves,), 0, LARGEST_COUNT)
    categories = _read_categories(fields, first, every)
    trees = []
    for number, (node, leaf, size) in enumerate(
        zip(first.tolist(), first_leaf.tolist(), n_leaves.tolist(), strict=True)
    ):
        own: dict[str, Any] = {name: array[node : node + size - 1] for name, array in whole.items()}
        leaves = slice(leaf, leaf + size)
        trees.append(Tree(**own, value=value[leaves], count=count[leaves], categories=categories.get(number, {})))
    return trees


def _check_children(left: Integers, right: Integers, n_leaves: Integers) -> None:
    """Raise unless every node and leaf has exactly one earlier parent, so that every path ends in a leaf."""
    n_nodes = n_leaves - 1
    first, first_leaf = np.cumsum(n_nodes) - n_nodes, np.cumsum(n_leaves) - n_leaves
    owner = np.repeat(np.arange(len(n_leaves)), n_nodes)
    place = np.arange(len(left)) - first[owner]
    seen_nodes, seen_leaves = np.zeros(len(left), np.int64), np.zeros(int(n_leaves.sum()), np.int64)
    for child in (left, right):
        later = (child > place) & (child < n_nodes[owner])
        leaf = (child < 0) & (child >= -n_leaves[owner])
        if not (later | leaf).all():
            raise ModelError("left, right: expected leaves, and nodes with greater numbers than their parent")
        np.add.at(seen_nodes, (first[owner] + child)[later], 1)
        np.add.at(seen_leaves, (first_leaf[owner] - 1 - child)[leaf], 1)
    seen_nodes[first[n_nodes > 0]] += 1  # roots have no parent
    grown = np.repeat(n_nodes > 0, n_leaves)
    if (seen_nodes != 1).any() or (seen_leaves[grown] != 1).any():
        raise ModelError("left, right: expected every node and every leaf as a child of one node")


def _read_categories(fields: Mapping[str, Any], first: Integers, every: int) -> dict[int, dict[int, Integers]]:
    """Return, by tree and by node in it, the categories that go left."""
    if "split_by_category" not in fields:
        return {}
    nodes = read_within(fields, "split_by_category", "int64", (None,), 0, every - 1)
    sizes = read_within(fields, "n_categories", "int64", (len(nodes),), 1, LARGEST_CATEGORY)
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    members = read_within(fields, "categories", "int64", (total,), 0, LARGEST_CATEGORY)
    rising = np.diff(members) > 0
    rising[ends[:-1] - 1] = True  # the next starts again
    if (np.diff(nodes) <= 0).any() or not rising.all():
        raise ModelError("categories: expected nodes in order, and categories in order at every node")
    found: dict[int, dict[int, Integers]] = {}
    owners = np.searchsorted(first, nodes, side="right") - 1
    for node, owner, begin, end in zip(
        nodes.tolist(), owners.tolist(), (ends - sizes).tolist(), ends.tolist(), strict=True
    ):
        found.setdefault(owner, {})[node - int(first[owner])] = members[begin:end]
    return found
