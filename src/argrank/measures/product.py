"""Product: any measure of the form a · b, with the user's own a and b."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.gains import Gain, check_gain, gains_of
from argrank.measures.measure import Measure, ratio, total
from argrank.measures.names import measure as parse_measure
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class Product(Measure):
    """The sum over the ranks i of a_i times b of the label there (ORM definition 2).

    It cannot be given by name: pass it as a value wherever a measure is expected.

    Parameters
    ----------
    a : sequence or callable
        Discounts of the ranks 1, 2, …, never rising. A sequence is extended by zeros, which needs it to be >= 0; a
        callable gets the array of the ranks.
    b : "exp2", "linear", "binary", table or callable
        Gain of a label, as in the parameter ``gain`` of every ranker.
    normalised : bool
        Divide by the greatest possible value of the query; undefined where that is 0.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[0.0], [1.0], [2.0]], [2, 0, 1], group=[3])
    >>> first_two = Product(a=[1.0, 0.5], b=[0, 1, 10])
    >>> ar.evaluate([3.0, 2.0, 1.0], data, first_two).means
    {'Product(a=(1.0, 0.5), b=(0.0, 1.0, 10.0))': 10.0}
    """

    spelling = "Product"

    a: Any = (1.0,)
    b: Gain | Any = "exp2"
    normalised: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.a):
            object.__setattr__(self, "a", _rank_discounts(self.a))
        object.__setattr__(self, "b", check_gain(self.b))

    def discounts(self, n: int) -> Floats:
        """Return a for the ranks 1 … n."""
        if callable(self.a):
            return _checked(self.a(np.arange(1.0, n + 1.0)), n, self.a)
        given = np.array(self.a)
        if len(given) < n and given[-1] < 0:
            raise OptionError(f"a: expected {n} numbers, or fewer that are >= 0, got {len(given)} to {given[-1]:g}")
        return np.concatenate((given[:n], np.zeros(max(n - len(given), 0))))

    def _structure(self, convention: Convention) -> Structure:
        gains = functools.partial(gains_of, gain=self.b, relevant_at=convention.relevant_at)
        return Structure("additive", gains, self.discounts, "ideal" if self.normalised else "one")

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        value = total(rankings.gains(self.b, convention.relevant_at) * self.discounts(rankings.width))
        if not self.normalised:
            return value
        ideal = rankings.ideal_gains(self.b, convention.relevant_at)
        return ratio(value, total(ideal * self.discounts(ideal.shape[1])))


def asked_measure(measure: Any, k: Any, a: Any, b: Any, gain: Any) -> Measure:
    """Return a ranker's measure: by name with a cut-off, or the product of the user's a and b.

    Without b, the gain of the labels is used.
    """
    if a is None and b is not None:
        raise OptionError(
            "b: expected a, the discounts of the ranks, with it, got b alone; perhaps use the parameter gain"
        )
    return parse_measure(measure).cut(k, None) if a is None else Product(a, gain if b is None else b)


def is_product(measure: Measure, convention: Convention, data: Dataset | None) -> bool:
    """Tell whether a measure has the form a · b, on this data if it is given."""
    try:
        product = measure.as_product(convention)
    except OptionError:  # of the precision of the whole list
        return False
    if product is None or not product.one_relevant:
        return product is not None
    return data is not None and bool((np.add.reduceat(product.row_gains(data), data.indptr[:-1]) <= 1).all())


def _rank_discounts(a: Sequence[float] | Floats) -> tuple[float, ...]:
    if isinstance(a, str | Mapping):
        raise OptionError(f"a: expected numbers for the ranks 1, 2, … or a callable, got {shown(a)}")
    try:
        values = np.asarray(a, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"a: expected numbers for the ranks 1, 2, … or a callable, got {shown(a)}") from error
    if values.ndim != 1 or len(values) == 0 or not values.any():
        raise OptionError(f"a: expected at least one number that is not 0, got {shown(a)}")
    return tuple(_checked(values, len(values), a).tolist())


def _checked(values: Any, n: int, source: Callable[..., Any] | Any) -> Floats:
    try:
        numbers: Floats = np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"a: expected {n} numbers, got {shown(values)}") from error
    if numbers.shape != (n,) or not np.isfinite(numbers).all() or (np.diff(numbers) > 0).any():
        raise OptionError(f"a: expected {n} finite numbers that never rise, got {shown(source)}")
    return numbers
