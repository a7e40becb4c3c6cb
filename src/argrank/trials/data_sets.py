"""The data sets of an experiment: a fold read and prepared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argrank.data.collections import load_collection
from argrank.data.collections.known import Collection
from argrank.data.collections.local_copy import read_fold
from argrank.data.folds import Fold, QueryKFold
from argrank.data.generated.standins import make_standin
from argrank.data.io.load import load
from argrank.data.prepare.clean import clean
from argrank.data.prepare.impute import impute
from argrank.data.prepare.normalise import normaliser
from argrank.trials.config import DataSpec


def read_data(spec: DataSpec, fold: int) -> Fold:
    """Read one fold of a data set and do its preprocessing, in the order of the configuration."""
    return prepare(_read(spec, fold), spec.preprocess)


def _read(spec: DataSpec, fold: int) -> Fold:
    if spec.standin is not None:
        return list(QueryKFold().folds(make_standin(spec.standin)))[fold - 1]
    if spec.collection is not None:
        return load_collection(spec.collection, spec.folder, fold)
    if spec.folder is not None:
        own = Collection(name=spec.name, about="", obtain="its owner", features=spec.features)
        return read_fold(own, spec.folder, fold, "float64")
    files = spec.files[fold - 1]
    width: dict[str, Any] = {} if spec.features is None else {"n_features": spec.features}
    parts = {role: load(path, **width) for role, path in files.items()}
    return Fold(parts["train"], parts.get("valid"), parts["test"])


def prepare(fold: Fold, steps: tuple[Mapping[str, Any], ...]) -> Fold:
    """Impute, binarise, clean and normalise all parts; statistics over all data are those of the training part."""
    for step in steps:
        if "impute" in step:
            fold = _each(fold, lambda data, step=step: impute(data, step["impute"], features=step.get("features")))
        elif "binarise" in step:
            fold = _each(fold, lambda data, step=step: data.with_labels(data.y >= step["binarise"]))
        elif "normalise" in step:
            fold = _each(fold, normaliser(step["normalise"]).fit(fold.train).transform)
        else:
            options = {name: value for name, value in step.items() if name != "clean"}
            fold = _each(fold, lambda data, step=step, options=options: clean(data, step["clean"], **options).data)
    return fold


def _each(fold: Fold, change: Any) -> Fold:
    valid = None if fold.valid is None else change(fold.valid)
    return Fold(change(fold.train), valid, change(fold.test))
