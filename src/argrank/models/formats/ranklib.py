"""RankLib's text forms, read and written: linear models (Coordinate Ascent, AdaRank, Linear Regression) and trees.

::

    ## Coordinate Ascent
    ## Restart = 5
    …
    1:0.11 2:0.42 3:0.47

The first line names the ranker; lines that begin with ``##`` are its settings; the rest are pairs of feature number
(from 1) and weight. Linear Regression has a constant as number 0, which changes no ranking and is left out.
Trees (LambdaMART, MART) are an ensemble of splits as XML below a title and settings.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from argrank._files import refuse_endless
from argrank._types import Floats
from argrank.errors import FormatError, ModelError, shown
from argrank.models.forest import DEEPEST, Builder, Forest
from argrank.models.linear import LinearModel

#: The rankers whose models are linear, as RankLib writes their names (it reads them without regard to case).
TITLES = ("Coordinate Ascent", "AdaRank", "Linear Regression")
LARGEST_FEATURE = 10_000_000

LINEAR = """\
## Coordinate Ascent
## Restart = 1
## MaxIteration = 1
## StepBase = 0.05
## StepScale = 2.0
## Tolerance = 0.001
## Regularized = false
## Slack = 0.001
"""

_PAIR = re.compile(r"([0-9]+):(\S+)")


def read_ranklib(path: str | os.PathLike[str], n_features: int | None = None) -> LinearModel:
    """Read a linear model that RankLib saved; features that do not occur have weight 0.

    AdaRank may list a feature several times, once for each round that chose it: the weights add up.
    """
    refuse_endless(path)
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(path, None, "RankLib's text", "bytes that are not text") from error
    title = lines[0].lstrip("#").strip() if lines else ""
    if title.lower() not in {one.lower() for one in TITLES}:
        raise FormatError(path, 1, f"'## ' and one of {', '.join(TITLES)}", shown(lines[0] if lines else ""))
    pairs = linear_pairs(lines, path)
    width = max(feature for feature, _ in pairs)
    if n_features is not None and n_features < width:
        raise ModelError(f"{os.fspath(path)}: expected at most {n_features} features, got a weight for {width}")
    weights = np.zeros(max(width, 1) if n_features is None else n_features)
    for feature, weight in pairs:
        if feature > 0:
            weights[feature - 1] += weight
    return LinearModel(weights, training={"ranker": f"RankLib's {title}"})


def linear_text(weights: Floats) -> str:
    """Return the text of a linear model, which RankLib reads as one of Coordinate Ascent."""
    return f"{LINEAR}{' '.join(f'{number}:{weight!r}' for number, weight in enumerate(weights.tolist(), 1))}\n"


def linear_pairs(lines: Sequence[str], path: str | os.PathLike[str]) -> list[tuple[int, float]]:
    """Return the pairs of feature number, from 1, and weight of a linear model's lines."""
    pairs: list[tuple[int, float]] = []
    for number, line in enumerate(lines, 1):
        if not line.startswith("##"):
            pairs += [_pair(path, number, text) for text in line.split("#")[0].split()]
    if not pairs:
        raise FormatError(path, None, "pairs of feature and weight such as 1:0.5", "none")
    return pairs


def _pair(path: str | os.PathLike[str], line: int, text: str) -> tuple[int, float]:
    match = _PAIR.fullmatch(text)
    try:
        feature, weight = (int(match[1]), float(match[2])) if match else (-1, math.nan)
    except ValueError:
        feature, weight = -1, math.nan
    if not 0 <= feature <= LARGEST_FEATURE or not math.isfinite(weight):
        raise FormatError(path, line, "a pair of feature and weight such as 1:0.5", shown(text))
    return feature, weight


TREE_TITLES = ("lambdamart", "mart")
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
    if title.lower() not in TREE_TITLES:
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
