"""Rows that carry gains, such as those from clicks: which rankers learn from them, and what they then optimise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.base import clone

from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.measures.conventions import make_convention
from argrank.measures.structure import refused_gains
from argrank.rankers.optimised import aimed, measure_or_none
from argrank.rankers.registry import RANKERS, ranker_class, registered_name

if TYPE_CHECKING:
    from argrank.rankers.base_ranker import BaseRanker

USUAL = "dcg@10"  # is optimised and reported where rows carry gains and nothing else is asked for
Ranker = TypeVar("Ranker", bound="BaseRanker")


def for_gains(ranker: Ranker, data: Any) -> Ranker:
    """Return the ranker, or where rows carry gains one that optimises and reports dcg@10 unless asked for another."""
    if not isinstance(data, Dataset) or data.gains is None:
        return ranker
    found: Ranker = aimed(clone(ranker), USUAL, data, scored=True)
    names = ("measure", "scoring")
    before, after = (one.get_params(deep=False) for one in (ranker, found))
    return ranker if all(before.get(name) == after.get(name) for name in names) else found


def check_gains(ranker: BaseRanker) -> None:
    """Refuse rows that carry gains where a ranker knows labels only, and name the rankers that take them."""
    if not ranker.takes_gains:
        able = ", ".join(name for name in RANKERS if takes_gains(name))
        raise InputError(
            f"{registered_name(ranker)}: expected labels, got row gains (ar.from_clicks), which it has no use for; "
            f"take one of {able}, or judgements from clicks (ar.judgements)"
        )
    measure = measure_or_none(ranker.scoring if ranker.chooses_by_scoring else ranker._optimised)
    if measure is None:
        return
    structure = measure.structure(make_convention("default"))
    if structure is None or not structure.takes_gains:
        raise refused_gains(measure.name)


def takes_gains(name: str) -> bool:
    """Tell whether a registered ranker learns from rows that carry gains."""
    return RANKERS[name].takes == "ranking" and ranker_class(name).takes_gains
