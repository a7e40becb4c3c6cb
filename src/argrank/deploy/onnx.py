"""ONNX: a graph with the input ``features`` (float [N, D]) and the output ``score`` (float [N, 1]).

Trees are one TreeEnsembleRegressor (BRANCH_LEQ, float32 cuts). A set of categories is a chain of BRANCH_EQ whose true
branches meet in one node, as in LightGBM's converters. Linear parts, and probabilities from several sums of trees, are
computed in double inside. Needs the package onnx to write; onnxruntime runs the files in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.deploy import cuts
from argrank.deploy.linear_part import Linear
from argrank.deploy.options import Files, Options, singles
from argrank.deploy.plain import Classes, Plain, Writer
from argrank.errors import MissingExtraError
from argrank.models.forest import Builder, Forest

OPSETS = {"": 13, "ai.onnx.ml": 3}
IR_VERSION = 8
#: The attributes of a TreeEnsembleRegressor's nodes and leaves.
NODE_COLUMNS = (
    "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values", "nodes_modes", "nodes_truenodeids",
    "nodes_falsenodeids", "nodes_missing_value_tracks_true",
)  # fmt: skip
LEAF_COLUMNS = ("target_treeids", "target_nodeids", "target_ids", "target_weights")
README = """\
Input "features": float [N, {n}], in this order; NaN is missing. Output "score": float [N, 1].
{names}
"""


def write(plain: Plain, options: Options) -> Files:
    """Return the graph, and the order of its features."""
    helper, kinds = _onnx().helper, _onnx().TensorProto
    nodes: list[Any] = []
    constants: list[Any] = []
    parts: list[str] = []
    if plain.linear is not None:
        nodes += _linear(plain.linear, helper, kinds, constants)
        parts.append("linear")
    if plain.forest is not None:
        nodes.append(_trees(plain.forest, helper, 1 if plain.classes is None else plain.classes.n_sums))
        parts.append("trees")
    if plain.classes is not None:
        nodes += _classes(plain.classes, plain.linear is not None, helper, kinds, constants)
        parts = ["expected"]
    if len(parts) == 2:
        nodes.append(helper.make_node("Cast", ["trees"], ["trees_double"], to=kinds.DOUBLE))
        nodes.append(helper.make_node("Add", ["linear", "trees_double"], ["total"]))
    source = "total" if len(parts) == 2 else parts[0]
    nodes.append(helper.make_node("Cast", [source], ["score"], to=kinds.FLOAT))
    graph = helper.make_graph(
        nodes,
        "argrank",
        [helper.make_tensor_value_info("features", kinds.FLOAT, ["N", plain.n_features])],
        [helper.make_tensor_value_info("score", kinds.FLOAT, ["N", 1])],
        constants,
        doc_string=options.name,
    )
    sets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    model = helper.make_model(graph, opset_imports=sets, ir_version=IR_VERSION, producer_name="argrank")
    listed = "\n".join(options.features)
    return {
        "model.onnx": model.SerializeToString(),
        "README.txt": README.format(n=plain.n_features, names=listed).encode(),
    }


def _linear(linear: Linear, helper: ModuleType, kinds: Any, constants: list[Any]) -> list[Any]:
    for name, values in (("shift", linear.shift), ("scale", linear.scale), ("weights", linear.weights)):
        shape = [len(values), 1] if name == "weights" else [len(values)]
        constants.append(helper.make_tensor(name, kinds.DOUBLE, shape, values.tolist()))
    constants.append(helper.make_tensor("zero", kinds.DOUBLE, [], [0.0]))
    return [
        helper.make_node("Cast", ["features"], ["double"], to=kinds.DOUBLE),
        helper.make_node("IsNaN", ["double"], ["missing"]),
        helper.make_node("Where", ["missing", "zero", "double"], ["known"]),
        helper.make_node("Sub", ["known", "shift"], ["shifted"]),
        helper.make_node("Div", ["shifted", "scale"], ["scaled"]),
        helper.make_node("MatMul", ["scaled", "weights"], ["linear"]),
    ]


def _classes(classes: Classes, with_linear: bool, helper: ModuleType, kinds: Any, constants: list[Any]) -> list[Any]:
    n, gains = classes.n_sums, classes.gains.tolist()

    def constant(name: str, shape: list[int], values: list[float]) -> None:
        constants.append(helper.make_tensor(name, kinds.DOUBLE, shape, values))

    nodes = [helper.make_node("Cast", ["trees"], ["trees_double" if with_linear else "sums"], to=kinds.DOUBLE)]
    if with_linear:
        constant("slopes", [1, n], classes.slopes.tolist())
        nodes.append(helper.make_node("MatMul", ["linear", "slopes"], ["lines"]))
        nodes.append(helper.make_node("Add", ["lines", "trees_double"], ["sums"]))
    if classes.link == "multi-class":
        nodes.append(helper.make_node("Softmax", ["sums"], ["chances"], axis=1))
    else:
        # differences of neighbours among 0, the chances of at most each label, and 1
        steps = np.eye(n, n + 1) - np.eye(n, n + 1, 1)
        constant("steps", [n, n + 1], steps.ravel().tolist())
        constant("last", [n + 1], [0.0] * n + [1.0])
        constant("nothing", [], [0.0])
        constants.append(helper.make_tensor("labels", kinds.INT64, [1], [1]))
        nodes += [
            helper.make_node("Sigmoid", ["sums"], ["at_most"]),
            helper.make_node("MatMul", ["at_most", "steps"], ["stepped"]),
            helper.make_node("Add", ["stepped", "last"], ["differences"]),
            helper.make_node("Max", ["differences", "nothing"], ["parts"]),
            helper.make_node("ReduceSum", ["parts", "labels"], ["whole"], keepdims=1),
            helper.make_node("Div", ["parts", "whole"], ["chances"]),
        ]
    constant("gains", [len(gains), 1], gains)
    return [*nodes, helper.make_node("MatMul", ["chances", "gains"], ["expected"])]


def _trees(forest: Forest, helper: ModuleType, n_sums: int) -> Any:
    thresholds = [float(t) for t in cuts.writable(forest.cut).tolist()]
    values = singles(forest.value, "leaves")
    nodes: list[tuple[Any, ...]] = []
    leaves: list[tuple[Any, ...]] = []
    for tree, root in enumerate(forest.roots.tolist()):
        number = {node: i for i, (node, _) in enumerate(forest.walk(root))}
        extra = len(number)  # the next free number, for chains
        for node, own in number.items():
            if node < 0:
                nodes.append((tree, own, 0, 0.0, "LEAF", 0, 0, 0))
                leaves.append((tree, own, tree % n_sums, values[~node]))
                continue
            feature, left, right = (int(of[node]) for of in (forest.feature, forest.left, forest.right))
            if node not in forest.members:
                after = number[left], number[right], int(forest.nan_left[node])
                nodes.append((tree, own, feature, thresholds[node], "BRANCH_LEQ", *after))
                continue
            members = forest.members[node].tolist()
            chain = [own, *range(extra, extra + len(members) - 1), number[right]]
            extra += len(members) - 1
            for here, member, below in zip(chain, members, chain[1:], strict=False):
                nodes.append((tree, here, feature, float(member), "BRANCH_EQ", number[left], below, 0))
    columns = dict(zip(NODE_COLUMNS, map(list, zip(*nodes, strict=True)), strict=True))
    columns |= dict(zip(LEAF_COLUMNS, map(list, zip(*leaves, strict=True)), strict=True))
    return helper.make_node(
        "TreeEnsembleRegressor", ["features"], ["trees"], domain="ai.onnx.ml", n_targets=n_sums, **columns
    )


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written graph: float32 features, linear part and probabilities in double, float32 score."""
    rows = X.astype(np.float32)
    graph = _onnx().load_from_string(files["model.onnx"]).graph
    total = np.zeros(len(rows))
    tables = {
        one.name: np.array(one.double_data or np.frombuffer(one.raw_data, np.float64)) for one in graph.initializer
    }
    if "weights" in tables:
        scaled = (np.nan_to_num(rows.astype(np.float64), nan=0.0) - tables["shift"]) / tables["scale"]
        total += (scaled * tables["weights"]).sum(axis=1)
    for node in graph.node:
        if node.op_type == "TreeEnsembleRegressor":
            forest, output = _forest(node)
            by_category = list({int(forest.feature[one]) for one in forest.members})
            broken = rows[:, by_category] != np.trunc(rows[:, by_category])
            rows[:, by_category] = np.where(broken, np.nan, rows[:, by_category])  # equal to no category
            sums = forest.sums_by_output(rows, output)
            total = _score(graph, tables, sums, total) if "gains" in tables else total + sums[:, 0]
    return total.astype(np.float32).astype(np.float64)


