"""RankLib's text: Coordinate Ascent for linear models, LambdaMART for trees; feature 1 is the first one.

RankLib has no normaliser and no missing values. A normaliser is folded into the weights, which costs nothing as it
sums in float64; the constant that it leaves moves no document. Trees compare ``x <= threshold`` in float32. Compared
with RankLib's own code, whole.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from argrank._types import Floats
from argrank.deploy import cuts
from argrank.deploy.options import Files, Options, singles
from argrank.deploy.plain import Plain
from argrank.errors import ModelError
from argrank.models.forest import Forest
from argrank.models.formats.ranklib_trees import parse_ensemble

MISSING_IS_ZERO = True
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
TREES = """\
## LambdaMART
## No. of trees = {n_trees}
## No. of leaves = {n_leaves}
## No. of threshold candidates = 256
## Learning rate = 1.0
## Stop early = 100

<ensemble>
{trees}</ensemble>
"""
README = """\
RankLib:                         java -jar RankLib.jar -load model.txt -rank documents.txt -score scores.txt
Elasticsearch and OpenSearch:    model type "model/ranklib", the text of model.txt as its definition
Features by number, 1 first:
{features}
"""


def write(plain: Plain, options: Options) -> Files:
    """Return the model and what its feature numbers mean."""
    if plain.linear is not None:
        weights = plain.linear.weights / plain.linear.scale
        singles(weights, "weights")
        body = " ".join(f"{number}:{weight!r}" for number, weight in enumerate(weights.tolist(), 1))
        text = f"{LINEAR}{body}\n"
    elif plain.forest is not None:
        if plain.trained_with_missing and options.missing == "as-trained":
            raise ModelError(
                "these trees were trained with missing values and RankLib has none: a missing feature is 0 there; "
                'give missing="zero" if that is meant'
            )
        text = _trees(plain.forest)
    listed = "\n".join(f"{number} {name}" for number, name in enumerate(options.features, 1))
    return {"model.txt": text.encode(), "README.txt": README.format(features=listed).encode()}


def constant(plain: Plain) -> float:
    """Return what the folded weights lack: the same for every document."""
    if plain.linear is None:
        return plain.constant
    return plain.constant - float((plain.linear.weights / plain.linear.scale * plain.linear.shift).sum())


def _trees(forest: Forest) -> str:
    thresholds = [float(t) for t in cuts.writable(forest.cut).tolist()]
    values = singles(forest.value, "leaves")

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
    return TREES.format(n_trees=forest.n_trees, n_leaves=n_leaves, trees="".join(f"\t{line}\n" for line in lines))


def _element(tag: str, lines: list[str]) -> list[str]:
    """Return the lines of an XML element, what it holds indented by a tab."""
    return [f"<{tag}>", *(f"\t{line}" for line in lines), f"</{tag.partition(' ')[0]}>"]


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written text as RankLib does: float32 features, linear sums in float64, trees in float32."""
    text = files["model.txt"].decode()
    rows = np.nan_to_num(X.astype(np.float32), nan=0.0)
    if text.startswith("## Coordinate Ascent"):
        total = np.zeros(len(rows))
        for pair in text.splitlines()[-1].split():
            number, weight = pair.split(":")
            total += float(weight) * rows[:, int(number) - 1].astype(np.float64)
        return total.astype(np.float32).astype(np.float64)
    return parse_ensemble(text).sums(rows, np.float32)
