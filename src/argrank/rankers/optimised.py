"""What a ranker optimises when a measure is asked for: that measure, another one instead, or none at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from argrank.data.dataset import Dataset
from argrank.engines import is_distributed
from argrank.errors import OptionError
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.rankers.estimator import Measured, Reporting


class Aim(Enum):
    """How what is optimised goes with what was asked for."""

    EXACT = auto()  # the measure itself, or a bound of it
    RELATIVE = auto()  # another measure
    NOT = auto()  # a loss that belongs to no measure


@dataclass(frozen=True)
class Optimised:
    """What a ranker optimises, beside what it was asked for."""

    aim: Aim
    asked: str
    measure: str | None  # that is optimised
    loss: str = ""  # what is minimised where no measure is optimised

    @property
    def what(self) -> str:
        """What is optimised, in a few words: the measure, which one instead, or that there is none."""
        if self.aim is Aim.EXACT:
            return self.asked
        if self.aim is Aim.RELATIVE:
            return f"{self.measure} instead of {self.asked}"
        return f"no measure (it minimises {self.loss})"

    def line(self, reported: Sequence[str] = ()) -> str:
        """Return the line of a summary."""
        return f"optimised: {self.what}; reported: {', '.join(reported or (self.asked,))}"


def aimed(ranker: Any, asked: Any, data: Any = None, scored: bool = False) -> Any:
    """Have a ranker optimise the measure that is asked for, where it can; return it.

    A measure, cut-off or ``scoring`` that the ranker was given stays. ``data`` says more about what it can: a product
    of gains and discounts is the reciprocal rank where no query has two relevant documents. With ``scored`` a ranker
    that cannot reports the measure, and stops early by it.
    """
    measure = measure_or_none(asked)
    if measure is None or not isinstance(ranker, Reporting):
        return ranker
    if isinstance(ranker, Measured) and ranker._has_default_measure and ranker._trains(measure, _rows(data)):
        if not _same(ranker._optimised, measure):
            ranker.set_params(measure=asked, **ranker._aim(measure))  # type: ignore[attr-defined]  # scikit-learn has no types
    elif (scored or ranker.chooses_by_scoring) and ranker.scoring == type(ranker).scoring:
        ranker.set_params(scoring=asked)  # type: ignore[attr-defined]
    return ranker


def explicit(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with measures as values: one that was named stays, also where it is the ranker's default."""
    named = {key: parameters[key] for key in ("measure", "scoring") if isinstance(parameters.get(key), str)}
    return {**parameters, **{key: parse_measure(value) for key, value in named.items()}}


def optimised(ranker: Any, asked: Any = None) -> Optimised | None:
    """Say what a ranker, as it is, optimises where a measure is asked for; None of estimators of other libraries."""
    if not isinstance(ranker, Reporting):
        return None
    own, name = ranker._optimised, str(ranker._reported if asked is None else asked)
    if own is None:
        return Optimised(Aim.NOT, name, None, ranker._minimised)
    return Optimised(Aim.EXACT if _same(own, name) else Aim.RELATIVE, name, str(own))


def together(found: Mapping[str, Optimised | None], asked: str) -> str | None:
    """Return one sentence about several rankers by name; None where all optimise what is asked for."""
    others = {name: one for name, one in found.items() if one is not None and one.aim is not Aim.EXACT}
    relatives = [f"{name} ({one.measure})" for name, one in others.items() if one.aim is Aim.RELATIVE]
    none = [name for name, one in others.items() if one.aim is Aim.NOT]
    parts = [f"another measure is optimised by {', '.join(relatives)}"] if relatives else []
    parts += [f"no measure by {', '.join(none)}"] if none else []
    if not parts:
        return None
    exact = [name for name, one in found.items() if one is not None and one.aim is Aim.EXACT]
    return f"{asked} is optimised by {', '.join(exact) or 'none'}; {'; '.join(parts)}."


def measure_or_none(asked: Any) -> Measure | None:
    """Return a measure; None for what has no name that a ranker understands, such as a function of the user's."""
    try:
        return parse_measure(asked)
    except OptionError:
        return None


def _same(own: Any, asked: Any) -> bool:
    return own is not None and measure_or_none(own) == measure_or_none(asked) is not None


def _rows(data: Any) -> Dataset | None:
    return data if isinstance(data, Dataset) and not is_distributed(data) else None
