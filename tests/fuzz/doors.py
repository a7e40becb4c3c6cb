"""Perverse values for every argument of every public function: only errors of argrank may come out."""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.fuzz.values import PERVERSE, right

import argrank as ar
from argrank._declared import arguments_of
from argrank.errors import ArgrankError

DATA = ar.make_ranking(8, 6, 3, random_state=0)
SCORES = DATA.X[:, 0]
SIZES = ("n_queries", "n_documents", "n_features", "n_resamples", "bootstrap", "grades")  # huge ones only take long


class Leak(NamedTuple):
    """A call that ended in an error which is not ours."""

    function: str
    argument: str
    value: str
    error: str


def calls(folder: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return functions with the arguments of a call that works and takes little time."""
    ranker = ar.make_ranker("rank-svm").fit(DATA)
    ranker.save(folder / "model.json")
    ar.dump(DATA, folder / "data.txt")
    ar.write_scores(SCORES, folder / "scores.txt")
    quiet = {"progress": False}
    return {
        "benchmark": (ar.benchmark, {"data": DATA, "rankers": ["regression"], "n_folds": 2, **quiet}),
        "bootstrap_weights": (ar.bootstrap_weights, {"ranker": ranker, "train": DATA, "n_resamples": 2, **quiet}),
        "clean": (ar.clean, {"data": DATA}),
        "compare": (ar.compare, {"scores": {"a": SCORES, "b": -SCORES}, "data": DATA, "measures": "map"}),
        "cross_validate": (
            ar.cross_validate,
            {"ranker": "regression", "data": DATA, "measures": "map", "n_folds": 2, **quiet},
        ),
        "diversify": (ar.diversify, {"scores": SCORES, "data": with_sources()}),
        "doctor": (ar.doctor, {"data": DATA}),
        "dump": (ar.dump, {"data": DATA, "path": folder / "out.txt"}),
        "evaluate": (ar.evaluate, {"scores": SCORES, "data": DATA, "measures": "map"}),
        "evaluate_diverse": (ar.evaluate_diverse, {"scores": SCORES, "data": with_sources(), "measures": "map"}),
        "export": (ar.export, {"model": ranker, "to": "python"}),
        "import_model": (ar.import_model, {"path": folder / "model.json"}),
        "impute": (ar.impute, {"data": DATA}),
        "line_search": (ar.line_search, {"scores": SCORES, "direction": DATA.X[:, 1], "data": DATA}),
        "load": (ar.load, {"path": folder / "data.txt", **quiet}),
        "load_model": (ar.load_model, {"path": folder / "model.json"}),
        "make_ranker": (ar.make_ranker, {"name": "rank-svm"}),
        "make_ranking": (ar.make_ranking, {"n_queries": 3, "n_documents": 4, "n_features": 2}),
        "make_standin": (ar.make_standin, {"name": "nonsense"}),
        "measure": (ar.measure, {"name": "map"}),
        "normalise": (ar.normalise, {"data": DATA}),
        "objective": (ar.objective, {"name": "rank-svm"}),
        "pack": (ar.pack, {"source": DATA, "path": folder / "data.pack", **quiet}),
        "ranker_names": (ar.ranker_names, {}),
        "read_scores": (ar.read_scores, {"path": folder / "scores.txt", "data": DATA}),
        "regularisation_path": (
            ar.regularisation_path,
            {"ranker": "rank-svm", "values": [1.0], "train": DATA, **quiet},
        ),
        "select": (
            ar.select,
            {"ranker": "rank-svm", "grid": {"C": [1.0]}, "train": DATA, "valid": DATA, "measure": "map", **quiet},
        ),
        "split": (DATA.split, {}),
        "targets": (ar.targets, {}),
        "tune_weights": (ar.tune_weights, {"scores_by_system": {"a": SCORES, "b": -SCORES}, "data": DATA, "cv": None}),
        "why_above": (ar.why_above, {"ranker": ranker, "data": DATA, "a": 0, "b": 1}),
        "why_differs": (ar.why_differs, {"scores": SCORES, "data": DATA, "measure": "map"}),
        "write_report": (ar.write_report, {"path": folder / "report.html", "data": DATA, "systems": {"a": SCORES}}),
        "write_scores": (ar.write_scores, {"scores": SCORES, "path": folder / "out_scores.txt"}),
    }


def with_sources() -> ar.Dataset:
    """Return the data with a source for every row."""
    return ar.Dataset(DATA.X, DATA.y, group=DATA.sizes, sources=np.arange(DATA.n_documents) % 3)


def leaks(only: str | None = None) -> Iterator[Leak]:
    """Yield the calls that end in an error which is not ours."""
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (function, given) in calls(Path(made)).items():
            if only is not None and name != only:
                continue
            for argument, parameter in inspect.signature(function).parameters.items():
                if parameter.kind is parameter.VAR_KEYWORD or (argument == "path" and name in ("dump", "pack")):
                    continue
                for value in values_for(function, argument):
                    found = tried(function, given, argument, value, parameter.kind is parameter.VAR_POSITIONAL)
                    if found is not None:
                        yield Leak(name, argument, repr(value)[:40], found)


def values_for(function: Callable[..., Any], argument: str) -> list[Any]:
    """Return perverse values and those that the declaration allows, but no sizes that would only take long."""
    known = arguments_of(function).get(argument)
    values = [*PERVERSE, *([] if known is None or known.is_open else right(known))]
    huge = (
        2**31
        if argument in ("n_queries", "n_documents", "n_features", "n_resamples", "bootstrap", "grades")
        else 10**500
    )
    return [one for one in values if not (isinstance(one, int | float) and not isinstance(one, bool) and one >= huge)]


def tried(function: Callable[..., Any], given: dict[str, Any], argument: str, value: Any, spread: bool) -> str | None:
    """Return the type and text of an error that is not ours, None where there is none."""
    try:
        if spread:
            function(*given.values(), value)
        else:
            function(**{**given, argument: value})
    except (ArgrankError, KeyboardInterrupt):
        return None
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    return None


if __name__ == "__main__":
    import sys

    count = 0
    for leak in leaks(sys.argv[1] if len(sys.argv) > 1 else None):
        count += 1
        print(*leak, sep=" | ", flush=True)
    print(count, "leaks")
