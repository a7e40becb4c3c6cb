"""The work of every solver, climb and boosting that can go on from a checkpoint: ranker and parameters."""

from __future__ import annotations

from typing import Any

TREES: dict[str, Any] = {"n_trees": 8, "n_leaves": 4, "min_documents": 5}
DRAWS: dict[str, Any] = {"feature_fraction": 0.5, "bagging_fraction": 0.6}

WORK: dict[str, tuple[str, dict[str, Any]]] = {
    "bundle": ("svm-ndcg", {"C": 1.0, "bound": "convex", "solver": "bundle", "tol": 1e-4}),
    "bundle with signs": (
        "svm-ndcg",
        {"C": 1.0, "bound": "convex", "solver": "bundle", "tol": 1e-3, "signs": [1, 1, 0, 0, -1]},
    ),
    "bundle, then cutting planes": ("svm-map", {"tol": 1e-9, "C": 1000.0}),
    "level": ("svm-ndcg", {"C": 1.0, "bound": "convex", "penalty": "l1", "tol": 1e-3}),
    "newton": ("rank-svm", {"tol": 1e-9}),
    "l-bfgs": ("log-mle", {"solver": "l-bfgs", "tol": 1e-8}),
    "l-bfgs from several starts": ("log-gain", {"n_starts": 3, "tol": 1e-5}),
    "around a centre": ("orm", {"w0": [1.0, 0.0, 0.0, 0.0, 0.0], "bound": "convex", "solver": "bundle"}),
    "cutting planes": ("svm-map", {"solver": "cutting-plane", "tol": 1e-4}),
    "frank-wolfe": ("svm-map", {"solver": "frank-wolfe", "tol": 1e-4}),
    "online": ("orm", {"solver": "online", "max_iter": 20}),
    "convex steps": ("svm-ndcg", {"bound": "tight", "tol": 1e-4}),
    "one solve after the other": ("smooth-grad", {"halvings": 2}),
    "fixed steps": ("lambdarank", {"max_iter": 8}),
    "direct-rank": ("direct-rank", {"n_starts": 5, "max_iter": 3}),
    "direct-rank, greedy": ("direct-rank", {"n_starts": 1, "coordinates": "greedy", "max_iter": 4}),
    "direct-rank in bags": ("direct-rank", {"n_starts": 1, "bags": 2, "max_iter": 3}),
    "trees without draws": (
        "mart",
        {**TREES, "feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False, "start": None},
    ),
    "trees with draws": ("lambda-mart", {**TREES, **DRAWS, "extra_trees": True}),
    "trees of two seeds, best round kept": ("mart", {**TREES, **DRAWS, "n_seeds": 2, "early_stopping": 3}),
    "trees of several outputs": ("mcrank", {**TREES, **DRAWS, "n_trees": 5, "start": None}),
    "trees of several outputs on a linear start": ("mcrank", {**TREES, **DRAWS, "n_trees": 5, "start": "linear"}),
    "trees on drawn gains": ("xendcg-mart", TREES),
    "leveraged trees": (
        "direct-rank-trees",
        {**TREES, "n_trees": 5, "variant": "leveraged", "objective": "rank-svm", "early_stopping": 3},
    ),
    "exact leaves": ("direct-rank-trees", {**TREES, "n_trees": 5, "leaves": "exact", "feature_fraction": 0.6}),
    "symmetric trees": ("symmetric-mart", {"n_trees": 8, "depth": 3, "n_seeds": 2, "early_stopping": 3}),
    "features": ("adarank", {"n_rounds": 6}),
    "thresholds by pairs": ("rankboost", {"n_rounds": 6}),
    "thresholds by fidelity": ("frank", {"n_rounds": 6}),
    "kernel": ("orm", {"kernel": "rbf", "bound": "convex", "solver": "bundle", "C": 1.0}),
    "coordinate ascent": ("coordinate-ascent", {"n_starts": 2, "max_iter": 3}),
}
