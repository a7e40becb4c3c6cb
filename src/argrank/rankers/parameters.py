"""Parameters of rankers: one check by what their classes declare, and those that several share, by type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from argrank._declared import parameters_of
from argrank.data.dataset import Dataset
from argrank.measures.measure import Measure
from argrank.rankers.estimator import Reporting, spoken


def check_parameters(ranker: BaseEstimator) -> None:
    """Raise where a parameter is not what its class declares."""
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
        What is optimised: take the measure that you report.
    """

    measure: Any = "ndcg@10"

    @property
    def _optimised(self) -> Any:
        return spoken(self.measure)

    @property
    def _has_default_measure(self) -> bool:
        """Whether the user left it to the ranker what is optimised."""
        return isinstance(self.measure, str) and self.measure == type(self).measure

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        """Tell whether this ranker can optimise a measure, on these data where they are known."""
        return True

    def _aim(self, measure: Measure) -> dict[str, Any]:
        """Return the further parameters with which this ranker optimises a measure."""
        return {}


@dataclass(eq=False, repr=False, kw_only=True)
class Relevance:
    """A ranker that asks which documents are relevant.

    Parameters
    ----------
    relevant_at
        Smallest label of a good document. Raise it where label 1 means "hardly".
    """

    relevant_at: float = 1.0

    def _counting(self) -> dict[str, Any]:
        return {"relevant_at": self.relevant_at}


@dataclass(eq=False, repr=False, kw_only=True)
class Gains(Relevance):
    """A ranker that asks what a label gains, too.

    Parameters
    ----------
    gain : "exp2", "linear", "binary", table or callable
        Gain of a label: 2^label - 1, the label itself, 1 for a good document, or your own. Take the one of the measure
        that you report.
    """

    gain: Any = "exp2"

    def _counting(self) -> dict[str, Any]:
        return {**super()._counting(), "gain": self.gain}


@dataclass(eq=False, repr=False, kw_only=True)
class GainsAndDiscounts(Gains):
    """A ranker that asks what a rank is worth, too.

    Parameters
    ----------
    discount : "log2", "letor" or callable
        Discount of the ranks; "letor" is the paper's, 1 at the first two. Change it to what you report.
    """

    discount: Any = "log2"

    def _counting(self) -> dict[str, Any]:
        return {**super()._counting(), "discount": self.discount}


def rules_of(ranker: Reporting) -> dict[str, Any]:
    """Return how the measure that is optimised counts labels and ranks, where ``score`` reports that measure."""
    return ranker._counting() if ranker.scoring is None and isinstance(ranker, Measured) else {}
