"""RankLib's trees (LambdaMART, MART), read and written: an ensemble of splits as XML below a title and settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from argrank.errors import ModelError, shown
from argrank.models.forest import DEEPEST, Builder, Forest
from argrank.models.formats.ranklib import LARGEST_FEATURE

TITLES = ("lambdamart", "mart")
ENSEMBLE = """\
## LambdaMART
## No. of trees = {n_trees}
## No. of leaves = {n_leaves}
## No. of threshold candidates = 256
## Learning rate = 1.0
## Stop early = 100

<ensemble>
{trees}</ensemble>
"""


def parse_ensemble(text: str) -> Forest:
    """Return the trees of a text, their weights multiplied into the leaves; cuts and leaves are float32 numbers."""
    title = text.partition("\n")[0].lstrip("#").strip()
    if title.lower() not in TITLES:
        raise ModelError(f"expected RankLib's LambdaMART or MART, got {shown(title)}")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("##"))
    if "<!" in body or "<?" in body:
        raise ModelError("expected an ensemble of trees alone, got other XML")
    try:
        root = ET.fromstring(body)
    except (ET.ParseError, ValueError) as error:
        raise ModelError(f"expected an ensemble of trees: {error}") from error
    if root.tag != "ensemble" or not len(root) or any(tree.tag != "tree" or len(tree) != 1 for tree in root):
        raise ModelError("expected an ensemble of trees, each with one split")
    builder = Builder()
    for tree in root:
        weight = np.float32(_number(tree.get("weight"), "weight of a tree"))
        builder.roots.append(_add(builder, tree[0], weight, 0))
    return builder.forest(np.float32)


def _add(builder: Builder, split: Any, weight: np.float32, depth: int) -> int:
    parts = {part.tag: part for part in split if part.tag != "split"}
    children = {part.get("pos"): part for part in split if part.tag == "split"}
    if split.tag != "split" or depth > DEEPEST:
        raise ModelError(f"expected splits of at most {DEEPEST} levels, got {shown(split.tag)}")
    if "output" in parts and len(split) == 1:
        with np.errstate(over="ignore"):
            return builder.leaf(float(weight * np.float32(_number(parts["output"].text, "output"))))
    if set(parts) != {"feature", "threshold"} or set(children) != {"left", "right"} or len(split) != 4:
        raise ModelError("expected a feature, a threshold, a left and a right split, or an output")
    feature = _number(parts["feature"].text, "feature")
    if feature != int(feature) or not 1 <= feature <= LARGEST_FEATURE:
        raise ModelError(f"feature: expected a whole number from 1 up, got {feature:g}")
    node = builder.node(int(feature) - 1, _number(parts["threshold"].text, "threshold"), False)
    left, right = (_add(builder, children[side], weight, depth + 1) for side in ("left", "right"))
    builder.join(node, left, right)
    builder.nodes[node][2] = builder.nodes[node][1] >= 0  # a missing feature is 0
    return node


def ensemble_text(forest: Forest, thresholds: Sequence[float], values: Sequence[float]) -> str:
    """Return the text of trees whose cuts and leaves are these numbers."""

    def leaf(number: int) -> list[str]:
        return [f"<output> {values[number]!r} </output>"]

    def split(node: int, left: list[str], right: list[str]) -> list[str]:
        test = [f"<feature> {forest.feature[node] + 1} </feature>", f"<threshold> {thresholds[node]!r} </threshold>"]
        return [*test, *_element('split pos="left"', left), *_element('split pos="right"', right)]

    lines: list[str] = []
    n_leaves = 1
    for number, root in enumerate(forest.roots.tolist(), 1):
        tree = _element("split", forest.fold(root, leaf, split))
        n_leaves = max(n_leaves, sum("<output>" in line for line in tree))
        lines += _element(f'tree id="{number}" weight="1.0"', tree)
    return ENSEMBLE.format(n_trees=forest.n_trees, n_leaves=n_leaves, trees="".join(f"\t{line}\n" for line in lines))


def _element(tag: str, lines: list[str]) -> list[str]:
    """Return the lines of an XML element, what it holds indented by a tab."""
    return [f"<{tag}>", *(f"\t{line}" for line in lines), f"</{tag.partition(' ')[0]}>"]


def _number(text: str | None, what: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not abs(value) <= float(np.finfo(np.float32).max):
        raise ModelError(f"{what}: expected a finite number, got {shown(text)}")
    return value
