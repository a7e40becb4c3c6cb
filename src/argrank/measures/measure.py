"""Measure: the base class of all measures, a frozen value that its name determines."""

from __future__ import annotations

import abc
import dataclasses
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, check_count, shown
from argrank.measures.conventions import Convention, check_undefined
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure, refused_gains

#: Parameters of measures whose meaning is a switch of the convention, under the name ir_measures gives them.
SWITCH_OF = {
    "gain": "gain",
    "discount": "discount",
    "rel": "relevant_at",
    "max_grade": "max_grade",
    "undefined": "undefined",
    "judged_only": "judged_only",
}


@dataclass(frozen=True, repr=False)
class Measure(abc.ABC):
    """A measure with its parameters: a value that can be compared, hashed and printed.

    A parameter of None is left to the convention. ``repr`` and ``name`` are the name in the vocabulary of
    ir_measures, ``nDCG@10`` or ``AP(rel=2)@100``, and ``argrank.measure`` reads it back.
    """

    spelling: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    averages_ties: ClassVar[bool] = True  # over tied scores the value is the mean over all orders of the tied documents
    adds_up: ClassVar[bool] = False  # the figure of several queries is the sum, not the mean
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)  # the range of values
    reaches_one: ClassVar[bool] = False  # without a cut-off, the ranking by label has value 1 if a document is relevant

    undefined: float | str | None = field(default=None, kw_only=True)
    judged_only: bool | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.undefined is not None:
            object.__setattr__(self, "undefined", check_undefined(self.undefined))
        if self.judged_only is not None and not isinstance(self.judged_only, bool):
            raise OptionError(f"{self.spelling}(judged_only=…): expected True or False, got {shown(self.judged_only)}")
        if self._k is not None:
            check_count(f"{self.spelling}@k", self._k)
            object.__setattr__(self, "k", int(self._k))
        level = vars(self).get("rel")
        if level is not None and (isinstance(level, bool) or not isinstance(level, int | float)):
            raise OptionError(f"{self.spelling}(rel=…): expected a number, got {shown(level)}")

    @property
    def name(self) -> str:
        """The name, in the vocabulary of ir_measures."""
        words = ", ".join(self._parameters())
        cutoff = "" if self._k is None else f"@{self._k}"
        return f"{self._spelling()}{f'({words})' if words else ''}{cutoff}"

    def _spelling(self) -> str:
        return self.spelling

    def _parameters(self) -> list[str]:
        return [
            f"{part.name}={_written(getattr(self, part.name))}"
            for part in dataclasses.fields(self)
            if part.name != "k" and part.repr and getattr(self, part.name) != part.default
        ]

    def __repr__(self) -> str:
        return self.name

    def adapt(self, convention: Convention) -> Convention:
        """Return the convention with this measure's own parameters, which take precedence."""
        own: dict[str, Any] = {
            SWITCH_OF[name]: value
            for name, value in vars(self).items()
            if name in SWITCH_OF and value is not None and value != vars(convention)[SWITCH_OF[name]]
        }
        exceptions = dict(convention.undefined_of)
        if self.undefined is None and self.spelling in exceptions:
            own["undefined"] = exceptions[self.spelling]
        return dataclasses.replace(convention, **own) if own else convention

    def values(self, rankings: Rankings, convention: Convention) -> Floats:
        """Return the measure of every query, NaN where it is undefined."""
        if rankings.are_gains:  # the sum of the rows' own gains, each times the discount of its rank
            structure = self.structure(convention)
            if structure is None or not structure.takes_gains:
                raise refused_gains(self.name)
            return total(rankings.gains("linear", 0.0) * structure.discounts(rankings.width))
        rules = self.adapt(convention)
        return self._values(rankings.judged_only if rules.judged_only else rankings, rules)

    @abc.abstractmethod
    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        """Return the values under a convention that already has this measure's parameters."""

    @property
    def cutoff(self) -> int | None:
        """The last rank that counts, None where all do."""
        return self._k

    @property
    def _k(self) -> int | None:
        """The parameter ``k`` of measures that have one."""
        return vars(self).get("k")

    def cut(self, k: int | str | None, default: int | None = None) -> Measure:
        """Return this measure with the cut-off that a ranker asks for.

        "auto" keeps the measure's own, or uses ``default`` if it has none; measures without a cut-off ignore it.
        """
        own = self._k
        if isinstance(k, str) and k == "auto":
            k = default if own is None else own
        if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1):
            raise OptionError(f"expected k to be a whole number from 1 up, None or 'auto', got {shown(k)}")
        if own is not None and k != own:
            raise OptionError(f"expected one cut-off, got measure={self.name!r} and k={k!r}")
        return self._up_to(k) if "k" in vars(self) and k != own else self

    def whole_list(self) -> Measure:
        """Return this measure without its cut-off."""
        return self if self._k is None else self._up_to(None)

    def _up_to(self, k: int | None) -> Measure:
        changed: dict[str, Any] = {"k": k}
        return dataclasses.replace(self, **changed)

    def structure(self, convention: Convention) -> Structure | None:
        """Return the structure of this measure; None if it is not one of the kinds of ``Structure``."""
        found = self._structure(self.adapt(convention))
        return None if found is None else dataclasses.replace(found, name=self.name)

    def _structure(self, convention: Convention) -> Structure | None:
        """Return the structure under a convention that already has this measure's parameters."""
        return None

    def as_product(self, convention: Convention) -> Structure | None:
        """Return gains and discounts if this measure has the form a · b, else None."""
        structure = self.structure(convention)
        return structure if structure is not None and structure.kind == "additive" else None

    def levels(self, labels: Floats, convention: Convention) -> Floats:
        """Return numbers that are equal for labels this measure treats alike, greater for better ones."""
        structure = self.structure(convention)
        return labels if structure is None else structure.gains(labels)

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return the parts of the value, each an array over the ranks; for ``explain``."""
        return {}


class ByRelevance(Measure):
    """A measure that depends only on which ranks hold a relevant document."""

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a relevant document."""
        return {"relevant": rankings.relevance(self.adapt(convention).relevant_at)[0]}


def _written(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return getattr(value, "__name__", None) or repr(value)


def total(terms: Floats) -> Floats:
    """Sum every row from left to right, like a loop, so that padding and blocks do not change the rounding.

    NumPy adds the rows of a matrix one after the other, but a single column in another order; row-wise is also faster.
    """
    if len(terms) == 1:
        return np.cumsum(terms, axis=1)[:, -1]
    return np.asarray(np.ascontiguousarray(terms.T).sum(axis=0))


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; NaN where the denominator is not positive."""
    result = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator > 0)
    return result
