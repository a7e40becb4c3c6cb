"""What all rankers share, whatever they learn from: the ways of scikit-learn's estimators, and what they report."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Generic, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from argrank._declared import checked
from argrank.measures.names import measure as parse_measure
from argrank.models.model import StoredModel
from argrank.models.stayed import Stayed
from argrank.rankers.docstrings import complete

Trained = TypeVar("Trained", bound=StoredModel)
USUAL = "ndcg@10"  # is reported where no measure is optimised


class Estimator(BaseEstimator, Generic[Trained]):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator whose ``model_`` a file can hold.

    Parameters
    ----------
    normalise
        Scaling of the features, applied before training and kept with the model; None for none. "standard" and "minmax"
        scale by the whole training data, "query-minmax", "query-zscore" and "query-sum" within each query. Use one
        where features differ in scale; search engines can only serve the first two.
    n_jobs
        Threads; None for all cores. The result has the same bits for any number.
    verbose
        -1 hides the progress bar; 0, the default, shows it where a fit takes long.
    """

    verbose: int
    model_: Trained

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete(cls)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trained model to a file that ``ar.load_model`` reads; it holds no code."""
        check_is_fitted(self)
        self.model_.save(path)


def spoken(measure: Any) -> Any:
    """Return a measure as it was named, and a function as the measure that it is: its text is its name."""
    return parse_measure(measure) if callable(measure) else measure


class Reporting:
    """What every ranker says of the measures that it optimises and reports."""

    minimises: ClassVar[str] = "a loss of its own"  # in words, of rankers that optimise no measure
    chooses_by_scoring: ClassVar[bool] = False  # as what it optimises
    scoring: Any
    stayed_: Stayed | None = None  # after fit, where the model is that of another method, or near it

    @property
    def _reported(self) -> Any:
        """The measure that ``score``, the validation column and early stopping report."""
        return (self._optimised or USUAL) if self.scoring is None else spoken(self.scoring)

    @property
    def _optimised(self) -> Any:
        """The measure that is optimised; None where none is."""
        return None

    @property
    def _minimised(self) -> str:
        """What is minimised where no measure is optimised, in words."""
        return self.minimises

    def _counting(self) -> dict[str, Any]:
        """Return how labels and ranks count, where the ranker has parameters for it."""
        return {}
