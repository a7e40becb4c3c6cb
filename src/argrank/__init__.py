"""argrank: learning to rank that optimises the measure you report.

The public names are loaded on first use, so ``import argrank`` stays as light as NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from argrank._uninterrupted import uninterrupted
from argrank._version import __version__

_HOME = {
    "Dataset": "argrank.data.dataset",
    "QueryKFold": "argrank.data.folds",
    "benchmark": "argrank.trials.cv",
    "bootstrap_weights": "argrank.trials.bootstrap",
    "check_collection": "argrank.data.collections",
    "clean": "argrank.data.prepare.clean",
    "collection_names": "argrank.data.collections",
    "compare": "argrank.evaluation.compare",
    "convention_names": "argrank.measures.conventions",
    "cross_validate": "argrank.trials.cv",
    "diversify": "argrank.evaluation.diversity",
    "doctor": "argrank.data.doctor",
    "dump": "argrank.data.io.load",
    "evaluate": "argrank.evaluation.evaluate",
    "evaluate_diverse": "argrank.evaluation.diversity",
    "export": "argrank.deploy.exporting",
    "import_model": "argrank.deploy.importing",
    "impute": "argrank.data.prepare.impute",
    "line_search": "argrank.linesearch.search",
    "load": "argrank.data.io.load",
    "load_bundled": "argrank.data.bundled",
    "load_collection": "argrank.data.collections",
    "load_model": "argrank.models.files",
    "load_ratings": "argrank.data.collections",
    "make_ranker": "argrank.rankers",
    "make_ranking": "argrank.data.generated.synthetic",
    "make_standin": "argrank.data.generated.standins",
    "measure": "argrank.measures.names",
    "measure_names": "argrank.measures.names",
    "micro_average": "argrank.evaluation.across_data_sets",
    "normalise": "argrank.data.prepare.normalise",
    "objective": "argrank.rankers",
    "pack": "argrank.data.io.pack.pack",
    "permutation_importance": "argrank.trials.permutation",
    "plot": "argrank.report",
    "ranker_names": "argrank.rankers",
    "read_scores": "argrank.data.io.scores",
    "regularisation_path": "argrank.trials.path",
    "run_experiment": "argrank.trials.experiment",
    "select": "argrank.trials.select",
    "targets": "argrank.deploy.registry",
    "tune_weights": "argrank.trials.fusion.tune_weights",
    "why_above": "argrank.report.why",
    "why_differs": "argrank.evaluation.why_differs",
    "winning_numbers": "argrank.evaluation.across_data_sets",
    "write_report": "argrank.report.write",
    "write_scores": "argrank.data.io.scores",
}

__all__ = [
    "Dataset",
    "QueryKFold",
    "__version__",
    "benchmark",
    "bootstrap_weights",
    "check_collection",
    "clean",
    "collection_names",
    "compare",
    "convention_names",
    "cross_validate",
    "diversify",
    "doctor",
    "dump",
    "evaluate",
    "evaluate_diverse",
    "export",
    "import_model",
    "impute",
    "line_search",
    "load",
    "load_bundled",
    "load_collection",
    "load_model",
    "load_ratings",
    "make_ranker",
    "make_ranking",
    "make_standin",
    "measure",
    "measure_names",
    "micro_average",
    "normalise",
    "objective",
    "pack",
    "permutation_importance",
    "plot",
    "ranker_names",
    "read_scores",
    "regularisation_path",
    "run_experiment",
    "select",
    "targets",
    "tune_weights",
    "why_above",
    "why_differs",
    "winning_numbers",
    "write_report",
    "write_scores",
]

if TYPE_CHECKING:
    from argrank.data.bundled import load_bundled
    from argrank.data.collections import check_collection, collection_names, load_collection, load_ratings
    from argrank.data.dataset import Dataset
    from argrank.data.doctor import doctor
    from argrank.data.folds import QueryKFold
    from argrank.data.generated.standins import make_standin
    from argrank.data.generated.synthetic import make_ranking
    from argrank.data.io.load import dump, load
    from argrank.data.io.pack.pack import pack
    from argrank.data.io.scores import read_scores, write_scores
    from argrank.data.prepare.clean import clean
    from argrank.data.prepare.impute import impute
    from argrank.data.prepare.normalise import normalise
    from argrank.deploy.exporting import export
    from argrank.deploy.importing import import_model
    from argrank.deploy.registry import targets
    from argrank.evaluation.across_data_sets import micro_average, winning_numbers
    from argrank.evaluation.compare import compare
    from argrank.evaluation.diversity import diversify, evaluate_diverse
    from argrank.evaluation.evaluate import evaluate
    from argrank.evaluation.why_differs import why_differs
    from argrank.linesearch.search import line_search
    from argrank.measures.conventions import convention_names
    from argrank.measures.names import measure, measure_names
    from argrank.models.files import load_model
    from argrank.rankers import make_ranker, objective, ranker_names
    from argrank.report import plot
    from argrank.report.why import why_above
    from argrank.report.write import write_report
    from argrank.trials.bootstrap import bootstrap_weights
    from argrank.trials.cv import benchmark, cross_validate
    from argrank.trials.experiment import run_experiment
    from argrank.trials.fusion.tune_weights import tune_weights
    from argrank.trials.path import regularisation_path
    from argrank.trials.permutation import permutation_importance
    from argrank.trials.select import select


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'argrank' has no attribute {name!r}")
    with uninterrupted():
        value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
