"""One Python file that imports only ``math``: for small services and for review.

Scores are argrank's own, in float64; missing values are NaN, None or absent from the dictionary.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from argrank._types import Floats
from argrank.deploy.options import Files, Options, check_names
from argrank.deploy.plain import Classes, Plain, Writer
from argrank.models.forest import Builder, Forest, nested

CODE = '''\
"""The model {name!r}, exported by argrank: ``score(features)`` takes a dictionary by name or a sequence in order.

Values are numbers, or texts where training had texts; a missing one is None, NaN or, in a dictionary, left out.
Greater is better.
"""

import math

NAMES = {names}

# the numbers of texts, by feature; any other text is missing
TEXTS = {texts}

{constants}
# a split is (feature, cut, missing goes left, left, right): left where x <= cut, or where the number of a category is
# one of a set; a leaf is a number
TREES = {trees}


def score(features):
    if isinstance(features, dict):
        features = [features.get(name) for name in NAMES]
    if len(features) != len(NAMES):
        raise ValueError("expected %d features, got %d" % (len(NAMES), len(features)))
    row = [value_of(place, value) for place, value in enumerate(features)]
{body}

def value_of(place, value):
    if place in TEXTS and isinstance(value, str):
        value = TEXTS[place].get(value)
    return math.nan if value is None else float(value)


def leaf(node, row):
    while isinstance(node, tuple):
        feature, cut, missing_left, left, right = node
        value = row[feature]
        if math.isnan(value):
            goes_left = missing_left
        elif isinstance(cut, set):
            goes_left = -1 < value < 2**32 and int(value) in cut
        else:
            goes_left = value <= cut
        node = left if goes_left else right
    return node
'''

LINEAR = """\
# (feature, weight, shift, scale): weight * (x - shift) / scale
LINEAR = {linear}
"""
WEIGHED = """\
    total = 0.0
    for feature, weight, shift, scale in LINEAR:
        value = row[feature]
        total += weight * (((0.0 if math.isnan(value) else value) - shift) / scale)
"""
SUM = """\
    for node in TREES:
        total += leaf(node, row)
    return total
"""

CLASSES = """\
# the gains of the labels, from the worst to the best: the score is their mean by the labels' probabilities
GAINS = {gains}

# sum i begins with SLOPES[i] times the linear part, and tree i adds to sum i % len(SLOPES)
SLOPES = {slopes}

# how sums become probabilities
LINK = {link!r}
"""
SUMS = """\
    sums = [slope * total for slope in SLOPES]
    for number, node in enumerate(TREES):
        sums[number % len(SLOPES)] += leaf(node, row)
"""
SHARES = """\
    whole = sum(parts)
    return sum(part / whole * gain for part, gain in zip(parts, GAINS))
"""
LINKS = {
    "multi-class": """\
    largest = max(sums)
    parts = [math.exp(one - largest) for one in sums]
""",
    "ordinal": """\
    edges = [0.0] + [0.5 * (1.0 + math.tanh(0.5 * one)) for one in sums] + [1.0]
    parts = [max(high - low, 0.0) for low, high in zip(edges, edges[1:])]
""",
}


def write(plain: Plain, options: Options) -> Files:
    """Return the file."""
    check_names(options.features, "python")
    linear: list[tuple[int, float, float, float]] = []
    if plain.linear is not None:
        columns = (plain.linear.weights.tolist(), plain.linear.shift.tolist(), plain.linear.scale.tolist())
        linear = [(i, *numbers) for i, numbers in enumerate(zip(*columns, strict=True)) if numbers[0] != 0]
    trees = [] if plain.doubles is None else _trees(plain.doubles)
    listed = "[\n" + "".join(f"    {tree},\n" for tree in trees) + "]"
    name = options.name.replace("\\", "/").replace('"', "'")
    constants, body = LINEAR.format(linear=linear), WEIGHED + SUM
    if plain.classes is not None:
        classes = plain.classes
        written = {"gains": classes.gains.tolist(), "slopes": classes.slopes.tolist(), "link": classes.link}
        constants += "\n" + CLASSES.format(**written)
        body = WEIGHED + SUMS + LINKS[classes.link] + SHARES
    texts = {place: {text: number for number, text in enumerate(own)} for place, own in options.texts.items()}
    text = CODE.format(
        name=name, names=list(options.features), texts=texts, constants=constants, trees=listed, body=body
    )
    return {"model.py": text.encode()}


def _trees(forest: Forest) -> list[str]:
    greatest = np.finfo(np.float64).max
    cut = np.clip(forest.cut, -greatest, greatest).tolist()
    for node, members in forest.members.items():
        cut[node] = set(members.tolist())

    def leaf(number: int) -> str:
        return repr(float(forest.value[number]))

    def split(node: int, left: str, right: str) -> str:
        return f"({int(forest.feature[node])}, {cut[node]!r}, {bool(forest.nan_left[node])}, {left}, {right})"

    return [forest.fold(root, leaf, split) for root in forest.roots.tolist()]


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the contents of the file, without running it."""
    said = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(files["model.py"]).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    builder = Builder()
    builder.roots = [nested(builder, tree, lambda node: node) for tree in said["TREES"]]
    forest = builder.forest()
    total = np.zeros(len(X))
    for feature, weight, shift, scale in said["LINEAR"]:
        total += weight * ((np.nan_to_num(X[:, feature], nan=0.0) - shift) / scale)
    if "GAINS" in said:
        classes = Classes(said["LINK"], np.array(said["GAINS"]), np.array(said["SLOPES"]))
        return classes.scores(forest.sums_by_output(X, np.arange(forest.n_trees) % classes.n_sums), total)
    return total + forest.sums(X, np.float64) if forest.n_trees else total


WRITER = Writer(write, simulate)
