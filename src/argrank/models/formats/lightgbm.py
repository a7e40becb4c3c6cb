"""LightGBM's text form of a model: read into plain trees, and written so that LightGBM loads it.

Only the lines needed for predictions are read. A node splits by category if bit 0 of ``decision_type`` is set; bit 1 is
the default way, bits 2 and 3 the missing type. Categories are bit sets of 32-bit words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import ModelError
from argrank.models.tree import Tree

GREATEST = float(np.finfo(np.float64).max)
CATEGORICAL, DEFAULT_LEFT, MISSING_SHIFT = 1, 2, 2


class TextModel(NamedTuple):
    """A parsed text: trees in order, tree i belonging to output i modulo ``n_outputs``."""

    trees: list[Tree]
    n_outputs: int
    feature_names: tuple[str, ...]


def read(text: str) -> TextModel:
    """Read a model; linear trees and averaged forests, which predict differently, are not supported."""
    head, *parts = text.split("\nTree=")
    header = _fields(head)
    if not head.startswith("tree") or "feature_names" not in header:
        raise ModelError("expected a model in LightGBM's text form")
    if "average_output" in head.split("\n"):
        raise ModelError("expected a boosted model, got a random forest, whose trees are averaged")
    names = tuple(header["feature_names"].split(" "))
    trees = [read_tree(part) for part in parts]
    for tree in trees:
        tree.check(len(names))
    n_outputs = header.get("num_tree_per_iteration", "1")
    if not n_outputs.isdecimal() or not n_outputs.isascii() or not 1 <= int(n_outputs[:10]) <= max(1, len(trees)):
        raise ModelError(f"num_tree_per_iteration: expected a number of trees, got {n_outputs!r:.60}")
    return TextModel(trees, int(n_outputs), names)


def read_tree(text: str) -> Tree:
    """Read the lines of one tree."""
    fields = _fields(text)
    if fields.get("is_linear", "0") != "0":
        raise ModelError("expected trees with constant leaves, got linear trees")
    try:
        value = _floats(fields, "leaf_value")
        if len(value) == 1:
            return Tree.constant(float(value[0]))
        decision = _whole(fields, "decision_type")
        threshold = _floats(fields, "threshold")
        categorical = np.flatnonzero(decision & CATEGORICAL)
        categories = {}
        if len(categorical):
            borders, words = _whole(fields, "cat_boundaries"), _whole(fields, "cat_threshold")
            for node in categorical.tolist():
                place = int(threshold[node])
                categories[node] = _members(words[borders[place] : borders[place + 1]])
            threshold[categorical] = 0.0
        return Tree(
            feature=_whole(fields, "split_feature"),
            threshold=threshold,
            default_left=(decision & DEFAULT_LEFT) > 0,
            missing=(decision >> MISSING_SHIFT) & 3,
            left=_whole(fields, "left_child"),
            right=_whole(fields, "right_child"),
            gain=_floats(fields, "split_gain"),
            value=value,
            count=_whole(fields, "leaf_count"),
            categories=categories,
        )
    except (KeyError, ValueError, IndexError, OverflowError) as error:
        raise ModelError(f"expected the arrays of a tree in LightGBM's text form: {error}") from error


def write(
    trees: Sequence[Tree], n_features: int, feature_names: Sequence[str] | None, n_outputs: int, objective: str
) -> str:
    """Write a model that ``lightgbm.Booster(model_str=…)`` loads. Names lose their white space."""
    names = [f"Column_{i}" for i in range(n_features)] if feature_names is None else list(feature_names)
    names = ["_".join(name.split()) or f"Column_{i}" for i, name in enumerate(names)]
    bodies = [f"Tree={number}\n{_write_tree(tree)}\n\n" for number, tree in enumerate(trees)]
    head = [
        "tree",
        "version=v4",
        f"num_class={n_outputs}",
        f"num_tree_per_iteration={n_outputs}",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        f"objective={objective}",
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(_ranges(trees, n_features))}",
        f"tree_sizes={' '.join(str(len(body.encode())) for body in bodies)}",
    ]
    tail = "end of trees\n\nfeature_importances:\n\nparameters:\n\nend of parameters\n\npandas_categorical:null\n"
    return "\n".join(head) + "\n\n" + "".join(bodies) + tail


def _write_tree(tree: Tree) -> str:
    lines = [f"num_leaves={tree.n_leaves}", f"num_cat={len(tree.categories)}"]
    if tree.n_leaves > 1:
        decision = DEFAULT_LEFT * tree.default_left.astype(np.int64) + (tree.missing << MISSING_SHIFT)
        threshold = tree.threshold.copy()
        words: list[int] = []
        borders = [0]
        for place, node in enumerate(sorted(tree.categories)):
            decision[node] |= CATEGORICAL
            threshold[node] = place
            words += _words(tree.categories[node])
            borders.append(len(words))
        counts, values = _inner(tree)
        lines += [
            f"split_feature={_joined(tree.feature)}",
            f"split_gain={_joined(tree.gain)}",
            f"threshold={_joined(threshold)}",
            f"decision_type={_joined(decision)}",
            f"left_child={_joined(tree.left)}",
            f"right_child={_joined(tree.right)}",
        ]
    lines.append(f"leaf_value={_joined(tree.value)}")
    if tree.n_leaves > 1:
        lines += [
            f"leaf_weight={_joined(tree.count)}",
            f"leaf_count={_joined(tree.count)}",
            f"internal_value={_joined(values)}",
            f"internal_weight={_joined(counts)}",
            f"internal_count={_joined(counts)}",
        ]
        if tree.categories:
            lines += [f"cat_boundaries={_joined(borders)}", f"cat_threshold={_joined(words)}"]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1", ""])


def _inner(tree: Tree) -> tuple[Integers, Floats]:
    """Return documents and mean value of every inner node, which LightGBM uses to explain predictions."""
    counts, sums = np.zeros(len(tree.left), np.int64), np.zeros(len(tree.left))
    for node in range(len(tree.left) - 1, -1, -1):  # children have greater numbers
        for child in (int(tree.left[node]), int(tree.right[node])):
            counts[node] += tree.count[~child] if child < 0 else counts[child]
            sums[node] += tree.count[~child] * tree.value[~child] if child < 0 else sums[child]
    return counts, sums / np.maximum(counts, 1)


def _ranges(trees: Sequence[Tree], n_features: int) -> list[str]:
    """Return a range for each feature: LightGBM treats "none" as a feature that was never used."""
    used = np.zeros(n_features, bool)
    for tree in trees:
        used[tree.feature] = True
    return ["[-1e+300:1e+300]" if one else "none" for one in used]


def _fields(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.split("\n") if "=" in line)


def _floats(fields: dict[str, str], name: str) -> Floats:
    """Read numbers; an infinite threshold (missing to one side, all else to the other) becomes the greatest number."""
    return np.clip(np.array(fields[name].split(" "), np.float64), -GREATEST, GREATEST)


def _whole(fields: dict[str, str], name: str) -> Integers:
    return np.array(fields[name].split(" "), np.int64)


def _joined(values: Sequence[float] | Floats | Integers) -> str:
    return " ".join(repr(value) for value in np.asarray(values).tolist())


def _members(words: Integers) -> Integers:
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).astype(np.int64)


def _words(members: Integers) -> list[int]:
    bits = np.zeros(32 * (int(members[-1]) // 32 + 1), np.uint8)
    bits[members] = 1
    return np.packbits(bits, bitorder="little").view("<u4").tolist()
