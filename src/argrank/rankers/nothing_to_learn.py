"""Labels from which a ranker can learn nothing, and what is missing in them: one place for all rankers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import DistributedDataset
from argrank.errors import OptionError
from argrank.measures.conventions import make_convention
from argrank.measures.names import measure as parse_measure

if TYPE_CHECKING:
    from argrank.rankers.base_ranker import BaseRanker

RULES = ("gain", "discount", "relevant_at")  # parameters that say how a measure counts labels


def nothing_to_learn(ranker: BaseRanker, data: Dataset | DistributedDataset) -> str | None:
    """Return what is missing in the labels, None where a ranker can learn something.

    Documents have to be told apart within a query, by their labels and by what the measure that is optimised makes of
    them; for rankers that fit the labels themselves, anywhere in the data. Labels on a cluster are not looked at.
    """
    if isinstance(data, DistributedDataset) or (data.gains is None and not data.is_judged):
        return None
    if data.gains is not None:
        return None if _tells_apart(ranker, data, data.gains) else "no query has rows of different gain"
    if not _tells_apart(ranker, data, data.y):
        if ranker.fits_labels or data.y.min() == data.y.max():
            return f"all labels are {data.y[0]:g}"
        return "no query has two documents" if data.longest == 1 else "no query has two different labels"
    parameters = ranker.get_params(deep=False)
    levels = _levels(parameters, data.y)
    if not levels or any(_tells_apart(ranker, data, one) for one in levels):
        return None
    least = parameters.get("relevant_at", 1.0)
    if data.y.max() < least:
        return f"no label reaches relevant_at={least:g}; the largest is {data.y.max():.3g}"
    if data.y.min() >= least:
        return f"no label is below relevant_at={least:g}; the least is {data.y.min():.3g}"
    return "no query has two labels that the measure tells apart"


def _tells_apart(ranker: BaseRanker, data: Dataset, values: Floats) -> bool:
    """Tell whether values differ within a query that counts, or anywhere for rankers that fit them."""
    if ranker.fits_labels:
        return bool((values != values[0]).any())
    starts = data.indptr[:-1]
    differ = np.maximum.reduceat(values, starts) > np.minimum.reduceat(values, starts)
    return bool((differ if data.query_weight is None else differ & (data.query_weight > 0)).any())


def _levels(parameters: Mapping[str, Any], y: Floats) -> list[Floats]:
    """Return the levels that each measure of a ranker makes of labels; none where it has a say of its own."""
    if parameters.get("b") is not None:  # gains of labels that were given one by one
        return []
    given = parameters.get("measures", parameters.get("measure"))
    if given is None and not set(parameters) & set(RULES):
        return []
    names = (
        given if isinstance(given, Sequence) and not isinstance(given, str) else ["ndcg" if given is None else given]
    )
    try:
        rules = make_convention("default", **{name: parameters[name] for name in RULES if name in parameters})
        return [parse_measure(name).levels(y, rules) for name in names]
    except OptionError:  # which the ranker says in its own words
        return []
