"""XGBoost's own JSON, which XGBoost 1.7 and later, both search plugins (``model/xgboost+json+raw``) and servers load.

Nodes are numbered level by level, so that a right child follows its left sibling: XGBoost silently loads other
numberings and scores them wrongly. ``x < split_condition`` in float32; leaves add up in float32. The tests load the
files with xgboost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.deploy import cuts
from argrank.deploy.options import OTHER_NAMES, Files, Options, check_names, singles, to_json
from argrank.deploy.plain import Plain, Writer
from argrank.errors import ModelError
from argrank.models.forest import Forest
from argrank.models.formats.xgboost import parse

NO_PARENT = 2147483647
OBJECTIVE = {
    "name": "rank:pairwise",
    "lambdarank_param": {
        "lambdarank_bias_norm": "1",
        "lambdarank_normalization": "1",
        "lambdarank_num_pair_per_sample": "4294967295",
        "lambdarank_pair_method": "topk",
        "lambdarank_score_normalization": "1",
        "lambdarank_unbiased": "0",
        "ndcg_exp_gain": "1",
    },
}


def write(plain: Plain, options: Options) -> Files:
    """Return the model file."""
    check_names(options.features, "xgboost")
    odd = next((name for name in options.features if any(mark in name for mark in "[]<")), None)
    if odd is not None:
        raise ModelError(f"xgboost: expected names of features without [, ] and <, got {odd!r}; {OTHER_NAMES}")
    if plain.forest is None:
        raise ModelError("xgboost: expected trees, got a linear model")
    return {"model.json": to_json(document(plain.forest, options))}


def document(forest: Forest, options: Options) -> dict[str, Any]:
    """Return what `Booster.save_model` would write."""
    n_features = len(options.features)
    conditions = np.array(cuts.writable(cuts.next_single(forest.cut)), np.float64)
    values = np.array(singles(forest.value, "leaves"))
    trees = [_tree(forest, i, root, conditions, values, n_features) for i, root in enumerate(forest.roots.tolist())]
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": list(range(len(trees) + 1)),
        "tree_info": [0] * len(trees),
        "trees": trees,
    }
    learner = {
        "attributes": {},
        "feature_names": list(options.features),
        "feature_types": ["float"] * n_features,
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {
            "base_score": "[0E0]",
            "boost_from_average": "0",
            "num_class": "0",
            "num_feature": str(n_features),
            "num_target": "1",
        },
        "objective": OBJECTIVE,
    }
    return {"learner": learner, "version": [3, 2, 0]}


def _tree(forest: Forest, number: int, root: int, conditions: Floats, values: Floats, width: int) -> dict[str, Any]:
    order, parents = [root], [NO_PARENT]
    left, right = [], []
    for place, node in enumerate(order):  # grows while it is read: level by level
        if node < 0:
            left.append(-1)
            right.append(-1)
            continue
        left.append(len(order))
        right.append(len(order) + 1)
        order += [int(forest.left[node]), int(forest.right[node])]
        parents += [place, place]
    inner = [node >= 0 for node in order]
    numbers = [float(conditions[node] if node >= 0 else values[~node]) for node in order]
    zeros = [0.0] * len(order)
    return {
        "base_weights": [number if not split else 0.0 for number, split in zip(numbers, inner, strict=True)],
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": [int(node >= 0 and forest.nan_left[node]) for node in order],
        "id": number,
        "left_children": left,
        "loss_changes": zeros,
        "parents": parents,
        "right_children": right,
        "split_conditions": numbers,
        "split_indices": [int(forest.feature[node]) if node >= 0 else 0 for node in order],
        "split_type": [0] * len(order),
        "sum_hessian": zeros,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(width),
            "num_nodes": str(len(order)),
            "size_leaf_vector": "1",
        },
    }


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written file as XGBoost does: float32 throughout."""
    return parse(files["model.json"]).forest.sums(X.astype(np.float32), np.float32, strict=True)


WRITER = Writer(write, simulate)
