"""ONNX: a graph with the input ``features`` (float [N, D]) and the output ``score`` (float [N, 1]).

Trees are one TreeEnsembleRegressor (BRANCH_LEQ, float32 cuts); linear parts are computed in double inside. Needs the
package onnx to write; the files are run by onnxruntime in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.errors import MissingExtraError
from argrank.export import cuts
from argrank.export.forest import Builder, Forest
from argrank.export.options import Files, Options, singles
from argrank.export.plain import Linear, Plain

OPSETS = {"": 13, "ai.onnx.ml": 3}
IR_VERSION = 8
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
        nodes.append(_trees(plain.forest, helper))
        parts.append("trees")
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


def _linear(linear: Linear, helper: Any, kinds: Any, constants: list[Any]) -> list[Any]:
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


def _trees(forest: Forest, helper: Any) -> Any:
    thresholds = [float(t) for t in cuts.writable(forest.cut).tolist()]
    values = singles(forest.value, "leaves")
    nodes: dict[str, list[Any]] = {
        name: []
        for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    }  # fmt: skip
    missing: list[int] = []
    targets: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree, root in enumerate(forest.roots.tolist()):
        order = [node for node, _ in forest.walk(root)]
        number = {node: i for i, node in enumerate(order)}
        for node in order:
            split = node >= 0
            row = (
                tree,
                number[node],
                int(forest.feature[node]) if split else 0,
                thresholds[node] if split else 0.0,
                "BRANCH_LEQ" if split else "LEAF",
                number[int(forest.left[node])] if split else 0,
                number[int(forest.right[node])] if split else 0,
            )
            for column, value in zip(nodes.values(), row, strict=True):
                column.append(value)
            missing.append(int(split and forest.nan_left[node]))
            if not split:
                for column, value in zip(targets.values(), (tree, number[node], 0, values[~node]), strict=True):
                    column.append(value)
    return helper.make_node(
        "TreeEnsembleRegressor",
        ["features"],
        ["trees"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_missing_value_tracks_true=missing,
        **{f"nodes_{name}": column for name, column in nodes.items()},
        **{f"target_{name}": column for name, column in targets.items()},
    )


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written graph: float32 features, linear part in double, trees' sum rounded to float32."""
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
            total += _forest(node).sums(rows, np.float64)
    return total.astype(np.float32).astype(np.float64)


def _forest(node: Any) -> Forest:
    said = {one.name: list(one.ints) or list(one.floats) or list(one.strings) for one in node.attribute}
    weights = iter(said["target_weights"])
    builder = Builder()
    made: dict[tuple[int, int], int] = {}
    keys = list(zip(said["nodes_treeids"], said["nodes_nodeids"], strict=True))
    for i, key in enumerate(keys):
        if said["nodes_modes"][i] == b"LEAF":
            made[key] = builder.leaf(next(weights))
        else:
            left = bool(said["nodes_missing_value_tracks_true"][i])
            made[key] = builder.node(said["nodes_featureids"][i], said["nodes_values"][i], left)
    for i, (tree, number) in enumerate(keys):
        if number == 0:
            builder.roots.append(made[tree, 0])
        if said["nodes_modes"][i] != b"LEAF":
            children = made[tree, said["nodes_truenodeids"][i]], made[tree, said["nodes_falsenodeids"][i]]
            builder.join(made[tree, number], *children)
    return builder.forest(np.float32)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", "onnx", "exporting to ONNX") from error
    return onnx
