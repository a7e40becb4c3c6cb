"""argrank: learning to rank that optimises the measure you report.

The public names are loaded on first use, so ``import argrank`` stays as light as NumPy. This is the only list of them:
``scripts/make_stub.py`` writes ``__init__.pyi`` from the list, for editors and type checkers.
"""

from __future__ import annotations

import importlib
from typing import Any

from argrank import errors as errors
from argrank import trials as trials  # which registers auto
from argrank._uninterrupted import uninterrupted
from argrank._version import __version__

_HOME = {
    "BaseRanker": "argrank.rankers",
    "Clicks": "argrank.data.clicks.log",
    "Dataset": "argrank.data.dataset",
    "LinearRanker": "argrank.rankers",
    "Measure": "argrank.measures",
    "Objective": "argrank.objectives.objective",
    "Prepared": "argrank.objectives.objective",
    "Product": "argrank.measures.product",
    "QueryKFold": "argrank.data.folds",
    "agreement": "argrank.evaluation.judges.agreement",
    "benchmark": "argrank.trials.cv",
    "bootstrap_weights": "argrank.trials.bootstrap",
    "check_collection": "argrank.data.collections",
    "clean": "argrank.data.prepare.clean",
    "click_model": "argrank.clicks.models",
    "collection_names": "argrank.data.collections",
    "compare": "argrank.evaluation.compare",
    "compress": "argrank.trials.compress",
    "convention_names": "argrank.measures.conventions",
    "cross_validate": "argrank.trials.cv",
    "diversify": "argrank.evaluation.diversity",
    "doctor": "argrank.data.doctor",
    "dump": "argrank.data.io.load",
    "evaluate": "argrank.evaluation.evaluate",
    "evaluate_diverse": "argrank.evaluation.diversity",
    "export": "argrank.deploy.exporting",
    "from_clicks": "argrank.clicks.from_clicks",
    "import_model": "argrank.deploy.importing",
    "impute": "argrank.data.prepare.impute",
    "interleave": "argrank.clicks.interleaving",
    "judgements": "argrank.clicks.judgements",
    "line_search": "argrank.linesearch.search",
    "load": "argrank.data.io.load",
    "load_bundled": "argrank.data.bundled",
    "load_clicks": "argrank.data.clicks.load",
    "load_collection": "argrank.data.collections",
    "load_logged": "argrank.data.logged",
    "load_model": "argrank.models.files",
    "load_ratings": "argrank.data.collections",
    "make_ranker": "argrank.rankers",
    "make_ranking": "argrank.data.generated.synthetic",
    "make_standin": "argrank.data.generated.standins",
    "measure": "argrank.measures.own",
    "measure_names": "argrank.measures.names",
    "micro_average": "argrank.evaluation.across_data_sets",
    "normalise": "argrank.data.prepare.normalise",
    "objective": "argrank.rankers",
    "pack": "argrank.data.io.pack.pack",
    "permutation_importance": "argrank.trials.permutation",
    "plot": "argrank.report",
    "power": "argrank.evaluation.power",
    "preference": "argrank.evaluation.counterfactual.preference",
    "propensities": "argrank.clicks.propensities",
    "ranker_names": "argrank.rankers",
    "read_judgements": "argrank.data.judgement_lists",
    "read_propensities": "argrank.clicks.propensities",
    "read_query_set": "argrank.data.judgement_lists",
    "read_scores": "argrank.data.io.scores",
    "register_measure": "argrank.measures",
    "register_ranker": "argrank.rankers",
    "register_solver": "argrank.solvers",
    "register_target": "argrank.deploy.registry",
    "regularisation_path": "argrank.trials.path",
    "run_experiment": "argrank.trials.experiment",
    "select": "argrank.trials.select",
    "simulate_clicks": "argrank.clicks.simulation",
    "targets": "argrank.deploy.registry",
    "tune_weights": "argrank.trials.fusion.tune_weights",
    "why_above": "argrank.report.why",
    "why_differs": "argrank.evaluation.why_differs",
    "winning_numbers": "argrank.evaluation.across_data_sets",
    "write_clicks": "argrank.data.clicks.load",
    "write_judgements": "argrank.data.judgement_lists",
    "write_query_set": "argrank.data.judgement_lists",
    "write_report": "argrank.report.write",
    "write_scores": "argrank.data.io.scores",
}

__all__ = ["__version__", "errors", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'argrank' has no attribute {name!r}")
    with uninterrupted():
        value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
