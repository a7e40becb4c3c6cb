"""What all rankers share, whatever they learn from: scikit-learn's ways, what they report, shared parameters."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from argrank._declared import Count, checked, parameters_of
from argrank.data.dataset import Dataset
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.product import asked_measure, is_product
from argrank.models.model import Stayed, StoredModel
from argrank.rankers.docstrings import complete

Trained = TypeVar("Trained", bound=StoredModel)
USUAL = "ndcg@10"  # reported if no measure is optimised


class Estimator(BaseEstimator, Generic[Trained]):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator whose ``model_`` can be saved to a file.

    Parameters
    ----------
    normalise
        Scaling of the features, applied before training and stored with the model; None for none. "standard" and
        "minmax" scale by the whole training data, "query-minmax", "query-zscore" and "query-sum" within each query. Use
        one if features differ in scale; search engines support only the first two.
    n_jobs
        Threads; None for all cores. The result does not depend on it.
    verbose
        -1 hides the progress bar; 0, the default, shows it if a fit takes long.
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
    """Return a measure's name unchanged, and a function as a measure, whose text is its name."""
    found = parse_measure(measure)
    return found if callable(measure) else measure


class Reporting:
    """The measures that a ranker optimises and reports."""

    minimises: ClassVar[str] = "a loss of its own"  # text for rankers that optimise no measure
    chooses_by_scoring: ClassVar[bool] = False  # as what it optimises
    scoring: Any
    stayed_: Stayed | None = None  # after fit, if the model is that of another method, or near it

    @property
    def _reported(self) -> Any:
        """The measure that ``score``, the validation column and early stopping report."""
        return (self._optimised or USUAL) if self.scoring is None else spoken(self.scoring)

    @property
    def _optimised(self) -> Any:
        """The measure that is optimised, or None."""
        return None

    @property
    def _minimised(self) -> str:
        """What is minimised if no measure is optimised, as text."""
        return self.minimises

    def _counting(self) -> dict[str, Any]:
        """Return the gain, discount and so on, if the ranker has such parameters."""
        return {}


def check_parameters(ranker: BaseEstimator) -> None:
    """Raise if a parameter does not match its declaration."""
    kind: type = type(ranker)
    known = parameters_of(kind)
    for name, value in ranker.get_params(deep=False).items():
        if name in known:
            known[name].check(name, value)


@dataclass(eq=False, repr=False, kw_only=True)
class Measured:
    """A ranker that optimises a measure.

    Parameters
    ----------
    measure : str or Measure
        What is optimised: use the measure that you report.
    """

    measure: Any = "ndcg@10"

    @property
    def _optimised(self) -> Any:
        return spoken(self.measure)

    @property
    def _has_default_measure(self) -> bool:
        """Whether the measure is the ranker's default."""
        return isinstance(self.measure, str) and self.measure == type(self).measure

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        """Tell whether this ranker can optimise a measure, on the given data if any."""
        return True

    def _aim(self, measure: Measure) -> dict[str, Any]:
        """Return the further parameters with which this ranker optimises a measure."""
        return {}


@dataclass(eq=False, repr=False, kw_only=True)
class Relevance:
    """A ranker for which documents are relevant or not.

    Parameters
    ----------
    relevant_at
        Smallest label of a good document. Raise it if label 1 means "hardly relevant".
    """

    relevant_at: float = 1.0

    def _counting(self) -> dict[str, Any]:
        return {"relevant_at": self.relevant_at}


@dataclass(eq=False, repr=False, kw_only=True)
class Gains(Relevance):
    """A ranker that also has gains of labels.

    Parameters
    ----------
    gain : "exp2", "linear", "binary", table or callable
        Gain of a label: 2^label - 1, the label itself, 1 for a good document, or your own. Use the one of the measure
        that you report.
    """

    gain: Any = "exp2"

    def _counting(self) -> dict[str, Any]:
        return {**super()._counting(), "gain": self.gain}


@dataclass(eq=False, repr=False, kw_only=True)
class GainsAndDiscounts(Gains):
    """A ranker that also has discounts of ranks.

    Parameters
    ----------
    discount : "log2", "letor" or callable
        Discount of the ranks; "letor" is the paper's, 1 at the first two. Use the one that you report.
    """

    discount: Any = "log2"

    def _counting(self) -> dict[str, Any]:
        return {**super()._counting(), "discount": self.discount}


def rules_of(ranker: Reporting) -> dict[str, Any]:
    """Return the gain and discount of the optimised measure, if ``score`` reports that measure."""
    return ranker._counting() if ranker.scoring is None and isinstance(ranker, Measured) else {}


@dataclass(eq=False, repr=False, kw_only=True)
class ProductMeasure(Measured, GainsAndDiscounts):
    """The parameters of a measure of the form a · b.

    Parameters
    ----------
    measure : str or Measure
        Any of the form a · b: "ndcg@k", "dcg@k", "p@k", "r@k", "rbp", "eru", "neru", "wta", also "mrr" if every query
        has at most one relevant document (else see svm-mrr).
    k
        Cut-off of the measure; "auto" for the one in its name, None for none. With the default measure it replaces the
        10. A small one uses few documents of each query.
    a, b : optional
        Your own measure instead of ``measure``: discounts of the ranks (numbers, extended by zeros, or a callable of
        the ranks 1, 2, …) and gains of the labels (a table or a callable of the labels; ``gain`` if not given).
    """

    k: Count | Literal["auto"] | None = "auto"
    a: Any = None
    b: Any = None

    @property
    def _optimised(self) -> Measure:
        default = isinstance(self.measure, str) and self.measure == type(self).measure and self.k != "auto"
        named = parse_measure(self.measure).whole_list() if default else self.measure
        return asked_measure(named, self.k, self.a, self.b, self.gain)

    @property
    def _has_default_measure(self) -> bool:
        return super()._has_default_measure and self.k == "auto" and self.a is None

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return is_product(measure, Convention(**self._counting()), data)
