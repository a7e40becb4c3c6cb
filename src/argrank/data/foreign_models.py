"""Estimators and models of other libraries: train them on a Dataset and compute its scores.

LGBMRanker, XGBRanker, CatBoostRanker, boosters, scikit-learn's regressors and pipelines, and anything else with a
``predict`` that takes a matrix or a data frame.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data import checks
from argrank.data.categories import align, made_up
from argrank.data.dataset import Dataset
from argrank.errors import ArgrankError, InputError


def takes_datasets(one: Any) -> bool:
    """Tell whether an estimator or model takes Datasets: argrank's own, or one whose ``fit`` has one argument."""
    if getattr(one, "takes_datasets", False):
        return True
    if not hasattr(one, "fit"):
        return False
    parameters = list(inspect.signature(one.fit).parameters.values())
    return len(parameters) == 1 and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL


def is_trained(one: Any) -> bool:
    """Tell whether an estimator is fitted; objects that cannot be cloned count as fitted."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(one, "fit") or not hasattr(one, "get_params"):
        return True
    if callable(getattr(one, "is_fitted", None)):  # CatBoost
        return bool(one.is_fitted())
    try:
        check_is_fitted(one)
    except NotFittedError:
        return False
    return True


def train(estimator: Any, data: Dataset) -> Any:
    """Fit an estimator of another library in place, with the queries as the argument that it expects; return it."""
    if data.sample_weight is not None or data.query_weight is not None:
        raise InputError(f"{type(estimator).__name__}: expected data without weights, which libraries take differently")
    if data.gains is not None:
        raise InputError(
            f"{type(estimator).__name__}: expected labels, got row gains, which other libraries do not support"
        )
    X = _matrix(data.X, data.feature_names)
    try:
        estimator.fit(X, data.y, **_queries(estimator, data))
    except ArgrankError:
        raise
    except Exception as error:
        raise InputError(f"{type(estimator).__name__}: fit failed: {type(error).__name__}: {error}") from error
    return estimator


def scores(model: Any, data: Dataset, name: str) -> Floats:
    """Return a trained model's scores, one for each row in the caller's order; the name is for messages."""
    if takes_datasets(model):
        if not is_trained(model):
            raise InputError(f"{name!r}: expected a fitted model, got {type(model).__name__} before fit")
        predicted = model.predict(data)
    else:
        expected = _feature_names(model)
        try:
            X = align(data.X, data.feature_names, data.categories, expected, data.categories)
            predicted = data.to_caller(np.asarray(_predict(model, _matrix(X, expected))))
        except ArgrankError as error:
            raise InputError(f"{name!r}: {error}") from error
        except Exception as error:
            if "NotFitted" in type(error).__name__ or not is_trained(model):
                raise InputError(f"{name!r}: expected a fitted model, got {type(model).__name__} before fit") from error
            raise InputError(
                f"{name!r}: {type(model).__name__} could not score {data.n_features} features: "
                f"{type(error).__name__}: {error}"
            ) from error
    return checks.numbers(predicted, data.n_documents, f"scores of {name!r}", "score")


def _predict(model: Any, X: Any) -> Any:
    if type(model).__module__.startswith("xgboost") and hasattr(model, "inplace_predict"):  # a Booster
        return model.inplace_predict(X, validate_features=False)
    return model.predict(X)


def _queries(estimator: Any, data: Dataset) -> dict[str, Any]:
    """Return the queries as keyword argument of ``fit``; empty for pointwise estimators."""
    import sklearn

    prefix, last = "", estimator
    while hasattr(last, "steps"):  # a pipeline passes arguments with the prefix of its last step
        step, last = last.steps[-1]
        prefix += f"{step}__"
    if sklearn.get_config()["enable_metadata_routing"]:
        prefix = ""
    known = inspect.signature(last.fit).parameters if hasattr(last, "fit") else {}
    ways = {"qid": data.query_of_row, "group": data.sizes, "group_id": data.query_of_row}
    way = next((name for name in ways if name in known), None)
    return {} if way is None else {f"{prefix}{way}": ways[way]}


def _feature_names(model: Any) -> tuple[str, ...] | None:
    """Return the names of the features that a model was fitted with; None if the library made them up."""
    for attribute in ("feature_names_in_", "feature_names_", "feature_name_", "feature_name", "feature_names"):
        try:
            found = getattr(model, attribute, None)
            found = found() if callable(found) else found
        except Exception:  # an unfitted model of LightGBM or XGBoost raises its own error
            continue
        if found is not None and len(found):
            names = tuple(str(name) for name in found)
            return None if made_up(names) else names
    return None


def _matrix(X: Any, names: tuple[str, ...] | None) -> Any:
    """Return features with their names: as a pandas frame, if pandas is installed."""
    from scipy import sparse

    if names is None or sparse.issparse(X) or X.shape[1] != len(names):
        return X
    try:
        import pandas as pd
    except ImportError:
        return X
    return pd.DataFrame(X, columns=list(names))
