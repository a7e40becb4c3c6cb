"""What a ranker optimises when a measure is requested: that measure, another one, or none."""

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
    """How the optimised measure relates to the requested one."""

    EXACT = auto()  # the measure itself, or a bound of it
    RELATIVE = auto()  # another measure
    NOT = auto()  # a loss that belongs to no measure


@dataclass(frozen=True)
class Optimised:
    """What a ranker optimises, and what was requested."""

    aim: Aim
    asked: str
    measure: str | None  # that is optimised
    loss: str = ""  # what is minimised if no measure is optimised

    @property
    def what(self) -> str:
        """What is optimised, as short text: the measure, another one, or none."""
        if self.aim is Aim.EXACT:
            return self.asked
        if self.aim is Aim.RELATIVE:
            return f"{self.measure} instead of {self.asked}"
        return f"no measure (it minimises {self.loss})"

    def line(self, reported: Sequence[str] = ()) -> str:
        """Return the line of a summary."""
        return f"optimised: {self.what}; reported: {', '.join(reported or (self.asked,))}"


def aimed(ranker: Any, asked: Any, data: Any = None, scored: bool = False) -> Any:
    """Make a ranker optimise the requested measure, if it can; return the ranker.

    A measure, cut-off or ``scoring`` set by the user is kept. ``data`` may allow more: a product of gains and discounts
    equals the reciprocal rank if no query has two relevant documents. With ``scored``, a ranker that cannot optimise
    the measure reports it, and uses it for early stopping.
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
    """Return parameters with measures as values, so that a named one is kept even if it is the ranker's default."""
    named = {key: parameters[key] for key in ("measure", "scoring") if isinstance(parameters.get(key), str)}
    return {**parameters, **{key: parse_measure(value) for key, value in named.items()}}


def optimised(ranker: Any, asked: Any = None) -> Optimised | None:
    """Return what a ranker optimises when a measure is requested; None for estimators of other libraries."""
    if not isinstance(ranker, Reporting):
        return None
    own, name = ranker._optimised, str(ranker._reported if asked is None else asked)
    if own is None:
        return Optimised(Aim.NOT, name, None, ranker._minimised)
    return Optimised(Aim.EXACT if _same(own, name) else Aim.RELATIVE, name, str(own))


def together(found: Mapping[str, Optimised | None], asked: str) -> str | None:
    """Return one sentence about several rankers by name; None if all optimise the requested measure."""
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
    """Return a measure; None for one without a name that rankers accept, such as a user's function."""
    try:
        return parse_measure(asked)
    except OptionError:
        return None


def _same(own: Any, asked: Any) -> bool:
    return own is not None and measure_or_none(own) == measure_or_none(asked) is not None


def _rows(data: Any) -> Dataset | None:
    return data if isinstance(data, Dataset) and not is_distributed(data) else None