def _score(graph: Any, tables: Mapping[str, Floats], trees: Floats, linear: Floats) -> Floats:
    link = "multi-class" if any(node.op_type == "Softmax" for node in graph.node) else "ordinal"
    slopes = tables.get("slopes", np.zeros(trees.shape[1]))
    return Classes(link, tables["gains"], slopes).scores(trees, linear)


def _forest(node: Any) -> tuple[Forest, Integers]:
    """Return the trees, and the sum that each of them adds to."""
    said = {one.name: list(one.ints) or list(one.floats) or list(one.strings) for one in node.attribute}
    weights = iter(said["target_weights"])
    builder = Builder()
    made: dict[tuple[int, int], int] = {}
    keys = list(zip(said["nodes_treeids"], said["nodes_nodeids"], strict=True))
    for i, key in enumerate(keys):
        if said["nodes_modes"][i] == b"LEAF":
            made[key] = builder.leaf(next(weights))
        else:
            left, value = bool(said["nodes_missing_value_tracks_true"][i]), said["nodes_values"][i]
            cut = frozenset([int(value)]) if said["nodes_modes"][i] == b"BRANCH_EQ" else value
            made[key] = builder.node(said["nodes_featureids"][i], cut, left)
    for i, (tree, number) in enumerate(keys):
        if number == 0:
            builder.roots.append(made[tree, 0])
        if said["nodes_modes"][i] != b"LEAF":
            children = made[tree, said["nodes_truenodeids"][i]], made[tree, said["nodes_falsenodeids"][i]]
            builder.join(made[tree, number], *children)
    output = dict(zip(said["target_treeids"], said["target_ids"], strict=True))
    return builder.forest(np.float32), np.array([output[tree] for tree, number in keys if number == 0])


def _onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", "onnx", "exporting to ONNX") from error
    return onnx


WRITER = Writer(write, simulate, any_order=True)
