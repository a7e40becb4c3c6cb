"""Estimators of other libraries as entrants of a trial."""

from __future__ import annotations

from typing import Any

from argrank._types import Floats
from argrank.data import foreign_models
from argrank.data.dataset import Dataset


class Outside:
    """An estimator of another library, with ``fit`` and ``predict`` for Datasets.

    A fitted one is not trained again: it may have been trained on these queries, so it can be tested but not chosen.
    """

    def __init__(self, estimator: Any, name: str) -> None:
        self.estimator, self.name, self.came_trained = estimator, name, foreign_models.is_trained(estimator)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the estimator's parameters."""
        return {} if self.came_trained else dict(self.estimator.get_params(deep=deep))

    def set_params(self, **parameters: Any) -> Outside:
        """Set parameters of the estimator."""
        if parameters:
            self.estimator.set_params(**parameters)
        return self

    def __sklearn_clone__(self) -> Outside:
        from sklearn.base import clone

        return self if self.came_trained else Outside(clone(self.estimator), self.name)

    def fit(self, data: Dataset) -> Outside:
        """Train on a Dataset, unless the estimator is already fitted."""
        if not self.came_trained:
            foreign_models.train(self.estimator, data)
        return self

    def predict(self, data: Dataset) -> Floats:
        """Return one score per row, in the caller's order."""
        return foreign_models.scores(self.estimator, data, self.name)


def adapt(ranker: Any, name: str | None = None) -> Any:
    """Return a ranker that accepts Datasets: itself, or an adapter around an estimator of another library."""
    if isinstance(ranker, Outside) or (foreign_models.takes_datasets(ranker) and hasattr(ranker, "fit")):
        return ranker
    return Outside(ranker, type(ranker).__name__ if name is None else name)


def came_trained(ranker: Any) -> bool:
    """Tell whether a ranker was already fitted, and is tested without training."""
    return isinstance(ranker, Outside) and ranker.came_trained


def adapted(ranker: Any) -> Any:
    """Return the original estimator."""
    return ranker.estimator if isinstance(ranker, Outside) else ranker
