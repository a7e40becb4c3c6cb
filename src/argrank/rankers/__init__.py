"""Rankers as scikit-learn estimators: an objective, a model and a solver put together.

Every registered ranker is made by name, ``make_ranker("svm-map")``, or imported as a class,
``from argrank.rankers import SVMmap``. The classes are imported on first use; ``scripts/make_stub.py`` writes
``__init__.pyi`` from the registry for editors and type checkers.
"""

from __future__ import annotations

from typing import Any

from argrank._registry import imported
from argrank.rankers.registry import RANKERS
from argrank.rankers.registry import make_ranker as make_ranker
from argrank.rankers.registry import objective as objective
from argrank.rankers.registry import ranker_names as ranker_names
from argrank.rankers.registry import register_ranker as register_ranker

_FUNCTIONS = ["make_ranker", "objective", "ranker_names", "register_ranker"]


def _classes() -> dict[str, str]:
    """Return the modules of the classes, by name; ``trials`` adds its own."""
    bases = ("argrank.rankers.base_ranker:BaseRanker", "argrank.rankers.linear.linear_ranker:LinearRanker")
    return {place.partition(":")[2]: place for place in (*bases, *(line.place for line in RANKERS.own().values()))}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [*_FUNCTIONS, *sorted(_classes())]
    if name not in _classes():
        raise AttributeError(f"module 'argrank.rankers' has no attribute {name!r}")
    return imported(_classes()[name], "argrank.rankers")


def __dir__() -> list[str]:
    return sorted([*_FUNCTIONS, *_classes()])
