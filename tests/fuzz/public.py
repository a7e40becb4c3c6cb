"""One call that works, and takes little time, for every public function and for the methods that people call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.rankers import FactorRank, PositionMatch

SIZES = ("n_queries", "n_documents", "n_features", "n_resamples", "bootstrap", "grades", "n_sessions", "n_repeats", "n")
SIZES += ("n_folds", "cv", "n_starts", "levels", "navigational_documents", "n_results", "n_splits", "cutoffs")
SIZES += ("top",)  # many only take long
TO_DERIVE_FROM = ("BaseRanker", "LinearRanker", "Measure", "Objective", "Prepared")
NOT_CALLED = ("load_bundled", "collection_names", "convention_names", "measure_names")  # without arguments


@dataclass(frozen=True)
class Call:
    """A public function or method, and the arguments of a call that works."""

    function: Callable[..., Any]
    given: Mapping[str, Any] = field(default_factory=dict)
    writes: bool = False


def public_names() -> list[str]:
    """Return the public names that are called: functions, and classes that are not there to derive from."""
    return [one for one in ar.__all__ if callable(getattr(ar, one)) and one not in (*TO_DERIVE_FROM, *NOT_CALLED)]


def public_methods() -> list[Callable[..., Any]]:
    """Return the methods that people call of what they make, are given back, or derive from, and the plots."""
    from argrank._results import Framed, Rendered
    from argrank.clicks.interleaving import Interleaved
    from argrank.clicks.judgements import Judgements
    from argrank.clicks.models.click_model import ClickModel
    from argrank.clicks.propensities import Propensities
    from argrank.data.doctor.diagnosis import Diagnosis
    from argrank.deploy.exporting import Export
    from argrank.evaluation.comparison import Comparison
    from argrank.evaluation.judges.audit import Agreement
    from argrank.evaluation.power import Power
    from argrank.models.model import Model
    from argrank.rankers.factors.factor_ranker import FactorRanker
    from argrank.trials.fusion.tuned_weights import TunedWeights
    from argrank.trials.results import Results
    from argrank.trials.select import Selection
    from argrank.trials.trial import Trial

    asked = ("fit", "predict", "rank", "score", "risk", "shap_values", "save", "recommend", "match")
    kinds: list[type] = [ar.Dataset, ar.Clicks, ar.QueryKFold, ClickModel, Propensities, Interleaved, Judgements]
    kinds += [Diagnosis, Export, Comparison, Agreement, Power, Rendered, Framed, TunedWeights, Results]
    kinds += [Selection, Trial]
    found = [vars(kind)[name] for kind in kinds for name in vars(kind) if not name.startswith("_")]
    for kind in (ar.BaseRanker, FactorRanker, PositionMatch, Model):
        found += [vars(kind)[name] for name in asked if name in vars(kind)]
    found += [getattr(ar.plot, name) for name in ar.plot.__all__]
    plain = [one.__func__ if isinstance(one, classmethod | staticmethod) else one for one in found]
    return [one for one in plain if inspect.isfunction(one)]


def public_calls(folder: Path) -> dict[str, Call]:
    """Return calls by name: all of ``public_names``, and methods."""
    return {**_of_functions(folder), **_of_methods(folder)}


def _data() -> ar.Dataset:
    return ar.make_ranking(8, 6, 3, random_state=0)


def _of_functions(folder: Path) -> dict[str, Call]:
    data = _data()
    with_sources = ar.Dataset(data.X, data.y, group=data.sizes, sources=np.arange(data.n_documents) % 3)
    with_ids = ar.Dataset(data.X, None, data.qid, document_ids=np.arange(data.n_documents).astype(str))
    scores, quiet = data.X[:, 0], {"progress": False}
    ranker = ar.make_ranker("rank-svm").fit(data)
    forest = ar.make_ranker("mart", n_trees=2, min_documents=1, verbose=-1).fit(data)
    log = ar.simulate_clicks(data, scores, n_sessions=50, vary=1.0)
    for name in ("model.json", "data.txt", "scores.txt", "experiment.toml"):
        (folder / name).unlink(missing_ok=True)
    ranker.save(folder / "model.json")
    ar.dump(data, folder / "data.txt")
    ar.write_scores(scores, folder / "scores.txt")
    by_system, judged = {"a": scores, "b": -scores}, {"1": {"x": 1, "y": 2}}
    frame = {"session": [1, 1], "qid": ["a", "a"], "docid": ["x", "y"], "position": [1, 2], "click": [0, 1]}
    return {
        "Clicks.of": Call(ar.Clicks.of, {"columns": frame}),
        "Dataset": Call(ar.Dataset, {"X": data.X, "y": data.y, "qid": data.qid}),
        "QueryKFold": Call(ar.QueryKFold, {}),
        "agreement": Call(functools.partial(ar.agreement, judged, {"1": {"x": 0, "y": 1}})),
        "benchmark": Call(ar.benchmark, {"data": data, "rankers": ["regression"], "n_folds": 2, **quiet}),
        "bootstrap_weights": Call(ar.bootstrap_weights, {"ranker": ranker, "train": data, "n_resamples": 2, **quiet}),
        "check_collection": Call(ar.check_collection, {"name": "ohsumed", "folder": folder}),
        "clean": Call(ar.clean, {"data": data}),
        "click_model": Call(ar.click_model, {"name": "pbm"}),
        "compare": Call(ar.compare, {"scores": by_system, "data": data, "measures": "map"}),
        "cross_validate": Call(
            ar.cross_validate, {"ranker": "regression", "data": data, "measures": "map", "n_folds": 3, **quiet}
        ),
        "diversify": Call(ar.diversify, {"scores": scores, "data": with_sources}),
        "doctor": Call(ar.doctor, {"data": data}),
        "dump": Call(ar.dump, {"data": data, "path": folder / "out.txt"}, writes=True),
        "evaluate": Call(ar.evaluate, {"scores": scores, "data": data, "measures": "map"}),
        "evaluate_diverse": Call(ar.evaluate_diverse, {"scores": scores, "data": with_sources, "measures": "map"}),
        "export": Call(ar.export, {"model": ranker, "to": "python"}),
        "import_model": Call(ar.import_model, {"path": folder / "model.json"}),
        "from_clicks": Call(ar.from_clicks, {"log": log, "features": with_ids}),
        "impute": Call(ar.impute, {"data": data}),
        "interleave": Call(ar.interleave, {"runs": {"a": judged, "b": {"1": {"x": 2, "y": 1}}}}),
        "judgements": Call(ar.judgements, {"log": log}),
        "line_search": Call(ar.line_search, {"scores": scores, "direction": data.X[:, 1], "data": data}),
        "load": Call(ar.load, {"path": folder / "data.txt", **quiet}),
        "load_clicks": Call(ar.load_clicks, {"source": folder / "data.txt"}),
        "load_collection": Call(ar.load_collection, {"name": "ohsumed", "folder": folder}),
        "load_logged": Call(ar.load_logged, {"path": folder / "data.txt"}),
        "load_model": Call(ar.load_model, {"path": folder / "model.json"}),
        "load_ratings": Call(ar.load_ratings, {"folder": folder}),
        "make_ranker": Call(ar.make_ranker, {"name": "rank-svm"}),
        "make_ranking": Call(ar.make_ranking, {"n_queries": 3, "n_documents": 4, "n_features": 2}),
        "make_standin": Call(ar.make_standin, {"name": "nonsense"}),
        "measure": Call(ar.measure, {"name": "map"}),
        "micro_average": Call(ar.micro_average, {"table": {"one": {"a": {"map": [0.5]}}}}),
        "normalise": Call(ar.normalise, {"data": data}),
        "objective": Call(ar.objective, {"name": "rank-svm"}),
        "pack": Call(ar.pack, {"source": data, "path": folder / "data.pack", **quiet}, writes=True),
        "compress": Call(ar.compress, {"model": forest, "train": data, "max_trees": 2}),
        "permutation_importance": Call(ar.permutation_importance, {"ranker": ranker, "data": data, "n_repeats": 1}),
        "power": Call(ar.power, {"pilot": scores}),
        "preference": Call(ar.preference, {"log": log}),
        "Product": Call(ar.Product, {"a": [1.0, 0.5]}),
        "propensities": Call(ar.propensities, {"log": log}),
        "ranker_names": Call(ar.ranker_names),
        "read_judgements": Call(ar.read_judgements, {"path": folder / "data.txt"}),
        "read_propensities": Call(ar.read_propensities, {"path": folder / "data.txt"}),
        "read_query_set": Call(ar.read_query_set, {"path": folder / "data.txt"}),
        "read_scores": Call(ar.read_scores, {"path": folder / "scores.txt", "data": data}),
        "register_measure": Call(ar.register_measure, {"kind": type(ar.measure("map"))}),
        "register_ranker": Call(ar.register_ranker, {"name": "rank-svm", "cls": type(ranker)}),
        "register_solver": Call(ar.register_solver, {"name": "newton", "run": len}),
        "register_target": Call(ar.register_target, {"name": "python", "writer": None}),
        "regularisation_path": Call(
            ar.regularisation_path, {"ranker": "rank-svm", "values": [1.0], "train": data, **quiet}
        ),
        "run_experiment": Call(ar.run_experiment, {"config": folder / "absent", "output": folder / "o"}, writes=True),
        "select": Call(
            ar.select,
            {"ranker": "rank-svm", "grid": {"C": [1.0]}, "train": data, "valid": data, "measure": "map", **quiet},
        ),
        "simulate_clicks": Call(ar.simulate_clicks, {"data": data, "scores": scores, "n_sessions": 20}),
        "targets": Call(ar.targets),
        "tune_weights": Call(ar.tune_weights, {"scores_by_system": by_system, "data": data, "cv": None}),
        "why_above": Call(ar.why_above, {"ranker": ranker, "data": data, "a": 0, "b": 1}),
        "why_differs": Call(ar.why_differs, {"scores": scores, "data": data, "measure": "map"}),
        "winning_numbers": Call(ar.winning_numbers, {"table": {"one": {"a": {"map": [0.5]}}}}),
        "write_clicks": Call(ar.write_clicks, {"log": log, "path": folder / "log.csv"}, writes=True),
        "write_judgements": Call(
            ar.write_judgements, {"judged": judged, "path": folder / "a.qrels", "format": "qrels"}, writes=True
        ),
        "write_query_set": Call(ar.write_query_set, {"queries": ["a"], "path": folder / "set.json"}, writes=True),
        "write_report": Call(
            ar.write_report, {"path": folder / "report.html", "data": data, "systems": {"a": scores}}, writes=True
        ),
        "write_scores": Call(ar.write_scores, {"scores": scores, "path": folder / "out_scores.txt"}, writes=True),
    }  # fmt: skip


def _of_methods(folder: Path) -> dict[str, Call]:
    data = _data()
    scores = data.X[:, 0]
    linear, trees = ar.make_ranker("regression").fit(data), ar.make_ranker("mart", n_trees=2, min_documents=1).fit(data)
    log = ar.simulate_clicks(data, scores, n_sessions=50, vary=1.0)
    model = ar.click_model("pbm").fit(log)
    by_system = {"a": scores, "b": -scores}
    compared = ar.compare(by_system, data, "map")
    chosen = ar.select("rank-svm", {"C": [1.0]}, data, data, "map", progress=False)
    tuned = ar.tune_weights(by_system, data, cv=None)
    trial = ar.cross_validate(["regression", "mart"], data, "map", n_folds=3, progress=False)
    people, things = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    factors = FactorRank(max_iter=2).fit(people, things, (people + things) % 3)
    rows = {"X": data.X, "qid": data.qid}
    judged = {"X": data.X, "y": data.y, "qid": data.qid}
    match = PositionMatch().fit(data.X, np.zeros((data.n_documents, 6)), qid=data.qid)
    curve = ar.propensities(log, "ctr")
    judges = ar.agreement({"1": {"x": 1, "y": 2}}, {"1": {"x": 0, "y": 1}})
    power = ar.power(scores)
    mixed = ar.interleave({"a": {"1": {"x": 1.0, "y": 2.0}}, "b": {"1": {"x": 2.0, "y": 1.0}}})
    path = ar.regularisation_path("rank-svm", [1.0, 2.0], data, data, "map", progress=False)
    risk = linear.risk(data)
    risk.value_and_gradient(np.zeros(3))
    found = {
        **{f"plot.{name}": Call(getattr(ar.plot, name), given) for name, given in {
            "agreement": {"found": judges}, "click_rates": {"log": log},
            "dependence": {"fitted": linear, "data": data, "feature": 1},
            "differences": {"comparison": compared, "measure": "map", "a": "a", "b": "b"},
            "histogram": {"data": data}, "importances": {"fitted": trees},
            "measure_curves": {"scores": by_system, "data": data}, "path": {"found": path}, "power": {"found": power},
            "propensities": {"curve": curve}, "rank_pairs": {"log": log}, "trace": {"fitted": trees},
            "weights": {"fitted": linear},
        }.items()},
        "Agreement.judge_again": Call(judges.judge_again, {}),
        "Agreement.render": Call(judges.render, {}),
        "Diagnosis.of": Call(ar.doctor(data).of, {"severity": "note"}),
        "Interleaved.write": Call(mixed.write, {"path": folder / "mixed.csv"}, writes=True),
        "Judgements.write": Call(ar.judgements(log).write, {"path": folder / "judged.csv"}, writes=True),
        "Power.smallest": Call(power.smallest, {"row": power.rows[0], "n_queries": 30}),
        "Clicks.select": Call(log.select, {"sessions": [0, 1]}),
        "Clicks.column": Call(log.column, {"name": "ranker"}),
        "Clicks.split": Call(log.split, {"before": 1}),
        "Dataset.aligned": Call(data.aligned, {"other": data}),
        "Dataset.batches": Call(data.batches, {"n_documents": 10}),
        "Dataset.between": Call(data.between, {"first": 0, "last": 2}),
        "Dataset.concatenate": Call(ar.Dataset.concatenate, {"parts": [data]}),
        "Dataset.from_caller": Call(data.from_caller, {"values": scores}),
        "Dataset.keep": Call(data.keep, {"rows": data.y >= 0}),
        "Dataset.select": Call(data.select, {"queries": [0]}),
        "Dataset.split": Call(data.split, {}),
        "Dataset.to_caller": Call(data.to_caller, {"values": scores}),
        "Dataset.with_features": Call(data.with_features, {"X": data.X}),
        "Dataset.with_labels": Call(data.with_labels, {"y": data.y}),
        "QueryKFold.folds": Call(ar.QueryKFold(3).folds, {"data": data}),
        "QueryKFold.split": Call(ar.QueryKFold(3).split, {"X": data.X, "groups": data.qid}),
        "ClickModel.fit": Call(ar.click_model("ubm").fit, {"log": log}),
        "ClickModel.assume": Call(ar.click_model("pbm").assume, {"log": log}),
        "ClickModel.predict": Call(model.predict, {"log": log}),
        "ClickModel.log_likelihood": Call(model.log_likelihood, {"log": log}),
        "ClickModel.perplexity": Call(model.perplexity, {"log": log}),
        "ClickModel.perplexity_by_rank": Call(model.perplexity_by_rank, {"log": log}),
        "ClickModel.simulate": Call(model.simulate, {"log": log}),
        "Comparison.differences": Call(compared.differences, {"measure": "map", "a": "a", "b": "b"}),
        "Comparison.letter_of": Call(compared.letter_of, {"system": "a"}),
        "Comparison.letters": Call(compared.letters, {"measure": "map"}),
        "Comparison.mean": Call(compared.mean, {"system": "a", "measure": "map"}),
        "Comparison.interval_text": Call(compared.interval_text, {"pair": compared.pairs[0]}),
        "Comparison.pairs_table": Call(compared.pairs_table, {}),
        "Comparison.render": Call(compared.render, {"format": "text"}),
        "Export.write": Call(ar.export(linear, "python").write, {"folder": folder / "exported"}, writes=True),
        "Propensities.at": Call(curve.at, {"position": np.array([1, 2])}),
        "Propensities.of": Call(curve.of, {"log": log}),
        "Propensities.offset_at": Call(curve.offset_at, {"position": np.array([1, 2])}),
        "Propensities.read": Call(type(curve).read, {"path": folder / "data.txt"}),
        "Propensities.write": Call(curve.write, {"path": folder / "curve.json"}, writes=True),
        "Selection.curve": Call(chosen.curve, {"parameter": "C"}),
        "Trial.params": Call(trial.params, {"name": "mart"}),
        "Trial.ranker": Call(trial.ranker, {"name": "mart"}),
        "Trial.render": Call(trial.render, {"format": "text"}),
        "TunedWeights.formula": Call(tuned.formula, {"target": "plain"}),
        "TunedWeights.fuse": Call(tuned.fuse, {"scores_by_system": by_system, "data": data}),
        "TunedWeights.requests": Call(tuned.requests, {}),
        "TunedWeights.write": Call(tuned.write, {"folder": folder / "tuned"}, writes=True),
        "TunedWeights.save": Call(tuned.save, {"path": folder / "tuned.json"}, writes=True),
        "factor-rank.fit": Call(FactorRank(max_iter=2).fit, {"users": people, "items": things, "ratings": people % 2}),
        "factor-rank.predict": Call(factors.predict, {"users": people, "items": things}),
        "factor-rank.recommend": Call(factors.recommend, {"user": 1}),
        "factor-rank.score": Call(factors.score, {"users": people, "items": things, "ratings": people % 2}),
        "factor-rank.save": Call(factors.save, {"path": folder / "factors.json"}, writes=True),
        "risk.value_and_gradient": Call(risk.value_and_gradient, {"w": np.zeros(3)}),
        "risk.scores": Call(risk.scores, {"w": np.zeros(3)}),
        "risk.hessian_product": Call(risk.hessian_product, {"direction": np.zeros(3)}),
        "objective()": Call(ar.objective("rank-svm").__call__, {"scores": scores, "data": data}),
        "position-match.fit": Call(
            PositionMatch().fit, {"X": data.X, "gains": np.zeros((data.n_documents, 6)), "qid": data.qid}
        ),
        "position-match.match": Call(match.match, rows),
        "position-match.predict": Call(match.predict, rows),
        "position-match.save": Call(match.save, {"path": folder / "slots.json"}, writes=True),
    }  # fmt: skip
    for name, ranker in (("regression", linear), ("mart", trees)):
        fresh = ar.make_ranker(name, **({"n_trees": 2, "min_documents": 1} if name == "mart" else {}))
        found |= {
            f"{name}.fit": Call(fresh.fit, judged),
            f"{name}.predict": Call(ranker.predict, rows),
            f"{name}.rank": Call(ranker.rank, rows),
            f"{name}.score": Call(ranker.score, judged),
            f"{name}.risk": Call(linear.risk, {"data": data}),
            f"{name}.shap_values": Call(ranker.shap_values, rows),
            f"{name}.save": Call(ranker.save, {"path": folder / "saved.json"}, writes=True),
            f"{name}.model_.rank": Call(ranker.model_.rank, rows),
        }
    return found
